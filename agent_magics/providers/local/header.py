"""What a ``.gguf`` file says about its model, read from its header with the standard library alone.

https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_magics.errors import ConfigError

_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _ARRAY = 8, 9
_LONG = 16  # arrays longer than this (the vocabulary) are stepped over


@dataclass(frozen=True, kw_only=True, slots=True)
class Header:
    """A model's own description.

    Attributes
    ----------
    window : int
        The context window that it was trained for, in tokens.
    template : str
        Its chat template; one that never mentions tools can't be given any.
    """

    name: str
    architecture: str
    window: int
    template: str

    @property
    def takes_tools(self) -> bool:
        return "tools" in self.template


def read_header(path: Path) -> Header:
    """The header of ``path``.

    Raises
    ------
    ConfigError
        If there is no such file, or it is no ``.gguf``.
    """
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            values = _Reader(data).metadata()
    except (OSError, ValueError, struct.error) as error:
        raise ConfigError(
            f"{str(path)!r} can't be read as a model.",
            str(error),
            "Give the path of a .gguf file, or run `agent-magics local install`.",
        ) from error
    kind = str(values.get("general.architecture", ""))
    return Header(
        name=str(values.get("general.name", path.stem)),
        architecture=kind,
        window=int(values.get(f"{kind}.context_length", 0)),
        template=str(values.get("tokenizer.chat_template", "")),
    )


class _Reader:
    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._at = 0

    def metadata(self) -> dict[str, Any]:
        if self._data[:4] != b"GGUF":
            raise ValueError("It does not begin with the letters GGUF.")
        self._at = 8
        _, pairs = self._take("<QQ")
        return {self._text(): self._value(self._number("I")) for _ in range(pairs)}

    def _take(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from(form, self._data, self._at)
        self._at += struct.calcsize(form)
        return values

    def _number(self, kind: str) -> Any:
        return self._take("<" + kind)[0]

    def _text(self) -> str:
        length = self._number("Q")
        self._at += length
        return self._data[self._at - length : self._at].decode("utf-8", "replace")

    def _value(self, kind: int) -> Any:
        if kind == _TEXT:
            return self._text()
        if kind == _ARRAY:
            return self._array(*self._take("<IQ"))
        if kind not in _SCALARS:
            raise ValueError(f"Its header has a value of an unknown kind ({kind}).")
        return self._number(_SCALARS[kind])

    def _array(self, kind: int, length: int) -> list[Any] | None:
        if length <= _LONG:
            return [self._value(kind) for _ in range(length)]
        if kind == _TEXT:
            for _ in range(length):
                self._at += 8 + struct.unpack_from("<Q", self._data, self._at)[0]
        else:
            self._at += length * struct.calcsize(_SCALARS[kind])
        return None
