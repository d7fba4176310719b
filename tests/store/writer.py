"""One of many processes that write to the same store: ``python -m tests.store.writer PATH NAME``.

It says "ready", waits for a line, and then writes as fast as it can.
"""

from __future__ import annotations

import sys
from pathlib import Path

from agent_magics.store import SQLiteStore
from agent_magics.talk import Memory, SessionInfo
from tests.store.facts import a_turn, note

TURNS = 20
MEMORIES = 4


def main(path: str, name: str) -> None:
    store = SQLiteStore(Path(path))
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(TURNS):
        for fact in a_turn(f"{name}-{number}"):
            store.append(name, fact)
        store.append("together", note(f"{name}-{number}"))
        store.enroll(SessionInfo(id=name, title=f"turn {number}", used=float(number), turns=number + 1))
    for number in range(MEMORIES):
        store.remember(Memory(id=f"{name}-{number}", text=f"{number} of {name}"))
        store.remember(
            Memory(id=f"{name}-own-{number}", text="x", scope="notebook", notebook=f"/{name}.ipynb")
        )
    store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
