"""``extract_many``: many rows, with the usual parts found by themselves.

The work is in :mod:`agent_magics.extract`; here it is given a provider by name, the agent's loop to run on,
and whoever shows the progress.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from agent_magics.agent.background import background
from agent_magics.agent.waiting import GRACE, wait_until
from agent_magics.errors import SessionError, UsageError
from agent_magics.extract.checkpoint import Checkpoint
from agent_magics.extract.crew import LocalCrew
from agent_magics.extract.many import Run
from agent_magics.extract.progress import Count, Watcher
from agent_magics.extract.rows import Rows
from agent_magics.extract.schema import Schema
from agent_magics.extract.source import Source
from agent_magics.extract.task import Crew, Limits, Task
from agent_magics.front import current_front
from agent_magics.ports import Provider
from agent_magics.providers import prices
from agent_magics.providers.registry import Registry

if TYPE_CHECKING:
    from agent_magics.extract.cluster import Chunk, Errand, Reply

OnError = Literal["keep", "raise"]
Stream = Literal[True, "ordered"]


@overload
def extract_many(rows: Iterable[Any], schema: Any, *, stream: Literal[False] = False, **how: Any) -> Rows: ...
@overload
def extract_many(
    rows: Iterable[Any], schema: Any, *, stream: Stream, **how: Any
) -> Iterator[tuple[int, Any]]: ...
def extract_many(
    rows: Iterable[Any],
    schema: Any,
    *,
    stream: Literal[False] | Stream = False,
    provider: str | Any = "auto",
    instruction: str = "",
    template: str | None = None,
    concurrency: int | None = None,
    requests_per_minute: float | None = None,
    tokens_per_minute: float | None = None,
    checkpoint: str | Path | None = None,
    on_error: OnError = "keep",
    repairs: int = 2,
    client: Any = None,
    progress: bool | Watcher = True,
    **options: Any,
) -> Rows | Iterator[tuple[int, Any]]:
    """Extract structured data from every row.

    Rows are read one by one and asked many at once. Requests, repairs and retries share one limiter: a
    refusal (429) is waited for as long as the vendor says and asked again for up to 15 minutes, so no row is
    lost to it. A row whose answer breaks the schema to the end costs that row only.

    Parameters
    ----------
    rows : iterable
        Texts or mappings; a pandas or polars Series or frame; any generator, of any length.
    schema
        What to extract, in any form that :func:`~agent_magics.extract` takes: a JSON Schema, a Pydantic
        model, a dataclass, the short form ``"name, age int"``.
    stream : bool or "ordered"
        ``True`` yields ``(index, result)`` as they come and holds nothing; ``"ordered"`` yields them in the
        rows' order, looking ahead as far as a few hundred rows.
    provider : str or object
        As for :class:`~agent_magics.Session`; further keywords go to its factory (``base_url``,
        ``api_key``, ``temperature``, ...).
    instruction : str
        What to look for, where the schema doesn't say it.
    template : str, optional
        How a row is put into words, ``"{title}: {text}"``; names are columns or keys.
    concurrency : int, optional
        The most requests at once; by default it is found, between 16 and 256.
    requests_per_minute, tokens_per_minute : float, optional
        The account's limits.
    checkpoint : path, optional
        A file that keeps each value. A second run with the same provider, model, schema, instruction and
        rows takes what is there and asks for the rest.
    on_error : {"keep", "raise"}
        Whether a row without a value becomes a :class:`~agent_magics.extract.rows.RowError` in its place, or
        ends the run.
    repairs : int
        How often a wrong answer is sent back with its errors.
    client : distributed.Client, optional
        A Dask cluster to ask from, with the same limits shared by its workers; they need agent_magics too.
    progress : bool or callable
        Whether to show a bar; a function is called with each
        :class:`~agent_magics.extract.progress.Progress` instead.

    Returns
    -------
    Rows
        A list in the rows' order with ``.to_frame()``, ``.failures`` and ``.usage``; an iterator when
        streamed.

    Raises
    ------
    ProviderError
        If no row can be asked (no key, no credit). Answers in the checkpoint are kept.
    KeyboardInterrupt
        If it is interrupted, within half a second; the checkpoint is kept.

    Examples
    --------
    >>> rows = extract_many(
    ...     ["Ada is 36 years old", "Bob is 41 years old"], "age int", provider="demo", progress=False
    ... )
    >>> len(rows), rows.failures
    (2, [])
    """
    if background.inside():
        raise SessionError(
            "Many rows can't be asked from inside a turn's own loop.",
            "Waiting for them there would never end.",
            "Call it from a synchronous tool or a cell.",
        )
    _check(on_error, stream, concurrency, requests_per_minute, tokens_per_minute)
    built = Registry().build(provider, **options)
    limits = Limits(
        concurrency=concurrency,
        requests_per_minute=requests_per_minute,
        tokens_per_minute=tokens_per_minute,
    )
    task = Task(
        provider=built, schema=Schema.of(schema), instruction=instruction, repairs=repairs, limits=limits
    )
    source = Source(rows, template)
    count = Count(_watcher(progress), source.total, partial(prices.cost, built.name, built.model))
    how = _How(
        checkpoint=checkpoint,
        raises=on_error == "raise",
        ordered=stream == "ordered",
        ours=isinstance(provider, str),
        client=client,
    )
    pairs = _pairs(source, task, count, how)
    return pairs if stream else _collected(pairs, count)


@dataclass(frozen=True, kw_only=True)
class _How:
    checkpoint: str | Path | None
    raises: bool
    ordered: bool
    ours: bool
    client: Any


def _pairs(source: Source, task: Task, count: Count, how: _How) -> Generator[tuple[int, Any]]:
    with ExitStack() as ends:
        if how.ours:
            ends.callback(_close, task.provider)
        kept = None if how.checkpoint is None else ends.enter_context(_kept(how.checkpoint, task))
        run = Run(
            source, _crew(task, how.client), count, checkpoint=kept, raises=how.raises, ordered=how.ordered
        )
        yield from ends.enter_context(closing(run.outcomes()))


def _crew(task: Task, client: Any) -> Crew:
    if client is None:
        return LocalCrew(task, background.loop)
    from agent_magics.extract.cluster import ClusterCrew

    return ClusterCrew(client, task, on_worker)


def on_worker(errand: Errand, chunk: Chunk) -> Reply:
    """What a Dask worker runs for each chunk."""
    from agent_magics.extract.cluster import ask_chunk

    return ask_chunk(errand, chunk, background.loop)


def _kept(path: str | Path, task: Task) -> Checkpoint:
    return Checkpoint(
        path,
        provider=task.provider.name,
        model=task.provider.model,
        schema=task.schema.json,
        instruction=task.instruction,
    )


def _collected(pairs: Generator[tuple[int, Any]], count: Count) -> Rows:
    """The whole list; a place is filled when its row is done."""
    found = Rows()
    with closing(pairs):
        for index, value in pairs:
            while len(found) <= index:
                found.append(None)
            found[index] = value
    found.usage, found.reused, found.seconds = count.usage, count.reused, count.seconds
    return found


def _close(provider: Provider) -> None:
    wait_until(background.submit(provider.aclose()), limit=GRACE)


def _watcher(progress: bool | Watcher) -> Watcher | None:
    if callable(progress):
        return progress
    if not progress or threading.current_thread() is not threading.main_thread():
        return None
    front = current_front()
    if front is not None and front.progress is not None:
        return front.progress()
    from agent_magics.ui.progress import ProgressLine

    return ProgressLine(sys.stderr)


def _check(on_error: str, stream: Any, *numbers: float | None) -> None:
    if on_error not in ("keep", "raise"):
        raise UsageError(f"on_error={on_error!r} is not known.", 'It is "keep" or "raise".')
    if stream not in (True, False, "ordered"):
        raise UsageError(f"stream={stream!r} is not known.", 'It is True, False or "ordered".')
    for name, number in zip(
        ("concurrency", "requests_per_minute", "tokens_per_minute"), numbers, strict=True
    ):
        if number is not None and number <= 0:
            raise UsageError(f"{name}={number!r} is not a number of requests.", "It must be above 0.")
