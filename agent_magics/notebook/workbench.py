"""The user's namespace, and the main thread as the one place to touch it."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from typing import Any, TypeVar

from agent_magics.errors import ToolError
from agent_magics.notebook.pump import Pump, Work
from agent_magics.notebook.stoppable import Left, Stoppable
from agent_magics.tools.threads import contained

T = TypeVar("T")

NO_CELL = "This tool needs the notebook's main thread, and no cell is waiting for this turn there."

CELL_ENDED = "The cell ended before this tool had done its work."


class NotebookWorkbench:
    """Runs a tool's work on the main thread, while the cell that waits for the turn pumps.

    Parameters
    ----------
    shell
        The running IPython shell.
    pump : Pump
        Does the work.
    """

    def __init__(self, shell: Any, pump: Pump) -> None:
        self._shell = shell
        self._pump = pump

    @property
    def namespace(self) -> dict[str, Any]:
        return self._shell.user_ns

    async def run(self, work: Callable[[], T]) -> T:
        """Run ``work`` on the main thread.

        Raises
        ------
        ToolError
            If no cell waits for this turn, or the work was interrupted.
        """
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()
        ours = contextvars.copy_context()
        stoppable = Stoppable()

        def settle(value: T | None, error: BaseException | None) -> None:
            if done.done():
                return
            if error is not None:
                done.set_exception(error)
            else:
                done.set_result(value)  # pyright: ignore[reportArgumentType]  # T may well be None

        def do() -> None:
            if done.cancelled():
                return
            value, error = None, None
            try:
                value = stoppable.run(lambda: _beside(ours).run(work))
            except Left:
                return
            except KeyboardInterrupt:
                raise
            except BaseException as raised:
                error = contained(raised)
            loop.call_soon_threadsafe(settle, value, error)

        def drop() -> None:
            loop.call_soon_threadsafe(settle, None, ToolError(CELL_ENDED))

        if not self._pump.post(Work(do=do, drop=drop)):
            raise ToolError(NO_CELL)
        try:
            return await done
        except asyncio.CancelledError:
            stoppable.stop()
            raise


def _beside(ours: contextvars.Context) -> contextvars.Context:
    """The running cell's context with the turn's beside it: the kernel keeps in its own where output goes."""
    for variable, value in contextvars.copy_context().items():
        ours.run(variable.set, value)
    return ours
