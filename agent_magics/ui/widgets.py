"""The widgets of one panel, made in one place, known by their comms, and closed together.

The only module that imports ipywidgets, and it does so when the first panel is made. ipywidgets ships no
types; the Protocols here say which few of its traits the panel relies on.

Layouts and styles are models of their own with comms of their own; a panel shares one layout, and one
style per kind of widget, which halves what is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, cast


class Widget(Protocol):
    """What every widget has."""

    model_id: str

    def close(self) -> None: ...


class Html(Widget, Protocol):
    """Shows its value as HTML, uncleaned: whoever sets it has cleaned it."""

    value: str


class Box(Widget, Protocol):
    children: Sequence[Widget]


class Button(Widget, Protocol):
    description: str
    disabled: bool

    def on_click(self, callback: Callable[[object], None], /) -> None: ...


class Toggle(Widget, Protocol):
    value: bool
    description: str

    def observe(self, handler: Callable[[object], None], /, names: str) -> None: ...
    def focus(self) -> None: ...


class Field(Widget, Protocol):
    """A line or an area of text that a person writes; known here once the field is left."""

    value: str
    disabled: bool


class Parts:
    """Makes widgets and remembers them. Main thread only, but for :meth:`owns`."""

    def __init__(self) -> None:
        import ipywidgets

        self._kit: Any = ipywidgets
        self._made: dict[str, Any] = {}
        self._shared: dict[str, Any] = {}
        self._comms: set[str] = set()
        self._layout = self._know(self._kit.Layout())

    def html(self, value: str = "", *classes: str) -> Html:
        return self._make("HTML", classes, value=value)

    def math(self, value: str, *classes: str) -> Html:
        """HTML whose mathematics the front end typesets."""
        return self._make("HTMLMath", classes, value=value)

    def column(self, children: Iterable[Widget] = (), *classes: str) -> Box:
        return self._make("VBox", classes, styled=False, children=tuple(children))

    def line(self, children: Iterable[Widget] = (), *classes: str) -> Box:
        return self._make("HBox", classes, styled=False, children=tuple(children))

    def button(
        self, text: str, *classes: str, tip: str = "", primary: bool = False, disabled: bool = False
    ) -> Button:
        style = "primary" if primary else ""
        return self._make(
            "Button", classes, description=text, tooltip=tip, button_style=style, disabled=disabled
        )

    def toggle(self, text: str, *classes: str) -> Toggle:
        return self._make("ToggleButton", classes, description=text, tooltip="")

    def field(self, hint: str, *classes: str) -> Field:
        return self._make("Text", classes, placeholder=hint, continuous_update=False)

    def area(self, text: str, rows: int, *classes: str) -> Field:
        return self._make("Textarea", classes, value=text, rows=rows, continuous_update=False)

    def owns(self, comm_id: str) -> bool:
        """Whether this comm is or was one of ours; callable from any thread."""
        return comm_id in self._comms

    def drop(self, widgets: Iterable[Widget]) -> None:
        """Close some of them before the others. Their comms stay ours: a click may still be under way."""
        for widget in widgets:
            if self._made.pop(widget.model_id, None) is not None:
                widget.close()

    def close(self, keep: Iterable[Widget] = ()) -> None:
        """Close all of them, but for those to ``keep`` and what these share."""
        kept = {widget.model_id for widget in keep}
        shared = [self._layout, *self._shared.values()] if kept else []
        kept |= {widget.model_id for widget in shared}
        self.drop([widget for model_id, widget in self._made.items() if model_id not in kept])

    def _make(self, kind: str, classes: tuple[str, ...], *, styled: bool = True, **traits: Any) -> Any:
        if styled and kind in self._shared:
            traits["style"] = self._shared[kind]
        widget = getattr(self._kit, kind)(layout=self._layout, _dom_classes=classes, **traits)
        if styled and kind not in self._shared:
            self._shared[kind] = self._know(widget.style)
        return self._know(widget)

    def _know(self, widget: Any) -> Any:
        model_id = cast("str", widget.model_id)
        self._made[model_id] = widget
        self._comms.add(model_id)
        return widget
