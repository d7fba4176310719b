"""Many rows over a Dask cluster: the same run, whose crew are the workers.

Theory of operation
-------------------
Rows travel in chunks, one task each; a task asks for its rows many at once and returns their outcomes as
plain data. *The limits are shared by leases*: so many tasks at once as there are leases, and each works with
its share of ``concurrency`` and of the requests and tokens a minute. The leases are held here, by who hands
the chunks out, so none is lost with a worker. When a worker is told to wait because the quota is used up, it
says so, and every other worker waits as long.

Tasks have no effect but their result. A worker that dies takes its chunk with it, Dask runs that one again
elsewhere, and since outcomes are counted when a chunk's result arrives, no row is lost and none comes twice.
The checkpoint is written here, not there.

The provider travels pickled, with its key, from memory to memory over the cluster's own connections (use
TLS there). It is no part of a task's name, its ``repr`` or any result, so neither Dask's logs nor its
spilling to disk ever see it.
"""

from __future__ import annotations

import asyncio
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from agent_magics import errors
from agent_magics.errors import AgentMagicsError, ConfigError, ExtractionError, UsageError
from agent_magics.extract.crew import TICK, LocalCrew
from agent_magics.extract.limiter import MOST_PLACES, Pace
from agent_magics.extract.task import Limits, Outcome, Row, Task
from agent_magics.talk import JSON, Usage

PAUSES = "agent-magics-pauses"
"""The topic under which a worker tells that the quota is used up."""

_PER_THREAD = 16
_ROUNDS = 10
_LEAST, _MOST = 20, 500


@dataclass(frozen=True, kw_only=True)
class Errand:
    """What a worker needs besides the rows. Its ``repr`` shows nothing, since Dask logs those."""

    run: str
    parcel: bytes = field(repr=False)
    """The provider and the schema, pickled once."""
    instruction: str = field(repr=False)
    repairs: int
    limits: Limits


class Chunk(tuple[Row, ...]):
    """Rows on their way; their texts are in no log."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{len(self)} rows>"


Reply = tuple[list[tuple[int, JSON, "Usage | None", "dict[str, Any] | None"]], "dict[str, Any] | None"]
"""The outcomes as plain data, and what ends the run if something does."""

Work = Callable[[Errand, Chunk], Reply]


class ClusterCrew:
    """Asks from the workers of a cluster; see :class:`~agent_magics.extract.task.Crew`.

    Parameters
    ----------
    client : distributed.Client
        Connected, and not asynchronous.
    task : Task
        What is asked.
    work : callable
        What runs on a worker: a function that can be imported there.
    """

    def __init__(self, client: Any, task: Task, work: Work) -> None:
        threads = _threads(client)
        most = task.limits.concurrency or min(MOST_PLACES, _PER_THREAD * threads)
        self._leases = max(1, min(most, threads))
        self._size = min(_MOST, max(_LEAST, most // self._leases * _ROUNDS))
        self.window = 2 * self._leases * self._size
        self._client = client
        self._work = work
        self._errand = _errand(task, self._leases, most)
        self._rows: deque[Row] = deque()
        self._out: dict[Any, Chunk] = {}
        self._done: deque[Any] = deque()
        self._ready = threading.Event()
        self._sent = self._handed = self._taken = 0
        self._told: deque[tuple[str, float]] = deque()
        self._opens_at = 0.0
        self.fatal: AgentMagicsError | None = None
        client.subscribe_topic(PAUSES, self._hear)

    @property
    def busy(self) -> int:
        return self._handed - self._taken

    @property
    def paused(self) -> float:
        return max(0.0, self._opens_at - time.monotonic())

    def hand_in(self, rows: Sequence[Row]) -> None:
        self._handed += len(rows)
        self._rows.extend(rows)
        self._send(whole=True)

    def take(self, timeout: float = TICK) -> list[Outcome]:
        self._pass_on()
        self._send(whole=False)
        if not self._ready.wait(timeout) and not self._done:
            return []
        self._ready.clear()
        outcomes: list[Outcome] = []
        while self._done:
            outcomes += self._opened(self._done.popleft())
        self._taken += len(outcomes)
        return outcomes

    def stop(self, limit: float) -> None:
        futures, self._out = [*self._out], {}
        if futures:
            self._client.cancel(futures, force=True)
        self._client.run(leave, self._errand.run, wait=False, on_error="ignore")
        self._client.unsubscribe_topic(PAUSES)

    # -- chunks -----------------------------------------------------------------------------------

    def _send(self, *, whole: bool) -> None:
        """Hand chunks out while there are leases; one that is not full only when nothing else waits."""
        while self._rows and len(self._out) < self._leases:
            if whole and len(self._rows) < self._size:
                return
            count = min(self._size, max(1, -(-len(self._rows) // (self._leases - len(self._out)))))
            chunk = Chunk(self._rows.popleft() for _ in range(min(count, len(self._rows))))
            self._sent += 1
            future = self._client.submit(
                self._work,
                self._errand,
                chunk,
                key=f"extract_many-{self._errand.run}-{self._sent}",
                pure=False,
            )
            self._out[future] = chunk
            future.add_done_callback(self._over)

    def _over(self, future: Any) -> None:
        """Called on a thread of the client's."""
        self._done.append(future)
        self._ready.set()

    def _opened(self, future: Any) -> list[Outcome]:
        chunk = self._out.pop(future, None)
        if chunk is None:  # it was taken back
            return []
        if future.status != "finished":
            died = _died(future)
            return [Outcome(index, error=died) for index, _ in chunk]
        outcomes, fatal = future.result()
        if fatal is not None:
            self.fatal = _error(fatal)
        return [
            Outcome(index, value, usage, None if error is None else _error(error))
            for index, value, usage, error in outcomes
        ]

    # -- pauses -----------------------------------------------------------------------------------

    def _hear(self, event: tuple[float, Any]) -> None:
        """Called on the client's loop: a worker was told to wait."""
        told = event[1]
        if isinstance(told, dict) and told.get("run") == self._errand.run:  # pyright: ignore[reportUnknownMemberType]
            self._told.append((told["by"], float(told["seconds"])))  # pyright: ignore[reportUnknownArgumentType]

    def _pass_on(self) -> None:
        while self._told:
            _, seconds = self._told.popleft()
            self._opens_at = max(self._opens_at, time.monotonic() + seconds)
            self._client.run(pause, self._errand.run, seconds, wait=False, on_error="ignore")


def _threads(client: Any) -> int:
    if getattr(client, "asynchronous", False):
        raise UsageError(
            "This client is asynchronous.",
            "extract_many waits for the rows itself.",
            "Give it a client that was made without asynchronous=True.",
        )
    threads = sum(client.nthreads().values())
    if threads:
        return threads
    client.wait_for_workers(1)
    return sum(client.nthreads().values())


def _errand(task: Task, leases: int, most: int) -> Errand:
    try:
        parcel: bytes = _pickle().dumps((task.provider, task.schema))
    except Exception as error:  # whatever an object of the user's raises while it is pickled
        raise UsageError(
            f"The provider {task.provider.name!r} and the schema can't be sent to the workers.",
            f"{type(error).__name__}: {error}",
            'Name the provider ("openai:gpt-6-luna"), and define models at the top of a module or cell.',
        ) from None
    limits = task.limits
    return Errand(
        run=uuid.uuid4().hex[:12],
        parcel=parcel,
        instruction=task.instruction,
        repairs=task.repairs,
        limits=Limits(
            concurrency=max(1, most // leases),
            requests_per_minute=_share(limits.requests_per_minute, leases),
            tokens_per_minute=_share(limits.tokens_per_minute, leases),
        ),
    )


def _pickle() -> Any:
    """Dask's own way to pickle: by value where a notebook's objects have no other home."""
    return import_module("distributed.protocol.pickle")


def _share(number: float | None, leases: int) -> float | None:
    return None if number is None else number / leases


def _died(future: Any) -> ExtractionError:
    why = future.exception() if future.status == "error" else None
    if why is None or type(why).__name__ == "KilledWorker":
        return ExtractionError(
            "The workers that asked for this row died, one after the other.",
            f"Dask gave its chunk up ({future.status}).",
            "Look at the workers' memory, then run it again with the same checkpoint.",
            kind="provider",
        )
    return ExtractionError(
        "A worker could not ask for this row.",
        f"{type(why).__name__}: {why}",
        "The workers need the same packages as this process, agent_magics among them.",
        kind="provider",
    )


# -- on a worker ----------------------------------------------------------------------------------------


@dataclass(kw_only=True)
class _Here:
    """What this worker keeps of a run from chunk to chunk: connections, and paces that are free."""

    task: Task
    free: list[Pace] = field(default_factory=list[Pace])
    used: list[Pace] = field(default_factory=list[Pace])
    left: bool = False


_here: dict[str, _Here] = {}
_lock = threading.Lock()


def ask_chunk(errand: Errand, chunk: Chunk, loop: asyncio.AbstractEventLoop) -> Reply:
    """Ask for a chunk's rows on ``loop``; for a worker's task thread."""
    with _lock:
        here = _here.setdefault(errand.run, _Here(task=_task(errand)))
        pace = here.free.pop() if here.free else _pace(errand.limits)
        here.used.append(pace)
    pace.on_pause = _teller(errand.run)
    crew = LocalCrew(here.task, loop, pace)
    outcomes: list[Outcome] = []
    try:
        waiting = deque(chunk)
        while len(outcomes) < len(chunk) and not (here.left or crew.fatal):
            room = min(len(waiting), crew.window - crew.busy)
            if room:
                crew.hand_in([waiting.popleft() for _ in range(room)])
            outcomes += crew.take()
    finally:
        if crew.busy:
            crew.stop(1.0)
        with _lock:
            here.used.remove(pace)
            here.free.append(pace)
    fatal = None if crew.fatal is None else _told(crew.fatal)
    return [(each.index, each.value, each.usage, _told(each.error)) for each in outcomes], fatal


async def pause(run: str, seconds: float) -> None:
    """On a worker, where Dask doesn't wait for coroutines: leave the vendor alone for so long."""
    with _lock:
        paces = [*_here[run].used] if run in _here else []
    for each in paces:
        each.pause(seconds)


async def leave(run: str) -> None:
    """On a worker: the run is over, or was left."""
    with _lock:
        here = _here.pop(run, None)
    if here is not None:
        here.left = True


def _task(errand: Errand) -> Task:
    provider, schema = _pickle().loads(errand.parcel)
    return Task(
        provider=provider,
        schema=schema,
        instruction=errand.instruction,
        repairs=errand.repairs,
        limits=errand.limits,
    )


def _pace(limits: Limits) -> Pace:
    return Pace(
        limits.concurrency,
        requests_per_minute=limits.requests_per_minute,
        tokens_per_minute=limits.tokens_per_minute,
    )


def _teller(run: str) -> Callable[[float], None]:
    from distributed import get_worker

    worker: Any = get_worker()

    def tell(seconds: float) -> None:
        worker.log_event(PAUSES, {"run": run, "by": worker.address, "seconds": seconds})

    return tell


def _told(error: Exception | None) -> dict[str, Any] | None:
    """An error as plain data."""
    match error:
        case None:
            return None
        case ExtractionError():
            more = {"kind": error.kind, "errors": error.errors, "attempts": error.attempts}
            return {"family": "ExtractionError", "lines": [error.what, error.why, error.remedy], **more}
        case AgentMagicsError():
            return {"family": type(error).__name__, "lines": [error.what, error.why, error.remedy]}
        case _:
            return {"family": "ConfigError", "lines": [f"{type(error).__name__}: {error}"]}


def _error(told: dict[str, Any]) -> AgentMagicsError:
    more = {name: value for name, value in told.items() if name not in ("family", "lines")}
    family = getattr(errors, told["family"], ConfigError)
    return family(*told["lines"], **more)
