"""Any Python value -> the JSON text that the model reads.

A dict with ``error`` is a failure, every other value a success; ``ok`` says so. What JSON can't hold becomes
its text. A long result is cut in the middle, and what was left out stays readable under a handle.
"""

from __future__ import annotations

import json
import math
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from agent_magics.errors import ToolError
from agent_magics.masking import masked
from agent_magics.talk import JSON, ToolResult
from agent_magics.talk.text import whole

LIMIT = 16_000
"""Characters of a result that the model is sent in native tool calling."""

HEAD = 0.75
KEEP = 64_000_000
"""Characters of cut results that a session keeps for ``more``; the oldest go first."""

_ENVELOPE = len('{"result": "", "ok": true}')


class Page(dict[str, JSON]):
    """One page of a cut result. It is as long as a result may be, so it is never cut again."""


class Results:
    """Wraps the results of one session and keeps what was cut.

    Parameters
    ----------
    limit : int
        Characters of one result that the model is sent.
    keep : int
        Characters of cut results that stay readable; the oldest go first.

    >>> Results().wrap({"path": "a.txt", "lines": 3}).text
    '{"path": "a.txt", "lines": 3, "ok": true}'
    >>> Results(limit=8).wrap("0123456789abcdef").handle
    'r1'
    """

    def __init__(self, limit: int = LIMIT, keep: int = KEEP) -> None:
        self.limit = limit
        self.keep = keep
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._size = 0
        self._count = 0

    def wrap(self, value: object) -> ToolResult:
        """What a handler returned, as the model reads it, without any key. Takes every value there is; never
        raises."""
        payload, ok = _payload(value)
        text = json_text({**payload, "ok": ok})
        if (clean := masked(text)) != text:
            # Before anything is cut or shortened: half a key would no longer be known as one.
            payload, text = _payload_of(clean), clean
            value = payload.get("result") if type(value) is str else payload
        brief = _brief(value, payload)
        is_text = type(value) is str
        if len(text) - _ENVELOPE * is_text <= self.limit or type(value) is Page:
            return ToolResult(ok=ok, text=text, size=len(text), brief=brief)
        return self._cut(value if is_text else text, ok, brief)  # pyright: ignore[reportArgumentType]

    def failure(self, error: str, **more: JSON) -> ToolResult:
        """A failed call's result."""
        return self.wrap({"error": error, **more})

    def more(self, handle: str, page: int = 1) -> Page:
        """One page of a result that was cut; all pages in order are the whole.

        Raises
        ------
        ToolError
            If there is no such handle or no such page.
        """
        kept = self._kept.get(handle)
        if kept is None:
            known = ", ".join(self._kept) or "none"
            raise ToolError(f"No cut result under handle {handle!r}. Known handles: {known}.")
        pages = len(kept.starts)
        if not 1 <= page <= pages:
            raise ToolError(f"Result {handle!r} has pages 1 to {pages}; there is no page {page}.")
        start, end = kept.starts[page - 1], [*kept.starts, len(kept.text)][page]
        return Page(page=page, pages=pages, text=kept.text[start:end])

    def _cut(self, text: str, ok: bool, brief: str) -> ToolResult:
        handle = self._keep(text)
        room = int(self.limit * HEAD)
        head = _fitting(text[:room], room)
        tail = _fitting(text[: room - self.limit - 1 : -1], self.limit - room)
        cut = {
            "cut": f"The first {head:,} and the last {tail:,} of {len(text):,} characters. Read on with "
            f"more(handle={handle!r}, page=1 to {len(self._kept[handle].starts)}).",
            "head": text[:head],
            "tail": text[len(text) - tail :],
            "ok": ok,
        }
        return ToolResult(ok=ok, text=json_text(cut), size=len(text), brief=brief, handle=handle)

    def _keep(self, text: str) -> str:
        """Keep a text. One that is kept already keeps its handle, so that a result that comes again looks
        the same to the model, and to the cap on rounds that lead nowhere."""
        for handle, kept in self._kept.items():
            if kept.text == text:
                return handle
        self._count += 1
        handle = f"r{self._count}"
        self._kept[handle] = _Kept(text=text, limit=self.limit)
        self._size += len(text)
        while self._size > self.keep and len(self._kept) > 1:
            _, oldest = self._kept.popitem(last=False)
            self._size -= len(oldest.text)
        return handle


@dataclass(frozen=True, kw_only=True)
class _Kept:
    text: str
    limit: int

    @cached_property
    def starts(self) -> list[int]:
        """Where each page begins. Pages are measured as JSON writes them, where a quote takes two."""
        starts, at = [0], 0
        while (at := at + _fitting(self.text[at : at + self.limit], self.limit)) < len(self.text):
            starts.append(at)
        return starts


def _fitting(text: str, room: int) -> int:
    """How many characters from the start of ``text`` fit, at least one, when JSON has to escape some."""
    count = max(1, len(text))
    while count > 1 and (size := len(json.dumps(text[:count], ensure_ascii=False)) - 2) > room:
        count = max(1, min(count - 1, count * room // size))
    return count


def _payload(value: object) -> tuple[dict[str, Any], bool]:
    if issubclass(type(value), Mapping):
        try:
            payload = {text_of(key): item for key, item in cast("Mapping[object, Any]", value).items()}
        except Exception:  # a mapping of the tool's own that can't be read: its text will do
            return {"result": value}, True
        return payload, "error" not in payload
    return {"result": value}, True


def _payload_of(text: str) -> dict[str, Any]:
    """What a masked result holds; as text, should a key have been part of its JSON."""
    try:
        payload = json.loads(text)
    except ValueError:
        return {"result": text}
    payload.pop("ok", None)
    return payload


# -- JSON text ---------------------------------------------------------------------------------------


def json_text(value: object) -> str:
    """``value`` as JSON text; whatever JSON can't hold becomes its own text, at any depth. Never raises."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=_default)
    except (
        Exception
    ):  # keys that are no text, circles, infinities, huge integers, values with code of their own
        text = json.dumps(_plain(value, 0, frozenset()), ensure_ascii=False, allow_nan=False)
    return whole(text)


def text_of(value: object) -> str:
    """``str(value)``, whatever a broken ``__str__`` does."""
    try:
        return str.__str__(value) if issubclass(type(value), str) else str(value)  # pyright: ignore[reportArgumentType]
    except Exception as error:  # the value's fault; the result must still arrive
        return f"<{type(value).__name__}: its text could not be made ({type(error).__name__})>"


def _default(value: object) -> JSON:
    """For ``json.dumps``: a value of a kind that it doesn't know."""
    if isinstance(value, set | frozenset):
        return list(cast("set[Any]", value))
    return dict(cast("Mapping[Any, Any]", value)) if isinstance(value, Mapping) else text_of(value)


def _plain(value: Any, depth: int, above: frozenset[int]) -> JSON:
    """The careful way, in Python: everything that ``json.dumps`` may refuse is replaced."""
    kind = cast("type[object]", type(value))
    if value is None or kind is bool or kind is str:
        return value
    if issubclass(kind, int):
        return _integer(int.__int__(value))
    if issubclass(kind, float):
        number = float.__float__(value)
        return number if math.isfinite(number) else str(number)
    if not issubclass(kind, Mapping | list | tuple | set | frozenset):
        return text_of(value)
    if id(value) in above or depth > 40:
        return "(…)"
    inside = above | {id(value)}
    try:
        if issubclass(kind, Mapping):
            return {text_of(key): _plain(item, depth + 1, inside) for key, item in value.items()}
        return [_plain(item, depth + 1, inside) for item in value]
    except Exception:  # a container of the tool's own that can't be read
        return text_of(value)


def _integer(number: int) -> int | str:
    """Python refuses to write integers of thousands of digits in decimals; as hexadecimal it doesn't."""
    try:
        str(number)
    except ValueError:
        return hex(number)
    return number


# -- a few words -------------------------------------------------------------------------------------


def _brief(value: object, payload: Mapping[str, Any]) -> str:
    """A few words for the row: the error, a single small value, or nothing."""
    for key in ("error", "brief"):
        if key in payload:
            return _one_line(payload[key])
    if not issubclass(type(value), Mapping):
        return _one_line(value)
    single = [item for item in payload.values() if type(item) in (str, int, float)]
    return _one_line(single[0]) if len(payload) == 1 and single else ""


def _one_line(value: object, most: int = 80) -> str:
    kind = type(value)
    if kind is str:
        text = whole(cast("str", value)[: 2 * most])
    elif kind is float:
        text = f"{value:,.6g}"
    elif kind in (bool, int, type(None)):
        text = json_text(value)
    else:
        return ""
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"
