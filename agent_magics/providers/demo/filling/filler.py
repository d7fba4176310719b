"""Walking a schema and filling it, field by field.

A piece of the text serves once: a number that is somebody's age is not a price as well. So all fields of an
object are asked twice, first for what is surely theirs, then for what is left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agent_magics.providers.demo.evidence import labelled_with_mark
from agent_magics.providers.demo.filling.fields import Find, candidates, free_pairs
from agent_magics.providers.demo.filling.neutral import DEEPEST, another, neutral
from agent_magics.providers.demo.filling.records import clauses, line_behind, listed, records
from agent_magics.providers.demo.shape import Schema, kind, merged, options
from agent_magics.providers.demo.words import singular, words
from agent_magics.providers.loose import items, obj
from agent_magics.talk import JSON

MOST = 1_000
"""Items of one list."""

Labels = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Filled:
    """A value, how many pieces of the text speak for it, and the fields in it that none speaks for."""

    value: JSON
    hits: int = 0
    unfounded: Labels = ()


class Filler:
    """Fills one schema from one text.

    Parameters
    ----------
    root : mapping
        The schema; references point into it.
    """

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._used: set[str] = set()

    def fill(self, schema: Schema, labels: Labels, text: str, depth: int = 0) -> Filled:
        """A value of ``schema`` for a field with these names."""
        several = options(schema)
        if depth > DEEPEST:
            return self._least(schema, labels)
        if len(several) > 1:
            return self._best(several, labels, text, depth)
        schema = merged(several[0] if several else schema, self._root)
        match kind(schema):
            case "object" if "enum" not in schema and "const" not in schema:
                return self._object(schema, labels, text, depth)
            case "array":
                return self._array(schema, labels, text, depth)
            case _:
                sure = self._scalar(schema, labels, text, sure=True)
                return sure or self._scalar(schema, labels, text, sure=False) or self._least(schema, labels)

    def _best(self, several: list[Schema], labels: Labels, text: str, depth: int) -> Filled:
        """Of several alternatives the one that most of the text speaks for; the first of equals."""
        tries: list[tuple[Filled, set[str]]] = []
        before = set(self._used)
        for option in several:
            self._used = set(before)
            tries.append((self.fill(option, labels, text, depth + 1), self._used))
        best, self._used = max(tries, key=lambda each: each[0].hits)
        return best

    def _object(self, schema: Schema, labels: Labels, text: str, depth: int) -> Filled:
        properties = {name: obj(each) for name, each in obj(schema.get("properties")).items()}
        inside = next((part for label in labels if (part := labelled_with_mark(text, label))), text)
        free = obj(schema.get("additionalProperties"))
        if free and not properties:
            pairs = free_pairs(inside, free)
            return Filled(value=pairs, hits=len(pairs))
        filled: dict[str, Filled] = {}
        for sure in (True, False):
            for name, each in properties.items():
                if name not in filled and (found := self._property(name, each, inside, depth, sure=sure)):
                    filled[name] = found
        required: list[str] = items(schema.get("required"))
        for name in required:
            if name not in filled:
                filled[name] = self._least(properties.get(name, {}), (name,))
        return Filled(
            value={
                name: filled[name].value for name in dict.fromkeys((*properties, *required)) if name in filled
            },
            hits=sum(each.hits for each in filled.values()),
            unfounded=tuple(name for each in filled.values() for name in each.unfounded),
        )

    def _property(self, name: str, schema: Schema, text: str, depth: int, *, sure: bool) -> Filled | None:
        """One property, if the text speaks for it; what has parts comes in the second pass."""
        labels = _labels(name, schema)
        if self._is_scalar(schema):
            plain = merged(next(iter(options(schema)), schema), self._root)
            return self._scalar(plain, labels, text, sure=sure)
        filled = None if sure else self.fill(schema, labels, text, depth + 1)
        return filled if filled and filled.hits else None

    def _array(self, schema: Schema, labels: Labels, text: str, depth: int) -> Filled:
        inner = obj(schema.get("items"))
        if prefix := items(schema.get("prefixItems")):
            found = [self.fill(obj(each), labels, text, depth + 1) for each in prefix]
        elif self._is_scalar(inner):
            found = list(self._list(merged(next(iter(options(inner)), inner), self._root), labels, text))
        else:
            found = self._records(inner, text, depth)
        return self._sized(schema, inner, found)

    def _records(self, inner: Schema, text: str, depth: int) -> list[Filled]:
        """One item for each record, from its own text; what says far less than the others is no record."""
        names = list(obj(merged(inner, self._root).get("properties")))
        parts = records(text, names)[:MOST]
        if len(parts) == 1:
            found = self._clauses(inner, parts[0], depth) or [self.fill(inner, (), parts[0], depth + 1)]
        else:
            found = [
                each
                for part in parts
                for each in self._clauses(inner, part, depth) or [self._alone(inner, part, depth)]
            ][:MOST]
        most = max((each.hits for each in found), default=0)
        return [each for each in found if each.hits and each.hits * 2 >= most]

    def _clauses(self, inner: Schema, text: str, depth: int) -> list[Filled]:
        """The items in one sentence, if several of its parts say as much as the whole."""
        parts = clauses(text)[:MOST]
        if len(parts) < 2:
            return []
        whole = self._alone(inner, text, depth).hits
        found = [each for part in parts if (each := self._alone(inner, part, depth)).hits >= whole]
        return found if len(found) > 1 < whole else []

    def _alone(self, inner: Schema, text: str, depth: int) -> Filled:
        """An item from its own text, whatever other items used."""
        return Filler(self._root).fill(inner, (), text, depth + 1)

    def _list(self, inner: Schema, labels: Labels, text: str) -> Iterator[Filled]:
        """The items of a list: behind its label, else all that is of the right form."""
        said = next((line for label in labels if (line := line_behind(text, label))), "")
        if said:
            for part in listed(said):
                found = self._find(inner, (), part, sure=False)
                value = (
                    part
                    if kind(inner) == "string" and "enum" not in inner
                    else found.value
                    if found
                    else None
                )
                if value is not None and self._fits(value, inner):
                    yield Filled(value=value, hits=1)
            return
        names = tuple(map(singular, labels))
        by_form = "enum" in inner or "format" in inner or kind(inner) in ("integer", "number") or not labels
        for _ in range(MOST):
            sure = self._scalar(inner, names, text, sure=True)
            found = sure or (self._scalar(inner, names, text, sure=False) if by_form else None)
            if found is None:
                return
            yield found

    def _sized(self, schema: Schema, inner: Schema, found: list[Filled]) -> Filled:
        """The items as an array of a size that the schema admits."""
        unique = bool(schema.get("uniqueItems"))
        values: list[Any] = []
        for each in found[: int(schema.get("maxItems", MOST))]:
            if not (unique and each.value in values):
                values.append(each.value)
        missing = max(0, int(schema.get("minItems", 0)) - len(values))
        for _ in range(missing):
            least = neutral(inner, self._root)
            values.append(another(least, values) if unique else least)
        unfounded = [name for each in found for name in each.unfounded] + ["an item"] * missing
        return Filled(value=values, hits=sum(each.hits for each in found), unfounded=tuple(unfounded))

    def _scalar(self, schema: Schema, labels: Labels, text: str, *, sure: bool) -> Filled | None:
        if "const" in schema:
            return Filled(value=schema["const"])
        found = self._find(schema, labels, text, sure=sure)
        return Filled(value=found.value, hits=1) if found else None

    def _find(self, schema: Schema, labels: Labels, text: str, *, sure: bool) -> Find | None:
        """The first unused candidate that the schema admits; it is used then."""
        for candidate in candidates(labels, schema, text, sure=sure):
            if candidate.rests_on not in self._used and self._fits(candidate.value, schema):
                self._used.add(candidate.rests_on)
                return candidate
        return None

    def _is_scalar(self, schema: Schema) -> bool:
        several = options(schema)
        whole = merged(several[0] if several else schema, self._root)
        return len(several) < 2 and (
            kind(whole) not in ("object", "array") or "enum" in whole or "const" in whole
        )

    def _fits(self, value: JSON, schema: Schema) -> bool:
        from jsonschema import Draft202012Validator  # heavy, so not before a schema is asked for

        valid: bool = Draft202012Validator(dict(schema)).is_valid(value)  # pyright: ignore[reportUnknownMemberType]  # its stub has an untyped overload
        return valid

    def _least(self, schema: Schema, labels: Labels) -> Filled:
        return Filled(value=neutral(schema, self._root), unfounded=labels[:1] or ("the whole",))


def _labels(name: str, schema: Schema) -> Labels:
    """A field's names: its own and its title, in words."""
    title = str(schema.get("title") or "").casefold()
    return tuple(dict.fromkeys(filter(None, (" ".join(words(name)), title))))
