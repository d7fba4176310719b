"""What a running cell can tell about the program that talks to the kernel."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from agent_magics.notebook.frontend import Frontend


def shell(*, stdin: bool = True, kernel: bool = True, **metadata: object) -> SimpleNamespace:
    return SimpleNamespace(
        kernel=SimpleNamespace(_allow_stdin=stdin) if kernel else None,
        user_ns={},
        get_parent=lambda: {"metadata": metadata},
    )


@pytest.fixture(autouse=True)
def no_notebook(monkeypatch):
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)


@pytest.mark.parametrize(
    ("running", "mode"),
    [
        (shell(cellId="a1"), "widgets"),
        (shell(deletedCells=[]), "widgets"),
        (shell(), "input"),
        (shell(stdin=False, cellId="a1"), "none"),
        (shell(stdin=False), "none"),
        (shell(kernel=False), "none"),  # the tests' stdin is no terminal
    ],
)
def test_the_request_tells_what_can_be_done(running, mode):
    assert mode == Frontend(running).mode()


@pytest.mark.parametrize("setting", ["widgets", "input", "none"])
def test_a_setting_overrides_what_is_found(setting):
    assert setting == Frontend(shell(stdin=False)).mode(setting)


def test_a_notebooks_name_in_the_environment_tells_that_there_is_a_notebook(monkeypatch):
    monkeypatch.setenv("JPY_SESSION_NAME", "/home/me/trips.ipynb")
    front = Frontend(shell())
    assert ("widgets", "/home/me/trips.ipynb") == (front.mode(), front.place().notebook)


def test_the_cells_id_is_told_where_there_is_one():
    assert ("a1", "", "") == (
        Frontend(shell(cellId="a1")).cell,
        Frontend(shell()).cell,
        Frontend(shell(cellId=3)).cell,
    )


def test_a_kernel_between_two_requests_has_no_cell():
    between = SimpleNamespace(kernel=SimpleNamespace(_allow_stdin=True), user_ns={}, get_parent=lambda: None)
    assert ("", "input") == (Frontend(between).cell, Frontend(between).mode())
