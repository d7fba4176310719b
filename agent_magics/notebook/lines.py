"""Asking by a line of input, where there are no buttons."""

from __future__ import annotations

from agent_magics.talk import Approval, ApprovalAsked

NO_INPUT = "this front end takes no input"


def ask_by_input(request: ApprovalAsked) -> Approval:
    """Show everything that would run and take a line; whatever is not clearly a yes is a no.

    A comment for the model may follow after the answer: ``n not on the raw data``.
    """
    from agent_magics.ui.answering import answered, invitation
    from agent_magics.ui.plain import question

    print(question(request))  # noqa: T201  # the console is this front end's screen
    try:
        return answered(input(invitation(request)) + "\n", request)
    except (EOFError, NotImplementedError):  # closed; or a front end that takes none, whatever was configured
        return Approval(decision="reject", by="policy", comment=NO_INPUT)
