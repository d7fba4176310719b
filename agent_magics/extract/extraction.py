"""A turn that must end in a value: who is asked, and who judges the answer."""

from __future__ import annotations

from collections.abc import Mapping

from agent_magics.errors import ExtractionError
from agent_magics.extract.answer import REPAIRS, Answer
from agent_magics.extract.held import Held
from agent_magics.extract.schema import Schema
from agent_magics.ports import Provider
from agent_magics.talk import JSON


class Extraction:
    """The value that one turn is to bind; the :class:`~agent_magics.ports.Judge` of that turn.

    Tools are offered where they can stand beside the schema (native JSON mode of OpenAI and Anthropic, an
    answer by tool call, an answer in words); otherwise the turn has none.
    """

    def __init__(self, schema: Schema, *, repairs: int = REPAIRS) -> None:
        self._held: Held | None = None
        self._answer = Answer(schema, repairs=repairs)

    def holding(self, provider: Provider) -> Provider:
        """Who is to be asked in the turn: ``provider``, held to the schema."""
        self._held = Held(provider, self._answer.schema)
        return self._held

    @property
    def wanted(self) -> Mapping[str, JSON]:
        return self._answer.schema.wanted

    @property
    def reply(self) -> str:
        return self._answer.reply

    @property
    def done(self) -> bool:
        """Whether there is a value."""
        return self._answer.done

    @property
    def value(self) -> JSON:
        """The value, of plain dicts and lists."""
        return self._answer.value

    @property
    def errors(self) -> list[str]:
        """Which rules the last answer broke."""
        return self._answer.errors

    def judge(self, text: str) -> str:
        return self._answer.judge(text, self._held.problem if self._held else "")

    def failed(self) -> ExtractionError:
        return self._answer.failed()
