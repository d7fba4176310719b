"""A long answer is kept once.

A turn's reply is the text of its last step, so a file would hold it twice. The step goes without it, and gets
it back when the file is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agent_magics.talk import Step

LONG = 1_000
"""Characters from which on it is worth it."""


def once(steps: Sequence[Step], reply: str) -> tuple[Step, ...]:
    """The steps of a turn that is written, with this reply.

    >>> long = "word " * 500
    >>> [step.text for step in once([Step(text="Look."), Step(text=long)], long)]
    ['Look.', '']
    """
    if len(reply) < LONG or [step.text for step in steps].count(reply) != 1 or steps[-1].text != reply:
        return tuple(steps)
    return (*steps[:-1], replace(steps[-1], text=""))


def again(steps: Sequence[Step], reply: str) -> tuple[Step, ...]:
    """The steps of a turn that was read, as they were before :func:`once`."""
    if len(reply) < LONG or not steps or steps[-1].text or reply in [step.text for step in steps]:
        return tuple(steps)
    return (*steps[:-1], replace(steps[-1], text=reply))
