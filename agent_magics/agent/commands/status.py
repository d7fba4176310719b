"""``/status``: one short look at the session; ``%agent`` alone shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_magics.agent.commands.command import Command
from agent_magics.agent.policy import Approve

if TYPE_CHECKING:
    from agent_magics.agent.session import Session

_APPROVALS: dict[Approve, str] = {
    "ask": "you are asked before a tool changes something",
    "always": "nobody is asked (`approve='always'`)",
    "never": "what would ask is refused (`approve='never'`)",
}


def run(session: Session, words: str) -> str:
    provider, turns = session.provider, len(session.conversation.turns)
    phase = "" if session.policy.phase == "default" else f"; phase `{session.policy.phase}`"
    granted = f"; {len(session.policy.granted)} granted for this session" if session.policy.granted else ""
    rows = [
        ("model", f"**{provider.name}:{provider.model}** · {session.why}".replace(":**", "**")),
        (
            "session",
            f"`{session.id}`, {turns} {'turn' if turns == 1 else 'turns'}, {len(session.toolbox)} tools",
        ),
        ("approvals", f"{_APPROVALS[session.policy.approve]}{phase}{granted}"),
        *((label, say()) for label, say in session.status.items()),
    ]
    lines = [f"| {label} | {text} |" for label, text in rows]
    return "\n".join(["| | |", "|:--|:--|", *lines, "", "`/help` lists the commands."])


COMMAND = Command(
    name="status", usage="", summary="Model, session, approvals, isolation, at a glance.", run=run
)
