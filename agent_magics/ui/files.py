"""What a turn looks like in a file; asked for when the first file is written, since drawing is heavy."""

from __future__ import annotations

from agent_magics.record.writing import Looks


def looks() -> Looks:
    """The settled transcript, as in a cell's output."""
    from agent_magics.ui.portable import portable
    from agent_magics.ui.settled import bundle, turn_markdown
    from agent_magics.ui.text import visible

    return Looks(bundle=bundle, markdown=turn_markdown, quoted=lambda text: portable(visible(text)))
