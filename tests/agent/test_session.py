"""L1, L2, L12, L13, L17: what a session is for a program: asking, watching, commands, one turn at a time."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from agent_magics import tool
from agent_magics.agent.commands.command import Command
from agent_magics.errors import SessionError, UsageError
from agent_magics.ports import Workbench
from agent_magics.talk import Saying, ToolCall, TurnBegan, TurnEnded
from agent_magics.testing import FakeWorkbench, RecordingView, ScriptedProvider
from tests.patience import Asking, until

# -- L1: the parts ---------------------------------------------------------------------------------


def test_everything_that_a_plugin_needs_hangs_on_the_session(make):
    session = make()
    for part in ("provider", "toolbox", "conversation", "context", "policy", "commands", "turn", "results"):
        assert hasattr(session, part)
    assert session.conversation.id == session.id


def test_the_provider_can_be_changed_and_the_conversation_stays(make):
    session = make("one")
    session.ask("first")
    session.provider = ScriptedProvider(["two"])
    assert "two" == session.ask("second").reply
    roles = [message["role"] for message in session.provider.requests[0][0]]
    assert ["system", "user", "assistant", "user"] == roles


def test_the_provider_that_was_left_is_closed_but_not_under_its_running_turn(make):
    closed = threading.Event()
    go = threading.Event()

    class Closing(ScriptedProvider):
        async def aclose(self) -> None:
            closed.set()

    @tool
    def wait() -> bool:
        assert go.wait(10)
        return closed.is_set()

    session = make(provider=Closing([ToolCall(id="c", name="wait"), "done"]), tools=[wait])
    view = RecordingView()
    asking = Asking(lambda: session.ask("go", on_event=view))
    until(lambda: len(view.events) > 3)
    session.provider = ScriptedProvider(["next"])
    go.set()
    assert ("done", '{"result": false, "ok": true}') == (
        (turn := asking.end()).reply,
        turn.calls[0].result.text,
    )
    until(closed.is_set)


def test_a_session_tells_what_it_is(make):
    session = make("a")
    session.ask("hi")
    assert f"<Session {session.id} scripted:script, 1 turns>" == repr(session)


# -- L2: dispatch ----------------------------------------------------------------------------------


@pytest.mark.parametrize("line", ["", " ", "\n\t "])
def test_a_blank_line_does_nothing(make, line):
    session = make()
    assert session.dispatch(line) is None
    assert [] == session.provider.requests


def test_a_slash_begins_a_command(make):
    session = make()
    assert "| `/help` |" in session.dispatch("  /help")
    assert [] == session.provider.requests


def test_everything_else_is_a_turn(make):
    view = RecordingView()
    assert "Hello!" == make().dispatch("say / hello", on_event=view).reply
    assert "Hello!" == view.text


@pytest.mark.parametrize(
    ("line", "what", "why"),
    [
        ("/halp", "Unknown command: /halp.", "Did you mean /help?"),
        ("/nope", "Unknown command: /nope.", "No command is close to it."),
        ("/HELP", "Unknown command: /HELP.", "No command is close to it."),
        ("/", "Unknown command: /.", "No command is close to it."),
        ("/etc/passwd is what?", "Unknown command: /etc/passwd.", "No command is close to it."),
    ],
)
def test_an_unknown_command_names_the_near_ones_and_help(make, line, what, why):
    with pytest.raises(UsageError) as error:
        make().dispatch(line)
    assert (what, why, "All commands: /help.") == (error.value.what, error.value.why, error.value.remedy)


@pytest.mark.parametrize("line", ["/say two words", "/say  two words ", "/say\ttwo words", "/say\ntwo words"])
def test_the_words_behind_the_name_are_the_commands(make, line):
    session, said = make(), []
    session.commands.add(
        Command(name="say", usage="", summary="", run=lambda _, words: said.append(words) or "")
    )
    session.command(line)
    assert ["two words"] == said


def test_the_session_lives_on_after_a_command_that_fails(make):
    def fail(session: Any, words: str) -> str:
        raise RuntimeError("boom")

    session = make()
    session.commands.add(Command(name="fail", usage="", summary="", run=fail))
    with pytest.raises(RuntimeError):
        session.dispatch("/fail")
    assert "Hello!" == session.ask("hi").reply


@pytest.mark.parametrize("line", ["/help", "/status", "/tools", "/context", "/provider", "/clear"])
def test_every_command_answers_in_markdown_before_and_after_a_turn(make, line):
    @tool(asks=True)
    def remove(path: str) -> None:
        """Remove | it."""

    session = make(tools=[remove])
    assert session.command(line)
    session.ask("hi")
    assert session.command(line)


def test_clear_forgets_the_conversation_and_keeps_the_rest(make):
    session = make("one", "two")
    session.ask("first")
    assert "1 turn is forgotten" in session.command("/clear")
    assert "empty already" in session.command("/clear")
    session.ask("second")
    assert ["system", "user"] == [message["role"] for message in session.provider.requests[-1][0]]


# -- L12: one turn at a time -----------------------------------------------------------------------


def test_two_threads_that_ask_one_session_take_turns(make):
    now, most = 0, 0

    @tool
    def work() -> None:
        nonlocal now, most
        now += 1
        most = max(most, now)
        threading.Event().wait(0.005)
        now -= 1

    replies = [ToolCall(id="c", name="work"), "done"] * 20
    session, view = make(*replies, tools=[work]), RecordingView()
    session.subscribe(view)
    with ThreadPoolExecutor(4) as pool:
        turns = list(pool.map(lambda number: session.ask(f"prompt {number}"), range(20)))
    assert (1, ["done"] * 20) == (most, [turn.stop for turn in turns])
    assert sorted(turn.prompt for turn in turns) == sorted(turn.prompt for turn in session.conversation.turns)
    frames = [type(event) for event in view.events if isinstance(event, TurnBegan | TurnEnded)]
    assert [TurnBegan, TurnEnded] * 20 == frames


def test_turns_that_wait_keep_their_order(make):
    session = make(*["ok"] * 10)
    futures = [session.start(f"prompt {number}") for number in range(10)]
    for future in futures:
        future.result(10)
    assert [f"prompt {number}" for number in range(10)] == [
        turn.prompt for turn in session.conversation.turns
    ]


def test_two_sessions_do_not_wait_for_each_other(make):
    meet = threading.Barrier(2)

    @tool
    def wait() -> None:
        meet.wait(5)

    one, other = (make(ToolCall(id="c", name="wait"), "ok", tools=[wait]) for _ in range(2))
    asking = [Asking(lambda: one.ask("go")), Asking(lambda: other.ask("go"))]
    assert [True, True] == [each.end().calls[0].ok for each in asking]


# -- L13: from Python ------------------------------------------------------------------------------


def test_a_blank_prompt_is_refused_in_three_lines(make):
    with pytest.raises(UsageError) as error:
        make().ask("  \n")
    assert 3 == len(str(error.value).split("\n"))


def test_a_closed_session_takes_no_turn(make):
    session = make()
    with session:
        session.ask("hi")
    with pytest.raises(SessionError, match="This session is closed"):
        session.ask("hi")


async def test_ask_works_where_a_loop_already_runs(make):
    assert "Hello!" == make().ask("hi").reply


async def test_ask_async_leaves_the_callers_loop_running(make):
    ticked = asyncio.Event()

    @tool
    def wait() -> bool:
        loop.call_soon_threadsafe(ticked.set)
        return True

    loop = asyncio.get_running_loop()
    session = make(ToolCall(id="c", name="wait"), "ok", tools=[wait])
    turn, _ = await asyncio.wait_for(asyncio.gather(session.ask_async("hi"), ticked.wait()), 10)
    assert "ok" == turn.reply


class MainThread(FakeWorkbench):
    """A workbench whose work is done by a thread of its own, as a notebook's main thread does it."""

    def __init__(self) -> None:
        super().__init__()
        self._pool = ThreadPoolExecutor(1)

    async def run(self, work):
        import contextvars

        context = contextvars.copy_context()
        return await asyncio.get_running_loop().run_in_executor(self._pool, context.run, work)


def asking_tool(session: Any, kind: str) -> Any:
    if kind == "async":

        @tool(name="inner")
        async def inner() -> str:
            return (await session.ask_async("inner")).reply

        return inner

    @tool(name="inner", needs_kernel=kind == "needs_kernel")
    def inner_() -> str:
        return session.ask("inner").reply

    return inner_


@pytest.mark.parametrize("kind", ["sync", "async", "needs_kernel"])
@pytest.mark.parametrize("which", ["same session", "another session"])
def test_asking_from_inside_a_tool_is_refused_and_never_deadlocks(make, kind, which):
    bench: Workbench = MainThread()
    session = make(ToolCall(id="c", name="inner"), "ok", workbench=bench)
    session.toolbox.add(asking_tool(session if which == "same session" else make(), kind))
    turn = Asking(lambda: session.ask("go")).end()
    assert "done" == turn.stop
    assert "A turn can't be started from inside a turn." in turn.calls[0].result.text


@pytest.mark.parametrize("where", ["hook", "view"])
def test_asking_from_the_agents_own_loop_is_refused(make, where, caplog):
    errors: list[Exception] = []

    def ask(*_: Any) -> None:
        try:
            session.ask("inner")
        except SessionError as error:
            errors.append(error)

    @tool
    def nothing() -> None: ...

    session = make(ToolCall(id="c", name="nothing"), "ok", tools=[nothing])
    if where == "hook":
        session.toolbox.before(ask)
    else:
        session.subscribe(ask)
    assert "ok" == Asking(lambda: session.ask("go")).end().reply
    assert errors


# -- L17: events for others ------------------------------------------------------------------------


def test_a_subscriber_hears_every_turn_until_it_is_removed(make):
    session, view = make("one", "two", "three"), RecordingView()
    remove = session.subscribe(view)
    session.ask("a")
    session.ask("b")
    remove()
    remove()
    session.ask("c")
    assert ["a", "b"] == [event.prompt for event in view.of(TurnBegan)]


def test_on_event_hears_its_own_turn_only(make):
    session, view = make("one", "two"), RecordingView()
    session.ask("a", on_event=view)
    session.ask("b")
    assert ["a"] == [event.prompt for event in view.of(TurnBegan)]


def test_a_subscriber_that_raises_is_logged_and_dropped_and_the_others_go_on(make, caplog):
    def fail(event: Any) -> None:
        heard.append(event)
        raise SystemExit(1) if len(heard) > 1 else ValueError("boom")

    heard: list[Any] = []
    session, view = make("one", "two"), RecordingView()
    session.subscribe(fail)
    session.subscribe(view)
    with caplog.at_level(logging.ERROR, "agent_magics"):
        assert "one" == session.ask("a").reply
    assert (1, 1) == (len(heard), len(caplog.records))
    assert "a subscriber failed and was dropped" in caplog.text
    session.subscribe(fail)
    assert "two" == session.ask("b").reply
    assert isinstance(view.events[-1], TurnEnded)


def test_a_stream_yields_every_event_of_its_turn_and_ends(make):
    session, view = make([Saying(text="a"), Saying(text="b")]), RecordingView()

    async def read() -> list[Any]:
        session.subscribe(view)
        return [event async for event in session.stream("hi")]

    assert view.events == asyncio.run(asyncio.wait_for(read(), 10))
    assert isinstance(view.events[-1], TurnEnded)


def test_a_stream_of_a_blank_prompt_is_refused(make):
    async def read() -> None:
        async for _ in make().stream(" "):
            pass

    with pytest.raises(UsageError):
        asyncio.run(read())


# -- memory ----------------------------------------------------------------------------------------


def test_a_closed_session_is_forgotten(make):
    from agent_magics.agent.session import Session
    from agent_magics.testing import FakeAsker
    from tests.agent.conftest import OnlyObjects

    session = Session(provider=ScriptedProvider(), providers=OnlyObjects(), asker=FakeAsker())
    session.ask("hi")
    session.close()
    gone = weakref.ref(session)
    del session
    until(lambda: gc.collect() is not None and gone() is None, "the session to be collected")
    assert gone() is None
