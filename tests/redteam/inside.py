"""Tries rows in this very process's setting and writes the results to a file."""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path

from agent_magics.sandbox.launch import NEWEST_ABI
from tests.redteam.table import of_the_machine, of_the_sandbox, rows
from tests.redteam.trial import Trial


def main() -> None:
    """Try and write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("--everything", action="store_true")
    parser.add_argument("--abi", type=int, default=NEWEST_ABI)
    options = parser.parse_args()
    wanted = [row for row in rows() if of_the_sandbox(row) and (options.everything or of_the_machine(row))]
    with Trial(abi=options.abi) as trial:
        results = {row.name: dataclasses.asdict(trial.try_row(row)) for row in wanted}
    options.file.write_text(json.dumps(results))


if __name__ == "__main__":
    main()
