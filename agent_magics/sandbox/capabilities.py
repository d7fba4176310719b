"""What a call may do beyond computing; nothing unless the caller grants it.

A grant is a short text, so that it can be shown at an approval, compared and stored:

=====================  ==========================================================================
``http_get:HOST``      GET requests to that host through the broker, as ``http_get(url)``
``scratch``            an empty folder for this call, as ``scratch``
``scratch:NAME``       a folder that lives as long as the sandbox and is shared under that name
``clock``              the real clock, and sleeping
``clock:ISO``          a clock that stands still at that moment, such as ``clock:2026-01-01T00:00``
``random``             random numbers, freshly seeded
``random:SEED``        random numbers that are the same in every call
=====================  ==========================================================================
"""

from __future__ import annotations

import datetime as dt
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, replace

from agent_magics.sandbox.outcome import SandboxError

KNOWN = "Known are http_get:HOST, scratch, scratch:NAME, clock, clock:ISO, random and random:SEED."
SCRATCH_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}", re.IGNORECASE)
HOST = re.compile(r"[^\s/@?#*]{1,253}")
SEED = re.compile(r"[0-9]{1,39}")


@dataclass(frozen=True, kw_only=True)
class Grants:
    """The capabilities of one call, read.

    Attributes
    ----------
    hosts : frozenset of str
        Hosts that ``http_get`` may ask.
    scratch : str, optional
        The folder's name; empty for one of this call only.
    clock : bool
        Whether the real clock may be read.
    moment : str, optional
        The moment at which a standing clock stands, in ISO format.
    seed : int, optional
        What random numbers start from.
    """

    hosts: frozenset[str] = frozenset()
    scratch: str | None = None
    clock: bool = False
    moment: str | None = None
    seed: int | None = None

    @property
    def errands(self) -> bool:
        """Whether the host does anything on the child's behalf during the call."""
        return bool(self.hosts) or self.scratch is not None


def read_grants(capabilities: Iterable[str]) -> Grants:
    """Read a call's capabilities; see the module's table.

    Raises
    ------
    SandboxError
        If one of them is unknown or malformed. Nothing is guessed.
    """
    grants = Grants()
    for capability in (capabilities,) if isinstance(capabilities, str) else capabilities:
        name, colon, detail = capability.partition(":")
        match name:
            case "http_get" if HOST.fullmatch(detail):
                grants = replace(grants, hosts=grants.hosts | {detail.lower().rstrip(".")})
            case "scratch" if not colon or SCRATCH_NAME.fullmatch(detail):
                grants = replace(grants, scratch=detail)
            case "clock" if not colon:
                grants = replace(grants, clock=True)
            case "clock" if _is_moment(detail):
                grants = replace(grants, moment=detail)
            case "random" if not colon:
                grants = replace(grants, seed=secrets.randbits(128))
            case "random" if SEED.fullmatch(detail):
                grants = replace(grants, seed=int(detail))
            case _:
                raise SandboxError(f"No capability {capability!r}.", KNOWN, "Grant one of these, or none.")
    if grants.clock and grants.moment:
        raise SandboxError("Two clocks were granted.", "One runs and one stands still.", "Grant one of them.")
    return grants


def _is_moment(text: str) -> bool:
    try:
        dt.datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
