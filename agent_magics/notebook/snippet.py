"""A piece of Python, run in the user's namespace as a cell would be, with all that it says kept back."""

from __future__ import annotations

import ast
import io
import linecache
import sys
import traceback
from collections.abc import Iterable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any, cast

from agent_magics.notebook.screen import publish
from agent_magics.talk import JSON
from agent_magics.tools.result import text_of

FILE = "<run_python>"
PICTURES = ("image/png", "image/jpeg")

KEPT = 400_000
"""Characters of output that are kept; a loop that prints without end must not fill the memory."""


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What came of a snippet.

    ``value`` is the last expression's, ``text`` what to tell of it; ``displayed`` is the text of what it
    displayed, ``pictures`` how many pictures the user was shown.
    """

    printed: str
    error: str = ""
    value: Any = None
    text: JSON = None
    displayed: tuple[str, ...] = ()
    pictures: int = 0


def run_snippet(shell: Any, code: str) -> Ran:
    """Run ``code`` in the shell's namespace, magics and all.

    Whatever it raises becomes its error, but for an interrupt, which is the user's and not the code's.
    """
    from IPython.utils.capture import capture_output

    said, value, text, error = Said(), None, None, ""
    shown: list[Mapping[str, Any]] = []
    with capture_output(stdout=False, stderr=False) as captured, redirect_stdout(said), redirect_stderr(said):
        try:
            value = _run(shell, code)
            text, pictures = _described(shell, value)
            shown.append(pictures)
            _draw_figures()
        except KeyboardInterrupt:
            raise
        except BaseException as raised:  # also SystemExit: it would end the cell, and the turn with it
            error = _error(raised)
    shown += [output.data for output in cast("list[Any]", captured.outputs)]
    return Ran(
        printed=said.text,
        error=error,
        value=value,
        text=text,
        displayed=tuple(data["text/plain"] for data in shown if data.get("text/plain")),
        pictures=_show_pictures(shown),
    )


def _run(shell: Any, code: str) -> Any:
    """Execute it; the value of the last expression, unless a semicolon says that it is of no interest."""
    source = shell.transform_cell(code)
    linecache.cache[FILE] = (len(source), None, source.splitlines(keepends=True), FILE)
    tree = ast.parse(source, FILE)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, FILE, "exec"), shell.user_ns)  # noqa: S102  # what the user approved
    if last is None:
        return None
    value = eval(compile(ast.Expression(last.value), FILE, "eval"), shell.user_ns)  # noqa: S307
    return None if code.rstrip().endswith(";") else value


def _described(shell: Any, value: Any) -> tuple[JSON, Mapping[str, Any]]:
    """The value for the model, and the picture of it if it is one. A broken ``__repr__`` is told as such."""
    if value is None or type(value) in (str, int, float, bool, list, dict):
        return value, {}
    bundle, _ = shell.display_formatter.format(value, include={"text/plain", *PICTURES})
    text = bundle.pop("text/plain", None)
    return text if text is not None else text_of(value), bundle


def _draw_figures() -> None:
    """Have the figures that the code drew displayed now, while it is known whose they are."""
    inline = sys.modules.get("matplotlib_inline.backend_inline")
    if inline is not None:
        inline.flush_figures()


def _show_pictures(bundles: Iterable[Mapping[str, Any]]) -> int:
    """Show the pictures, and nothing else that the code displayed: markup of its making stays out."""
    shown = 0
    for bundle in bundles:
        if pictures := {kind: bundle[kind] for kind in PICTURES if kind in bundle}:
            publish({**pictures, "text/plain": "[picture]"})
            shown += 1
    return shown


def _error(raised: BaseException) -> str:
    """The exception, and the line of the snippet that it came from."""
    if isinstance(raised, SyntaxError) and raised.filename == FILE:
        return f"SyntaxError: {raised.msg} (line {raised.lineno})"
    if isinstance(raised, SystemExit):
        return f"The code called sys.exit({raised.code!r}); the notebook goes on."
    text = f"{type(raised).__name__}: {text_of(raised)}".removesuffix(": ")
    frames = [frame for frame in traceback.extract_tb(raised.__traceback__) if frame.filename == FILE]
    if not frames:
        return text
    return f"{text} (line {frames[-1].lineno}: {frames[-1].line})"


class Said(io.StringIO):
    """What was written: only its beginning and its end, if it was too much to keep."""

    def __init__(self) -> None:
        super().__init__()
        self._head = ""
        self._left_out = 0

    def write(self, text: str, /) -> int:
        written = super().write(text)
        if self.tell() > 2 * KEPT:
            self._shorten()
        return written

    def _shorten(self) -> None:
        text = self.getvalue()
        if not self._head:
            self._head, text = text[: KEPT // 2], text[KEPT // 2 :]
        self._left_out += len(text) - KEPT // 2
        self.seek(0)
        self.truncate()
        super().write(text[-KEPT // 2 :])

    @property
    def text(self) -> str:
        gap = f"\n… {self._left_out:,} characters were not kept …\n" if self._left_out else ""
        return self._head + gap + self.getvalue()
