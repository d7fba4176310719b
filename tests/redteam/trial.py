"""Tries rows on this machine: with the walls down, behind each wall alone, and behind all of them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from ipaddress import ip_network
from typing import Any, Self

from agent_magics.sandbox.broker import Broker, public_internet
from agent_magics.sandbox.capabilities import read_grants
from agent_magics.sandbox.errands import Errands
from agent_magics.sandbox.families import family_for
from agent_magics.sandbox.launch import NEWEST_ABI, Zygote
from agent_magics.sandbox.order import CONFINEMENTS, Confinement, Order
from agent_magics.sandbox.outcome import Outcome
from agent_magics.sandbox.parcel import pack
from agent_magics.sandbox.run import run
from agent_magics.sandbox.scratch import ScratchFolder
from tests.redteam.rows import Family, Layer, Row
from tests.redteam.world import World

DOWN = Confinement(landlock=False, seccomp=False, limits=False)
WALLS = {
    Layer.LANDLOCK: Confinement(seccomp=False, limits=False),
    Layer.SECCOMP: Confinement(landlock=False, limits=False, files=False),
    Layer.LIMITS: Confinement(landlock=False, seccomp=False),
}
GENEROSITY = 10
PATIENCE = 60.0  # seconds with the walls down; every attack ends by itself, if only the machine lets it
SIGNAL_SECONDS = 0.15


@dataclass(kw_only=True)
class Result:
    """What became of one row.

    Attributes
    ----------
    shown : bool
        Whether the canary sang.
    stopped : dict
        For each wall alone, whether the attack was stopped by it; and ``"together"``.
    ended : str
        How it ended behind all walls: the kind of fault, ``"value"``, or the harm that was done.
    twin : str
        Empty if the honest twin worked, else what it came to.
    """

    shown: bool
    stopped: dict[str, bool] = field(default_factory=dict)
    ended: str = ""
    twin: str = ""


class Trial:
    """Zygotes and a world to try rows in.

    Parameters
    ----------
    abi : int
        The highest Landlock ABI to use.
    """

    def __init__(self, *, abi: int = NEWEST_ABI) -> None:
        self._abi = abi
        self._closing = contextlib.ExitStack()
        self._world = self._closing.enter_context(World())
        self._zygotes: dict[str, Zygote] = {}
        ports = frozenset({80, 443, self._world.page_port})
        here = (ip_network("127.0.0.0/8"),)
        self._broker = Broker(replace(public_internet(), allowed_networks=here, allowed_ports=ports))

    def try_row(self, row: Row) -> Result:
        """Run the attack every way, and its twin behind all walls."""
        result = Result(shown=self._shows(row))
        for layer, walls in WALLS.items():
            if layer in row.stops or (row.canary is None and row.stops & WALLS.keys()):
                result.stopped[layer] = not self._wins(row, walls)[0]
        won, result.ended = self._wins(row, CONFINEMENTS["A"])
        result.stopped["together"] = not won
        twin = self._run(row, row.twin, "twin", CONFINEMENTS["A"])
        result.twin = "" if _true(twin.value) else str(twin.error or f"it returned {twin.value!r}")
        return result

    def close(self) -> None:
        """End everything."""
        for zygote in self._zygotes.values():
            zygote.close()
        self._closing.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _shows(self, row: Row) -> bool:
        """Whether the attack works where nothing stops it."""
        if row.canary is not None:
            return bool(row.canary(self._world))
        walls = DOWN if not row.control else CONFINEMENTS["A"]
        return self._wins(row, walls, generosity=GENEROSITY, grants=row.control)[0]

    def _wins(
        self, row: Row, walls: Confinement, *, generosity: int = 1, grants: tuple[str, ...] = ()
    ) -> tuple[bool, str]:
        self._world.reset(patience=SIGNAL_SECONDS / 3 if row.family is Family.SIGNALS else 0)
        tries = 2 if row.stops == {Layer.ZYGOTE} else 1  # what one call leaves, only the next one finds
        for _ in range(tries):
            outcome = self._run(row, row.attack, "attack", walls, generosity=generosity, grants=grants)
        won = _true(outcome.value)
        patience = (
            SIGNAL_SECONDS
            if row.family is Family.SIGNALS and not won and walls != CONFINEMENTS["A"]
            else 0.02
        )
        harm = self._world.harmed(patience=patience)
        return won or bool(harm), harm or (outcome.error.kind if outcome.error else "value")

    def _run(
        self,
        row: Row,
        source: str,
        function: str,
        walls: Confinement,
        *,
        generosity: int = 1,
        grants: tuple[str, ...] = (),
    ) -> Outcome:
        order = Order(
            source=source,
            function=function,
            seconds=row.seconds if generosity == 1 else PATIENCE,
            memory_mb=row.memory_mb * generosity,
            grants=read_grants((*row.grants, *grants)),
            confinement=walls,
        )
        packed = pack({"world": self._world.described()})
        zygote = self._zygote(family_for(source, packed.packages).name)
        with self._errands(order) as errands:
            return run(zygote, order, packed, errands=errands)

    def _zygote(self, family: str) -> Zygote:
        if family not in self._zygotes or not self._zygotes[family].alive:
            self._zygotes[family] = Zygote(family, abi=self._abi)
        return self._zygotes[family]

    @contextlib.contextmanager
    def _errands(self, order: Order) -> Iterator[Errands | None]:
        if not order.grants.errands:
            yield None
            return
        folder = ScratchFolder() if order.grants.scratch is not None else None
        errands = Errands(order.grants, self._broker, folder)
        try:
            yield errands
        finally:
            errands.close()
            if folder is not None:
                folder.close()


def _true(value: Any) -> bool:
    return value is not None and (not isinstance(value, (bool, int, str, list, dict)) or bool(value))
