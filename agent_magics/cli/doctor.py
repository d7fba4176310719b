"""``agent-magics doctor``: a short, honest table."""

from __future__ import annotations

import os
import sys

from agent_magics.doctor import Finding, findings

NAMES = 13
"""Columns that the names take."""


def doctor() -> int:
    """Print what was found as it is found; 1 if something is not as it should be."""
    well = True
    for finding in findings(front()):
        print("\n".join(lines(finding)), flush=True)
        well = well and finding.ok
    return 0 if well else 1


def lines(finding: Finding) -> list[str]:
    """One finding as text, with what to do below it.

    >>> print(*lines(Finding(what="openai", found="no key", remedy="Set $OPENAI_API_KEY.")), sep="\\n")
      openai        no key
                    → Set $OPENAI_API_KEY.
    """
    mark = " " if finding.ok else "!"
    text = [f"{mark} {finding.what:<{NAMES}} {finding.found}"]
    return [*text, f"{'':>{NAMES + 2}} → {finding.remedy}"] if finding.remedy else text


def front() -> str:
    """The front end, in words."""
    streams = (("input", sys.stdin), ("output", sys.stdout), ("errors", sys.stderr))
    piped = [name for name, stream in streams if not stream.isatty()]
    return (
        f"no terminal for {', '.join(piped)}" if piped else f"terminal ({os.environ.get('TERM', 'unknown')})"
    )
