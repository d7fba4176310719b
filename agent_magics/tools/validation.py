"""JSON Schema validation (draft 2020-12), imported when first used and without its slowest part.

Where JupyterLab is installed, jsonschema finds a checker for the ``iri`` format whose grammar takes a second
to build at import, ten times as long as all the rest. The first tool call of a notebook would wait for a
format that no argument uses; so the import is made to pass it by. Everything else is jsonschema as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from agent_magics.talk import JSON

_SLOW = "rfc3987_syntax"


@cache
def _validator_class() -> Any:
    hide = _SLOW not in sys.modules and "jsonschema" not in sys.modules
    if hide:
        sys.modules[_SLOW] = None  # pyright: ignore[reportArgumentType]  # the documented way to fail an import
    try:
        from jsonschema import Draft202012Validator
    finally:
        if hide:
            del sys.modules[_SLOW]
    return Draft202012Validator


class Validator:
    """Checks values against one schema; the same one many times over.

    ``formats`` is a ``jsonschema.FormatChecker``, where ``format`` should count.

    >>> Validator({"type": "object", "required": ["path"]}).problems({})
    ["'path' is a required property"]
    """

    def __init__(self, schema: Mapping[str, JSON] | bool, *, formats: Any = None) -> None:
        validator = _validator_class()
        from jsonschema_specifications import REGISTRY

        # A registry of its own: by default jsonschema fetches a schema that `$ref` names from the network.
        known = schema if isinstance(schema, bool) else dict(schema)
        self._validator = validator(known, registry=REGISTRY, format_checker=formats)

    def errors(self, value: JSON) -> Iterator[Any]:
        """What jsonschema finds, one by one."""
        return self._validator.iter_errors(value)

    def problems(self, value: JSON, most: int = 5) -> list[str]:
        """What is wrong with ``value``, each with the place where; empty when nothing is."""
        found: list[str] = []
        for error in self._validator.iter_errors(value):
            path = "/".join(str(part) for part in error.absolute_path)
            message = error.message if len(error.message) <= 300 else error.message[:299] + "…"
            found.append(f"{path}: {message}" if path else message)
            if len(found) == most:
                break
        return found
