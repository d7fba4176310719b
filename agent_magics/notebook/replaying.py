"""Whether a cell's turn is played from a record, and from which file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from agent_magics.agent.commands.export import located
from agent_magics.agent.replay import Mode, Records, Replay
from agent_magics.agent.session import Session
from agent_magics.ports import Provider

RECORD = "AGENT_MAGICS_RECORD"


class Replaying:
    """Decides it for the cells of one notebook.

    Parameters
    ----------
    settings
        The magics' traits, of which ``replay`` counts here.
    environment : mapping
        Where ``AGENT_MAGICS_RECORD`` may name a file.
    """

    def __init__(self, settings: Any, environment: Mapping[str, str] = os.environ) -> None:
        self._settings = settings
        self._environment = environment
        self._records = Records()

    def provider(
        self,
        session: Session,
        values: Mapping[str, Any],
        otherwise: Callable[[], Provider],
        *,
        paced: bool,
    ) -> Provider:
        """Who answers a cell with these options; ``otherwise`` says it where nothing is to be played.

        It is not asked for before it is needed: a record is played without a key and without a network.
        """
        mode = self._mode(values)
        if mode == "off":
            return otherwise()
        return Replay(
            paths=self._paths(session, values.get("record", "")),
            otherwise=otherwise,
            mode=mode,
            records=self._records,
            paced=paced,
        )

    def _mode(self, values: Mapping[str, Any]) -> Mode:
        if values.get("replay") or values.get("record"):
            return "only"
        return self._settings.replay or ("auto" if self._environment.get(RECORD, "").strip() else "off")

    def _paths(self, session: Session, named: str) -> list[Path]:
        """The file that the cell names; else this notebook, then the one that the environment names."""
        if named:
            return [located(session, named)]
        own, other = session.past.place.notebook, self._environment.get(RECORD, "").strip()
        paths = [Path(own)] if Path(own).is_absolute() else []
        return [*paths, located(session, other)] if other else paths
