"""Runs code that nobody vouches for, and gives back data.

Lives here: confinement by the operating system, and everything a confined call needs. Not here: what a tool
is, whether its source looks harmless (:mod:`agent_magics.forge` checks that first), approvals. This package
imports nothing of the rest but its errors.

**The layers.** Code that gets past one meets the next, and the red-team suite tries each of them alone:

1. *Nothing to find.* A call runs in a child of a zygote, a process started with a scrubbed environment,
   without user data and without descriptors but its own few.
2. *Landlock* (files, TCP, signals, abstract sockets). Only the interpreter's library, installed packages and
   shared libraries can be read; nothing can be written, executed, connected to or signalled.
3. *seccomp* (system calls). An allow list, down to sub-commands: no process, no socket, no file opened but
   for reading, no memory that is written and then executed, no metadata by path.
4. *Limits* (address space, CPU, files, processes) and no capabilities, also for root.
5. *The worker*: no clock and no chance unless granted, refused in words.
6. *The host* believes nothing: a deadline on every wait, bounds on every length, no unpickling, one
   refusal for whatever a reply does wrong.

**Levels** say which of these hold, found by trying (:mod:`.detect`): A has all, B has no Landlock and so
opens no file at all, C has no seccomp, D has limits only. C and D run only for those who opt in.

**The life of one call.** ``Sandbox.call`` packs the arguments into a sealed memory file (:mod:`.parcel`),
picks the zygote that has the libraries which the source names (:mod:`.families`), and sends it descriptors
(:mod:`.run`, :mod:`.call`). The zygote forks (:mod:`.zygote`). The child binds its life to the zygote's,
walks into its walls, and only then unpickles, compiles and calls (:mod:`.worker`, :mod:`.tool`). It wraps the
value as JSON with attachments and writes it (:mod:`.reply`, :mod:`.columns`). The host reads until the first
of: a whole reply, an end, a limit, a cancel; kills the child; and takes the reply apart with suspicion
(:mod:`.unwrap`, :mod:`.rebuild`). What only the host can do, pages and scratch files, the child asks for over
a socket, and the host judges each request (:mod:`.errand`, :mod:`.errands`, :mod:`.broker`, :mod:`.scratch`).

If the host dies, the zygote sees it at once by pidfd and goes, and the kernel kills its children with it.

Examples
--------
>>> from agent_magics.sandbox import Sandbox
>>> with Sandbox() as sandbox:
...     outcome = sandbox.call("def double(x):\\n    return 2 * x", "double", {"x": 21})
>>> outcome.value
42
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_magics.sandbox.box import Sandbox
    from agent_magics.sandbox.broker import Broker, FetchError, HostNotGranted, Page
    from agent_magics.sandbox.detect import Isolation
    from agent_magics.sandbox.outcome import KINDS, Fault, Outcome, SandboxError

# Loaded when first asked for: the zygote imports this package too, and should carry nothing that it does not
# need.
_HOMES = {
    "Sandbox": "box",
    "Broker": "broker",
    "FetchError": "broker",
    "HostNotGranted": "broker",
    "Page": "broker",
    "Isolation": "detect",
    "KINDS": "outcome",
    "Fault": "outcome",
    "Outcome": "outcome",
    "SandboxError": "outcome",
}

__all__ = [
    "KINDS",
    "Broker",
    "Fault",
    "FetchError",
    "HostNotGranted",
    "Isolation",
    "Outcome",
    "Page",
    "Sandbox",
    "SandboxError",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
