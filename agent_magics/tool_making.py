"""Puts the forge and the sandbox into a session.

``agent`` and ``forge`` know nothing of each other, and neither knows where models come from. Here the forge
is handed the session's permission, the sandbox that all sessions of this process share, and whoever writes.
"""

from __future__ import annotations

import atexit
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Generator as Yields
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from agent_magics.agent.commands import make, registry
from agent_magics.agent.session import Session
from agent_magics.forge import checking
from agent_magics.forge.approvals import Approvals
from agent_magics.forge.doors import Generator
from agent_magics.forge.generator import ProviderGenerator, RecipeGenerator
from agent_magics.forge.registry import Registry
from agent_magics.forge.workshop import Making, Workshop
from agent_magics.ports import Provider
from agent_magics.providers.keys import mask
from agent_magics.providers.local.weights import home
from agent_magics.talk import Usage

if TYPE_CHECKING:
    from agent_magics.sandbox import Isolation, Outcome, Sandbox


Level = Literal["auto", "A", "B", "C", "D"]


@cache
def sandbox(isolation: Level = "auto") -> Sandbox:
    """The sandbox of this process for a level, started when it is first needed."""
    from agent_magics.sandbox import Sandbox

    shared = Sandbox(isolation)
    atexit.register(shared.close)
    return shared


@dataclass(kw_only=True)
class _Use:
    """How the sandbox of one level is used, by all sessions of this process."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    running: int = 0
    last: float = 0.0


_uses: defaultdict[Level, _Use] = defaultdict(_Use)


class SharedSandbox:
    """The sandbox of this process, without importing it before the first call."""

    def __init__(self, isolation: Level = "auto") -> None:
        self._isolation: Level = isolation

    @property
    def level(self) -> str:
        with self._used() as shared:
            return shared.level

    @property
    def isolation(self) -> Isolation:
        with self._used() as shared:
            return shared.isolation

    def call(
        self, source: str, function: str, arguments: Mapping[str, Any] | None = None, **limits: Any
    ) -> Outcome:
        with self._used() as shared:
            return shared.call(source, function, arguments, **limits)

    async def acall(
        self, source: str, function: str, arguments: Mapping[str, Any] | None = None, **limits: Any
    ) -> Outcome:
        with self._used() as shared:
            return await shared.acall(source, function, arguments, **limits)

    def rest(self, seconds: float) -> bool:
        """Give its processes back, if nobody has used it for so long; whether there is nothing left to give.

        Sessions share it: one that rests must not end what another one is waiting for.
        """
        use = _uses[self._isolation]
        with use.lock:
            if use.running or (use.last and time.monotonic() - use.last < seconds):
                return False
            if use.last:
                sandbox(self._isolation).rest()
                use.last = 0.0
            return True

    @contextmanager
    def _used(self) -> Yields[Sandbox]:
        use = _uses[self._isolation]
        with use.lock:
            use.running += 1
        try:
            yield sandbox(self._isolation)
        finally:
            with use.lock:
                use.running -= 1
                use.last = time.monotonic()


def open_workshop(
    session: Session,
    *,
    making: Making,
    generator: str | Any | None,
    cwd: Path,
    isolation: Level = "auto",
    allows: Callable[[str], bool] = lambda name: True,
) -> Workshop:
    """Give a session its forge: ``make_tool``, the kept tools, the commands, and the line of its status.

    Parameters
    ----------
    making : {"on", "auto", "off"}
        Whether tools are made; ``"auto"`` also for names that nobody wrote.
    generator : str or object, optional
        Who writes: ``"demo"`` for recipes, a provider's name or object; by default whoever plans.
    cwd : Path
        The folder whose ``.agents/tools`` are offered too.
    isolation : {"auto", "A", "B", "C", "D"}
        The level at which generated code runs. A named one is exactly that; C and D are an opt-in to less.
    allows : callable
        Which of the kept tools may be offered.
    """
    shared = SharedSandbox(isolation)
    workshop = Workshop(
        toolbox=session.toolbox,
        asks=session.permission,
        sandbox=shared,
        registries=registries(cwd),
        approvals=Approvals(home()),
        generator=generator_for(session, generator, making),
        writer=_Planner(session),
        planner=lambda: f"{session.provider.name}:{session.provider.model}",
        making=making,
        allows=allows,
        mask=mask,
        opted_in=isolation in ("C", "D"),
    )
    workshop.open()
    session.subscribe(workshop.watch)
    for module in (make, registry):
        session.commands.add(module.command(workshop))
    _rest_with(session, shared)
    session.status["isolation"] = lambda: f"level {shared.level}: {shared.isolation.why}"
    return workshop


def _rest_with(session: Session, shared: SharedSandbox) -> None:
    """When nobody talks to the session, the processes of tool making go; they come again when needed."""

    def rest() -> None:
        if not shared.rest(session.idle.minutes * 60):
            session.idle.begin()  # another session is at work in it: look again later

    session.idle.add(rest)
    session.idle.add(checking.rest)
    session.idle.begin()  # finding out the level has started a process already


def registries(cwd: Path) -> list[Registry]:
    """The user's own tools, then the project's."""
    own, project = Path.home() / ".agents" / "tools", cwd / ".agents" / "tools"
    return [Registry(own)] if own == project else [Registry(own), Registry(project)]


def kept_names(cwd: Path) -> Iterable[str]:
    """The names of all kept tools."""
    return (name for each in registries(cwd) for name in each.names())


def generator_for(session: Session, wanted: str | Any | None, making: Making) -> Generator | None:
    """Who writes: recipes for ``"demo"``, a provider by its name or as an object, a generator of one's own.

    Without a wish it is nobody, so that the model has to write itself; with ``"auto"`` it is whoever plans.
    """
    if not wanted:
        return _Planner(session) if making == "auto" else None
    if wanted == "demo":
        return recipes()
    if hasattr(wanted, "write"):
        return cast("Generator", wanted)
    built: list[Provider] = []

    def provider() -> Provider:
        if not built:
            built.append(session.providers.build(wanted))
            session.idle.add(built[0].aclose)
        return built[0]

    return ProviderGenerator(provider)


def recipes() -> RecipeGenerator:
    """The demonstration's recipes."""
    from agent_magics.providers.demo.recipes import write

    return RecipeGenerator(write)


class _Planner:
    """Whoever plans in the session writes too: the demonstration from its recipes."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.usage = Usage()

    @property
    def author(self) -> str:
        return self._writer().author

    async def write(self, request: Any, rejected: Any) -> Any:
        writer = self._writer()
        try:
            return await writer.write(request, rejected)
        finally:
            self.usage = writer.usage if isinstance(writer, ProviderGenerator) else Usage()

    def _writer(self) -> Generator:
        if self._session.provider.name == "demo":
            return recipes()
        return ProviderGenerator(lambda: self._session.provider)
