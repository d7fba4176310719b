"""X3, P8: every way in which an answer can go wrong, on every provider that has a JSON mode of its own."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from agent_magics.errors import ExtractionError
from agent_magics.extract import Extracted, Schema, ask_once
from agent_magics.talk import Usage
from tests.extract.vendors import VENDORS, Vendor
from tests.providers.servers import ScriptedServer, answer, sse

BUG = Schema.of(
    {
        "type": "object",
        "properties": {
            "file": {"type": "string"},
            "line": {"type": "integer", "minimum": 1},
            "issue": {"type": "string", "maxLength": 80},
        },
        "required": ["file", "line"],
    }
)
RIGHT = '{"file": "größe.py", "line": 3, "issue": "off by one"}'
VALUE = {"file": "größe.py", "line": 3, "issue": "off by one"}
WRONG = '{"file": "größe.py", "line": "three"}'
ALSO_WRONG = '{"file": "größe.py", "line": 0}'

vendors = pytest.mark.parametrize("vendor", VENDORS.values(), ids=VENDORS)


@asynccontextmanager
async def asking(vendor: Vendor, *said: tuple[str, str]) -> AsyncGenerator[tuple[ScriptedServer, Any]]:
    scripts = [*vendor.first, *(vendor.say(text, stop) for text, stop in said)]
    async with ScriptedServer(scripts) as server:
        provider = vendor.build(server.url)
        try:
            yield server, provider
        finally:
            await provider.aclose()


async def extracted(vendor: Vendor, *texts: str, stop: str = "end") -> Extracted:
    async with asking(vendor, *((text, stop) for text in texts)) as (_, provider):
        return await ask_once(provider, "There is a bug.", BUG)


async def failed(vendor: Vendor, *texts: str, stop: str = "end") -> ExtractionError:
    with pytest.raises(ExtractionError) as caught:
        await extracted(vendor, *texts, stop=stop)
    return caught.value


@vendors
@pytest.mark.parametrize(
    "said",
    [
        RIGHT,
        f"```json\n{RIGHT}\n```",
        f"Here is what I found [1]:\n\n~~~json\n{RIGHT}\n~~~\nAnything else?",
        f"The bug is {RIGHT}, as you can see.",
        f"For example {WRONG}, but really {RIGHT}",
    ],
    ids=["bare", "fenced", "fenced in prose", "prose around it", "two objects, one of them right"],
)
async def test_an_answer_is_found_in_what_surrounds_it(vendor, said):
    got = await extracted(vendor, said)
    assert Extracted(value=VALUE, usage=Usage(input=5, output=3), attempts=1) == got


@vendors
async def test_two_different_right_answers_are_not_chosen_from_but_asked_about(vendor):
    other = RIGHT.replace("3", "4")
    async with asking(vendor, (f"{RIGHT}\n{other}", "end"), (RIGHT, "end")) as (server, provider):
        got = await ask_once(provider, "There is a bug.", BUG)
    assert (VALUE, 2) == (got.value, got.attempts)
    assert b"2 different JSON values; exactly one is wanted" in server.requests[-1].body


@vendors
async def test_a_wrong_type_twice_then_right_is_right_and_all_attempts_are_counted(vendor):
    async with asking(vendor, (WRONG, "end"), (ALSO_WRONG, "end"), (RIGHT, "end")) as (server, provider):
        got = await ask_once(provider, "There is a bug.", BUG)
    assert Extracted(value=VALUE, usage=Usage(input=15, output=9), attempts=3) == got
    assert b"line: 'three' is not of type 'integer'" in server.requests[-2].body
    assert b"line: 0 is less than the minimum of 1" in server.requests[-1].body


@vendors
async def test_never_right_names_the_broken_rules_and_their_places(vendor):
    error = await failed(vendor, WRONG, WRONG, '{"line": 0}')
    assert ("invalid", 3, Usage(input=15, output=9)) == (error.kind, error.attempts, error.usage)
    assert ["'file' is a required property", "line: 0 is less than the minimum of 1"] == sorted(error.errors)
    assert len(str(error).splitlines()) == 3


@vendors
async def test_no_json_at_all_is_invalid(vendor):
    error = await failed(vendor, "I can't see any bug.")
    assert ("invalid", ["There is no JSON in the reply."]) == (error.kind, error.errors)


@vendors
@pytest.mark.parametrize("said", [RIGHT[:-9], RIGHT], ids=["in the middle", "just after its end"])
async def test_a_truncated_answer_is_told_apart_and_not_repaired(vendor, said):
    error = await failed(vendor, said, stop="cut")
    assert ("truncated", 1, Usage(input=5, output=3)) == (error.kind, error.attempts, error.usage)


@pytest.mark.parametrize(
    "vendor",
    [one for one in VENDORS.values() if one.refuses],
    ids=[k for k, v in VENDORS.items() if v.refuses],
)
async def test_a_refusal_is_told_apart_and_not_repaired(vendor):
    error = await failed(vendor, "I won't do that.", stop="refused")
    assert ("refused", 1) == (error.kind, error.attempts)


@vendors
async def test_the_schema_is_asked_for_in_the_vendors_own_json_mode(vendor):
    async with asking(vendor, (RIGHT, "end")) as (server, provider):
        await ask_once(provider, "There is a bug.", BUG)
    asked = vendor.schema(server.requests[-1].json)
    assert {"file", "line", "issue"} == set(asked["properties"])


@vendors
async def test_a_list_on_top_is_asked_for_inside_an_object_and_taken_out(vendor):
    async with asking(vendor, ('{"value": [1, 2]}', "end")) as (server, provider):
        got = await ask_once(provider, "1, 2", Schema.of("[int]"))
    assert [1, 2] == got.value
    asked = vendor.schema(server.requests[-1].json)
    assert ("object", ["value"]) == (asked["type"], asked["required"])


@vendors
async def test_a_null_for_a_key_that_may_be_missing_is_taken_out(vendor):
    got = await extracted(vendor, '{"file": "a", "line": 1, "issue": null}')
    assert ({"file": "a", "line": 1}, 1) == (got.value, got.attempts)


@vendors
async def test_a_failed_request_is_of_kind_provider_and_keeps_its_cause(vendor):
    async with ScriptedServer([*vendor.first, answer(403, {"error": {"message": "no"}})]) as server:
        provider = vendor.build(server.url)
        with pytest.raises(ExtractionError) as caught:
            await ask_once(provider, "There is a bug.", BUG)
        await provider.aclose()
    assert ("provider", 403) == (caught.value.kind, caught.value.__cause__.status)  # type: ignore[union-attr]


async def test_an_api_without_json_mode_is_asked_in_words_from_then_on():
    vendor = VENDORS["openai chat"]
    refusal = answer(400, {"error": {"message": "response_format is not supported"}})
    async with ScriptedServer([refusal, vendor.say(f"~~~json\n{RIGHT}\n~~~", "end")]) as server:
        provider = vendor.build(server.url)
        first = await ask_once(provider, "There is a bug.", BUG)
        second = await ask_once(provider, "There is another.", BUG)
        await provider.aclose()
    assert [VALUE, VALUE] == [first.value, second.value]
    assert 3 == len(server.requests)
    assert "response_format" not in server.requests[-1].json
    assert "~~~json" in server.requests[-1].json["messages"][-1]["content"]


async def test_claude_calls_a_tool_for_a_schema_that_its_json_mode_does_not_know():
    kids = {"type": "array", "items": {"$ref": "#/$defs/t"}}
    tree = Schema.of({"$defs": {"t": {"type": "object", "properties": {"kids": kids}}}, "$ref": "#/$defs/t"})
    call = {"type": "tool_use", "id": "t1", "name": "answer", "input": {}}
    said = '{"value": {"kids": [{"kids": []}]}}'
    script = sse(
        {"type": "message_start", "message": {"usage": {"input_tokens": 5}}},
        {"type": "content_block_start", "index": 0, "content_block": call},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": said},
        },
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 3}},
        {"type": "message_stop"},
        done=False,
    )
    async with ScriptedServer([script]) as server:
        provider = VENDORS["anthropic"].build(server.url)
        got = await ask_once(provider, "A tree.", tree)
        await provider.aclose()
    assert {"kids": [{"kids": []}]} == got.value
    body = server.requests[0].json
    assert "output_config" not in body
    assert ["answer"] == [tool["name"] for tool in body["tools"]]
