"""`/sessions`, `/resume`, `/fork`, `/rewind`, `/clear`, `/undo`: what they say, and of what they warn."""

from __future__ import annotations

import re

import pytest

from agent_magics.errors import UsageError
from agent_magics.store import MemoryStore
from agent_magics.talk import SessionInfo


@pytest.fixture
def session(make):
    """A stored session of three turns."""
    session = make("one", "two", "three", "four", store=MemoryStore())
    for prompt in ("first", "second | `x`\n# not a heading", "third"):
        session.ask(prompt)
    return session


def test_the_table_of_sessions_says_id_title_notebook_turns_and_when(session):
    other = SessionInfo(id="f00", title="Other", notebook="/n/trips.ipynb", used=1.0, turns=7)
    session.past.store.enroll(other)
    rows = session.command("/sessions").split("\n")
    assert "| id | title | notebook | turns | last used |" == rows[0]
    assert re.fullmatch(rf"\| `{session.id}` \(this one\) \| `first` \|  \| 3 \| 20\d\d-.*\|", rows[2])
    assert rows[3].startswith("| `f00` | `Other` | `/n/trips.ipynb` | 7 | 1970-")


def test_what_people_wrote_stays_inside_of_its_code_span(session):
    said = session.command("/rewind")
    assert "2. `second ¦ 'x' # not a heading`" in said.split("\n")


def test_without_a_turn_there_is_nothing_to_list(make):
    assert "No sessions are stored yet" in make(store=MemoryStore()).command("/sessions")


def test_only_the_newest_of_many_are_shown(session):
    for number in range(60):
        session.past.store.enroll(SessionInfo(id=f"{number:03}", used=float(number), turns=1))
    assert "11 older ones are not shown." in session.command("/sessions")


def test_rewind_names_what_it_drops_and_undo_what_comes_back(session):
    said = session.command("/rewind 2")
    assert said.startswith("2 turns dropped:\n\n2. `second") and "3. `third`" in said
    assert "1 turn left. `/undo` brings them back." in said
    assert session.command("/undo").startswith("The last `/rewind` is undone; 2 turns back:")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/rewind x", "/rewind takes the number of a turn, not 'x'"),
        ("/rewind 9", "There is no turn 9"),
        ("/rewind -1", "not '-1'"),
        ("/undo", "There is nothing to undo"),
        ("/undo files", "/undo can't take back 'files'"),
        ("/resume", "/resume needs the id of a session"),
        ("/resume zzz", "There is no session 'zzz'"),
    ],
)
def test_what_can_not_be_done_is_said(session, line, said):
    with pytest.raises(UsageError, match=re.escape(said)):
        session.command(line)
    assert 3 == len(session.conversation.turns)


def test_clear_says_how_to_get_it_back(session):
    assert session.command("/clear").endswith("`/undo` brings them back.")
    assert "The conversation is empty already." == session.command("/clear")
    assert "The conversation is empty." == session.command("/rewind")


def test_a_fork_says_how_to_go_back_and_resume_goes(session):
    left = session.id
    said = session.command("/fork")
    assert f"`/resume {left}` goes back to it" in said and "the same 3 turns" in said
    session.ask("only here")
    said = session.command(f"/resume {left[:8]}")
    assert "The last of 3 turns:" in said and "only here" not in said
    assert left == session.id
    assert "already" in session.command(f"/resume {left[:8]}")


def test_a_session_of_another_notebook_goes_on_as_a_copy(session, tmp_path):
    notebook = tmp_path / "trips.ipynb"
    notebook.write_text("{}")
    session.past.store.enroll(SessionInfo(id="f00", title="Trips", notebook=str(notebook), turns=0))
    said = session.command("/resume f00")
    assert said.startswith(f"A copy of `f00` `Trips`, 0 turns goes on here as `{session.id}`")
    assert "f00" != session.id
    assert "f00" == session.past.info.parent


def test_help_lists_them_all(session):
    said = session.command("/help")
    for line in ("/sessions", "/resume ID", "/fork", "/rewind [N]", "/undo", "/clear"):
        assert f"| `{line}` |" in said
