"""What is written comes back: the same conversation, but for what a file may not bring."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_magics.agent.past import Place
from agent_magics.errors import ConfigError, SessionError, UsageError
from agent_magics.record.reading import read_record
from agent_magics.record.writing import Looks, as_json, as_notebook, export
from agent_magics.talk import (
    Approval,
    CallRecord,
    Conversation,
    Image,
    Opaque,
    Retry,
    Stage,
    Step,
    ToolResult,
    Turn,
    Usage,
    fold,
)
from agent_magics.talk.codec import decode, encode
from agent_magics.testing import Hang, ScriptedProvider
from agent_magics.ui.files import looks
from agent_magics.ui.words import SHOWN
from tests.patience import Asking, until
from tests.record.conftest import encoded, notebook, turn
from tests.strategies import OBJECTS, TEXT, turns_told

LOOKS: Looks = looks()


@st.composite
def conversations(draw: st.DrawFn) -> Conversation:
    """Turns as they are left by running: folded from events, each with a prompt and ids of its own."""
    turns: list[Turn] = []
    for number in range(draw(st.integers(1, 3))):
        told = fold(decode(json.loads(json.dumps(encode(fact)))) for fact in draw(turns_told()))
        prompt = f"{number}: {told.prompt}"
        turns.append(replace(told, id=f"t{number}", prompt=prompt, steps=tuple(_own(told, number))))
    return Conversation(id="c", turns=turns)


def _own(told: Turn, number: int) -> Iterator[Step]:
    for at, step in enumerate(told.steps):
        calls = [
            replace(record, call=replace(record.call, id=f"call_{number}_{at}_{place}"))
            for place, record in enumerate(step.calls)
        ]
        yield replace(step, calls=tuple(calls))


def text_only(each: Turn) -> dict[str, Any]:
    """What must come back of a turn, whatever a file may not bring."""
    return {
        "prompt": each.prompt,
        "reply": each.reply,
        "stop": each.stop,
        "error": each.error,
        "notices": each.notices,
        "wanted": each.wanted,
        "steps": [
            (
                step.text,
                step.thinking,
                [
                    (
                        record.id,
                        record.name,
                        record.arguments,
                        record.call.problem,
                        record.stopped,
                        record.made,
                        record.stages,
                        record.result and (record.result.ok, record.result.text),
                    )
                    for record in step.calls
                ],
                step.retries,
            )
            for step in each.steps
        ],
    }


def there_and_back(conversation: Conversation, suffix: str) -> tuple[Turn, ...]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"talk{suffix}"
        path.write_text(as_json(conversation) if suffix == ".json" else as_notebook(conversation, LOOKS))
        return read_record(path).turns


@pytest.mark.parametrize("suffix", [".json", ".ipynb"])
@settings(max_examples=60)
@given(conversations())
def test_events_to_codec_to_fold_to_file_and_back_are_equal(suffix: str, conversation: Conversation) -> None:
    back = there_and_back(conversation, suffix)
    assert [text_only(each) for each in conversation.turns] == [text_only(each) for each in back]
    assert {f"from file talk{suffix}"} == {each.origin for each in back}


@given(OBJECTS, TEXT)
def test_arguments_of_any_json_come_back(arguments: dict[str, Any], said: str) -> None:
    (record,) = turn().calls
    record = replace(record, call=replace(record.call, arguments=arguments))
    asked = turn(steps=(Step(calls=(record,)), Step(text=said)), reply=said)
    (back,) = there_and_back(Conversation(id="c", turns=[asked]), ".json")
    assert (arguments, said) == (back.calls[0].arguments, back.reply)


def test_a_long_result_comes_back_as_it_was_capped() -> None:
    long = json.dumps({"result": "ab" * 9_000, "ok": True})
    (record,) = turn().calls
    record = replace(record, result=ToolResult(ok=True, text=long, size=len(long)))
    conversation = Conversation(id="c", turns=[turn(steps=(Step(calls=(record,)), Step(text="So.")))])
    (whole,) = there_and_back(conversation, ".json")
    assert long == whole.calls[0].result.text  # type: ignore[union-attr]
    (capped,) = there_and_back(conversation, ".ipynb")
    result = capped.calls[0].result
    assert result is not None
    said = json.loads(result.text)
    assert said["ok"] and said["result"].startswith('{"result": "ababab')
    assert "characters left out" in said["result"]
    assert SHOWN < len(result.text) < SHOWN + 200
    assert len(long) == result.size


def test_what_a_file_may_not_bring_stays_behind() -> None:
    (record,) = turn().calls
    record = replace(
        record,
        approval=Approval(decision="always", by="you"),
        result=replace(record.result or ToolResult(ok=True, text="{}"), handle="r1"),
    )
    blocks = (Opaque(provider="anthropic", block={"signature": "s"}),)
    asked = turn(
        provider="openai",
        into="df",
        steps=(Step(calls=(record,), opaque=blocks), Step(text="So.")),
        origin="x",
    )
    for suffix in (".json", ".ipynb"):
        (back,) = there_and_back(Conversation(id="c", turns=[asked]), suffix)
        assert ("", "", f"from file talk{suffix}") == (back.provider, back.into, back.origin)
        assert ((), None, "") == (
            back.steps[0].opaque,
            back.calls[0].approval,
            back.calls[0].result and back.calls[0].result.handle,
        )


def test_a_turn_that_made_a_tool_comes_back_equal() -> None:
    usage = Usage(input=700, output=90)
    stages = (
        Stage(tool="celsius", name="draft", ok=True, seconds=2.5, at=1e9, model="openai:m-2", usage=usage),
        Stage(tool="celsius", name="check", ok=False, detail="line 1: import os\nis not allowed", at=1e9),
    )
    (record,) = turn().calls
    making = replace(record, call=replace(record.call, name="make_tool"), made="celsius", stages=stages)
    retries = (Retry(after=0.5, delay=2.0, why="429: overloaded"),)
    asked = turn(steps=(Step(calls=(making,), retries=retries), Step(text="So.")), reply="So.", usage=usage)
    (back,) = there_and_back(Conversation(id="c", turns=[asked]), ".json")
    assert replace(asked, origin="from file talk.json") == back
    (shorter,) = there_and_back(Conversation(id="c", turns=[asked]), ".ipynb")
    assert ["", "line 1: import os is not allowed"] == [stage.detail for stage in shorter.calls[0].stages]


def test_pictures_come_back_from_json_and_are_left_out_of_a_notebook() -> None:
    image = Image(media_type="image/png", data="iVBORw0KGgo=")
    conversation = Conversation(id="c", turns=[turn(images=(image,))])
    assert [(image,), ()] == [there_and_back(conversation, kind)[0].images for kind in (".json", ".ipynb")]


def test_an_exported_notebook_opens_well(tmp_path: Path) -> None:
    prompts = ["How big is df?", "/etc is what?", "?", "Several\n\nlines, `code` and {{braces}}", "%agent x"]
    turns = [turn(prompt, id=f"t{number}") for number, prompt in enumerate(prompts)]
    export(Conversation(id="c", turns=turns), tmp_path / "talk.ipynb", LOOKS)
    book = nbformat.read(tmp_path / "talk.ipynb", as_version=4)
    nbformat.validate(book)
    title, load, *asked = book.cells
    assert ("markdown", "# How big is df?") == (title.cell_type, title.source)
    assert "%load_ext agent_magics" == load.source
    assert [f"%%agent\n{prompt}" for prompt in ("How big is df?", " /etc is what?", " ?", *prompts[3:])] == [
        cell.source for cell in asked
    ]
    for cell in asked:
        (output,) = cell.outputs
        assert "It has **7** rows." in output.data["text/markdown"]
        assert "<details" in output.data["text/html"]
    assert {"python3"} == {book.metadata.kernelspec.name}


def test_exported_markdown_reads_as_a_conversation(tmp_path: Path) -> None:
    asked = turn("How <b>big</b>\nis df?", model="m-1", origin="from file x.ipynb")
    export(Conversation(id="c", turns=[asked]), tmp_path / "talk.md", LOOKS)
    assert (tmp_path / "talk.md").read_text() == (
        "# How &lt;b>big&lt;/b>\n\n"
        "## 1\n\n"
        "> How &lt;b>big&lt;/b>\n> is df?\n\n"
        "> **Agent** m-1 · 0 s  \n> from file x.ipynb  \n> `inspect` 0 ms ✓\n\n"
        "It has **7** rows.\n"
    )


# -- the command -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["talk.ipynb", "talk.md", "talk.json", "sub/talk with spaces.json"])
def test_a_file_that_exists_is_left_alone_unless_its_loss_is_asked_for(session, tmp_path, name):
    (tmp_path / "sub").mkdir()
    session.ask("hello")
    assert f"1 turn written to `{tmp_path / name}`." == session.command(f"/export {name}")
    first = (tmp_path / name).read_bytes()
    session.ask("and again")
    with pytest.raises(UsageError, match=r"is there already\.\n.*\n.*--force"):
        session.command(f"/export {name}")
    assert first == (tmp_path / name).read_bytes()
    assert "2 turns written" in session.command(f"/export {name} --force")
    assert b"and again" in (tmp_path / name).read_bytes()
    assert [] == list(tmp_path.rglob("*.tmp"))


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("", "/export needs the name of a file."),
        ("--force", "/export needs the name of a file."),
        ("talk", "'talk' doesn't say what to write."),
        ("talk.pdf", "'talk.pdf' doesn't say what to write."),
    ],
)
def test_a_name_that_says_nothing_is_refused(session, words, why):
    session.ask("hello")
    with pytest.raises(UsageError) as error:
        session.command(f"/export {words}")
    assert why == error.value.what


def test_nothing_is_written_of_an_empty_conversation(session, tmp_path):
    with pytest.raises(UsageError, match="There is nothing to export"):
        session.command("/export talk.md")
    assert not (tmp_path / "talk.md").exists()


def test_a_folder_that_is_not_there_is_named(session):
    session.ask("hello")
    with pytest.raises(ConfigError, match=r"'talk\.md' can't be written\.\nNo such file or directory\."):
        session.command("/export nowhere/talk.md")


def test_this_notebook_itself_is_never_replaced(session, tmp_path):
    (tmp_path / "here.ipynb").write_text("mine")
    session.past.move(Place(notebook=str(tmp_path / "here.ipynb")))
    session.ask("hello")
    with pytest.raises(UsageError, match="is this notebook"):
        session.command("/export here.ipynb --force")
    assert "mine" == (tmp_path / "here.ipynb").read_text()


def test_what_was_exported_can_be_restored_into_another_session(session, tmp_path):
    session.ask("hello")
    session.ask("and again")
    session.command("/export talk.json")
    asked = [*session.conversation.turns]
    session.clear()
    said = session.command("/restore talk.json")
    assert "2 turns from `talk.json`" in said and "1. `hello`\n2. `and again`" in said
    assert [text_only(each) for each in asked] == [text_only(each) for each in session.conversation.turns]
    assert "Nothing new in `talk.json`: 2 turns of it were here already." == session.command(
        "/restore talk.json"
    )
    assert 2 == len(session.conversation.turns)
    assert "from file talk.json" in session.command("/context")


def test_what_was_restored_is_kept(session, written):
    written(notebook(encoded()))
    session.command("/restore mail.ipynb")
    (taken,) = session.conversation.turns
    session.ask("hello")
    kept = session.past.store.load(session.id)
    assert taken == kept[0].turn
    assert "cell-1" == taken.cell


def test_a_session_at_work_takes_nothing_in(session, written):
    written(notebook(encoded()))
    session.provider = ScriptedProvider([Hang()])
    asking = Asking(lambda: session.ask("hello"))
    until(lambda: session.busy, "the turn to begin")
    with pytest.raises(SessionError, match="can't be changed now"):
        session.command("/restore mail.ipynb")
    session.cancel()
    assert "cancelled" == asking.end().stop


def test_known_keys_do_not_come_in(session, written, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "sk-planted-0123456789abcdef")
    session.ask("hello")
    written(notebook(encoded(reply="It is sk-planted-0123456789abcdef.")))
    session.command("/restore mail.ipynb")
    assert "It is [key]." == session.conversation.turns[-1].reply


def test_records_of_calls_have_no_place_for_rights() -> None:
    """Whatever fields a call's record gets later, a file's start from their defaults."""
    (record,) = there_and_back(Conversation(id="c", turns=[turn()]), ".json")[0].calls
    kept = {"call", "shown", "result", "seconds", "stopped", "at", "made", "stages"}
    defaults = CallRecord(call=record.call, shown=record.shown)
    fields = set(CallRecord.__dataclass_fields__) - kept
    assert {name: getattr(defaults, name) for name in fields} == {
        name: getattr(record, name) for name in fields
    }
