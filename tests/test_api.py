"""L13: the session from Python, with its usual parts found by themselves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_magics import Session, Tool, current_session, provider, run, tool
from agent_magics.errors import ConfigError, UnknownProvider, UsageError
from agent_magics.talk import CallRecord, ToolCall, TurnEnded
from agent_magics.testing import FakeAsker, FakeWorkbench, RecordingView, ScriptedProvider


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


@tool(asks=True)
def remove(path: str) -> str:
    """Remove."""
    return f"removed {path}"


ADD = ToolCall(id="c", name="add", arguments={"a": 1, "b": 2})
REMOVE = ToolCall(id="c", name="remove", arguments={"path": "a"})


def text(call: CallRecord) -> str:
    assert call.result
    return call.result.text


def names(session: Session) -> set[str]:
    return set(session.toolbox.names())


def test_a_session_asks_a_provider_by_name():
    with Session("stub") as session:
        assert ("hello", "done") == ((turn := session.ask("hello")).reply, turn.stop)


def test_run_is_one_turn_in_a_session_of_its_own():
    view = RecordingView()
    assert "hello" == run("hello", provider="stub", on_event=view).reply
    assert isinstance(view.events[-1], TurnEnded)


def test_a_provider_may_be_an_object_as_small_as_one_method():
    class Parrot:
        def fetch(self, messages, tools):
            yield {"type": "saying", "text": messages[-1]["content"]}

    assert "hi" == run("hi", provider=Parrot()).reply


def test_a_registered_provider_is_found_by_its_name_with_its_model():
    @provider("test-api-parrot")
    class Parrot:
        def __init__(self, model=None, **options):
            self.model = model

        async def fetch(self, messages, tools):
            yield {"type": "saying", "text": f"{self.model}: {messages[-1]['content']}"}

    assert "grey:african: hi" == run("hi", provider="test-api-parrot:grey:african").reply
    assert "blue: hi" == run("hi", provider="test-api-parrot", model="blue").reply


def test_an_unknown_provider_is_an_error_that_names_those_that_there_are():
    with pytest.raises(UnknownProvider, match=r"unknown provider 'stubb'\. Available: .*stub"):
        Session("stubb")


def test_a_change_to_an_unknown_provider_changes_nothing():
    with Session("stub") as session:
        with pytest.raises(UnknownProvider):
            session.provider = "nobody"
        assert "hello" == session.ask("hello").reply


def test_functions_and_tools_are_both_taken_as_tools():
    def double(x: int) -> int:
        """Double."""
        return 2 * x

    with Session("stub", tools=[double, add]) as session:
        assert {"double", "add"} <= names(session)


@pytest.mark.parametrize(
    ("options", "there", "not_there"),
    [
        ({"allowed_tools": ["add"]}, {"add"}, {"remove", "more"}),
        ({"disallowed_tools": ["remove"]}, {"add", "more"}, {"remove"}),
        ({"allowed_tools": ["add", "remove"], "disallowed_tools": ["add"]}, {"remove"}, {"add", "more"}),
        ({"allowed_tools": []}, set(), {"add", "remove", "more"}),
    ],
)
def test_the_tools_can_be_narrowed(options, there, not_there):
    with Session("stub", tools=[add, remove], **options) as session:
        assert (there, set()) == (there & names(session), not_there & names(session))


@pytest.mark.parametrize("options", [{"allowed_tools": ["ad"]}, {"disallowed_tools": ["ad"]}])
def test_a_tool_that_is_not_there_can_be_neither_allowed_nor_disallowed(options):
    with pytest.raises(UsageError, match="There is no tool 'ad'"):
        Session("stub", tools=[add], **options)


def test_all_tools_is_the_catalog_and_another_word_is_an_error():
    with Session("stub", tools="all") as session:
        assert "more" in names(session)
    with pytest.raises(UsageError, match="tools='everything' is not known"):
        Session("stub", tools="everything")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_where_nobody_can_be_asked_the_answer_is_no_and_says_so():
    with Session(ScriptedProvider([REMOVE, "ok"]), tools=[remove]) as session:
        turn = session.ask("go")
    expected = "The call was rejected: there is nobody to ask here."
    assert expected == json.loads(text(turn.calls[0]))["error"]


def test_an_asker_of_ones_own_is_asked():
    asker = FakeAsker("approve")
    with Session(ScriptedProvider([REMOVE, "ok"]), tools=[remove], asker=asker) as session:
        assert session.ask("go").calls[0].ok
    assert ["remove"] == [asked.tool for asked in asker.asked]


@pytest.mark.parametrize(("value", "ok"), [("always", True), ("never", False), ("ask", False), ("", False)])
def test_the_environment_says_what_happens_where_a_tool_asks(monkeypatch, value, ok):
    monkeypatch.setenv("AGENT_MAGICS_APPROVE", value)
    with Session(ScriptedProvider([REMOVE, "ok"]), tools=[remove]) as session:
        assert ok is session.ask("go").calls[0].ok


def test_a_setting_that_is_not_known_is_refused_wherever_it_comes_from(monkeypatch):
    with pytest.raises(UsageError):
        Session("stub", approve="perhaps")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    monkeypatch.setenv("AGENT_MAGICS_APPROVE", "perhaps")
    with pytest.raises(ConfigError):
        Session("stub")


def test_a_system_prompt_of_ones_own_takes_the_place_of_the_rules():
    model = ScriptedProvider(["ok"])
    with Session(model, system_prompt="Be a parrot.") as session:
        session.ask("hi")
    assert model.requests[0][0][0]["content"].startswith("Be a parrot.")


def test_the_folder_is_the_processs_unless_told_otherwise(tmp_path):
    with Session("stub") as session:
        assert Path.cwd() == session.cwd
    with Session("stub", cwd=tmp_path / ".." / tmp_path.name) as session:
        assert tmp_path == session.cwd


def test_a_long_result_can_be_read_on_with_more():
    @tool
    def long() -> str:
        return "x" * 20_000

    calls = [
        ToolCall(id="a", name="long"),
        ToolCall(id="b", name="more", arguments={"handle": "r1", "page": 2}),
    ]
    with Session(ScriptedProvider([*calls, "ok"]), tools=[long]) as session:
        _, more = session.ask("go").calls
    assert {"page": 2, "pages": 2, "text": "x" * 4_000, "ok": True} == json.loads(text(more))


def test_a_workbench_lends_its_namespace():
    @tool(needs_kernel=True)
    def look() -> int:
        return 5

    with Session(
        ScriptedProvider([ToolCall(id="c", name="look"), "ok"]), tools=[look], workbench=FakeWorkbench()
    ) as session:
        assert session.ask("go").calls[0].ok


def test_auto_takes_the_configured_model_and_says_why(monkeypatch):
    monkeypatch.setenv("AGENT_MAGICS_MODEL", "stub:one")
    with Session() as session:
        assert "hello" == session.ask("hello").reply
        assert "AGENT_MAGICS_MODEL" in session.why


def test_the_current_session_is_the_same_each_time(monkeypatch):
    monkeypatch.setenv("AGENT_MAGICS_MODEL", "stub")
    assert current_session() is current_session()


def test_a_tool_made_by_hand_is_a_tool():
    made = Tool(name="now", description="The time.", handler=lambda: "noon")
    with Session(ScriptedProvider([ToolCall(id="c", name="now"), "ok"]), tools=[made]) as session:
        assert '{"result": "noon", "ok": true}' == text(session.ask("time?").calls[0])
