"""What turns take in a saved notebook, and how long a file of many turns takes to be read."""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path

from agent_magics.record.reading import read_record
from agent_magics.record.writing import as_json, as_notebook
from agent_magics.talk import Conversation
from agent_magics.ui.files import looks
from tests.record.shapes import EXTREMES, SHAPES, grown, text_of

TURNS = 1_000


def main() -> None:
    print(f"{'turn':32} {'its text':>10} {'grown':>10} {'allowed':>10}")
    for name, turn in {**SHAPES, **EXTREMES}.items():
        text, bytes_ = text_of(turn), grown(turn)
        allowed = 4 * text + 10_000
        over = "" if bytes_ <= allowed else "  over, and not promised"
        print(f"{name:32} {text:>10,} {bytes_:>10,} {allowed:>10,}{over}")
    turns = [replace(SHAPES["three calls"], id=f"t{number}") for number in range(TURNS)]
    conversation = Conversation(id="c", turns=turns)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (
            ("talk.json", as_json(conversation)),
            ("talk.ipynb", as_notebook(conversation, looks())),
        ):
            path = Path(folder) / name
            path.write_text(text)
            read_record(path)  # the imports
            began = time.perf_counter()
            read_record(path)
            took = time.perf_counter() - began
            print(f"{TURNS:,} turns of {name}, {len(text) / 1e6:.1f} MB, are read in {took:.2f} s")


if __name__ == "__main__":
    main()
