"""The table holds on this machine: in every setting that it permits, row by row."""

from __future__ import annotations

import pytest

from tests.redteam.rows import Layer, Row
from tests.redteam.settings import OLD_ABI, PERMITTED, SETTINGS, Setting, results
from tests.redteam.table import of_the_machine, of_the_sandbox, rows
from tests.redteam.trial import WALLS, Result

ROWS = rows()

pytestmark = [pytest.mark.xdist_group("redteam"), pytest.mark.timeout(900)]


def tried(row: Row) -> list[tuple[Setting, Result]]:
    """The row's results, by setting."""
    return [
        (setting, results(setting)[row.name])
        for setting in PERMITTED
        if of_the_sandbox(row) and (setting.everything or of_the_machine(row))
    ]


def named(row: Row) -> str:
    return row.name


def test_names_are_unique() -> None:
    assert sorted({row.name for row in ROWS}) == sorted(row.name for row in ROWS)


def test_every_row_says_what_stops_it_or_why_nothing_does() -> None:
    assert [] == [row.name for row in ROWS if bool(row.stops) == bool(row.open)]


def test_the_first_setting_is_always_permitted() -> None:
    assert SETTINGS[0] in PERMITTED


@pytest.mark.parametrize("row", ROWS, ids=named)
def test_attack_is_stopped_by_all_layers_together(row: Row) -> None:
    expected = not row.open
    for setting, result in tried(row):
        if result.shown:
            assert (setting.name, expected) == (setting.name, result.stopped["together"])


@pytest.mark.parametrize("row", [row for row in ROWS if row.stops & WALLS.keys()], ids=named)
def test_attack_is_stopped_by_each_named_wall_alone(row: Row) -> None:
    for setting, result in tried(row):
        landlock_knows = row.landlock_since <= (setting.abi or _abi())
        for wall in row.stops & WALLS.keys():
            if result.shown and (wall is not Layer.LANDLOCK or landlock_knows):
                assert (setting.name, wall, True) == (setting.name, wall, result.stopped[wall])


@pytest.mark.parametrize("row", [row for row in ROWS if not row.needs], ids=named)
def test_attack_would_have_worked(row: Row) -> None:
    for setting, result in tried(row):
        assert (setting.name, True) == (setting.name, result.shown)


@pytest.mark.parametrize("row", ROWS, ids=named)
def test_honest_twin_still_works(row: Row) -> None:
    for setting, result in tried(row):
        assert (setting.name, "") == (setting.name, result.twin)


@pytest.mark.parametrize("row", [row for row in ROWS if row.ends], ids=named)
def test_attack_ends_as_promised(row: Row) -> None:
    for setting, result in tried(row):
        if result.shown or not row.needs:
            assert (setting.name, row.ends) == (setting.name, result.ended)


def _abi() -> int:
    import landlockpy

    return landlockpy.abi_version()


def test_old_landlock_leaves_more_to_seccomp() -> None:
    newer = [row for row in ROWS if Layer.LANDLOCK in row.stops and row.landlock_since > OLD_ABI]
    assert [] == [row.name for row in newer if Layer.SECCOMP not in row.stops]
