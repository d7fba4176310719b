"""What is shown where: the answer and the progress, by which of the streams somebody watches."""

from __future__ import annotations

import os
import sys

from agent_magics.ports import View
from agent_magics.talk import Event, RequestSent, Saying, Thinking
from agent_magics.ui.plain import PlainView


def answer_and_progress() -> View:
    """The answer on standard output as it is said, everything else on standard error."""
    return PlainView(sys.stdout, sys.stderr, styled=styled())


def progress_only() -> View:
    """Everything on standard error. Where that is no terminal nobody watches words arrive: only what was
    done is told."""
    view = PlainView(sys.stderr, sys.stderr, styled=styled())
    if sys.stderr.isatty():
        return view

    def without_words(event: Event) -> None:
        if (
            isinstance(event, RequestSent) and event.step == 0
        ):  # a model may take minutes to say its first word
            print(
                f"Asking {event.provider}:{event.model} …".replace(": …", " …"), file=sys.stderr, flush=True
            )
        elif not isinstance(event, Saying | Thinking):
            view(event)

    return without_words


def styled() -> bool:
    """Whether terminal codes are welcome (https://no-color.org)."""
    return sys.stderr.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
