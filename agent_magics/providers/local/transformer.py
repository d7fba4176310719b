"""The forward pass of a Llama model in plain NumPy: one page, for reading in class.

Each layer looks back at all tokens so far (attention) and then thinks for itself (the feed-forward part);
both add to the stream that runs through the layers. Keys and values of earlier tokens are kept, so that each
new token costs one pass. https://arxiv.org/abs/2302.13971
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent_magics.errors import ConfigError
from agent_magics.providers.local.tokens import Tokenizer

Array = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class Layer:
    """One layer's matrices, each stored as (outputs, inputs)."""

    attn_norm: Array
    attn_q: Array
    attn_k: Array
    attn_v: Array
    attn_output: Array
    ffn_norm: Array
    ffn_gate: Array
    ffn_up: Array
    ffn_down: Array


@dataclass(kw_only=True)
class Cache:
    """Keys and values of one layer, (tokens, heads, size)."""

    keys: list[Array] = field(default_factory=list[Array])
    values: list[Array] = field(default_factory=list[Array])


@dataclass(frozen=True, kw_only=True)
class Transformer:
    """A Llama model.

    Parameters
    ----------
    embedding, output : array, shape (vocabulary, width)
        What a token is as a vector, and the vectors that the last state is compared with.
    heads, shared_heads : int
        Attention heads, and the key-value heads that they share.
    base : float
        The base of the rotary positions.
    epsilon : float
        Keeps the norm from dividing by zero.
    """

    tokenizer: Tokenizer
    embedding: Array
    layers: tuple[Layer, ...]
    output_norm: Array
    output: Array
    heads: int
    shared_heads: int
    base: float
    epsilon: float
    template: str
    end: frozenset[int]

    def start(self) -> list[Cache]:
        """An empty memory."""
        return [Cache() for _ in self.layers]

    def step(self, token: int, memory: list[Cache]) -> Array:
        """Read one more token; the logits of the next one, shape (vocabulary,)."""
        state = self.embedding[token]
        position = len(memory[0].keys)
        for layer, cache in zip(self.layers, memory, strict=True):
            state = state + self._attend(layer, cache, _norm(state, layer.attn_norm, self.epsilon), position)
            seen = _norm(state, layer.ffn_norm, self.epsilon)
            state = state + layer.ffn_down @ (_silu(layer.ffn_gate @ seen) * (layer.ffn_up @ seen))
        return self.output @ _norm(state, self.output_norm, self.epsilon)

    def _attend(self, layer: Layer, cache: Cache, seen: Array, position: int) -> Array:
        query = self._turned((layer.attn_q @ seen).reshape(self.heads, -1), position)
        cache.keys.append(self._turned((layer.attn_k @ seen).reshape(self.shared_heads, -1), position))
        cache.values.append((layer.attn_v @ seen).reshape(self.shared_heads, -1))
        keys, values = np.stack(cache.keys), np.stack(cache.values)
        grouped = query.reshape(self.shared_heads, -1, query.shape[-1])
        scores = np.einsum("hgd,thd->hgt", grouped, keys) / np.sqrt(np.float32(query.shape[-1]))
        seen_again = np.einsum("hgt,thd->hgd", _softmax(scores), values).reshape(-1)
        return layer.attn_output @ seen_again

    def _turned(self, heads: Array, position: int) -> Array:
        """Rotary positions: neighbouring pairs turned by an angle that grows with the position."""
        size = heads.shape[-1]
        angles = position * self.base ** (-np.arange(0, size, 2, dtype=np.float32) / size)
        cos, sin = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
        even, odd = heads[:, 0::2], heads[:, 1::2]
        turned = np.empty_like(heads)
        turned[:, 0::2], turned[:, 1::2] = even * cos - odd * sin, even * sin + odd * cos
        return turned


def _norm(state: Array, weight: Array, epsilon: float) -> Array:
    scale = 1.0 / np.sqrt(np.mean(state * state) + epsilon)
    return np.asarray(state * scale * weight, dtype=np.float32)


def _silu(value: Array) -> Array:
    return np.asarray(value / (1 + np.exp(-value)), dtype=np.float32)


def _softmax(scores: Array) -> Array:
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True), dtype=np.float32)


def load(path: Path) -> Transformer:
    """Read and dequantize a ``.gguf`` file of the llama architecture.

    Raises
    ------
    ConfigError
        For another architecture.
    """
    from gguf import GGUFReader
    from gguf.quants import dequantize

    reader: Any = GGUFReader(path)
    values = {name: one.contents() for name, one in reader.fields.items()}
    if values.get("general.architecture") != "llama":
        raise ConfigError(
            f"llama2 can't run {path.name!r}.",
            f"Its architecture is {values.get('general.architecture')!r}, and this shows the llama one only.",
            "Use `llama` or `ggml` for this file.",
        )
    tensors: dict[str, Any] = {
        one.name: dequantize(one.data, one.tensor_type).astype(np.float32, copy=False)
        for one in reader.tensors
    }
    heads = values["llama.attention.head_count"]
    count = values["llama.block_count"]
    names = Layer.__dataclass_fields__
    return Transformer(
        tokenizer=_tokenizer(values),
        embedding=tensors["token_embd.weight"],
        layers=tuple(
            Layer(**{name: tensors[f"blk.{at}.{name}.weight"] for name in names}) for at in range(count)
        ),
        output_norm=tensors["output_norm.weight"],
        output=tensors.get("output.weight", tensors["token_embd.weight"]),
        heads=heads,
        shared_heads=values.get("llama.attention.head_count_kv", heads),
        base=values.get("llama.rope.freq_base", 10_000.0),
        epsilon=values["llama.attention.layer_norm_rms_epsilon"],
        template=values.get("tokenizer.chat_template", ""),
        end=frozenset({values["tokenizer.ggml.eos_token_id"]}),
    )


def _tokenizer(values: dict[str, Any]) -> Tokenizer:
    return Tokenizer(
        kind=values["tokenizer.ggml.model"],
        pieces=values["tokenizer.ggml.tokens"],
        kinds=values["tokenizer.ggml.token_type"],
        scores=values.get("tokenizer.ggml.scores", ()),
        merges=values.get("tokenizer.ggml.merges", ()),
    )
