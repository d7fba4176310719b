"""A model's file, and what follows from it for every engine that runs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agent_magics.errors import ConfigError
from agent_magics.providers.local import weights
from agent_magics.providers.local.header import Header, read_header
from agent_magics.providers.settings import Settings, Vendor, settings

VENDOR = Vendor(name="llama", url="", keys=("LLAMA_API_KEY",))

LONGEST_REPLY = 1024
"""Tokens; a small model that has lost its thread would fill the whole window."""

_CALM = 0.2  # the temperature that the authors of SmolLM2 advise; at the engine's 0.8 it dreams
_SMALL = 700_000_000  # bytes; up to about a billion parameters, a planner leads the model by the hand


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelFile:
    """A ``.gguf`` file."""

    path: Path
    header: Header

    @classmethod
    def find(cls, model: str | None) -> ModelFile:
        """The file at the path ``model``, or the installed weights.

        Raises
        ------
        ConfigError
            If there is none, or it can't be read.
        """
        path = Path(model).expanduser().resolve() if model else weights.installed()
        if path is None:
            raise ConfigError(
                "No local model is installed.",
                f"There is no {weights.NAME} in the data folder, and no path was given.",
                "Run `agent-magics local install`, or give a file: `%agent /provider llama:PATH.gguf`.",
            )
        return cls(path=path, header=read_header(path))

    @property
    def planner(self) -> str:
        """How this model calls tools best: ``"native"`` if its chat template knows them, else ``"json"``."""
        return "native" if self.header.takes_tools else "json"

    @property
    def guided(self) -> bool:
        """Whether the model is so small that a planner must lead it."""
        return self.path.stat().st_size < _SMALL

    @property
    def description(self) -> str:
        """What to say about the model to its user; empty for a file of theirs."""
        return weights.DESCRIPTION if self.path.name == weights.NAME else ""

    def settings(self, options: Mapping[str, Any]) -> Settings:
        """The settings for this model: what was given, and a calm temperature for the teaching model."""
        given = settings(VENDOR, self.path.stem, options, local=True)
        given = replace(given, max_tokens=given.max_tokens or LONGEST_REPLY)
        if given.temperature is None and self.path.name == weights.NAME:
            return replace(given, temperature=_CALM)
        return given
