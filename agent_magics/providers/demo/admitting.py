"""The honest end of the rules: what is missing, where that is known, and what would work instead."""

from __future__ import annotations

from agent_magics.providers.demo.case import Case, Move, Say
from agent_magics.providers.demo.following import is_follow_up
from agent_magics.providers.demo.matching import nearest
from agent_magics.providers.demo.offers import I_AM, in_short, signature
from agent_magics.providers.demo.recipes import conversions, dates


def admit(case: Case) -> Move:
    """Say that no rule fits."""
    text = case.passage.open
    if missing := conversions.obstacle(text, case.lexicon) or dates.obstacle(text, case.today):
        return Say(text=missing, because=("A conversion or a date, but something is missing.",))
    if is_follow_up(case.question) and not case.is_resolved:
        said = f"“{case.question.strip()}” reads like a follow-up, and I see nothing that it could follow."
        return Say(
            text=f"{said} Ask the whole question.", because=("A follow-up without anything before it.",)
        )
    tools = case.situation.tools
    near = nearest(case.passage, tools, case.lexicon)
    closest = f" The tool that comes closest is {signature(near)}." if near else ""
    paragraphs = (
        f"{I_AM}, and none of my rules fits this prompt.{closest}",
        in_short(tools),
        "A language model could say more: `%agent /provider NAME` chooses one.",
    )
    return Say(text="\n\n".join(paragraphs), because=("No rule fits, and I don't guess.",))
