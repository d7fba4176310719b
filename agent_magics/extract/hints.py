"""Pydantic models, dataclasses, typed dicts and other type hints -> JSON Schema, by pydantic."""

from __future__ import annotations

import sys
import types
import typing
from collections.abc import Callable
from functools import cached_property
from typing import Any, cast, get_args, get_origin

from agent_magics.errors import UsageError
from agent_magics.talk import JSON


def hint_schema(hint: Any) -> tuple[dict[str, JSON], Callable[[JSON], list[str]]]:
    """The schema of ``hint``, and what its own validators say of a value that keeps the schema.

    Raises
    ------
    UsageError
        If nothing of the kind can be made of it.
    """
    from pydantic import PydanticUserError, TypeAdapter
    from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError

    if not _may_be_hint(hint):
        raise _unfit(hint, f"It is {type(hint).__name__}.")
    try:
        schema = TypeAdapter(_modern(hint, {})).json_schema()
    except (PydanticSchemaGenerationError, PydanticInvalidForJsonSchema, PydanticUserError) as error:
        raise _unfit(hint, error.message) from error
    except (NameError, TypeError) as error:
        raise _unfit(hint, str(error)) from error

    return _tidy(schema), OwnRules(hint)


class OwnRules:
    """What the validators of a type say of a value; pickled as the type alone."""

    def __init__(self, hint: Any) -> None:
        self._hint = hint

    @cached_property
    def _adapter(self) -> Any:
        from pydantic import TypeAdapter

        return TypeAdapter(_modern(self._hint, {}))

    def __call__(self, value: JSON) -> list[str]:
        from pydantic import ValidationError
        from pydantic_core import to_json

        try:
            self._adapter.validate_json(to_json(value))
        except ValidationError as error:
            return [_problem(each) for each in error.errors()]
        return []

    def __reduce__(self) -> tuple[type[OwnRules], tuple[Any]]:
        return OwnRules, (self._hint,)


def _may_be_hint(thing: Any) -> bool:
    return isinstance(thing, type) or get_origin(thing) is not None or hasattr(thing, "__supertype__")


def _problem(error: Any) -> str:
    place = "/".join(map(str, error["loc"]))
    return f"{place}: {error['msg']}" if place else error["msg"]


def _modern(hint: Any, seen: dict[Any, Any]) -> Any:
    """``hint`` with its ``typing.TypedDict``s made those of typing_extensions, which pydantic asks for
    before Python 3.12."""
    if sys.version_info >= (3, 12):
        return hint
    import typing_extensions

    if typing_extensions.is_typeddict(hint) and type(hint).__module__ == "typing":
        if hint in seen:
            raise TypeError(f"{hint.__name__} contains itself: import TypedDict from typing_extensions")
        hints = typing.get_type_hints(hint, include_extras=True)
        within = {**seen, hint: None}
        fields = {name: _required(hint, name, _modern(each, within)) for name, each in hints.items()}
        make: Any = typing_extensions.TypedDict
        made = make(hint.__name__, fields)
        made.__doc__ = hint.__doc__
        return made
    arguments = get_args(hint)
    if not arguments or get_origin(hint) is typing.Literal:
        return hint
    modern = tuple(_modern(each, seen) for each in arguments)
    return hint if modern == arguments else _rebuilt(hint, modern)


def _rebuilt(hint: Any, arguments: tuple[Any, ...]) -> Any:
    origin = get_origin(hint)
    if origin is typing.Union or origin is types.UnionType:
        return typing.Union[arguments]  # noqa: UP007  # arguments come as a tuple
    return hint.copy_with(arguments) if hasattr(hint, "copy_with") else origin[arguments]


def _required(hint: Any, name: str, field: Any) -> Any:
    import typing_extensions

    if get_origin(field) in (typing_extensions.Required, typing_extensions.NotRequired):
        return field
    return field if name in hint.__required_keys__ else typing_extensions.NotRequired[field]


def _tidy(schema: Any) -> Any:
    """Without the titles that pydantic derives from names: they tell the model nothing."""
    if isinstance(schema, list):
        return [_tidy(part) for part in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    parts = cast("dict[str, Any]", schema)
    tidy: dict[str, Any] = {}
    for key, part in parts.items():
        if key == "title" and isinstance(part, str):
            continue
        if key in ("properties", "$defs") and isinstance(part, dict):
            named = cast("dict[str, Any]", part)
            tidy[key] = {name: _tidy(each) for name, each in named.items()}  # here "title" may be a field
        else:
            tidy[key] = part if key in ("default", "examples", "enum", "const") else _tidy(part)
    return tidy


def _unfit(hint: Any, why: str) -> UsageError:
    name = getattr(hint, "__name__", None) or repr(hint)[:60]
    return UsageError(
        f"{name!r} can't be taken as a schema.",
        why.strip().partition("\n")[0],
        'Give a JSON Schema, a .json file, a Pydantic model, dataclass or TypedDict, or "name, age int".',
    )
