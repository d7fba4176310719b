"""A page as a notebook's front end keeps it: what each cell shows, and the widgets that it shows.

It hears what a browser hears and does what a person does there: run cells, press buttons, type a comment.
"""

from __future__ import annotations

import re
from typing import Any

from tests.kernels.kernel import LIMIT, LiveKernel, Message, Request

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
WIDGETS = "jupyter.widget"


class Page:
    """One open notebook on a kernel that runs.

    Parameters
    ----------
    kernel
        The kernel. The page shows what happens from now on.
    """

    def __init__(self, kernel: LiveKernel) -> None:
        self.kernel = kernel
        self._read = len(kernel.heard)
        self._shown: dict[str, list[Message]] = {}
        self._widgets: dict[str, Message] = {}
        self._cells = 0

    # What a person does.

    def start(
        self, code: str, subshell: str | None = None, *, person: bool = True, cell: str = ""
    ) -> Request:
        """Run a cell, a new one or the one of that id; return at once. Without a ``person`` it allows no
        input, as nbclient does."""
        self._cells += not cell
        content = {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": person,
            "stop_on_error": True,
        }
        metadata = {"cellId": cell or f"cell-{self._cells}", "deletedCells": [], "recordTiming": False}
        return self.kernel.send("execute_request", content, subshell, metadata if person else {})

    def run(self, code: str, limit: float = LIMIT, *, cell: str = "") -> Request:
        """Run a cell to its end; it has to go well."""
        request = self.start(code, cell=cell)
        assert request.result(limit)["status"] == "ok", self.error(request)
        return request

    def press(self, text: str, subshell: str | None = None) -> Request:
        """Press a button, once there is one of this text that can be pressed."""
        return self.kernel.click(self.button(text), subshell)

    def button(self, text: str) -> str:
        """Wait for a button of this text that can be pressed; return its comm id."""
        self.kernel.until(lambda: self._button(text) is not None, f"a button {text!r}")
        found = self._button(text)
        assert found is not None
        return found

    def write(self, hint: str, text: str) -> None:
        """Write into the field that shows this hint while it is empty."""
        fields = [id_ for id_, state in self.seen().items() if state.get("placeholder", "").startswith(hint)]
        assert len(fields) == 1, fields
        self.kernel.type_into(fields[0], text)

    # What a person sees.

    @property
    def widgets(self) -> dict[str, Message]:
        """The widgets that live, by comm id: their states."""
        self._listen()
        return self._widgets

    def seen(self) -> dict[str, Message]:
        """Those of them that stand in an output, or inside of one that does."""
        alive, seen = self.widgets, dict[str, Message]()
        views = [
            each["data"].get(WIDGET_VIEW)
            for shown in self._shown.values()
            for each in shown
            if "data" in each
        ]
        reached = [view["model_id"] for view in views if view]
        while reached:
            if (id_ := reached.pop()) in alive and id_ not in seen:
                seen[id_] = alive[id_]
                reached += [child.removeprefix("IPY_MODEL_") for child in alive[id_].get("children", ())]
        return seen

    def visible(self) -> list[str]:
        """The texts of all widgets that show one."""
        texts = [state.get("value") or state.get("description") for state in self.seen().values()]
        return [text for text in texts if isinstance(text, str)]

    def question(self) -> str:
        """The id of the question that stands on the page."""
        found = re.search(r"%agent /approve ([0-9a-f]+)", "\n".join(self.visible()))
        assert found is not None, self.visible()
        return found[1]

    def outputs(self, request: Request) -> list[Message]:
        """What the cell shows by now, display updates applied: the contents of its output messages."""
        self._listen()
        return self._shown.get(request.id, [])

    def shown(self, request: Request, kind: str = "text/markdown") -> str:
        """All displays of a cell in one representation, one after the other."""
        bundles = [output["data"] for output in self.outputs(request) if "data" in output]
        return "\n\n".join(bundle[kind] for bundle in bundles if kind in bundle)

    def printed(self, request: Request) -> str:
        return "".join(output["text"] for output in self.outputs(request) if "text" in output)

    def error(self, request: Request) -> str:
        """The error that the cell shows, as it is shown."""
        return "\n".join(line for output in self.outputs(request) for line in output.get("traceback", []))

    # Inside.

    def _button(self, text: str) -> str | None:
        for id_, state in self.seen().items():
            is_button = state.get("_model_name") == "ButtonModel"
            if is_button and state.get("description") == text and not state.get("disabled"):
                return id_
        return None

    def _listen(self) -> None:
        heard = self.kernel.heard
        while self._read < len(heard):
            channel, message = heard[self._read]
            self._read += 1
            if channel == "iopub":
                self._hear(message["header"]["msg_type"], message["content"], message["parent_header"])

    def _hear(self, kind: str, content: Message, parent: dict[str, Any]) -> None:
        match kind:
            case "comm_open" if content["target_name"] == WIDGETS:
                self._widgets[content["comm_id"]] = dict(content["data"]["state"])
            case "comm_msg" if content["data"].get("method") == "update":
                self._widgets.get(content["comm_id"], {}).update(content["data"]["state"])
            case "comm_close":
                self._widgets.pop(content["comm_id"], None)
            case "stream" | "display_data" | "execute_result" | "error":
                self._shown.setdefault(parent.get("msg_id", ""), []).append(dict(content))
            case "update_display_data":
                self._update(content)
            case _:
                pass

    def _update(self, content: Message) -> None:
        for output in (each for outputs in self._shown.values() for each in outputs):
            if "data" in output and output.get("transient", {}) == content["transient"]:
                output["data"] = content["data"]
