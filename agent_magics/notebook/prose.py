"""Lines that IPython would read as something else than a prompt.

``%agent how big is df?`` ends like a request for help, and ``%%agent how big is df?`` is a cell without a
body. Both are plainly prompts. They are rewritten before IPython looks at them; a bare ``%agent?`` stays
the request for help that it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from tokenize import DEDENT, INDENT, TokenInfo
from typing import Self

from IPython.core.inputtransformer2 import EscapedCommand, HelpEnd

_CELL = re.compile(r"%%agent(?:[ \t]+(.*?))?\s*$")


class Prose(EscapedCommand):
    """``%agent`` in front of a prompt that ends in a question mark; tried before a request for help.

    It looks at tokens, as IPython's own transformers do, so a text in quotes stays what it is.
    """

    priority = HelpEnd.priority - 1

    @classmethod
    def find(cls, tokens_by_line: Sequence[Sequence[TokenInfo]]) -> Self | None:
        """The first such line of a cell."""
        for tokens in tokens_by_line:
            first = [token for token in tokens if token.type not in (INDENT, DEDENT)][:2]
            if [token.string for token in first] == ["%", "agent"] and _asks(first[0].line):
                return cls(first[0].start)
        return None


def keep_prose(lines: list[str]) -> list[str]:
    r"""An input transformer: gives ``%%agent`` with all of its prompt on its own line the body that it lacks.

    >>> keep_prose(["%%agent how big is df?"])
    ["get_ipython().run_cell_magic('agent', 'how big is df?', '\\n')\n"]
    """
    cell = _CELL.fullmatch(lines[0]) if lines else None
    if cell is None or any(line.strip() for line in lines[1:]):
        return lines
    return [f"get_ipython().run_cell_magic('agent', {cell[1] or ''!r}, '\\n')\n"]


def _asks(line: str) -> bool:
    name, _, prompt = line.strip().partition(" ")
    return name == "%agent" and prompt.endswith("?") and bool(prompt.strip("? "))
