"""Who writes the source: recipes, or a provider that is given the reasons of its earlier drafts."""

from __future__ import annotations

import json

import pytest

from agent_magics.errors import ToolError
from agent_magics.forge.doors import Request
from agent_magics.forge.draft import Draft
from agent_magics.forge.generator import ProviderGenerator
from agent_magics.forge.likeness import alike
from agent_magics.forge.names import problem
from agent_magics.testing import ScriptedProvider
from agent_magics.tool_making import recipes

DRAFT = {"name": "double_it", "description": "d", "source": "def double_it(x: int): ...", "example": {"x": 1}}


async def test_recipes_write_what_the_request_describes_under_its_name() -> None:
    draft = await recipes().write(Request(name="vowels_of", description="Count the vowels in a text"), [])
    assert ("vowels_of", "demo:recipes") == (draft.name, draft.author)
    assert "def vowels_of(" in draft.source


async def test_recipes_say_so_when_none_fits_or_theirs_was_rejected() -> None:
    with pytest.raises(ToolError, match="No recipe"):
        await recipes().write(Request(description="Write a sonnet"), [])
    with pytest.raises(ToolError, match="no other: too long"):
        await recipes().write(Request(), [(Draft(name="a", description="", source=""), "too long")])


async def test_provider_is_told_what_is_wanted_and_what_was_rejected() -> None:
    provider = ScriptedProvider([f"Here it is:\n```json\n{json.dumps(DRAFT)}\n```"])
    generator = ProviderGenerator(lambda: provider)
    earlier = Draft(name="double_it", description="d", source="bad")
    request = Request(name="double_it", goal="twice 4?", arguments={"x": 4})
    draft = await generator.write(request, [(earlier, "It has no def.")])
    assert ("double_it", "scripted:script") == (draft.name, draft.author)
    messages = provider.requests[0][0]
    assert '"first call": {"x": 4}' in messages[1]["content"]
    assert "It has no def." in messages[-1]["content"]


@pytest.mark.parametrize(
    "said", ["no", "{", "[1]", '{"name": "double_it"}', json.dumps({**DRAFT, "name": "NO"})]
)
async def test_answer_that_is_no_draft_is_an_error_in_words(said: str) -> None:
    generator = ProviderGenerator(lambda: ScriptedProvider([said]))
    with pytest.raises(ToolError, match="generator's answer"):
        await generator.write(Request(), [])


def tool(name: str, description: str, source: str = "", *takes: str) -> Draft:
    properties = {each: {"type": "number"} for each in takes}
    return Draft(name=name, description=description, source=source, parameters={"properties": properties})


def test_same_code_under_another_name_is_alike() -> None:
    one = tool("double_it", "Twice a number", "def double_it(x):\n    '''One.'''\n    return 2 * x\n", "x")
    two = tool("twice_of", "Another text", "def twice_of(x):\n    return 2 * x\n", "y")
    assert [two] == alike(one, [two])


def test_other_units_and_other_arguments_are_not_alike() -> None:
    feet = tool(
        "miles_to_feet", "Convert miles to feet", "def miles_to_feet(miles): return 5280 * miles", "miles"
    )
    yards = tool(
        "miles_to_yards", "Convert miles to yards", "def miles_to_yards(miles): return 1760 * miles", "miles"
    )
    hours = tool(
        "days_to_hours", "Convert days to hours", "def days_to_hours(days): return 24 * days", "days"
    )
    assert [] == alike(feet, [yards, hours])


@pytest.mark.parametrize("name", ["roman_to_int", "a_b", "x1y"])
def test_name_in_order(name: str) -> None:
    assert "" == problem(name)


@pytest.mark.parametrize(
    "name", ["", "ab", "A_b", "1ab", "print", "match", "lambda", "a-b", "ab\n", "äbc", "x" * 51]
)
def test_name_not_in_order(name: str) -> None:
    assert "" != problem(name)
