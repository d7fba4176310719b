"""What a person sees of a turn: a panel where there are widgets, lines where there are none.

A screen is drawn by the main thread only. Events are queued by the agent's thread and played at the next
drawing; when the turn has ended the screen settles into something that lasts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from agent_magics.notebook.frontend import Mode
from agent_magics.talk import Approval, ApprovalAsked, Event, Saying, Thinking, Turn, advance

if TYPE_CHECKING:
    from agent_magics.ui.panel import Panel


class Screen:
    """Shows one turn. What came of it so far is in ``turn``, folded from the same events.

    Parameters
    ----------
    mode : {"widgets", "input", "none"}
        How a person who looks at it can be asked.

    Attributes
    ----------
    turn : Turn or None
        The turn as far as it was drawn.
    stopped : bool
        Whether a person stopped the turn here.
    display : object or None
        Where the turn is shown, if that can still be replaced once it has settled; it has ``update(bundle)``.
    """

    def __init__(self, mode: Mode) -> None:
        self.mode: Mode = mode
        self.turn: Turn | None = None
        self.stopped = False
        self.display: Any = None
        self._queue: deque[Event] = deque()
        self._asked: set[str] = set()

    def take(self, event: Event) -> None:
        """Keep an event for the next drawing. The one method for the agent's thread."""
        self._queue.append(event)
        if isinstance(event, ApprovalAsked):
            self._asked.add(event.id)

    def shows(self, question: str) -> bool:
        """Whether the question of that id was asked in this turn."""
        return question in self._asked

    def draw(self, now: float) -> None:
        """Play what was queued and show what changed. ``now`` is a monotonic time in seconds."""
        while self._queue:
            event = self._queue.popleft()
            if not isinstance(event, Saying | Thinking):
                self.turn = advance(self.turn, event)
            self._play(event)

    def owns(self, comm_id: str) -> bool:
        """Whether a comm is one of this screen's controls."""
        return False

    def settle(self, *, keep: bool) -> None:
        """Show the turn as it ended, for good. ``keep`` says that a page was reloaded meanwhile."""

    def _play(self, event: Event) -> None: ...


class PanelScreen(Screen):
    """The live panel of widgets, which settles into a static bundle.

    Parameters
    ----------
    mode : {"widgets", "input"}
        How a person is asked, where clicks can't arrive.
    on_stop : callable
        Called when the person presses Stop.
    on_answer : callable
        Called with a question's id and the person's answer.
    lazy : bool
        Show nothing until there is a question to ask: for turns that Python code asked for, whose reply it
        will show itself if it wants to.
    """

    def __init__(
        self,
        *,
        mode: Mode = "widgets",
        on_stop: Callable[[], None],
        on_answer: Callable[[str, Approval], object],
        lazy: bool = False,
    ) -> None:
        super().__init__(mode)
        self._on_stop = on_stop
        self._on_answer = on_answer
        self._lazy = lazy
        self._panel: Panel | None = None
        self._before: list[Event] = []

    def draw(self, now: float) -> None:
        super().draw(now)
        if self._panel:
            self._panel.flush(now)

    def owns(self, comm_id: str) -> bool:
        return self._panel is not None and self._panel.owns(comm_id)

    def settle(self, *, keep: bool) -> None:
        if self._panel and self.turn:
            self._panel.settle(self.turn, keep=keep)

    def _play(self, event: Event) -> None:
        if self._panel:
            self._panel.play(event)
            return
        self._before.append(event)
        if not self._lazy or isinstance(event, ApprovalAsked):
            self._panel = self._shown()

    def _shown(self) -> Panel:
        """The panel, made with the first event that is worth showing."""
        from agent_magics.ui.panel import Panel

        panel = Panel(self._publish, on_stop=self._stop, on_answer=self._answered, on_edit=self._edited)
        for event in self._before:
            panel.play(event)
        panel.show()
        return panel

    def _publish(self, data: Mapping[str, Any]) -> Any:
        self.display = publish(data)
        return self.display

    def _stop(self) -> None:
        self.stopped = True
        self._on_stop()

    def _answered(self, question: str, approval: Approval) -> None:
        self._on_answer(question, approval)

    def _edited(self, question: str, text: str) -> None:
        self._on_answer(question, Approval(decision="edit", by="you", text=text))


class TextScreen(Screen):
    """Lines on standard output, for consoles and pipes; the answer as it comes."""

    def __init__(self, mode: Mode) -> None:
        from agent_magics.ui.plain import PlainView

        super().__init__(mode)
        self._view = PlainView()

    def _play(self, event: Event) -> None:
        if not isinstance(event, ApprovalAsked):  # who asks by a line of input shows the question himself
            self._view(event)


class QuietScreen(Screen):
    """Nothing while the turn runs, the settled bundle at its end: for runners without a person.

    A ``lazy`` one shows a turn only if it asked something: that nobody could answer has to be said.
    """

    def __init__(self, *, lazy: bool = False) -> None:
        super().__init__("none")
        self._lazy = lazy

    def settle(self, *, keep: bool) -> None:
        if self.turn is not None and (self._asked or not self._lazy):
            from agent_magics.ui.settled import bundle

            self.display = publish(bundle(self.turn))


def publish(data: Mapping[str, Any]) -> Any:
    """Show a bundle of representations in the running cell; the handle's ``update`` replaces it."""
    from IPython.display import display  # pyright: ignore[reportUnknownVariableType]  # it is typed in part

    return _Shown(display(dict(data), raw=True, display_id=True))


class _Shown:
    """A display that can be replaced."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    def update(self, data: Mapping[str, Any]) -> None:
        if self._handle is not None:
            self._handle.update(dict(data), raw=True)
