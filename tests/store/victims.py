"""Processes that are killed while a turn runs: ``python -m tests.store.victims FILE JOURNAL KILLS SEED``.

One process has everything imported and forks a victim for each kill, so that a kill costs some hundredths of
a second. A victim goes on with the session that the one before it left, runs turn after turn with tools and
approvals, and says each fact through a pipe once it was told, which is after it was stored. At a random
moment it is killed, and what is on the disk is compared with what it said. A line of JSON tells of each.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import select
import signal
import sqlite3
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any

from agent_magics import tool
from agent_magics.agent.session import Session
from agent_magics.store import SQLiteStore
from agent_magics.talk import (
    Approval,
    ApprovalAsked,
    Delta,
    Event,
    HistoryFact,
    ProviderEvent,
    Saying,
    Stop,
    ToolCall,
    TurnEnded,
    Usage,
)
from agent_magics.talk.codec import decode, encode
from agent_magics.talk.history import conversation
from agent_magics.talk.transcript import prompt_message, turn_messages
from tests.strict import check_messages

FACTS = 20
"""Facts that a victim tells at most, before the moment comes."""

MOMENT = 0.004
"""Seconds in which it comes then."""

IN_A_SESSION = 20
"""Victims that go on with the same session."""


# -- the victim ----------------------------------------------------------------------------------


class Chatty:
    """Answers by dice: some text, and often a few calls. It takes no history that a strict vendor refuses."""

    name, model, window = "chatty", "dice", 0

    def __init__(self, dice: random.Random, say: Callable[[str, object], None]) -> None:
        self._dice = dice
        self._say = say

    async def fetch(
        self, messages: Sequence[dict[str, Any]], tools: Sequence[Any], **_: Any
    ) -> AsyncIterator[ProviderEvent]:
        try:
            check_messages(messages)
        except AssertionError as error:
            self._say("refused", str(error))
            raise
        for _number in range(self._dice.randrange(4)):
            yield Saying(text="word " * 20)
            await asyncio.sleep(0)
        calls = self._dice.choice((0, 1, 1, 2, 3)) if tools else 0
        for number in range(calls):
            name = self._dice.choice(("double", "remove", "later", "fail"))
            yield ToolCall(id=f"c{self._dice.random()}-{number}", name=name, arguments={"n": number})
        yield Usage(input=len(messages), output=1)
        yield Stop(reason="tool_calls" if calls else "end")

    async def aclose(self) -> None: ...


class Decided:
    """A person who decides by dice, after a moment."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice

    async def ask(self, request: ApprovalAsked) -> Approval:
        await asyncio.sleep(self._dice.random() * 0.003)
        return Approval(
            decision=self._dice.choice(("approve", "once", "reject")), by="you", comment="as I like"
        )


@tool(parallel_safe=True)
def double(n: int) -> int:
    """Twice as much."""
    return 2 * n


@tool(asks=True)
def remove(n: int) -> str:
    """Remove it."""
    return "gone " * 100


@tool(parallel_safe=True)
async def later(n: int) -> int:
    """Not at once."""
    await asyncio.sleep(0.001)
    return n


@tool
def fail(n: int) -> None:
    """It can't be done."""
    raise ValueError(n)


class OnlyObjects:
    """Knows no names."""

    def build(self, spec: Any, **_: Any) -> Any:
        return spec

    def names(self) -> list[str]:
        return []

    def why(self, spec: str) -> str:
        return "The dice said so."


def live(store: SQLiteStore, resume: str, seed: int, say: Callable[[str, object], None], turns: int) -> None:
    """Run turns in the session."""
    dice = random.Random(seed)

    def tell(event: Event) -> None:
        if not isinstance(event, Delta):
            say("fact", encode(event))

    session = Session(
        provider=Chatty(dice, say),
        providers=OnlyObjects(),
        asker=Decided(dice),
        tools=[double, remove, later, fail],
        store=store,
        resume=resume,
    )
    say("ready", session.id)
    for number in range(turns):
        session.ask(f"prompt {number} of {seed}", on_event=tell)


# -- whoever kills it ----------------------------------------------------------------------------


def main(path: str, journal: str, kills: str, seed: str) -> None:
    store = SQLiteStore(Path(path), wal=journal == "wal")
    warm_up(Path(path).with_name("warm-up.db"))
    dice = random.Random(seed)
    session, before = "", 0
    for number in range(int(kills)):
        if number % IN_A_SESSION == 0:
            session, before = "", 0
        said = kill_one(store, session, dice.randrange(10**6), dice.randint(1, FACTS), dice.random() * MOMENT)
        session = said["ready"][0]
        facts = store.load(session)
        told = [decode(each) for each in said["fact"]]
        found = {
            "problems": said["refused"] + problems(session, facts, facts[before:], told) + broken(path),
            "last": type(facts[-1]).__name__ if facts else "",
            "told": len(told),
            "stored": len(facts) - before,
        }
        before = len(facts)
        print(json.dumps(found), flush=True)
    store.close()


def warm_up(path: Path) -> None:
    """Import whatever a turn imports, without the threads that it starts: a child runs one and tells."""
    reader, writer = os.pipe()
    if (pid := os.fork()) == 0:
        live(SQLiteStore(path), "", 0, lambda kind, value: None, 3)
        os.write(writer, json.dumps(list(sys.modules)).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as names:
        for name in json.load(names):
            if name != "__main__":
                import_module(name)
    os.waitpid(pid, 0)


def kill_one(store: SQLiteStore, session: str, seed: int, facts: int, moment: float) -> dict[str, list[Any]]:
    """Have a victim live until it told so many facts, and a moment longer; what it said, by kind."""
    reader, writer = os.pipe()
    if (pid := os.fork()) == 0:

        def say(kind: str, value: object) -> None:
            os.write(writer, json.dumps([kind, value]).encode() + b"\n")

        live(store, session, seed, say, 1000)
        os._exit(1)
    os.close(writer)
    heard = read_until(reader, facts, time.monotonic() + 60)
    heard += read_until(reader, None, time.monotonic() + moment)
    os.kill(pid, signal.SIGKILL)
    heard += read_until(reader, None, time.monotonic() + 60)
    os.close(reader)
    assert os.waitpid(pid, 0)[1] == signal.SIGKILL, "it was not us who ended it"
    said: dict[str, list[Any]] = {"ready": [], "fact": [], "refused": []}
    for line in heard.splitlines(keepends=True):
        if line.endswith(b"\n"):  # it may have died while it spoke
            kind, value = json.loads(line)
            said[kind].append(value)
    return said


def read_until(reader: int, facts: int | None, deadline: float) -> bytes:
    """Listen until it told so many facts, has ended, or the time has come."""
    heard = b""
    while (left := deadline - time.monotonic()) > 0 and (facts is None or heard.count(b'["fact"') < facts):
        if select.select([reader], [], [], left)[0]:
            more = os.read(reader, 1 << 16)
            if not more:
                break
            heard += more
    return heard


def problems(
    session: str, facts: list[HistoryFact], stored: list[HistoryFact], told: list[HistoryFact]
) -> list[str]:
    """What is wrong with what was stored."""
    found: list[str] = []
    if told != stored[: len(told)]:
        found.append(f"told {told}, stored {stored}")
    if len(stored) > len(told) + 1:
        found.append(f"{len(stored) - len(told)} more facts than were told")
    turns = conversation(session, facts).turns
    if facts and not isinstance(facts[-1], TurnEnded):
        last = turns[-1]
        if last.stop != "cancelled" or "interrupted" not in last.error:
            found.append(f"an unfinished turn that is {last.stop!r}: {last.error!r}")
    ids = [call.id for turn in turns for call in turn.calls]
    if len(ids) != len(set(ids)):
        found.append("a call is there twice")
    try:
        past = [message for turn in turns for message in turn_messages(turn)]
        check_messages([{"role": "system", "content": ""}, *past, prompt_message("And now?")])
    except AssertionError as error:
        found.append(f"a strict vendor would refuse it: {error}")
    return found


def broken(path: str) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        answer = connection.execute("PRAGMA integrity_check").fetchall()
        answer += connection.execute("PRAGMA foreign_key_check").fetchall()
    return [str(each) for each in answer if each != ("ok",)]


if __name__ == "__main__":
    main(*sys.argv[1:])
