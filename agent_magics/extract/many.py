"""Many rows: read one by one, asked many at once, given back in order or as they come.

Theory of operation
-------------------
The caller's thread is the only one that reads the rows, touches the checkpoint and reports progress; the
asking runs elsewhere, on the agent's loop or on a cluster. Between them is a *window*: the rows that are
asked, wait for their next try, or (where order is kept) wait for an earlier one. Nothing is read while it is
full, so ten million rows from a generator are never held, and a caller who takes results slowly slows the
reading down.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable
from typing import Any

from agent_magics.errors import ExtractionError, UsageError
from agent_magics.extract.checkpoint import Checkpoint
from agent_magics.extract.progress import Count
from agent_magics.extract.rows import RowError
from agent_magics.extract.source import NoText
from agent_magics.extract.task import Crew, Outcome, Row
from agent_magics.talk import JSON

GRACE = 0.4
"""Seconds that requests have to end when the run is left; the contract's limit for an interrupt is 0.5."""

_HOPELESS = 50
"""So many failed requests before the first answer, and nothing else: the run ends with their error."""

_READING = 0.01
_MOST_READ = 256


class Run:
    """One run over many rows.

    Parameters
    ----------
    source : iterable
        The rows, or what reads them.
    crew : Crew
        Who asks.
    count : Count
        Counts, and reports.
    checkpoint : Checkpoint, optional
        Where values are kept, and looked up first.
    raises : bool
        Whether the first row without a value ends the run.
    ordered : bool
        Whether outcomes come in the rows' order.
    """

    def __init__(
        self,
        source: Iterable[Callable[[], str]],
        crew: Crew,
        count: Count,
        *,
        checkpoint: Checkpoint | None = None,
        raises: bool = False,
        ordered: bool = False,
    ) -> None:
        self._crew = crew
        self._count = count
        self._checkpoint = checkpoint
        self._raises = raises
        self._ordered = ordered
        self._rows = iter(enumerate(source))
        self._exhausted = False
        self._texts: dict[int, str] = {}
        self._ready: deque[Outcome] = deque()
        self._held: dict[int, Outcome] = {}
        self._next = 0
        self._failed_in_vain = 0

    def outcomes(self) -> Generator[tuple[int, Any]]:
        """Each row's place and its value, or its :class:`RowError`. Leaving the generator ends the run.

        Raises
        ------
        ExtractionError, UsageError
            For the first row without a value, where the task ``raises``.
        ProviderError
            If no row can be asked: no key, no credit, nothing but failures.
        """
        try:
            while not (self._exhausted and not self._crew.busy and not self._ready):
                self._read()
                while self._ready:
                    yield from self._given(self._ready.popleft())
                self._keep(self._crew.take() if self._crew.busy else [])
                self._count.tick(self._crew.paused)
        finally:
            self._leave()

    # -- in ---------------------------------------------------------------------------------------

    def _read(self) -> None:
        """Hand in as many rows as the window has room for, or as were read in a moment."""
        room = min(_MOST_READ, self._crew.window - self._crew.busy - len(self._held))
        if self._exhausted or room < min(_MOST_READ, self._crew.window) // 8:
            return
        rows: list[Row] = []
        end = time.monotonic() + _READING
        while len(rows) < room and time.monotonic() < end:
            try:
                index, text_of = next(self._rows)
            except StopIteration:
                self._exhausted = True
                break
            try:
                rows.append((index, text_of()))
            except NoText as error:
                self._ready.append(Outcome(index, error=error))
        self._hand_in(rows)

    def _hand_in(self, rows: list[Row]) -> None:
        if self._checkpoint is not None and rows:
            known = self._checkpoint.known([text for _, text in rows])
            for index, text in rows:
                if text in known:
                    self._count.reused += 1
                    self._ready.append(Outcome(index, value=known[text]))
            rows = [row for row in rows if row[1] not in known]
            self._texts.update(rows)
        if rows:
            self._crew.hand_in(rows)

    # -- out --------------------------------------------------------------------------------------

    def _keep(self, outcomes: list[Outcome]) -> None:
        """Put values into the checkpoint before anybody sees them."""
        if self._checkpoint is not None and outcomes:
            texts = [(self._texts.pop(each.index), each) for each in outcomes]
            if values := [(text, each.value) for text, each in texts if each.error is None]:
                self._checkpoint.keep(values)
        self._ready.extend(outcomes)

    def _given(self, outcome: Outcome) -> Generator[tuple[int, Any]]:
        self._note(outcome)
        if not self._ordered:
            yield outcome.index, _result(outcome)
            return
        self._held[outcome.index] = outcome
        while self._next in self._held:
            due = self._held.pop(self._next)
            self._next += 1
            yield due.index, _result(due)

    def _note(self, outcome: Outcome) -> None:
        count = self._count
        count.done += 1
        if outcome.usage is not None:
            count.usage += outcome.usage
        if outcome.error is None:
            self._failed_in_vain = -1
            return
        count.failed += 1
        self._give_up(outcome.error)
        if self._raises:
            raise _as_error(outcome)

    def _give_up(self, error: Exception) -> None:
        """End the run where every further row would fail in the same way."""
        if self._crew.fatal is not None:
            raise self._crew.fatal
        if self._failed_in_vain >= 0 and getattr(error, "kind", "") == "provider":
            self._failed_in_vain += 1
            if self._failed_in_vain == _HOPELESS:
                raise error.__cause__ or error

    def _leave(self) -> None:
        busy = self._crew.busy
        self._crew.stop(GRACE)
        if busy:
            self._keep(self._crew.take(0))  # what had come in the last moment was paid for
        self._count.end()


def _result(outcome: Outcome) -> JSON:
    error = outcome.error
    if error is None:
        return outcome.value
    kind = getattr(error, "kind", "provider")
    return RowError(index=outcome.index, kind=kind, message=_said(error))


def _said(error: Exception) -> str:
    if isinstance(error, ExtractionError | NoText):
        return str(error)
    return f"{type(error).__name__}: {error}"


def _as_error(outcome: Outcome) -> Exception:
    error = outcome.error
    assert error is not None
    if isinstance(error, NoText):
        return UsageError(f"Row {outcome.index} can't be asked.", str(error), 'on_error="keep" goes on.')
    error.add_note(f"This was row {outcome.index}.")
    return error
