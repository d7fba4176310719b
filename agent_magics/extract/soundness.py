"""Is this a JSON Schema that can be judged by? Found out when it is made, not with the first answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, cast
from urllib.parse import unquote

from agent_magics.errors import ConfigError
from agent_magics.talk import JSON


def check_schema(schema: dict[str, JSON]) -> None:
    """Raise :class:`~agent_magics.errors.ConfigError` if it is none, or refers to what is not in it."""
    from jsonschema import Draft202012Validator, SchemaError

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        place = "/".join(map(str, error.absolute_path)) or "the top"
        raise ConfigError(
            f"This is no JSON Schema: {error.message}.", f"The fault is at {place}.", "Mend the schema."
        ) from None

    said = str(schema.get("$schema", _HOME))
    if not said.removeprefix("http://").removeprefix("https://").startswith("json-schema.org/"):
        raise ConfigError(
            f"The schema is written in a language of its own: {said!r}.",
            "Only JSON Schema itself is known here; it is read as draft 2020-12.",
            "Take out its `$schema`, or write it in JSON Schema.",
        )
    if not _BASES.search(json.dumps(schema)):  # else a reference means something else in each part
        for reference in _references(schema):
            if not reference.startswith(_HOME) and not _leads_somewhere(schema, reference):
                raise outside(reference)


_HOME = "https://json-schema.org/"
_BASES = re.compile(r'"\$(?:id|anchor|dynamicAnchor)":')


def _references(part: Any) -> Iterator[str]:
    if isinstance(part, list):
        for each in cast("list[Any]", part):
            yield from _references(each)
    elif isinstance(part, dict):
        known = cast("dict[str, Any]", part)
        if isinstance(reference := known.get("$ref"), str):
            yield reference
        for word, each in known.items():
            if word not in ("enum", "const", "default", "examples"):
                yield from _references(each)


def _leads_somewhere(schema: dict[str, JSON], reference: str) -> bool:
    if not reference.startswith("#"):
        return False
    found: Any = schema
    for part in unquote(reference[1:]).split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(found, list) and name.isdecimal() and int(name) < len(cast("list[Any]", found)):
            found = cast("list[Any]", found)[int(name)]
        elif isinstance(found, dict) and name in found:
            found = cast("dict[str, Any]", found)[name]
        else:
            return False
    return True


def outside(reference: str) -> ConfigError:
    """The error of a reference that leads out of the schema."""
    return ConfigError(
        f"The schema refers to {reference!r}, which is not in it.",
        "Nothing is fetched for a schema: what it refers to must stand in it.",
        "Put that part into its `$defs`, and refer to `#/$defs/NAME`.",
    )
