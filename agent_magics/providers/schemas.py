"""What vendors ask of a JSON Schema, and a schema put so that they take it.

A form may lose rules that a vendor doesn't know; each is then said in the description, and whoever validates
the answer with the schema itself loses nothing. A form that would forbid an answer that the schema wants is
never made: the vendor is then asked less strictly, or in another way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agent_magics.providers.loose import dumps, items, obj, text
from agent_magics.talk import JSON

_PLACES = ("$defs", "definitions", "properties")


def is_strict(schema: Any) -> bool:
    """Whether OpenAI would take ``schema`` as strict: every object closed, and all its keys required.

    https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
    """
    if not isinstance(schema, Mapping):
        return True
    known = obj(dict(schema))  # pyright: ignore[reportUnknownArgumentType]
    if known.get("type") == "object" or "properties" in known:
        properties = obj(known.get("properties"))
        if known.get("additionalProperties") is not False:
            return False
        if set(items(known.get("required"))) != set(properties):
            return False
    named = [value for place in _PLACES for value in obj(known.get(place)).values()]
    listed = [
        value for word in ("anyOf", "allOf", "oneOf", "prefixItems") for value in items(known.get(word))
    ]
    return all(is_strict(part) for part in (*named, *listed, known.get("items")))


class Inexpressible(Exception):
    """A schema that a dialect has no words for."""


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """The part of JSON Schema that a vendor takes.

    ``closed``: objects must be closed. ``complete``: all their keys must be required, so that an optional one
    is nullable instead. ``exact``: what it has no word for can't be left to chance (it refuses to be vague).
    """

    words: frozenset[str]
    formats: frozenset[str] = frozenset()
    most_items: int | None = None
    closed: bool = False
    complete: bool = False
    exact: bool = False
    recursive: bool = True


_COMMON = "type properties required items enum anyOf $ref $defs definitions description additionalProperties"
_BOUNDS = "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"
_FORMATS = frozenset(["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"])

OPENAI = Dialect(
    words=frozenset(f"{_COMMON} {_BOUNDS} const format pattern minItems maxItems".split()),
    formats=_FORMATS,
    closed=True,
    complete=True,
    exact=True,
)
"""https://platform.openai.com/docs/guides/structured-outputs#supported-schemas"""

ANTHROPIC = Dialect(
    words=frozenset(f"{_COMMON} const format minItems default".split()),
    formats=_FORMATS | {"uri"},
    most_items=1,
    closed=True,
    exact=True,
    recursive=False,
)
"""https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations"""

GEMINI = Dialect(
    words=frozenset(
        f"{_COMMON} format prefixItems minItems maxItems minimum maximum title propertyOrdering".split()
    ),
    formats=frozenset(("date-time", "date", "time")),
)
"""https://ai.google.dev/gemini-api/docs/structured-output#json_schema_support"""


Form = Callable[[Mapping[str, JSON]], tuple[dict[str, JSON], bool]]
"""A schema as a server takes it, and whether it binds."""


def strict_form(schema: Mapping[str, JSON]) -> tuple[dict[str, JSON], bool]:
    """``schema`` as OpenAI takes it, and whether it binds: a schema that has no strict form only advises."""
    try:
        return in_dialect(schema, OPENAI), True
    except Inexpressible:
        return dict(schema), False


def in_dialect(schema: Mapping[str, JSON], dialect: Dialect) -> dict[str, JSON]:
    """``schema`` in the words of ``dialect``.

    Raises
    ------
    Inexpressible
        If the dialect is exact and has none.
    """
    root = dict(schema)
    if not dialect.recursive and _is_recursive(root):
        raise Inexpressible("it refers to itself")
    return _Translation(dialect).of(root)


class _Translation:
    def __init__(self, dialect: Dialect) -> None:
        self._in = dialect

    def of(self, schema: Any) -> dict[str, JSON]:
        known = dict(obj(schema))  # `true` and `false` have no other form
        if not known and self._in.exact:
            raise Inexpressible("a part of it takes anything")
        if "$ref" in known:
            return self._reference(known)
        known = _usual_words(_merged(known))
        if self._in.exact and not known.keys() & {"type", "enum", "const", "anyOf", "$ref", "$defs"}:
            raise Inexpressible(f"a part of it has no type: {', '.join(known)}")
        kept = {
            word: part for word, part in known.items() if word in self._in.words and self._takes(word, part)
        }
        lost = {word: part for word, part in known.items() if word in _RULES and word not in kept}
        self._refuse_vague(known)
        for word in ("anyOf", "prefixItems"):
            if word in kept:
                kept[word] = [self.of(part) for part in items(kept[word])]
        for word in ("$defs", "definitions"):
            if word in kept:
                kept[word] = {name: self.of(part) for name, part in obj(kept[word]).items()}
        if "items" in kept:
            kept["items"] = self.of(kept["items"])
        if "object" in _types(known) or "properties" in known:
            self._object(kept, known)
        if lost:
            kept["description"] = _with_rules(text(kept.get("description")), lost)
        return kept

    def _reference(self, known: dict[str, Any]) -> dict[str, JSON]:
        if self._in.exact and not text(known["$ref"]).startswith("#"):
            raise Inexpressible("it refers to something outside of it")
        held = {word: known[word] for word in ("$defs", "definitions") if word in known}
        return {
            "$ref": known["$ref"],
            **{word: {name: self.of(part) for name, part in obj(held[word]).items()} for word in held},
        }

    def _takes(self, word: str, part: Any) -> bool:
        if word == "format":
            return part in self._in.formats
        if word == "minItems" and self._in.most_items is not None:
            return part <= self._in.most_items
        return True

    def _refuse_vague(self, known: dict[str, Any]) -> None:
        if not self._in.exact:
            return
        if not known.keys().isdisjoint(
            ("patternProperties", "prefixItems", "$dynamicRef", "$anchor", "allOf")
        ):
            raise Inexpressible("its keys or places have rules of their own")
        if "array" in _types(known) and "items" not in known:
            raise Inexpressible("a list in it takes anything")

    def _object(self, kept: dict[str, JSON], known: dict[str, Any]) -> None:
        properties = obj(known.get("properties"))
        others = known.get("additionalProperties", True)
        if not self._in.closed:
            if properties:
                kept["properties"] = {name: self.of(part) for name, part in properties.items()}
            if isinstance(others, dict):
                kept["additionalProperties"] = self.of(others)
            return
        if isinstance(others, dict) or (others is True and not properties):
            raise Inexpressible("an object in it has keys that nobody knows beforehand")
        required = items(known.get("required"))
        kept["properties"] = {
            name: self._property(part, optional=name not in required) for name, part in properties.items()
        }
        kept["required"] = list(properties) if self._in.complete else [*required]
        kept["additionalProperties"] = False

    def _property(self, schema: Any, *, optional: bool) -> dict[str, JSON]:
        known = self.of(schema)
        return _nullable(known) if optional and self._in.complete else known


_RULES = frozenset(
    f"{_BOUNDS} minLength maxLength pattern format minItems maxItems uniqueItems contains minContains "
    "maxContains minProperties maxProperties propertyNames not if then else dependentRequired "
    "dependentSchemas unevaluatedProperties unevaluatedItems".split()
)
"""What changes which values are right."""


def _usual_words(schema: dict[str, Any]) -> dict[str, Any]:
    """The same with ``anyOf`` for ``oneOf``, and a type beside every choice of values."""
    known = dict(schema)
    if "oneOf" in known and "anyOf" not in known:
        known["anyOf"] = known.pop("oneOf")
    if "const" in known:
        known["enum"] = [known.pop("const")]
    if "enum" in known and "type" not in known:
        types = list(dict.fromkeys(map(_type_of, items(known["enum"]))))
        known["type"] = types[0] if len(types) == 1 else types
    if "type" not in known and "properties" in known:
        known["type"] = "object"
    return known


def _merged(schema: dict[str, Any]) -> dict[str, Any]:
    """``allOf`` of plain objects, or of a single part, written as one schema."""
    parts = [obj(part) for part in items(schema.get("allOf"))]
    if not parts:
        return schema
    rest = {word: part for word, part in schema.items() if word != "allOf"}
    if len(parts) == 1 and not rest.keys() & parts[0].keys():
        return {**rest, **parts[0]}
    whole = [rest, *parts]
    if any(part.keys() - {"type", "properties", "required", "description", "$defs"} for part in whole):
        return schema
    properties = {name: value for part in whole for name, value in obj(part.get("properties")).items()}
    required = list(dict.fromkeys(name for part in whole for name in items(part.get("required"))))
    return {**rest, "type": "object", "properties": properties, "required": required}


def _types(schema: Mapping[str, Any]) -> list[Any]:
    kind = schema.get("type")
    return items(kind) if isinstance(kind, list) else [kind]


def _type_of(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def _nullable(schema: dict[str, JSON]) -> dict[str, JSON]:
    if "enum" in schema:
        schema = {**schema, "enum": list(dict.fromkeys([*schema["enum"], None]))}
    if "anyOf" in schema:
        has = any("null" in _types(obj(part)) for part in items(schema["anyOf"]))
        return schema if has else {**schema, "anyOf": [*schema["anyOf"], {"type": "null"}]}
    if "type" in schema:
        return {**schema, "type": list(dict.fromkeys([*_types(schema), "null"]))}
    return {"anyOf": [schema, {"type": "null"}]}


def _with_rules(description: str, rules: Mapping[str, Any]) -> str:
    said = "; ".join(f"{word}: {dumps(part)}" for word, part in rules.items())
    return f"{description} ({said})".strip()


def _is_recursive(root: dict[str, Any]) -> bool:
    """Whether following references from the top ever comes back to one that is being followed."""
    done: set[str] = set()

    def comes_back(part: Any, following: frozenset[str]) -> bool:
        if isinstance(part, list):
            return any(comes_back(each, following) for each in items(part))
        known = obj(part)
        reference = text(known.get("$ref"))
        if reference in following:
            return True
        if reference and reference not in done:
            if comes_back(_referenced(root, reference), following | {reference}):
                return True
            done.add(reference)
        return any(
            comes_back(each, following)
            for word, each in known.items()
            if word not in ("$defs", "definitions")
        )

    return comes_back(root, frozenset({"#"}))


def _referenced(root: dict[str, Any], reference: str) -> Any:
    found: Any = root
    for part in reference.removeprefix("#").strip("/").split("/"):
        found = obj(found).get(part.replace("~1", "/").replace("~0", "~")) if part else found
    return found


_CLASSES = {r"\d": "[0-9]", r"\w": "[A-Za-z0-9_]", r"\s": "[ \\t]"}
_MOST_REPEATED = 2_000


def grammar_form(schema: Mapping[str, JSON]) -> dict[str, JSON]:
    """``schema`` as llama.cpp makes a grammar of it: without what it stumbles over.

    It knows patterns only from ``^`` to ``$`` and without look-around, and unrolls bounds on lengths.
    https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md
    """
    return _for_grammar(dict(schema))


def bound_form(schema: Mapping[str, JSON]) -> tuple[dict[str, JSON], bool]:
    """What :func:`strict_form` says, for a llama.cpp server: every schema binds."""
    return grammar_form(schema), True


def _for_grammar(schema: Any) -> dict[str, JSON]:
    known = _usual_words(_merged(dict(obj(schema))))
    if isinstance(pattern := known.get("pattern"), str):
        known["pattern"] = _plain_pattern(pattern)
    long = {
        word
        for word in ("minLength", "maxLength", "minItems", "maxItems")
        if isinstance(known.get(word), int) and known[word] > _MOST_REPEATED
    }
    outside = {"$ref"} if not text(known.get("$ref", "#")).startswith("#") else set[str]()
    kept = {word: part for word, part in known.items() if word not in long | outside and part is not None}
    for word in ("anyOf", "oneOf", "allOf", "prefixItems"):
        if word in kept:
            kept[word] = [_for_grammar(part) for part in items(kept[word])]
    for word in _PLACES:
        if word in kept:
            kept[word] = {name: _for_grammar(part) for name, part in obj(kept[word]).items()}
    for word in ("items", "additionalProperties"):
        if isinstance(kept.get(word), dict):
            kept[word] = _for_grammar(kept[word])
    if isinstance(kept.get("items"), bool):  # it takes an object there only
        del kept["items"]
    return kept


def _plain_pattern(pattern: str) -> str | None:
    if not (pattern.startswith("^") and pattern.endswith("$")) or "(?" in pattern:
        return None
    if re.search(r"\[[^\]]*\\[dws]", pattern) or re.search(r"\\(?![dws.\-/\\()\[\]{}+*?|^$])", pattern):
        return None
    return re.sub(r"\\[dws]", lambda found: _CLASSES[found[0]], pattern)


def without_nulls(value: Mapping[str, JSON], schema: Mapping[str, Any]) -> dict[str, JSON]:
    """``value`` without the nulls of keys that need not be there: how a strict form says "none"."""
    required: Iterable[Any] = items(schema.get("required"))
    return {name: part for name, part in value.items() if part is not None or name in required}
