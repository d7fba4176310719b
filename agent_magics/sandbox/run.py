"""One order on one zygote, from the packing of its arguments to the outcome."""

from __future__ import annotations

import json
import time
from contextlib import closing

from agent_magics.sandbox.call import Call, ZygoteGone
from agent_magics.sandbox.errands import Errands
from agent_magics.sandbox.launch import Zygote
from agent_magics.sandbox.leash import Leash
from agent_magics.sandbox.order import Order
from agent_magics.sandbox.outcome import Outcome
from agent_magics.sandbox.parcel import Packed
from agent_magics.sandbox.verdict import Heard, Promise, judge

SMALLEST_REPLY = 1 << 20


def run(
    zygote: Zygote,
    order: Order,
    packed: Packed,
    *,
    errands: Errands | None = None,
    leash: Leash | None = None,
) -> Outcome:
    """Fork a child for the order, wait for it within its limits, and judge what came of it."""
    began = time.monotonic()
    heard = _listen(zygote, order, packed, errands, leash or Leash())
    if heard.stuck:
        zygote.close()
    memory_mb = order.memory(packed.size) >> 20
    value, fault = judge(heard, Promise(seconds=order.seconds, memory_mb=memory_mb))
    return Outcome(
        value=value,
        error=fault,
        seconds=time.monotonic() - began,
        stdout=heard.output.decode("utf-8", "replace"),
    )


def _listen(zygote: Zygote, order: Order, packed: Packed, errands: Errands | None, leash: Leash) -> Heard:
    walls = order.confinement
    message = {
        "seconds": order.seconds,
        "landlock": walls.landlock,
        "seccomp": walls.seccomp,
        "files": walls.files,
        "clock": order.grants.clock,
    }
    words = json.dumps(order.words(packed.size)).encode()
    try:
        call = Call(
            zygote,
            message,
            [memoryview(words), *packed.parts],
            largest_reply=max(order.memory(packed.size), SMALLEST_REPLY),
            errands=errands.child_end() if errands else None,
        )
    except ZygoteGone:
        return Heard(end="lost", stuck=True)
    except OSError:  # this process has no descriptors or no memory left
        return Heard(end="lost")
    if errands is not None:
        errands.handed_over()
    with closing(call):
        leash.hold(call)
        try:
            return call.listen(order.seconds)
        finally:
            leash.hold(None)
