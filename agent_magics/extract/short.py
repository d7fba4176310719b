"""The short form of a schema: ``name, age int, tags [str]``.

::

    schema  = fields | type
    fields  = field {"," field}              a line break separates as well
    field   = name [":"] [type] [description]
    type    = choice ["?"]                   ? : may be null
    choice  = basic | "[" type "]" | "{" fields "}" | value "|" value ... | basic "|" basic ...
    basic   = str int float bool date datetime time any
    name, value = a word, or anything in quotes; description = a text in quotes after the type

A field without a type is a text. All keys are always there: what may be unknown is written ``age int?`` and
is ``null`` then, so that rows make a table. ``[{file, line int}]`` is a list of objects; it may also be the
whole schema.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

from agent_magics.errors import UsageError
from agent_magics.talk import JSON

_TOKEN = re.compile(
    r"""(?P<space>[^\S\n]+) | (?P<quoted>"[^"\n]*"|'[^'\n]*')
    | (?P<mark>[\[\]{}|?:,\n]) | (?P<word>[^\s\[\]{}|?:,"']+)""",
    re.VERBOSE,
)
_BASIC: dict[str, dict[str, JSON]] = {
    "str": {"type": "string"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
    "date": {"type": "string", "format": "date"},
    "datetime": {"type": "string", "format": "date-time"},
    "time": {"type": "string", "format": "time"},
    "any": {},
    "null": {"type": "null"},
}
_ALIASES = {
    "string": "str",
    "text": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "none": "null",
}


def short_schema(text: str) -> dict[str, JSON]:
    """The JSON Schema that a short form stands for.

    Raises
    ------
    UsageError
        If it can't be read, with the place.

    Examples
    --------
    >>> short_schema("[str]")
    {'type': 'array', 'items': {'type': 'string'}}
    >>> list(short_schema("name, age int?, level low|high")["properties"])
    ['name', 'age', 'level']
    """
    return _Parser(text).schema()


@dataclass(frozen=True, kw_only=True)
class _Token:
    kind: str  # word, quoted, mark, end
    text: str
    at: int


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = self._split(text)
        self._at = 0

    def schema(self) -> dict[str, JSON]:
        self._skip_lines()
        whole = self._next.text in ("[", "{") and self._next.kind == "mark"
        schema = self._type() if whole else self._fields("")
        self._skip_lines()
        if self._next.kind != "end":
            self._fail(f"{self._next.text!r} was not expected here")
        return schema

    # -- the grammar -----------------------------------------------------------------------------

    def _fields(self, end: str) -> dict[str, JSON]:
        properties: dict[str, JSON] = {}
        self._skip_lines()
        while not self._ends(end):
            name_at = self._next
            name, field = self._field()
            if name in properties:
                self._fail(f"the field {name!r} is there twice", name_at)
            properties[name] = field
            if not self._separated() and not self._ends(end):
                self._fail(f"a comma is missing before {self._next.text!r}")
        if not properties:
            self._fail("a field's name is missing")
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }

    def _field(self) -> tuple[str, dict[str, JSON]]:
        if self._next.kind not in ("word", "quoted"):
            self._fail("a field's name is missing")
        name = _plain(self._take())
        optional = self._accept("?")
        self._accept(":")
        schema = self._type() if self._begins_type() else {"type": "string"}
        if optional or self._accept("?"):
            schema = _nullable(schema)
        if self._next.kind == "quoted":
            schema = {**schema, "description": _plain(self._take())}
        return name, schema

    def _begins_type(self) -> bool:
        token = self._next
        if token.kind == "quoted":  # a choice between quoted values, or a description
            following = self._tokens[self._at + 1]
            return following.kind == "mark" and following.text == "|"
        return token.kind == "word" or (token.kind == "mark" and token.text in ("[", "{"))

    def _type(self) -> dict[str, JSON]:
        if self._accept("["):
            self._skip_lines()
            items = self._type()
            self._skip_lines()
            self._expect("]")
            schema: dict[str, JSON] = {"type": "array", "items": items}
        elif self._accept("{"):
            schema = self._fields("}")
            self._expect("}")
        else:
            schema = self._choice()
        return _nullable(schema) if self._accept("?") else schema

    def _choice(self) -> dict[str, JSON]:
        options = [self._option()]
        while self._accept("|"):
            options.append(self._option())
        basics = [_basic(each) for each in options]
        if len(options) == 1:
            if basics[0] is None:
                self._unknown_type(options[0])
            return dict(basics[0])
        known = [each for each in basics if each is not None]
        if len(known) == len(options):
            return {"anyOf": [dict(each) for each in known]}
        return {"enum": [_value(each) for each in options]}

    def _option(self) -> _Token:
        if self._next.kind not in ("word", "quoted"):
            self._fail("a type or a value is missing")
        return self._take()

    def _unknown_type(self, token: _Token) -> NoReturn:
        names = ", ".join(name for name in _BASIC if name != "null")
        self._fail(
            f"there is no type {token.text!r}; there are {names}, lists [str] and objects {{name, age int}}",
            token,
        )

    # -- tokens ----------------------------------------------------------------------------------

    def _split(self, text: str) -> list[_Token]:
        tokens: list[_Token] = []
        at = 0
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                self._fail("this quotation mark has no end", _Token(kind="mark", text=text[at], at=at))
            if found.lastgroup != "space":
                tokens.append(_Token(kind=str(found.lastgroup), text=found[0], at=at))
            at = found.end()
        return [*tokens, _Token(kind="end", text="the end", at=len(text))]

    @property
    def _next(self) -> _Token:
        return self._tokens[self._at]

    def _take(self) -> _Token:
        token = self._next
        self._at += 1
        return token

    def _accept(self, mark: str) -> bool:
        if self._next.kind == "mark" and self._next.text == mark:
            self._at += 1
            return True
        return False

    def _expect(self, mark: str) -> None:
        if not self._accept(mark):
            self._fail(f"{mark!r} is missing")

    def _skip_lines(self) -> None:
        while self._accept("\n"):
            pass

    def _separated(self) -> bool:
        found = False
        while self._accept(",") or self._accept("\n"):
            found = True
        return found

    def _ends(self, end: str) -> bool:
        return self._next.kind == "end" or (self._next.kind == "mark" and self._next.text == end)

    def _fail(self, why: str, token: _Token | None = None) -> NoReturn:
        at = (token or self._next).at
        here = (
            f"{self._text[:at]}⟨here⟩{self._text[at:]}" if len(self._text) <= 200 else f"character {at + 1}"
        )
        raise UsageError(
            f"The schema can't be read: {why}.",
            f"At character {at + 1}: {' '.join(here.split())}",
            'For example: "name, age int?, tags [str], level low|high".',
        )


def _plain(token: _Token) -> str:
    return token.text[1:-1] if token.kind == "quoted" else token.text


def _basic(token: _Token) -> dict[str, JSON] | None:
    name = token.text.lower()
    return _BASIC.get(_ALIASES.get(name, name)) if token.kind == "word" else None


def _value(token: _Token) -> JSON:
    if token.kind == "word" and re.fullmatch(r"[+-]?[0-9]{1,15}", token.text):
        return int(token.text)
    return None if token.kind == "word" and token.text in ("null", "none", "None") else _plain(token)


def _nullable(schema: dict[str, JSON]) -> dict[str, JSON]:
    if "enum" in schema:
        return {**schema, "enum": [*schema["enum"], None]} if None not in schema["enum"] else schema
    if "anyOf" in schema:
        null = {"type": "null"}
        return schema if null in schema["anyOf"] else {**schema, "anyOf": [*schema["anyOf"], null]}
    kind = schema.get("type")
    return {**schema, "type": [kind, "null"]} if isinstance(kind, str) and kind != "null" else schema
