"""What an answer must look like: one schema, however it was written.

A schema is kept as its author wrote it, and that one decides at the end. What a provider is sent may differ:
it is an object also where the schema is a list or a union, because vendors and tools want one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from agent_magics.errors import ConfigError, UsageError
from agent_magics.extract.formats import format_checker
from agent_magics.extract.hints import hint_schema
from agent_magics.extract.short import short_schema
from agent_magics.extract.soundness import check_schema, outside
from agent_magics.extract.wrapping import is_object, wrap
from agent_magics.talk import JSON
from agent_magics.tools.validation import Validator

_MOST_PROBLEMS = 5


class Schema:
    """A JSON Schema (draft 2020-12) and what judges by it.

    Made with :meth:`of`.

    Attributes
    ----------
    json : dict
        The schema as its author wrote it.
    wanted : dict
        What a provider is asked for: the schema, or an object that holds its value under ``"value"``.
    wrapped : bool
        Whether ``wanted`` is such an object.
    """

    def __init__(
        self, schema: Mapping[str, JSON], *, further: Callable[[JSON], list[str]] | None = None
    ) -> None:
        self.json: dict[str, JSON] = dict(schema)
        check_schema(self.json)
        self._further = further
        self.wrapped = not is_object(self.json)
        self.wanted = wrap(self.json) if self.wrapped else self.json

    @classmethod
    def of(cls, thing: Any, *, namespace: Mapping[str, Any] | None = None) -> Schema:
        """The schema that ``thing`` stands for.

        Parameters
        ----------
        thing : dict, str, path, type or Schema
            A JSON Schema; its text; a ``.json`` file; a Pydantic model, dataclass, ``TypedDict`` or any
            other type hint (``list[Bug]``); the short form (:mod:`agent_magics.extract.short`); or the name
            of one of these in ``namespace``.

        Raises
        ------
        UsageError
            If it is none of these.
        ConfigError
            If it is a schema that is not in order, or a file that can't be read.

        Examples
        --------
        >>> Schema.of("name, age int").problems({"name": "Ada", "age": "old"})
        ["age: 'old' is not of type 'integer'"]
        """
        match thing:
            case Schema():
                return thing
            case Mapping():
                return cls(cast("Mapping[str, JSON]", thing))
            case Path():
                return cls(_read(thing))
            case str():
                return cls._of_text(thing.strip(), namespace)
            case _:
                return cls._of_hint(thing)

    @classmethod
    def _of_text(cls, text: str, namespace: Mapping[str, Any] | None) -> Schema:
        if text.endswith(".json"):
            return cls(_read(Path(text)))
        if namespace is not None and text.isidentifier():
            if text not in namespace:
                raise _unknown_name(text)
            return cls.of(namespace[text])
        if text.startswith("{") and (schema := _as_json(text)) is not None:
            return cls(schema)
        if namespace is not None and (found := _attribute(text, namespace)) is not None:
            return cls.of(found)
        return cls(short_schema(text))

    @classmethod
    def _of_hint(cls, hint: Any) -> Schema:
        schema, further = hint_schema(hint)
        return cls(schema, further=further)

    def __repr__(self) -> str:
        return f"Schema({json.dumps(self.json, ensure_ascii=False)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self.json, self._further)

    @cached_property
    def _validator(self) -> Validator:
        return Validator(self.json, formats=format_checker())

    def problems(self, value: JSON) -> list[str]:
        """Which rules ``value`` breaks, each with its place; empty when it may be bound."""
        from referencing.exceptions import Unresolvable

        try:
            found = self._validator.problems(value, most=_MOST_PROBLEMS)
        except Unresolvable as error:  # behind a base of its own, where `check_schema` didn't look
            raise outside(error.ref) from None
        return found if found or self._further is None else self._further(value)

    def settled(self, value: JSON) -> JSON:
        """``value`` without the nulls that stand for keys that may be missing.

        Providers that want every key, or models by themselves, write ``null`` where there is nothing to say.
        Where the schema allows the key to be missing but not to be null, the key is taken out.
        """
        nulls = {
            tuple(error.absolute_path)
            for error in _leaves(self._validator.errors(value))
            if error.instance is None and error.absolute_path and isinstance(error.absolute_path[-1], str)
        }
        if not nulls:
            return value
        without = _without(value, nulls)
        missing = {
            (*error.absolute_path, name)
            for error in _leaves(self._validator.errors(without))
            if error.validator == "required"
            for name in error.validator_value
        }
        return _without(value, nulls - missing)


def _unpickled(schema: dict[str, JSON], further: Callable[[JSON], list[str]] | None) -> Schema:
    return Schema(schema, further=further)


def _read(path: Path) -> dict[str, JSON]:
    try:
        text = path.expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"The schema {str(path)!r} can't be read.", str(error), "Give the path of a JSON file."
        ) from None
    try:
        schema = json.loads(text)
    except ValueError as error:
        raise ConfigError(
            f"The schema {str(path)!r} is not JSON.", str(error), "Mend the file: it holds one JSON Schema."
        ) from None
    if not isinstance(schema, dict):
        raise ConfigError(
            f"The schema {str(path)!r} is no JSON Schema.",
            f"It holds {type(schema).__name__}, not an object.",
            'It begins with "{", for example {"type": "object", ...}.',
        )
    return cast("dict[str, JSON]", schema)


def _as_json(text: str) -> dict[str, JSON] | None:
    """A schema that was written as JSON; ``{name, age int}`` is none."""
    try:
        schema = json.loads(text)
    except ValueError as error:
        if text.lstrip("{ \n\t").startswith('"$') or '"type"' in text:
            raise UsageError(
                "The schema is not JSON.", str(error), "Mend it, or write the short form: name, age int."
            ) from None
        return None
    return cast("dict[str, JSON]", schema) if isinstance(schema, dict) else None


def _attribute(text: str, namespace: Mapping[str, Any]) -> Any:
    """What ``models.Bug`` or ``list[Bug]`` names; of expressions only these two are understood."""
    if text.startswith("list[") and text.endswith("]"):
        inner = text[5:-1].strip()
        item = namespace.get(inner) if inner.isidentifier() else _attribute(inner, namespace)
        return list[item] if isinstance(item, type) else None
    first, *rest = text.split(".")
    if not rest or first not in namespace or not all(part.isidentifier() for part in rest):
        return None
    found = namespace[first]
    for part in rest:
        found = getattr(found, part, None)
    return found


def _unknown_name(name: str) -> UsageError:
    return UsageError(
        f"There is no {name!r} to take as a schema.",
        "No variable of the notebook has this name.",
        f'Define it first; a schema with this one field is written "{name} str".',
    )


def _leaves(errors: Any) -> Iterator[Any]:
    for error in errors:
        yield error
        yield from _leaves(error.context)


def _without(value: JSON, places: set[tuple[Any, ...]], here: tuple[Any, ...] = ()) -> JSON:
    match value:
        case dict():
            parts = cast("dict[str, JSON]", value)
            return {
                key: _without(part, places, (*here, key))
                for key, part in parts.items()
                if (*here, key) not in places
            }
        case list():
            items = cast("list[JSON]", value)
            return [_without(item, places, (*here, at)) for at, item in enumerate(items)]
        case _:
            return value
