"""``extract_many``: many rows, with the usual parts found by themselves.

The work is in :mod:`agent_magics.extract`; here it is given a provider by name, the agent's loop to run on,
and whoever shows the progress.
"""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from agent_magics.agent.background import background
from agent_magics.agent.waiting import GRACE, wait_until
from agent_magics.errors import SessionError, UsageError
from agent_magics.extract.batch_crew import BatchCrew
from agent_magics.extract.checkpoint import Checkpoint
from agent_magics.extract.crew import LocalCrew
from agent_magics.extract.ledger import Ledger
from agent_magics.extract.many import Run
from agent_magics.extract.progress import Count, Watcher
from agent_magics.extract.rows import Rows
from agent_magics.extract.schema import Schema
from agent_magics.extract.source import Reading, Source
from agent_magics.extract.task import Crew, Limits, Task
from agent_magics.front import current_front
from agent_magics.ports import Batches, Provider
from agent_magics.providers import prices
from agent_magics.providers.batches import batches_of
from agent_magics.providers.registry import Registry
from agent_magics.talk import Usage

if TYPE_CHECKING:
    from agent_magics.extract.cluster import Chunk, Errand, Reply

OnError = Literal["keep", "raise"]
Stream = Literal[True, "ordered"]
Mode = Literal["live", "batch"]


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
    mode: Mode = "live",
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
    mode : {"live", "batch"}
        ``"batch"`` sends the rows through the vendor's batch API (``anthropic``, ``openai``): answers within
        a day, at a lower price. It needs a ``checkpoint``: a run that was interrupted or killed leaves its
        batches at the vendor, and the next one with the same file waits for the same ones and sends nothing
        twice. :func:`cancel_batches` ends them. What it costs is not shown, since the list of prices
        doesn't know what a batch costs.
    instruction : str
        What to look for, where the schema doesn't say it.
    template : str, optional
        How a row is put into words, ``"{title}: {text}"``; names are columns or keys.
    concurrency : int, optional
        The most requests at once; by default it is found, between 16 and 256. In batches the most rows at
        the vendor at once, 20,000 by default, and at most 10,000 of them in one batch.
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
    _check_mode(mode, checkpoint, client)
    built = Registry().build(provider, **options)
    if mode == "batch":
        batches_of(built)  # or say at once that there are none
    limits = Limits(
        concurrency=concurrency,
        requests_per_minute=requests_per_minute,
        tokens_per_minute=tokens_per_minute,
    )
    task = Task(
        provider=built, schema=Schema.of(schema), instruction=instruction, repairs=repairs, limits=limits
    )
    source = Source(rows, template)
    price = _unknown if mode == "batch" else partial(prices.cost, built.name, built.model)
    count = Count(_watcher(progress), source.total, price)
    how = _How(
        checkpoint=checkpoint,
        raises=on_error == "raise",
        ordered=stream == "ordered",
        ours=isinstance(provider, str),
        client=client,
    )
    pairs = (_in_batches if mode == "batch" else _pairs)(source, task, count, how)
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


def _in_batches(source: Source, task: Task, count: Count, how: _How) -> Generator[tuple[int, Any]]:
    assert how.checkpoint is not None
    with ExitStack() as ends:
        if how.ours:
            ends.callback(_close, task.provider)
        kept = ends.enter_context(_kept(how.checkpoint, task))
        api, reading = batches_of(task.provider), Reading(source)
        ledger = ends.enter_context(closing(Ledger(how.checkpoint, api.account)))
        crew = BatchCrew(task, background.loop, api, ledger, reading)
        count.at_vendor = crew.at_vendor
        run = Run(reading, crew, count, checkpoint=kept, raises=how.raises, ordered=how.ordered)
        try:
            yield from ends.enter_context(closing(run.outcomes()))
        except KeyboardInterrupt as error:
            if crew.left:
                error.add_note(_left(crew.left, task.provider.name))
            raise


def cancel_batches(checkpoint: str | Path, provider: str | Any, **options: Any) -> list[str]:
    """Cancel the batches that an earlier run with this checkpoint left at the vendor.

    Answers that were ready are kept there: the next run takes them, and asks for the rest anew.

    Parameters
    ----------
    checkpoint : path
        The run's file.
    provider : str or object
        The run's provider, with the same ``options``.

    Returns
    -------
    list of str
        The ids of the batches that were cancelled.

    Raises
    ------
    ProviderError
        If the vendor can't be asked.
    """
    built = Registry().build(provider, **options)
    api = batches_of(built)
    with closing(Ledger(checkpoint, api.account)) as ledger:
        ids = [sent.id for sent in ledger.open() if sent.id]
    try:
        return background.submit(_cancel(api, ids)).result()
    finally:
        if isinstance(provider, str):
            _close(built)


async def _cancel(api: Batches, ids: list[str]) -> list[str]:
    """Those that have ended are left as they are."""
    going = [each for each in ids if not (await api.state(each)).ended]
    for each in going:
        await api.cancel(each)
    return going


def _left(ids: list[str], vendor: str) -> str:
    return (
        f"The batches go on at {vendor}: {', '.join(ids)}.\n"
        "Run the same again with the same checkpoint to wait for them, or end them: "
        "agent_magics.many_rows.cancel_batches(checkpoint, provider)."
    )


def _unknown(_: Usage) -> None:
    """What a batch costs: the list of prices doesn't say."""


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


def _check_mode(mode: str, checkpoint: str | Path | None, client: Any) -> None:
    if mode not in ("live", "batch"):
        raise UsageError(f"mode={mode!r} is not known.", 'It is "live" or "batch".')
    if mode == "live":
        return
    if client is not None:
        raise UsageError(
            "A Dask client has nothing to do in batches.",
            "The vendor does the asking.",
            'Leave out client=, or mode="batch".',
        )
    if checkpoint is None or str(checkpoint) == ":memory:":
        raise UsageError(
            'mode="batch" needs a checkpoint.',
            "Its file knows which batches are at the vendor, so that no run pays for them twice.",
            'Name one: checkpoint="run.db".',
        )


def _check(on_error: str, stream: Any, *numbers: float | None) -> None:
    if on_error not in ("keep", "raise"):
        raise UsageError(f"on_error={on_error!r} is not known.", 'It is "keep" or "raise".')
    if stream not in (True, False, "ordered"):
        raise UsageError(f"stream={stream!r} is not known.", 'It is True, False or "ordered".')
    for name, number in zip(
        ("concurrency", "requests_per_minute", "tokens_per_minute"), numbers, strict=True
    ):
        if number is None:
            continue
        kind = int if name == "concurrency" else Real
        if isinstance(number, bool) or not isinstance(number, kind) or not 0 < number < math.inf:
            unit = "tokens" if name == "tokens_per_minute" else "requests"
            raise UsageError(
                f"{name}={number!r} is not a number of {unit}.",
                f"It must be a{' whole' if kind is int else ''} number above 0.",
                "Leave it out where there is no limit.",
            )
