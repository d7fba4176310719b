"""A session for the terminal, from the options of the command line."""

from __future__ import annotations

import argparse
from typing import Literal

from agent_magics.agent.budget import Budget
from agent_magics.api import Session
from agent_magics.ports import View
from agent_magics.terminal import Terminal


def open_session(
    options: argparse.Namespace, view: View, *, store: Literal["default"] | None = None, resume: str = ""
) -> Session:
    """A session whose turns are shown by ``view`` and asked about at the terminal."""
    terminal = Terminal(view)
    given = {"effort": options.effort, "max_tokens": options.max_tokens}
    return Session(
        options.provider,
        model=options.model,
        base_url=options.base_url,
        planner=options.planner,
        **{name: value for name, value in given.items() if value is not None},
        approve=options.approve,
        max_rounds=options.max_rounds,
        budget=Budget(usd=options.budget, tokens=options.max_total_tokens, seconds=options.max_seconds),
        asker=terminal,
        waiter=terminal,
        store=store,
        resume=resume,
        replay=options.replay,
    )
