"""Prints the table for this machine."""

from __future__ import annotations

from tests.redteam.report import summary
from tests.redteam.settings import SETTINGS
from tests.redteam.table import rows


def main() -> None:
    """Run every setting that the machine permits."""
    not_run = {setting.name: setting.refusal() for setting in SETTINGS if setting.refusal()}
    results = {setting.name: setting.run() for setting in SETTINGS if setting.name not in not_run}
    print(summary(rows(), results, not_run))


if __name__ == "__main__":
    main()
