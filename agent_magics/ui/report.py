"""A command's reply, which is Markdown, as a bundle for the notebook."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from agent_magics.agent.commands.command import Report
from agent_magics.talk.trace import Trace
from agent_magics.ui import look
from agent_magics.ui.markdown import html
from agent_magics.ui.portable import portable
from agent_magics.ui.settled import Bundle
from agent_magics.ui.text import encodable, prose


def report(text: str) -> Bundle:
    """Markdown as clean HTML, as Markdown that is safe everywhere, and as it was written.

    >>> report("**3** tools")["text/plain"]
    '**3** tools'
    """
    if isinstance(text, Report) and (traces := _traces(text.about)):
        from agent_magics.ui.trace import bundle

        return bundle(traces, text)
    style = f"{look.ROOT};{look.TEXT};padding:2px 8px 0"
    return encodable(
        {
            "text/html": f'<div class="agent-report" style="{style}">{html(text)}</div>',
            "text/markdown": portable(text),
            "text/plain": prose(text),
        }
    )


def _traces(about: object) -> Sequence[Trace]:
    listed = cast("list[object]", about) if isinstance(about, list) else []
    return [each for each in listed if isinstance(each, Trace)]
