"""What nobody may see, and how it is kept out of every text.

A secret is known by its value: keys that were found or typed, and what the environment holds under a name
that says so. Whatever is shown, stored, sent to a model or logged passes :func:`masked`, which takes known
values out of it, also as JSON or an address would write them. It changes nothing else: what merely looks like
a key may be the name of a column.

This stands below everything: a process has one environment and one set of secrets.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import os
import re
import threading
import traceback
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar, cast
from urllib.parse import quote

T = TypeVar("T")

MASK = "[key]"

SECRET_NAMES = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
"""Names of variables that may hold a secret."""

_SURELY = re.compile(
    r"API_?KEY|(?:AUTH|ACCESS)_?TOKEN|SECRET_?(?:ACCESS_?)?KEY|CLIENT_?SECRET", re.IGNORECASE
)
_RANDOM = re.compile(r"(?=\S*\d)[^\s/\\:]{16,}")
"""What a secret looks like where only half of the name says that it is one: long, with a digit, no path."""

_LIKELY = re.compile(r"(?:sk|pk|rk|hf|xai|gsk)[-_]\S{5,}|(?=\S*\d)\S{12,}")
_SHORTEST = 8
_PLACEHOLDERS = frozenset(
    [
        *("lm-studio", "no-key-needed", "no-key-required", "sk-no-key-required", "not-needed"),
        *("placeholder", "changeme", "your-api-key", "your-api-key-here", "anything", "undefined"),
    ]
)
"""What people set where a server of their own wants some key; masking these would black out plain words."""

_DEEP = 100
_known: frozenset[str] = frozenset()
_forms: tuple[str, ...] = ()
_NEVER = r"(?!)"
_beginnings = re.compile(_NEVER)
_learning = threading.Lock()


def hide(*values: str) -> None:
    """From now on nobody sees these; what is too short, or a placeholder, is no secret."""
    secret = {each for each in values if len(each) >= _SHORTEST and each.lower() not in _PLACEHOLDERS}
    if not secret <= _known:
        with _learning:
            _know(_known | secret)


def hide_likely(*words: str) -> None:
    """Hide those of these words that may well be keys: they stand where one was expected."""
    hide(*(word for word in words if _LIKELY.fullmatch(word)))


@contextmanager
def knowing_nothing() -> Generator[None]:
    """What is known before is not known inside, and the other way round: for tests."""
    before = _known
    _know(frozenset())
    try:
        yield
    finally:
        _know(before)


def look_around(entries: Mapping[str, str] | None = None) -> None:
    """Learn what the environment, or a file's entries, hold under names that say that it is secret."""
    where = os.environ if entries is None else entries
    # By name: another thread may change the environment meanwhile.
    named = [(name, where.get(name, "").strip()) for name in where if SECRET_NAMES.search(name)]
    hide(*(value for name, value in named if _SURELY.search(name) or _RANDOM.fullmatch(value)))


def environment_without_secrets() -> dict[str, str]:
    """This process's environment as a child may have it: without whatever may be a secret."""
    return {name: os.environ.get(name, "") for name in os.environ if not SECRET_NAMES.search(name)}


def masked(thing: T, depth: int = 0) -> T:
    """A text, or whatever holds texts (lists, mappings, dataclasses), without any known secret.

    What holds none is returned as it is, the same object.
    """
    value = cast("Any", thing)
    if not _forms:
        return thing
    if isinstance(value, str):
        return cast("T", _text(value))
    if depth > _DEEP:
        return thing if _is_clean(value) else cast("T", MASK)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return cast("T", _dataclass(value, depth))
    if isinstance(value, Mapping):
        before = cast("Mapping[Any, Any]", value)
        after = {masked(key, depth + 1): masked(item, depth + 1) for key, item in before.items()}
        same = all(key in after and after[key] is item for key, item in before.items())
        return thing if same else cast("T", after)
    if isinstance(value, list | tuple):
        items = cast("list[Any]", value)
        new = [masked(item, depth + 1) for item in items]
        if all(one is other for one, other in zip(new, items, strict=True)):
            return thing
        return cast("T", new if isinstance(value, list) else tuple(new))
    return thing


class MaskedStream:
    """Text that arrives in pieces: a secret may begin in one and end in another.

    >>> with knowing_nothing():
    ...     hide("sesame-open-1")
    ...     stream = MaskedStream()
    ...     print([stream.take("say sesa"), stream.take("me-open-1 now"), stream.rest()])
    ['say ', '[key] now', '']
    """

    def __init__(self) -> None:
        self._held = ""

    def take(self, text: str) -> str:
        """What can be shown by now."""
        if not self._held and not _beginnings.search(text):  # nearly always
            return text
        text = _text(self._held + text)
        at = _open_at(text)
        self._held = text[at:]
        return text[:at]

    def rest(self) -> str:
        """What was held back, when nothing more comes."""
        held, self._held = self._held, ""
        return held


def guard_logs() -> None:
    """Keep secrets out of what we log, and out of what asyncio logs for us."""
    for name in ("agent_magics", "asyncio"):
        logging.getLogger(name).addFilter(_mask_record)


def _mask_record(record: logging.LogRecord) -> bool:
    look_around()
    said = record.getMessage()
    if (clean := masked(said)) != said:
        record.msg, record.args = clean, ()
    if record.exc_info and record.exc_info[0]:
        trace = "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
        if (clean := masked(trace)) != trace:  # handlers would write the exception's own text
            record.exc_info, record.exc_text = None, clean
    return True


def _know(secrets: frozenset[str]) -> None:
    global _known, _forms, _beginnings
    _known = secrets
    # Long ones first: one that is a piece of another would leave the other's rest in sight.
    _forms = tuple(sorted({form for each in secrets for form in _written(each)}, key=len, reverse=True))
    _beginnings = re.compile("|".join(sorted({re.escape(form[0]) for form in _forms})) or _NEVER)


def _text(text: str) -> str:
    for form in _forms:
        if form in text:
            text = text.replace(form, MASK)
    return text


def _written(secret: str) -> set[str]:
    """A secret as it may stand in a text: plain, in JSON, in an address."""
    return {secret, json.dumps(secret)[1:-1], quote(secret, safe="")}


def _open_at(text: str) -> int:
    """Where the end of a text may be the beginning of a secret; its length, if nowhere."""
    found = len(text)
    for form in _forms:
        at = max(0, len(text) - len(form) + 1)
        while 0 <= (at := text.find(form[0], at)) < found:
            if form.startswith(text[at:]):
                found = at
            at += 1
    return found


def _dataclass(thing: Any, depth: int) -> Any:
    changed = {
        field.name: new
        for field in dataclasses.fields(thing)
        if (new := masked(old := getattr(thing, field.name), depth + 1)) is not old
    }
    return dataclasses.replace(thing, **changed) if changed else thing


def _is_clean(thing: Any) -> bool:
    """Whether there is no secret at any depth; for what is nested too deep to be taken apart."""
    left = [thing]
    while left:
        value = left.pop()
        if isinstance(value, str):
            if _text(value) != value:
                return False
        elif isinstance(value, Mapping):
            each = cast("Mapping[Any, Any]", value)
            left += [*each.keys(), *each.values()]
        elif isinstance(value, list | tuple):
            left += cast("list[Any]", value)
    return True
