"""Run a notebook for real and show it in the terminal, cell by cell, as it goes.

    python scripts/demo.py notebooks/01_quickstart.ipynb

The executed copy is kept under `.build/demo`.
"""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError
from nbformat import NotebookNode
from steps import BUILD, ROOT

SECONDS_PER_CELL = 300  # the local model writes on two slow cores, too
LINES = 40  # of one output; the kept copy has all of it
TERMINAL_CODES = re.compile(r"\x1b\[[0-9;]*m")
DIM, BOLD, PLAIN = ("\x1b[2m", "\x1b[1m", "\x1b[0m") if sys.stdout.isatty() else ("", "", "")


def show_cell(cell: NotebookNode, cell_index: int) -> None:
    """Show what is about to run; prose is shown as it stands."""
    if cell.cell_type == "markdown":
        print(f"\n{cell.source}", flush=True)
    elif cell.cell_type == "code" and cell.source.strip():
        print(
            "",
            *(f"{BOLD}›{PLAIN} {line}".rstrip() for line in cell.source.splitlines()),
            sep="\n",
            flush=True,
        )


def show_outputs(cell: NotebookNode, cell_index: int, execute_reply: dict[str, Any]) -> None:
    for output in cell.outputs:
        print("", *(f"  {line}".rstrip() for line in fitting(readable(output))), sep="\n", flush=True)


def fitting(text: str) -> list[str]:
    """The lines of an output, as many and as much of each as a terminal shows."""
    width = max(60, shutil.get_terminal_size((110, 40)).columns - 3)
    lines = [part for line in text.rstrip().splitlines() for part in fitted(line, width)]
    if len(lines) <= LINES:
        return lines
    return [*lines[: LINES - 5], f"{DIM}… {len(lines) - LINES + 5} more lines in the kept copy{PLAIN}"]


def fitted(line: str, width: int) -> list[str]:
    """A line of prose wrapped, the row of a table or a line of data cut."""
    if len(line) <= width:
        return [line]
    if line.startswith(("|", "[{", '"', "'")):
        return [line[: width - 1] + "…"]
    indent = re.match(r"(?:> |- )?", line)[0]  # type: ignore[index]  # it matches everywhere
    return textwrap.wrap(line, width, subsequent_indent="> " if indent == "> " else " " * len(indent))


def readable(output: NotebookNode) -> str:
    """Return an output as a person would read it without a browser."""
    match output.output_type:
        case "stream":
            return output.text
        case "error":
            return TERMINAL_CODES.sub("", "\n".join(output.traceback))
        case _:
            data = output.data
            return data.get("text/markdown") or data.get("text/plain") or f"({', '.join(data)})"


def main(path: Path) -> int:
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=SECONDS_PER_CELL,
        resources={"metadata": {"path": str(path.parent)}},
        extra_arguments=["--log-level=ERROR"],  # what the kernel has to say of itself is not of interest here
        on_cell_start=show_cell,
        on_cell_executed=show_outputs,
    )
    try:
        client.execute()
        return 0
    except (CellExecutionError, CellTimeoutError) as error:
        print(f"\nStopped: {error}", file=sys.stderr)
        return 1
    finally:
        kept = BUILD / "demo" / path.name
        kept.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, kept)
        print(f"\n{DIM}Kept as {kept.relative_to(ROOT)}{PLAIN}")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
