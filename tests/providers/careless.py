"""A program that shows, logs and keeps everything it can reach while vendors fail it in every way.

``python careless.py URL FOLDER``: each provider is asked at ``URL/MODE`` for each mode of failure. What the
program prints goes to standard output, what it logs to standard error and a file in ``FOLDER``, facts and
settled turns into further files there.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import traceback
from pathlib import Path
from typing import Any

from agent_magics import Session
from agent_magics.doctor import findings
from agent_magics.errors import AgentMagicsError
from agent_magics.providers import Registry
from agent_magics.store.in_memory import MemoryStore
from agent_magics.talk import HistoryFact
from agent_magics.talk.codec import encode
from agent_magics.ui.settled import bundle
from tests.providers.test_secrets import MODES, SPECS


class Diary(MemoryStore):
    """A store that writes every fact into a file, too."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def append(self, session: str, *facts: HistoryFact) -> None:
        super().append(session, *facts)
        with self._path.open("a") as file:
            file.writelines(json.dumps(encode(fact)) + "\n" for fact in facts)


async def ask(spec: str, options: dict[str, Any], address: str, folder: Path) -> None:
    try:
        session = Session(
            spec, base_url=address, store=Diary(folder / "facts.jsonl"), tool_making="off", **options
        )
        session.subscribe(lambda event: print(repr(event)))
        turn = await session.ask_async("hello")
        print("ASKED", spec, address, turn.stop, turn.error, repr(session), repr(session.provider))
        print(session.command("/status"), session.command("/provider"), session.command("/context"))
        with (folder / "turns.json").open("a") as file:
            file.write(json.dumps(bundle(turn)))
        await asyncio.to_thread(session.close)
    except AgentMagicsError as error:
        print("REFUSED", spec, address, error, repr(error))


async def fetch(spec: str, options: dict[str, Any], address: str) -> None:
    """The same without a session, with the whole traceback."""
    try:
        provider = Registry().build(spec, base_url=address, **options)
        async for event in provider.fetch([{"role": "user", "content": "hello"}], []):
            print(repr(event))
    except Exception as error:
        print(repr(error), vars(error))
        traceback.print_exception(error)
        logging.getLogger("careless").exception("it failed")


async def everything(url: str, folder: Path) -> None:
    addresses = [*(f"{url}/{mode}" for mode in MODES), "http://127.0.0.1:9", "http://[no-address", "ftp://x"]
    for address in addresses:
        await asyncio.gather(
            *(ask(spec, options, address, folder) for spec, options in SPECS.items()),
            *(fetch(spec, options, address) for spec, options in SPECS.items()),
        )


def main() -> None:
    url, folder = sys.argv[1], Path(sys.argv[2])
    logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
    logging.getLogger().addHandler(logging.FileHandler(folder / "program.log"))
    asyncio.run(everything(url, folder))
    for finding in findings("a program"):
        print(finding)


if __name__ == "__main__":
    main()
