"""Prints the table at the end, if its tests ran in this process."""

from __future__ import annotations

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    from tests.redteam.report import summary
    from tests.redteam.settings import PERMITTED, SETTINGS, results
    from tests.redteam.table import rows

    if results.cache_info().currsize:
        done = {setting.name: results(setting) for setting in PERMITTED}
        not_run = {setting.name: setting.refusal() for setting in SETTINGS if setting not in PERMITTED}
        terminalreporter.section("red team")
        terminalreporter.write_line(summary(rows(), done, not_run))
