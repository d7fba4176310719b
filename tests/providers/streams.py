"""Feeding a stream to a decoder in every way that a network can cut it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable
from typing import Any

from hypothesis import strategies as st

from agent_magics.providers.exchange import DONE, Reply
from agent_magics.providers.sse import SSE, Frames
from agent_magics.talk import ProviderEvent, Saying, Thinking


def cuts(data: bytes, places: Iterable[int]) -> list[bytes]:
    """``data`` cut at these places."""
    edges = [0, *sorted({place % (len(data) + 1) for place in places}), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(edges)]


def byte_by_byte(data: bytes) -> list[bytes]:
    return [data[at : at + 1] for at in range(len(data))]


places = st.lists(st.integers(0, 1 << 20), max_size=30)
awkward = st.text(
    st.sampled_from('aé😀你\u2028\u2029\u0085\x0b\x0c\x1c"\\{}[]: \t')
    | st.characters(exclude_categories=["Cs"])
)


def encode_sse(
    payloads: Iterable[Any], *, line_end: str = "\n", done: bool = True, pings: bool = False
) -> bytes:
    """Events as a server may write them."""
    blocks = [f"data: {json.dumps(payload, ensure_ascii=False)}" for payload in payloads]
    if done:
        blocks.append(f"data: {DONE}")
    if pings:
        blocks = [piece for block in blocks for piece in (": ping", f"event: x\nid: 7\n{block}")]
    return "".join(block.replace("\n", line_end) + line_end * 2 for block in blocks).encode()


def frames_of(chunks: Iterable[bytes], decoder: Frames) -> list[str]:
    return [frame for chunk in chunks for frame in decoder.feed(chunk)] + decoder.end()


def decode(chunks: Iterable[bytes], reply: Reply, frames: Callable[[], Frames] = SSE) -> list[ProviderEvent]:
    """What ``reply`` makes of a stream, without a network."""
    events: list[ProviderEvent] = []
    for frame in frames_of(chunks, frames()):
        if frame == DONE:
            reply.complete = True
        else:
            events += reply.read(json.loads(frame))
    return events + list(reply.end())


def joined(events: Iterable[ProviderEvent]) -> list[ProviderEvent]:
    """``events`` with neighbouring pieces of one text put together."""
    whole: list[ProviderEvent] = []
    for event in events:
        last = whole[-1] if whole else None
        if isinstance(event, Saying | Thinking) and type(last) is type(event):
            assert isinstance(last, Saying | Thinking)
            whole[-1] = type(event)(text=last.text + event.text)
        else:
            whole.append(event)
    return whole
