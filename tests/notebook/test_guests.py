"""Providers that single cells asked for: kept for the next such cell, and at rest when nobody uses them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from agent_magics import Session, provider
from agent_magics.notebook.guests import Guests
from agent_magics.testing import ScriptedProvider


def test_a_guest_rests_and_is_still_there_for_the_next_cell(tmp_path: Path) -> None:
    rested: list[str] = []

    class Counting(ScriptedProvider):
        async def aclose(self) -> None:
            rested.append(self.name)

    @provider("counting-guest")
    def counting(model: str | None = None, **options: Any) -> Counting:
        return Counting(["Hello."])

    guests, asked = Guests(), {"provider": "counting-guest"}
    with Session("stub", cwd=tmp_path, tool_making="off") as session:
        guest = guests.provider(session, asked)
        assert session.ask("hello", provider=guest).reply == "Hello."
        asyncio.run(guests.rest())
        assert len(rested) == 1
        assert guests.provider(session, asked) is guest
        assert session.ask("hello", provider=guest).reply == "Hello."
