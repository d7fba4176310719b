"""A front end without a screen: the other side of the widgets' comms.

It keeps each model's state as messages tell it, counts what is sent, and clicks and types by the same
messages that a browser sends.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from comm.base_comm import BaseComm

from agent_magics.ui.panel import WIDGET_VIEW

Model = dict[str, Any]


class FrontEnd:
    """What a page would know. Give :meth:`open_comm` to the ``comm`` package, :meth:`publish` to a panel."""

    def __init__(self) -> None:
        self.models: dict[str, Model] = {}
        self.comms: dict[str, _Comm] = {}
        self.messages = 0
        self.bytes = 0
        self.updates: list[tuple[str, Model]] = []
        self.custom: list[tuple[str, Model]] = []
        self.displays: list[dict[str, Any]] = []

    # -- as the kernel's side sees it ------------------------------------------------------------

    def open_comm(self, **arguments: Any) -> _Comm:
        return _Comm(self, **arguments)

    def publish(self, bundle: dict[str, Any]) -> Display:
        self._count(bundle)
        self.displays.append(bundle)
        return Display(self, len(self.displays) - 1)

    def heard(self, comm: _Comm, kind: str, data: dict[str, Any]) -> None:
        self._count(data)
        match kind, data:
            case "comm_open", {"state": state}:
                self.models[comm.comm_id] = dict(state)
                self.comms[comm.comm_id] = comm
            case "comm_msg", {"method": "update", "state": state}:
                self.models[comm.comm_id].update(state)
                self.updates.append((comm.comm_id, state))
            case "comm_msg", {"method": "custom", "content": content}:
                self.custom.append((comm.comm_id, content))
            case "comm_close", _:
                del self.models[comm.comm_id]
            case _:
                pass  # echoes

    def _count(self, data: dict[str, Any]) -> None:
        self.messages += 1
        self.bytes += len(json.dumps(data, ensure_ascii=False).encode()) + 400  # and the envelope

    # -- as a person sees it ---------------------------------------------------------------------

    @property
    def root(self) -> str:
        return self.displays[-1][WIDGET_VIEW]["model_id"]

    def seen(self, of: str = "") -> Iterator[tuple[str, Model]]:
        """The models on the page, top to bottom."""
        id_ = of or self.root
        model = self.models[id_]
        yield id_, model
        for child in model.get("children", ()):
            yield from self.seen(child.removeprefix("IPY_MODEL_"))

    def html(self) -> str:
        """Everything that is shown as HTML, but for the style sheet."""
        values = [str(model["value"]) for _, model in self.seen() if model["_model_name"].startswith("HTML")]
        return "\n".join(value for value in values if not value.startswith("<style>"))

    def find(self, text: str, name: str = "description") -> str:
        """The widget with exactly this description (or placeholder, or value)."""
        found = [id_ for id_, model in self.seen() if model.get(name) == text]
        assert len(found) == 1, (text, [model.get(name) for _, model in self.seen() if model.get(name)])
        return found[0]

    def buttons(self) -> list[str]:
        return [model["description"] for _, model in self.seen() if model["_model_name"] == "ButtonModel"]

    def disabled(self, text: str) -> bool:
        return self.models[self.find(text)]["disabled"]

    def row(self, start: str) -> str:
        """The toggle whose description begins with ``start``."""
        found = [id_ for id_, model in self.seen() if model.get("description", "").startswith(start)]
        assert len(found) == 1, start
        return found[0]

    # -- what a person does ----------------------------------------------------------------------

    def click(self, id_: str) -> None:
        self._send(id_, {"method": "custom", "content": {"event": "click"}})

    def write(self, id_: str, value: object) -> None:
        self._send(id_, {"method": "update", "state": {"value": value}, "buffer_paths": []})

    def _send(self, id_: str, data: dict[str, Any]) -> None:
        self.comms[id_].handle_msg({"content": {"comm_id": id_, "data": data}, "buffers": []})


class Display:
    """The handle of a published bundle."""

    def __init__(self, front: FrontEnd, at: int) -> None:
        self._front = front
        self._at = at

    def update(self, bundle: dict[str, Any]) -> None:
        self._front.displays[self._at] = bundle


class _Comm(BaseComm):
    def __init__(self, front: FrontEnd, **arguments: Any) -> None:
        self._front = front
        super().__init__(**arguments)

    def publish_msg(
        self,
        msg_type: str,
        data: dict[str, Any] | None = None,
        metadata: dict[str, Any] | None = None,
        buffers: list[bytes] | None = None,
        **keys: Any,
    ) -> None:
        self._front.heard(self, msg_type, data or {})
