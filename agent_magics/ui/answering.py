"""Answering a question about a call by a line of text, where there are no buttons."""

from __future__ import annotations

from agent_magics.talk import Approval, ApprovalAsked
from agent_magics.ui.approval import choices

_WORDS = {
    "y": "approve",
    "yes": "approve",
    "a": "always",
    "o": "once",
    "n": "reject",
    "no": "reject",
    "": "reject",
}


def invitation(asked: ApprovalAsked) -> str:
    """What may be answered, as a prompt.

    The card above says what would run; this is the line below it.
    """
    also = "[o]nce" if asked.kind == "generated" else "[a]lways this session"
    return f"Approve? [y]es, {also}, [N]o, and perhaps a comment: "


def answered(line: str, asked: ApprovalAsked) -> Approval:
    """The answer in a line. Whatever is not clearly a yes is a no, and then the line is its comment.

    A comment for the model may follow: ``n not on the raw data``. A line without an end is no answer: the
    input was closed.
    """
    if not line.endswith("\n"):
        return Approval(decision="reject", by="policy", comment="the input was closed")
    word, _, comment = line.strip().partition(" ")
    offered = {choice.decision for choice in choices(asked)}
    decision = _WORDS.get(word.lower(), word.lower())
    if decision not in offered:
        return Approval(decision="reject", by="you", comment=line.strip())
    return Approval(decision=decision, by="you", comment=comment.strip())
