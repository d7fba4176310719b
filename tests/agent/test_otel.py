"""M5: turns as OpenTelemetry GenAI spans, told to the real SDK."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from agent_magics import OpenTelemetry, Session, tool
from agent_magics.errors import Unreachable
from agent_magics.talk import Retrying, Saying, StageDone, Stop, Thinking, ToolCall, Usage
from agent_magics.testing import FakeAsker, Hang
from agent_magics.tools.running import running_call


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def tracing(exporter) -> TracerProvider:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider


@tool
def echo(x: int) -> int:
    return x


@tool(asks=True)
def remove(path: str) -> str:
    return "gone"


REPLIES = [
    [
        Retrying(attempt=2, tries=3, delay=0.0, why="529"),
        Thinking(text="hm"),
        ToolCall(id="c1", name="echo", arguments={"x": 1}),
        ToolCall(id="c2", name="remove", arguments={"path": "secret.txt"}),
        Usage(input=100, output=20, cached=60, reasoning=5),
        Stop(reason="tool_calls"),
    ],
    [Saying(text="All done."), Usage(input=130, output=4), Stop(reason="end")],
]


def by_name(exporter) -> dict:
    return {span.name: span for span in exporter.get_finished_spans()}


def test_a_turn_is_a_tree_of_spans_named_by_the_conventions(make, exporter, tracing):
    session = make(*REPLIES, tools=[echo, remove], asker=FakeAsker("approve"))
    session.subscribe(OpenTelemetry(tracing, conversation=lambda: session.id))
    session.ask("Remove secret.txt.")
    spans = exporter.get_finished_spans()
    told = {span.context.span_id: span.name for span in spans}
    tree = sorted((told.get(span.parent.span_id) if span.parent else "", span.name) for span in spans)
    assert [
        ("", "invoke_agent agent_magics"),
        ("execute_tool remove", "approval remove"),
        ("invoke_agent agent_magics", "chat script"),
        ("invoke_agent agent_magics", "chat script"),
        ("invoke_agent agent_magics", "execute_tool echo"),
        ("invoke_agent agent_magics", "execute_tool remove"),
    ] == tree
    assert 1 == len({span.context.trace_id for span in spans})


def test_attributes_are_those_of_the_conventions(make, exporter, tracing):
    session = make(*REPLIES, tools=[echo, remove], asker=FakeAsker("approve"))
    session.subscribe(OpenTelemetry(tracing, conversation=session.id))
    turn = session.ask("Remove secret.txt.")
    first, *_ = [span for span in exporter.get_finished_spans() if span.name == "chat script"]
    attributes = dict(first.attributes)
    assert 0 < attributes.pop("gen_ai.response.time_to_first_chunk") < 60
    assert {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "scripted",
        "gen_ai.request.model": "script",
        "gen_ai.request.stream": True,
        "gen_ai.response.finish_reasons": ("tool_calls",),
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 20,
        "gen_ai.usage.cache_read.input_tokens": 60,
        "gen_ai.usage.reasoning.output_tokens": 5,
        "agent_magics.retries": 1,
    } == attributes
    assert SpanKind.CLIENT == first.kind
    spans = by_name(exporter)
    assert {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "echo",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.type": "function",
    } == dict(spans["execute_tool echo"].attributes)
    whole = spans["invoke_agent agent_magics"]
    assert (session.id, turn.id, 230, "done") == tuple(
        whole.attributes[name]
        for name in (
            "gen_ai.conversation.id",
            "agent_magics.turn.id",
            "gen_ai.usage.input_tokens",
            "agent_magics.turn.stop",
        )
    )
    assert "you" == spans["approval remove"].attributes["agent_magics.approval.by"]


def test_times_are_those_of_the_turn(make, exporter, tracing):
    session = make(*REPLIES, tools=[echo, remove], asker=FakeAsker("approve"))
    session.subscribe(OpenTelemetry(tracing))
    turn = session.ask("go")
    whole = by_name(exporter)["invoke_agent agent_magics"]
    assert abs((whole.end_time - whole.start_time) / 1e9 - turn.seconds) < 0.5
    assert all(
        whole.start_time - 1e6 <= span.start_time <= span.end_time <= whole.end_time + 1e6
        for span in exporter.get_finished_spans()
    )


def test_nothing_that_anybody_said_is_told_unless_it_is_asked_for(make, exporter, tracing):
    session = make(*REPLIES, tools=[echo, remove], asker=FakeAsker("approve"))
    session.subscribe(OpenTelemetry(tracing))
    session.ask("Remove secret.txt.")
    said = "".join(span.to_json() for span in exporter.get_finished_spans())
    assert not any(word in said for word in ("secret.txt", "All done.", "gone"))


def test_content_is_told_where_it_is_asked_for(make, exporter, tracing):
    session = make(*REPLIES, tools=[echo, remove], asker=FakeAsker("approve"))
    session.subscribe(OpenTelemetry(tracing, content=True))
    session.ask("Remove secret.txt.")
    spans = by_name(exporter)
    whole = spans["invoke_agent agent_magics"].attributes
    assert [{"role": "user", "parts": [{"type": "text", "content": "Remove secret.txt."}]}] == json.loads(
        whole["gen_ai.input.messages"]
    )
    assert "All done." in whole["gen_ai.output.messages"]
    assert {"path": "secret.txt"} == json.loads(
        spans["execute_tool remove"].attributes["gen_ai.tool.call.arguments"]
    )
    assert "gone" in spans["execute_tool remove"].attributes["gen_ai.tool.call.result"]


def test_a_failure_is_an_error_of_its_span_and_of_the_turn(make, exporter, tracing):
    session = make([Saying(text="Hal"), Unreachable("No connection.", "The cable is out.")])
    session.subscribe(OpenTelemetry(tracing))
    session.ask("go")
    spans = by_name(exporter)
    for name, kind in (("chat script", "failed"), ("invoke_agent agent_magics", "provider_error")):
        assert (StatusCode.ERROR, kind) == (
            spans[name].status.status_code,
            spans[name].attributes["error.type"],
        )


def test_every_span_ends_when_a_turn_is_stopped(make, exporter, tracing):
    session = make(
        ToolCall(id="c", name="remove", arguments={"path": "x"}), tools=[remove], asker=FakeAsker()
    )
    session.subscribe(OpenTelemetry(tracing))
    future = session.start("go", lambda event: type(event).__name__ == "ApprovalAsked" and session.cancel())
    assert "cancelled" == future.result(5).stop
    assert {"invoke_agent agent_magics", "chat script", "execute_tool remove", "approval remove"} == set(
        by_name(exporter)
    )
    assert "stopped" == by_name(exporter)["execute_tool remove"].attributes["error.type"]


def test_the_span_around_the_call_is_the_parent(make, exporter, tracing):
    session = make("Hello!")
    session.subscribe(OpenTelemetry(tracing))
    with tracing.get_tracer("mine").start_as_current_span("my work") as mine:
        session.ask("go")
    whole = by_name(exporter)["invoke_agent agent_magics"]
    assert mine.get_span_context().span_id == whole.parent.span_id


def test_stages_of_a_made_tool_stand_below_its_call(make, exporter, tracing):
    @tool
    def make_it() -> str:
        call = running_call()
        assert call is not None
        wrote = StageDone(id=call.id, tool="area", stage="draft", ok=True, model="openai:big", at=1.0)
        call.emit(replace(wrote, usage=Usage(input=10, output=5)))
        call.emit(StageDone(id=call.id, tool="area", stage="check", ok=False, detail="no eval", at=1.0))
        return "made"

    session = make(ToolCall(id="c", name="make_it"), "Done.", tools=[make_it])
    session.subscribe(OpenTelemetry(tracing))
    turn = session.ask("go")
    spans = by_name(exporter)
    assert "openai" == spans["stage draft"].attributes["gen_ai.provider.name"]
    assert 10 == spans["stage draft"].attributes["gen_ai.usage.input_tokens"]
    assert "rejected" == spans["stage check"].attributes["error.type"]
    assert spans["execute_tool make_it"].context.span_id == spans["stage check"].parent.span_id
    assert 17 == turn.usage.total  # the writer's tokens are the turn's


def test_a_session_tells_by_itself_where_it_is_asked_to(exporter, tracing):
    with Session(provider="stub", otel=OpenTelemetry(tracing)) as session:
        session.ask("hello")
        whole = by_name(exporter)["invoke_agent agent_magics"]
        assert session.id == whole.attributes["gen_ai.conversation.id"]


def test_time_that_is_up_is_told_as_the_end(make, exporter, tracing):
    from agent_magics import Budget

    session = make([Saying(text="Once"), Hang()], budget=Budget(seconds=0.1))
    session.subscribe(OpenTelemetry(tracing))
    session.ask("go")
    assert "budget" == by_name(exporter)["invoke_agent agent_magics"].attributes["agent_magics.turn.stop"]
