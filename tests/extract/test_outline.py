"""What a model is told of a schema that its decoding is bound to anyway."""

from __future__ import annotations

import pytest

from agent_magics.extract import Schema, ask_once
from agent_magics.extract.outline import outline
from agent_magics.testing import ScriptedProvider

NODE = {"type": "object", "properties": {"name": {}, "next": {"$ref": "#/$defs/node"}}}
HOME = {"type": "object", "properties": {"city": {}}, "description": "where"}


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (Schema.of("name, age int? 'in years', tags [str]").json, "name, age (in years), tags (a list)"),
        (Schema.of("[{file, line int}]").json, "a list, each with file, line"),
        (
            {
                "properties": {"home": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/h"}]}},
                "$defs": {"h": HOME},
            },
            "home (where; city)",
        ),
        ({"$ref": "#/$defs/node", "$defs": {"node": NODE}}, "name, next (name, next (name, next))"),
        ({"type": "integer"}, ""),
    ],
)
def test_it_names_the_keys_with_what_is_said_of_them(schema, said):
    assert said == outline(schema)


async def test_it_stands_behind_the_text():
    class Bound(ScriptedProvider):
        holds = "grammar"

    provider = Bound(['{"name": "Ada", "age": 36}'])
    await ask_once(provider, "Ada is 36.", Schema.of("name, age int"))
    assert "Ada is 36.\n\nAnswer as JSON: name, age." == provider.requests[0][0][-1]["content"]
