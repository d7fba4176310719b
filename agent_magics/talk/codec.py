"""Events and turns <-> versioned JSON.

One format for the store, for the data in a saved cell and for exports: ``{"v": 1, "type": "turn", ...}``
with the dataclass's own field names. A version that is newer than ours is refused, never guessed at; so is a
type that is not in the table. Unknown fields are dropped, missing ones take their defaults.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from agent_magics.errors import ConfigError
from agent_magics.talk import content, events, history, memory, turn

VERSION = 1

_TYPES: dict[str, type[Any]] = {
    cls.__name__: cls
    for module in (content, events, turn, history, memory)
    for cls in vars(module).values()
    if dataclasses.is_dataclass(cls) and isinstance(cls, type) and cls.__module__ == module.__name__
}


def encode(thing: object, *, sparse: bool = False) -> dict[str, Any]:
    """A talk dataclass as a JSON-ready dict with its type and the format's version.

    A ``sparse`` one leaves out what has its default value, and decodes to the same: for files to keep.

    >>> from agent_magics.talk import Saying, Usage
    >>> encode(Saying(text="hi"))
    {'v': 1, 'type': 'Saying', 'text': 'hi'}
    >>> encode(Usage(input=3), sparse=True)
    {'v': 1, 'type': 'Usage', 'input': 3}
    """
    return {"v": VERSION, "type": type(thing).__name__, **_fields(thing, sparse)}


def decode(data: Mapping[str, Any]) -> Any:
    """The dataclass that :func:`encode` made this from.

    Raises
    ------
    ConfigError
        If the format is newer than this version knows, or the data is not of this format.
    """
    version, name = data.get("v"), data.get("type")
    if type(version) is not int or version > VERSION:
        raise ConfigError(
            f"This record has format version {version!r}; this agent_magics reads up to {VERSION}.",
            "It was written by a newer version, or it is not a record of agent_magics.",
            "Upgrade agent-magics, or leave the record as it is.",
        )
    if not isinstance(name, str) or name not in _TYPES:
        raise ConfigError(f"Unknown kind of record: {name!r}.")
    try:
        return _build(_TYPES[name], data)
    except (TypeError, ValueError, AttributeError) as error:
        raise ConfigError(f"A damaged record of kind {name!r}.", str(error)) from error


def _fields(thing: Any, sparse: bool) -> dict[str, Any]:
    kind = cast("type[Any]", type(thing))
    hints, defaults = _hints(kind), _defaults(kind) if sparse else {}
    values = {field.name: getattr(thing, field.name) for field in dataclasses.fields(thing)}
    return {
        name: _plain(value, hints[name], sparse)
        for name, value in values.items()
        if name not in defaults or defaults[name] != value
    }


def _plain(value: Any, hint: Any, sparse: bool) -> Any:
    """Our own containers, taken apart. What is JSON already is passed on: it may be nested very deep."""
    if hint is Any:
        return value
    if dataclasses.is_dataclass(value):
        return _fields(cast("Any", value), sparse)
    if isinstance(value, list | tuple):
        return [_plain(item, None, sparse) for item in cast("list[Any]", value)]
    return dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else value


@cache
def _defaults(cls: type[Any]) -> dict[str, Any]:
    return {name: make() for name, make in _makers(cls).items()}


@cache
def _hints(cls: type[Any]) -> dict[str, Any]:
    return get_type_hints(cls)


# -- reading: what a field's type asks for is worked out once, since a session has many thousands of fields


Reader = Callable[[Any], Any]


def _build(cls: type[Any], data: Any) -> Any:
    """As the class would be called, but each field is written where it lies: that takes half the time."""
    if not isinstance(data, dict):
        raise ValueError(f"expected the fields of a {cls.__name__}, found {type(data).__name__}")
    given = cast("dict[str, Any]", data)
    made = object.__new__(cls)
    for name, write, read, default in _plan(cls):
        if name in given:
            write(made, read(given[name]))
        elif default is None:
            raise ValueError(f"a {cls.__name__} without {name!r}")
        else:
            write(made, default())
    return made


@cache
def _plan(cls: type[Any]) -> list[tuple[str, Callable[[Any, Any], None], Reader, Callable[[], Any] | None]]:
    """Each field's name, and what writes it, reads it, or stands for it."""
    hints, defaults = _hints(cls), _makers(cls)
    return [
        (name, getattr(cls, name).__set__, _reader(hint), defaults.get(name)) for name, hint in hints.items()
    ]


@cache
def _makers(cls: type[Any]) -> dict[str, Callable[[], Any]]:
    """What makes the default of each field that has one."""
    missing = dataclasses.MISSING
    made: dict[str, Callable[[], Any]] = {}
    for field in dataclasses.fields(cls):
        if field.default_factory is not missing:
            made[field.name] = field.default_factory
        elif field.default is not missing:
            made[field.name] = partial(_same, field.default)
    return made


def _same(value: Any) -> Any:
    return value


@cache
def _reader(hint: Any) -> Reader:
    """What takes JSON to this type: nested dataclasses are built, lists made tuples where tuples belong."""
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        inner = _reader(args[0])
        return lambda value: None if value is None else inner(value)
    if origin in (tuple, list):
        return _sequence(origin, args)
    if dataclasses.is_dataclass(hint):
        return partial(_build, cast("type[Any]", hint))
    if origin is Literal:
        return partial(_one_of, args)
    if allowed := _ALLOWED.get(origin or hint):
        return partial(_exactly, allowed)
    return _same


_ALLOWED: dict[Any, tuple[type, ...]] = {
    str: (str,),
    int: (int,),
    float: (float, int),
    bool: (bool,),
    Mapping: (dict,),
}
"""What JSON may hold for a field of each plain type; exactly, so that ``True`` is no number."""


def _exactly(allowed: tuple[type, ...], value: Any) -> Any:
    if type(value) not in allowed:
        raise ValueError(f"expected {allowed[0].__name__}, found {type(value).__name__}")
    return value


def _one_of(words: tuple[Any, ...], value: Any) -> Any:
    if value not in words:
        raise ValueError(f"expected one of {words}, found {value!r}")
    return value


def _sequence(kind: Any, hints: tuple[Any, ...]) -> Reader:
    readers = [_reader(hint) for hint in hints if hint is not Ellipsis]
    fixed = kind is tuple and hints[-1] is not Ellipsis

    def read(value: Any) -> Any:
        if not isinstance(value, list):
            raise ValueError(f"expected a list, found {type(value).__name__}")
        items = cast("list[Any]", value)
        each = readers if fixed else readers * len(items)
        built = [read(item) for read, item in zip(each, items, strict=True)]
        return tuple(built) if kind is tuple else built

    return read
