"""Where a person decides about a tool: the card, the answer, and what an edit leads to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NoReturn

from agent_magics.errors import ToolError
from agent_magics.forge.card import Facts, facts
from agent_magics.forge.doors import Asks, Sandboxed
from agent_magics.forge.draft import Draft, unanswered
from agent_magics.forge.pipeline import Inspected, Rejected, inspect
from agent_magics.talk import JSON, ToolCall
from agent_magics.tools.tool import Tool

MOST_EDITS = 10
"""Cards that one draft can lead to; each edit is a new text, and shown anew."""


@dataclass(frozen=True, kw_only=True)
class Decided:
    """What was decided, about which text.

    Attributes
    ----------
    inspected : Inspected
        The draft that the person saw last; perhaps edited.
    decision : {"approve", "once", "reject"}
        Yes; yes, but keep nothing; no.
    by : str
        ``you``, or ``policy`` where a setting answered: that holds for this turn, and is not remembered.
    refusal : mapping
        What the model is told, if it was no.
    """

    inspected: Inspected
    decision: Literal["approve", "once", "reject"]
    by: str = ""
    refusal: Mapping[str, JSON] = field(default_factory=dict[str, JSON])


class Desk:
    """Asks about tools.

    Parameters
    ----------
    asks : Asks
        Who decides.
    sandbox : Sandboxed
        Where an edited text is probed before it is shown.
    """

    def __init__(self, asks: Asks, sandbox: Sandboxed) -> None:
        self._asks = asks
        self._sandbox = sandbox

    async def decide(
        self,
        inspected: Inspected,
        call: ToolCall,
        *,
        before: str = "",
        reason: str = "",
        earlier: Draft | None = None,
    ) -> Decided:
        """Have a person decide about a draft that passed every stage.

        Parameters
        ----------
        call : ToolCall
            The call that waits, with the arguments of the tool's first call.
        before : str
            The source that it replaces, to show what changed.
        reason : str
            Why it asks.
        earlier : Draft, optional
            The version that it replaces, whose examples an edited text is tried on too.
        """
        notes: Facts = []
        for _ in range(MOST_EDITS):
            told = facts(inspected, call=call, level=self._sandbox.level, before=before, notes=notes)
            approval, permit = await self._asks.about(
                as_question(inspected.draft), call, source=inspected.draft.source, facts=told, reason=reason
            )
            if permit.allowed:
                decision = "once" if approval.decision == "once" else "approve"
                return Decided(inspected=inspected, decision=decision, by=approval.by)
            if approval.decision != "edit":
                refusal = {"error": permit.reason, **(permit.details or {})}
                return Decided(inspected=inspected, decision="reject", refusal=refusal)
            shown = inspected.draft.source
            inspected, notes = await self._edited(inspected, approval.text, earlier)
            before = before or (shown if inspected.draft.source != shown else "")
        refusal = {
            "error": f"{inspected.draft.name} was edited {MOST_EDITS} times and not approved.",
            "rejected": True,
        }
        return Decided(inspected=inspected, decision="reject", refusal=refusal)

    async def _edited(
        self, inspected: Inspected, text: str, earlier: Draft | None
    ) -> tuple[Inspected, Facts]:
        """The person's text if it passes every stage; else the text that was shown, with the reason."""
        draft = replace(inspected.draft, source=text, author="you")
        derived: dict[str, JSON] = {}  # an edit may change the signature: then the hints say the schema
        for parameters in (draft.parameters, derived):
            try:
                again = unanswered(replace(draft, parameters=parameters))
                return await inspect(again, self._sandbox, earlier=earlier), [
                    ("Edited", "by you; checked and probed")
                ]
            except Rejected as rejected:
                if rejected.stage != "schema" or not parameters:
                    return inspected, [("Your edit", f"was rejected by the {rejected.stage}: {rejected}")]
        raise AssertionError("one of the two ways returns")


def as_question(draft: Draft) -> Tool:
    """The tool as a policy judges it: written by a model, and never seen."""

    def never(**_: JSON) -> NoReturn:
        raise ToolError(f"{draft.name} is not approved.")

    return Tool(
        name=draft.name,
        description=draft.description,
        handler=never,
        parameters=draft.parameters,
        generated=True,
        asks=True,
        read_only=not draft.capabilities,
    )
