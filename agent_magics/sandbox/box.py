"""The sandbox as others use it: a level, calls, and a way to let go."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from agent_magics.sandbox.broker import Broker
from agent_magics.sandbox.capabilities import Grants, read_grants
from agent_magics.sandbox.detect import Isolation, probe
from agent_magics.sandbox.families import BY_NAME, family_for
from agent_magics.sandbox.leash import Leash
from agent_magics.sandbox.order import CONFINEMENTS, Level, Order
from agent_magics.sandbox.outcome import Fault, Outcome, SandboxError
from agent_magics.sandbox.parcel import Packed, Untransportable, pack
from agent_magics.sandbox.scratch import ScratchFolder

if TYPE_CHECKING:
    from agent_magics.sandbox.errands import Errands
    from agent_magics.sandbox.pool import Zygotes

ZYGOTES = sys.platform == "linux"
NO_ZYGOTE = (
    "This system has neither Landlock nor seccomp: a process of its own with limits, and nothing else."
)
ACCEPTED = "Pass numbers, text, lists, dicts, dates, arrays or DataFrames."
CANCEL_SECONDS = 0.5
OFFERS: Mapping[Level, str] = {"A": "ABCD", "B": "BD", "C": "CD", "D": "D"}  # what each machine can do

_known: dict[int | None, Isolation] = {}  # by ABI; a machine does not change while a process runs
_probing = threading.Lock()


class Sandbox:
    """Runs functions from source that nobody vouches for, each call in a confined process of its own.

    Parameters
    ----------
    level : {"auto", "A", "B", "C", "D"}
        ``"auto"`` runs calls at level A or B, whichever this machine gives, and refuses them where it gives
        neither. A named level runs them at exactly that level; naming C or D is the opt-in to less.
    broker : Broker, optional
        Who fetches pages for calls that were granted a host.
    landlock_abi : int, optional
        Use no more of Landlock than this ABI, as on an older kernel.

    Raises
    ------
    SandboxError
        If there is no such level.

    Examples
    --------
    >>> with Sandbox() as sandbox:  # doctest: +SKIP
    ...     sandbox.call("def double(x):\\n    return 2 * x", "double", {"x": 21}).value
    42

    Notes
    -----
    One object serves any number of threads and event loops at once; a slow call never holds up a quick one.
    The processes behind it start when they are first needed, and end with :meth:`close` or with this process.
    """

    def __init__(
        self,
        level: Literal["auto", "A", "B", "C", "D"] = "auto",
        *,
        broker: Broker | None = None,
        landlock_abi: int | None = None,
    ) -> None:
        if level not in ("auto", *get_args(Level)):
            raise SandboxError(f"No level {level!r}.", "", "Take 'auto', 'A', 'B', 'C' or 'D'.")
        self._wanted: Literal["auto", "A", "B", "C", "D"] = level
        self._abi = landlock_abi
        self._broker = broker or Broker()
        self._lock = threading.Lock()
        self._folders: dict[str, ScratchFolder] = {}
        self._leashes: set[Leash] = set()
        self._closed = False
        self._zygotes: Zygotes | None = None
        if ZYGOTES:
            from agent_magics.sandbox.pool import Zygotes

            self._zygotes = Zygotes(landlock_abi)

    @property
    def isolation(self) -> Isolation:
        """What confines calls on this machine, found by trying when it is first asked for."""
        with _probing:
            found = _known.get(self._abi) or self._probe()
            if found.zygotes or not ZYGOTES:  # why none started may be gone the next time
                _known[self._abi] = found
            return found

    @property
    def level(self) -> Level:
        """The level at which calls run, or would run if somebody opted in to it."""
        return self.isolation.level if self._wanted == "auto" else self._wanted

    def call(
        self,
        source: str,
        function: str,
        arguments: Mapping[str, Any] | None = None,
        seconds: float = 60.0,
        memory_mb: int = 64,
        capabilities: Iterable[str] = (),
    ) -> Outcome:
        """Call one function of a source, and wait for the outcome.

        Parameters
        ----------
        source : str
            Python source: a whole module, compiled and run afresh for this call.
        function : str
            Which of its functions to call.
        arguments : mapping, optional
            Keyword arguments: JSON-like values, dates, arrays and DataFrames.
        seconds : float
            Wall time, up to a day. The outcome is there at most a second later, whatever the code does. The
            first call that needs a library waits besides until a zygote has loaded it.
        memory_mb : int
            Megabytes above the interpreter's own use; three times the data's size is given besides.
        capabilities : iterable of str
            What the call may do beyond computing; see :mod:`agent_magics.sandbox.capabilities`.

        Returns
        -------
        Outcome
            With ``value`` or ``error``. What happens inside never raises here.

        Raises
        ------
        SandboxError
            If a capability or a limit is none, or the sandbox is closed.
        """
        return self._call(self._order(source, function, seconds, memory_mb, capabilities), arguments, Leash())

    async def acall(
        self,
        source: str,
        function: str,
        arguments: Mapping[str, Any] | None = None,
        seconds: float = 60.0,
        memory_mb: int = 64,
        capabilities: Iterable[str] = (),
    ) -> Outcome:
        """:meth:`call` for an event loop. Cancelling the task ends the child within half a second."""
        order = self._order(source, function, seconds, memory_mb, capabilities)
        leash = Leash()
        done = _in_thread(lambda: self._call(order, arguments, leash))
        try:
            return await asyncio.shield(done)
        except asyncio.CancelledError:
            leash.pull()
            await asyncio.wait([done], timeout=CANCEL_SECONDS)
            raise

    def prepare(self, *families: str) -> None:
        """Start what the first calls will need, ahead of them.

        Parameters
        ----------
        *families : str
            ``"bare"`` (the default), ``"numpy"``, ``"pandas"`` or ``"science"``; each holds the ones before
            it.
        """
        for family in families or ("bare",):
            if family not in BY_NAME:
                raise SandboxError(f"No family {family!r}.", "", f"Take one of {', '.join(BY_NAME)}.")
            if self._zygotes and self._refusal() is None and self.isolation.zygotes:
                self._zygotes.get(family, hoard=self.level == "B")

    def rest(self) -> None:
        """Give back processes and memory; the next call starts what it needs."""
        if self._zygotes:
            self._zygotes.rest()

    def close(self) -> None:
        """End every call under way, every process and every scratch folder, for good."""
        with self._lock:
            self._closed = True
            leashes, folders = set(self._leashes), list(self._folders.values())
            self._folders = {}
        for leash in leashes:
            leash.pull()
        if self._zygotes:
            self._zygotes.close()
        for folder in folders:
            folder.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _order(
        self, source: str, function: str, seconds: float, memory_mb: int, capabilities: Iterable[str]
    ) -> Order:
        return Order(
            source=source,
            function=function,
            seconds=seconds,
            memory_mb=memory_mb,
            grants=read_grants(capabilities),
        )

    def _call(self, order: Order, arguments: Mapping[str, Any] | None, leash: Leash) -> Outcome:
        """Everything up to the child: whether it may run at all, its data, its zygote, its errands."""
        if self._closed:
            raise SandboxError("The sandbox is closed.", "", "Make another one.")
        if refusal := self._refusal():
            return Outcome(error=refusal)
        order = replace(order, confinement=CONFINEMENTS[self.level])
        try:
            packed = pack(arguments or {})
        except Untransportable as error:
            return Outcome(
                error=Fault(kind="arguments", message=f"An argument stays here: {error}. {ACCEPTED}")
            )
        with self._leashed(leash):
            if self._zygotes and self.isolation.zygotes:
                return self._in_zygote(self._zygotes, order, packed, leash)
            from agent_magics.sandbox import portable

            return portable.run(order, packed, leash=leash)

    def _in_zygote(self, zygotes: Zygotes, order: Order, packed: Packed, leash: Leash) -> Outcome:
        from agent_magics.sandbox.run import run

        family = family_for(order.source, packed.packages)
        try:
            zygote = zygotes.get(family.name, hoard=not order.confinement.files)
        except SandboxError as error:
            return Outcome(error=Fault(kind="unavailable", message=str(error)))
        with self._errands(order.grants) as errands:
            return run(zygote, order, packed, errands=errands, leash=leash)

    def _refusal(self) -> Fault | None:
        """Why nothing runs here at the level that was asked for."""
        found = self.isolation
        if self._wanted == "auto" and not found.enough:
            message = (
                f"This machine confines code only at level {found.level}. {found.why} Nothing was run; "
                f"whoever accepts that opts in with Sandbox(level={found.level!r})."
            )
        elif self._wanted != "auto" and self._wanted not in OFFERS[found.level]:
            message = f"Level {self._wanted} was asked for; this machine gives {found.level}. {found.why}"
        else:
            return None
        return Fault(kind="level", message=message)

    def _probe(self) -> Isolation:
        if self._zygotes is None:
            return Isolation(level="D", why=NO_ZYGOTE, zygotes=False)
        try:
            return probe(self._zygotes.get("bare", hoard=False))
        except SandboxError as error:
            return Isolation(level="D", why=str(error), zygotes=False)

    @contextlib.contextmanager
    def _errands(self, grants: Grants) -> Generator[Errands | None]:
        if not grants.errands:
            yield None
            return
        from agent_magics.sandbox.errands import Errands

        folder = self._folder(grants.scratch)
        errands = Errands(grants, self._broker, folder)
        try:
            yield errands
        finally:
            errands.close()
            if grants.scratch == "" and folder is not None:
                folder.close()

    def _folder(self, name: str | None) -> ScratchFolder | None:
        if name is None:
            return None
        if name == "":
            return ScratchFolder()
        with self._lock:
            if name not in self._folders:
                self._folders[name] = ScratchFolder()
            return self._folders[name]

    @contextlib.contextmanager
    def _leashed(self, leash: Leash) -> Generator[None]:
        with self._lock:
            self._leashes.add(leash)
        try:
            yield
        finally:
            with self._lock:
                self._leashes.discard(leash)


def _in_thread(work: Callable[[], Outcome]) -> asyncio.Future[Outcome]:
    """Do it in a thread of its own: a pool of threads would let slow calls hold up a quick one."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Outcome] = loop.create_future()

    def settle(outcome: Outcome | None, error: BaseException | None) -> None:
        if done.cancelled():
            return
        if outcome is not None:
            done.set_result(outcome)
        elif error is not None:
            done.set_exception(error)

    def report() -> None:
        outcome, raised = None, None
        try:
            outcome = work()
        except Exception as error:  # raised again in the loop
            raised = error
        with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile
            loop.call_soon_threadsafe(settle, outcome, raised)

    threading.Thread(target=report, name="sandbox-call", daemon=True).start()
    return done
