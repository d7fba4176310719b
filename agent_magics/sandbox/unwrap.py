"""Replies in the host: whatever bytes a child sends, either a value of plain data or one refusal.

The child is not trusted, so nothing is unpickled, nothing is looked up by a name that it chose, and sizes are
checked before anything is built of them. JSON is read with bounds on its length, depth and number of parts:
Python's own reader recurses, and a notebook may have raised the recursion limit beyond what the stack holds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NoReturn, cast

from agent_magics.sandbox.outcome import Fault, Kind
from agent_magics.sandbox.rebuild import Refused, rebuild

LONGEST_HEADER = 8 << 20
DEEPEST = 100
MOST_PARTS = 500_000
LONGEST_INTEGER = 4300
LONGEST_MESSAGE = 2000
FAULTS_OF_A_CHILD = frozenset({"syntax", "function", "arguments", "exception", "memory", "refused_reply"})

# A string of JSON, or what begins one and never ends; possessive, so that no input makes it slow.
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_TO_ROUND = bytes.maketrans(b"[]{}", b"()()")


def unwrap(body: bytes | bytearray | memoryview) -> tuple[Any, Fault | None]:
    """The value or the fault in a reply's body.

    Anything that is not exactly a reply comes back as a fault of kind ``refused_reply``.
    """
    try:
        return _unwrap(memoryview(body))
    except Refused as refusal:
        return None, Fault(kind="refused_reply", message=f"The reply was refused: {refusal}.")
    except Exception as error:  # hostile bytes end here, whatever they upset
        message = f"The reply was refused: it could not be read ({type(error).__name__})."
        return None, Fault(kind="refused_reply", message=message)


def _unwrap(body: memoryview) -> tuple[Any, Fault | None]:
    if len(body) < 4:
        raise Refused("it is too short")
    length = int.from_bytes(body[:4], "big")
    if length > min(LONGEST_HEADER, len(body) - 4):
        raise Refused(f"its header is longer than the reply or than {LONGEST_HEADER >> 20} MB")
    header = read_json(bytes(body[4 : 4 + length]))
    if not isinstance(header, dict):
        raise Refused("its header is no object")
    header = cast("dict[str, Any]", header)
    if "fault" in header:
        return None, _fault(header["fault"])
    buffers = _buffers(header.get("buffers"), body[4 + length :])
    tree = [header["value"]]
    for attachment in _list(header.get("attached")):
        _attach(tree, attachment, buffers)
    return tree[0], None


def read_json(data: bytes) -> Any:
    """JSON from a stranger, within bounds.

    Raises
    ------
    Refused
        If it is not JSON, or too deep, too many, ambiguous, or not text that can be written again.
    """
    brackets = _STRING.sub(b"", data)
    if brackets.count(b",") > MOST_PARTS:
        raise Refused(f"it has more than {MOST_PARTS:,} parts; return a DataFrame or an array instead")
    nesting = brackets.translate(_TO_ROUND, _NOT_BRACKETS)
    for _ in range(DEEPEST):
        if not nesting:
            break
        nesting = nesting.replace(b"()", b"")
    if nesting:
        raise Refused(f"it is nested more than {DEEPEST} deep, or its brackets don't match")
    try:
        text = data.decode("utf-8")
        value = json.loads(
            text, object_pairs_hook=_unambiguous, parse_constant=_no_constant, parse_int=_integer
        )
    except ValueError as error:
        raise Refused(f"it is not JSON ({error})") from error
    if b"\\ud" in data.lower():
        _require_text(value)
    return value


def _unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Refused("an object in it has the same key twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise Refused(f"{name} is not JSON")


def _integer(digits: str) -> int:
    if len(digits) > LONGEST_INTEGER:
        raise Refused(f"a number in it has more than {LONGEST_INTEGER:,} digits")
    return int(digits)


def _require_text(value: Any) -> None:
    """Half a surrogate pair is no text: it can be neither printed nor stored."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise Refused("it has text with half a surrogate pair") from None


def _fault(said: Any) -> Fault:
    match said:
        case {"kind": str(kind), "message": str(message), "line": int() | None as line} if (
            kind in FAULTS_OF_A_CHILD and len(message) <= LONGEST_MESSAGE
        ):
            return Fault(kind=cast("Kind", kind), message=message, line=line)
        case _:
            raise Refused("its fault is malformed")


def _buffers(places: Any, data: memoryview) -> list[memoryview]:
    buffers: list[memoryview] = []
    end = 0
    for place in _list(places):
        match place:
            case [int(start), int(size)] if end <= start and 0 <= size <= len(data) - start:
                end = start + size
                buffers.append(data[start:end])
            case _:
                raise Refused("a buffer lies outside of it")
    return buffers


def _attach(root: list[Any], attachment: Any, buffers: Sequence[memoryview]) -> None:
    """Put one rebuilt value at its place, which must be there and empty."""
    match attachment:
        case {"at": [*steps], "as": str()}:
            *way, last = [0, *steps]
        case _:
            raise Refused("an attachment is malformed")
    holder: Any = root
    for step in way:
        holder = _at(holder, step)
    if _at(holder, last) is not None:
        raise Refused("two things are attached at one place")
    holder[last] = rebuild(cast("dict[str, Any]", attachment), buffers)


def _at(holder: Any, step: Any) -> Any:
    match holder, step:
        case dict(), str() if step in holder:
            return cast("dict[str, Any]", holder)[step]
        case list(), int() if 0 <= step < len(cast("list[Any]", holder)):
            return cast("list[Any]", holder)[step]
        case _:
            raise Refused("an attachment points nowhere")


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise Refused("a list is missing from it")
    return cast("list[Any]", value)
