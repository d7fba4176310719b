"""Text <-> tokens, as a ``.gguf`` says: byte-level BPE (``gpt2``) or SentencePiece by score (``llama``).

Written to be read. Both put characters together pair by pair, the best pair first; they differ in what is
best: the rank of a merge, or the score of the piece that comes out.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

_SPLIT = re.compile(r"'(?:s|t|re|ve|m|ll|d)| ?[^\W\d_]+| ?\d+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")
_DIGIT = re.compile(r"(\d)")
_BYTE_PIECE = re.compile(r"<0x([0-9A-F]{2})>")
_SPACE = "\u2581"  # SentencePiece's visible space
_UNSEEN, _WHOLE = 3, (3, 4)  # kinds of token: control; and those found whole in a text, user-defined too


def _printable_bytes() -> dict[int, str]:
    """GPT-2's alphabet: each byte as one printable character, so that BPE works on text alone."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = (byte for byte in range(256) if byte not in plain)
    return {byte: chr(byte) for byte in plain} | {byte: chr(256 + at) for at, byte in enumerate(others)}


_TO_CHARACTER = _printable_bytes()
_TO_BYTE = {character: byte for byte, character in _TO_CHARACTER.items()}


@dataclass(kw_only=True)
class Tokenizer:
    """A vocabulary and its way of cutting text.

    Parameters
    ----------
    kind : {"gpt2", "llama"}
        Byte-level BPE, or SentencePiece.
    pieces : sequence of str
        The text of each token.
    kinds : sequence of int
        What each token is; control tokens are found whole in a text.
    scores : sequence of float
        How good each piece is (``llama``).
    merges : sequence of str
        The pairs that may be put together, best first (``gpt2``).
    """

    kind: str
    pieces: Sequence[str]
    kinds: Sequence[int]
    scores: Sequence[float] = ()
    merges: Sequence[str] = ()
    _ids: dict[str, int] = field(init=False)
    _ranks: Mapping[tuple[str, str], int] = field(init=False)
    _specials: re.Pattern[str] | None = field(init=False)

    def __post_init__(self) -> None:
        self._ids = {piece: at for at, piece in enumerate(self.pieces)}
        pairs = (merge.partition(" ") for merge in self.merges)
        self._ranks = {(left, right): rank for rank, (left, _, right) in enumerate(pairs)}
        whole = [
            piece for piece, kind in zip(self.pieces, self.kinds, strict=True) if kind in _WHOLE and piece
        ]
        whole.sort(key=len, reverse=True)
        self._specials = re.compile("(" + "|".join(map(re.escape, whole)) + ")") if whole else None

    def encode(self, said: str) -> list[int]:
        """The tokens of ``said``; what looks like a control token is one."""
        ids: list[int] = []
        for part in self._specials.split(said) if self._specials else [said]:
            if part in self._ids and self.kinds[self._ids[part]] in _WHOLE:
                ids.append(self._ids[part])
            elif part:
                ids += self._bpe(part) if self.kind == "gpt2" else self._sentencepiece(part)
        return ids

    def bytes_of(self, token: int) -> bytes:
        """What a token stands for; nothing for a control token. A character may need several tokens."""
        piece = self.pieces[token]
        if self.kinds[token] == _UNSEEN:
            return b""
        if self.kinds[token] in _WHOLE:
            return piece.encode()
        if self.kind == "gpt2":
            return bytes(_TO_BYTE[character] for character in piece if character in _TO_BYTE)
        if found := _BYTE_PIECE.fullmatch(piece):
            return bytes([int(found[1], 16)])
        return piece.replace(_SPACE, " ").encode()

    def _bpe(self, said: str) -> Iterable[int]:
        for stretch in _DIGIT.split(said):
            for word in _SPLIT.findall(stretch):
                letters = [_TO_CHARACTER[byte] for byte in word.encode()]
                for piece in _merged(
                    letters, lambda left, right: -self._ranks.get((left, right), 1 << 30), -(1 << 30)
                ):
                    yield self._ids[piece]

    def _sentencepiece(self, said: str) -> Iterable[int]:
        def score(left: str, right: str) -> float:
            token = self._ids.get(left + right)
            return float("-inf") if token is None else self.scores[token]

        for piece in _merged(list(said.replace(" ", _SPACE)), score, float("-inf")):
            if piece in self._ids:
                yield self._ids[piece]
            else:
                yield from (self._ids[f"<0x{byte:02X}>"] for byte in piece.encode())


def _merged(pieces: list[str], worth: Callable[[str, str], float], nothing: float) -> list[str]:
    """``pieces`` put together pair by pair, the best pair first, until no pair is worth anything."""
    while len(pieces) > 1:
        best, at = max(
            (worth(left, right), -at) for at, (left, right) in enumerate(itertools.pairwise(pieces))
        )
        if best == nothing:
            break
        pieces[-at : -at + 2] = [pieces[-at] + pieces[-at + 1]]
    return pieces
