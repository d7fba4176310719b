"""Type hints and docstring -> JSON Schema, with pydantic for the types and docstring-parser for the words."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Union, get_args, get_origin, get_type_hints

from docstring_parser import ParseError
from docstring_parser import parse as parse_docstring
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from pydantic.errors import (
    PydanticInvalidForJsonSchema,
    PydanticSchemaGenerationError,
    PydanticUserError,
)
from pydantic.json_schema import GenerateJsonSchema

from agent_magics.errors import ConfigError
from agent_magics.talk import JSON


@dataclass(frozen=True, kw_only=True)
class SignatureSchema:
    """What a function's signature says.

    ``objects`` names the parameters that take a notebook variable by name; ``convert`` turns validated JSON
    arguments into the values that the other hints ask for (dates, enums, dataclasses, models), or raises
    ``ValueError``.
    """

    description: str
    parameters: dict[str, JSON]
    objects: frozenset[str]
    convert: Callable[[Mapping[str, JSON]], dict[str, Any]]


def signature_schema(function: Callable[..., Any]) -> SignatureSchema:
    """Read a function's hints and docstring.

    Raises
    ------
    ConfigError
        If it is no function, a parameter has no type hint or one that can't be used, or it takes ``*args``,
        ``**kwargs`` or positional-only arguments.
    """
    if not inspect.isroutine(function):
        raise _unfit(function, "it is not a function", "Only functions have a name, hints and a docstring.")
    description, words = _words(function)
    hints = _hints(function)
    parameters = _parameters(function)
    objects: set[str] = set()
    fields: dict[str, Any] = {}
    for name, parameter in parameters.items():
        hint, text = _hint(function, parameter, hints), words.get(name, "")
        if not _is_json(function, name, hint):
            objects.add(name)
            hint, text = _by_name(hint, text)
        default = ... if parameter.default is parameter.empty else parameter.default
        said: dict[str, Any] = {"description": text} if text else {}
        # pydantic has names of its own (`copy`, `model_config`): fields are numbered, names are aliases
        fields[f"field{len(fields)}"] = (hint, Field(default, alias=name, **said))
    model = create_model(function.__name__, __config__=ConfigDict(extra="forbid"), **fields)
    return SignatureSchema(
        description=description,
        parameters=_tidy(model.model_json_schema(schema_generator=_Quiet)),
        objects=frozenset(objects),
        convert=_converter(model, list(parameters)),
    )


class _Quiet(GenerateJsonSchema):
    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012  # pydantic's own


def _words(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """The description, and what the docstring says of each parameter."""
    text = inspect.getdoc(function) or ""
    try:
        documented = parse_docstring(text)
    except ParseError:  # prose that only looks like a section
        return text, {}
    parts = (documented.short_description, documented.long_description)
    words = {
        name.strip(): (param.description or "").strip()
        for param in documented.params
        for name in param.arg_name.split(",")
    }
    return "\n".join(part for part in parts if part), words


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except (NameError, SyntaxError, TypeError) as error:
        raise _unfit(
            function,
            str(error),
            "A type hint names something that isn't defined where the function is.",
            "Import or define the type first.",
        ) from error


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    try:
        return dict(inspect.signature(function).parameters)
    except ValueError as error:  # written in C
        raise _unfit(
            function, "it has no signature", str(error), "Wrap it in a function with hints."
        ) from error


def _hint(function: Callable[..., Any], parameter: inspect.Parameter, hints: Mapping[str, Any]) -> Any:
    match parameter.kind:
        case parameter.VAR_POSITIONAL | parameter.VAR_KEYWORD:
            stars = "*" if parameter.kind is parameter.VAR_POSITIONAL else "**"
            raise _unfit(
                function,
                f"it takes {stars}{parameter.name}",
                "A model must be told every argument by name and type.",
                "Give it named parameters with type hints.",
            )
        case parameter.POSITIONAL_ONLY:
            raise _unfit(
                function,
                f"{parameter.name!r} is positional-only",
                "A model gives every argument by its name.",
                "Take out the `/`.",
            )
        case _ if parameter.name not in hints:
            raise _unfit(
                function,
                f"{parameter.name!r} has no type hint",
                "The model is told the arguments' types from the hints.",
                f"Write for example `{parameter.name}: str`.",
            )
        case _:
            return hints[parameter.name]


def _is_json(function: Callable[..., Any], name: str, hint: Any) -> bool:
    try:
        TypeAdapter(hint).json_schema(schema_generator=_Quiet)
    except (PydanticSchemaGenerationError, PydanticInvalidForJsonSchema):
        return False
    except PydanticUserError as error:
        raise _unfit(
            function, f"the type of {name!r} can't be used", error.message, "Use another type."
        ) from error
    return True


def _by_name(hint: Any, text: str) -> tuple[Any, str]:
    """The hint and the words for a parameter that takes the name of a notebook variable."""
    kinds = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    held = " or ".join(getattr(kind, "__name__", str(kind)) for kind in kinds if kind is not type(None))
    said = f"Name of a notebook variable that holds a {held}. {text}".strip()
    return (str | None if type(None) in kinds else str), said


def _converter(model: type[BaseModel], names: list[str]) -> Callable[[Mapping[str, JSON]], dict[str, Any]]:
    def convert(arguments: Mapping[str, JSON]) -> dict[str, Any]:
        try:
            values = model.model_validate(dict(arguments))
        except ValidationError as error:
            raise ValueError("; ".join(map(_problem, error.errors()))) from error
        return {name: getattr(values, field) for name, field in zip(names, model.model_fields, strict=True)}

    return convert


def _problem(error: Any) -> str:
    return f"{'/'.join(str(part) for part in error['loc'])}: {error['msg']}"


def _tidy(schema: dict[str, Any]) -> dict[str, JSON]:
    """Without the titles that pydantic derives from names: they tell the model nothing."""
    for part in (schema, *schema.get("$defs", {}).values()):
        part.pop("title", None)
        for value in part.get("properties", {}).values():
            value.pop("title", None)
    schema.setdefault("properties", {})
    return schema


def _unfit(
    function: Any, what: str, why: str, remedy: str = "Decorate a function made with `def`."
) -> ConfigError:
    name = getattr(function, "__name__", None) or repr(function)
    return ConfigError(f"Can't make {name!r} a tool: {what}.", why, remedy)
