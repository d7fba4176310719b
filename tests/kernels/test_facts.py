"""Facts in real notebooks: kept across restarts, and live in every open notebook at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kernels.conftest import SCRIPTING, on_kernel
from tests.kernels.kernel import LiveKernel
from tests.kernels.page import Page

SYSTEM = "print(current_session().provider.requests[-1][0][0]['content'])"
CALL = "call('remember', fact='Trips are in km', scope='user')"


def open_page(version: str, folder: Path, notebook: str) -> LiveKernel:
    folder.mkdir(exist_ok=True)
    return LiveKernel(version, folder, JPY_SESSION_NAME=str(folder / notebook))


@pytest.fixture(params=[on_kernel("6.31.0"), on_kernel("7.4.0")])
def pages(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Page, Page]]:
    """Two notebooks of one user, each on a kernel of its own."""
    with (
        open_page(request.param, tmp_path / "a", "a.ipynb") as one,
        open_page(request.param, tmp_path / "b", "b.ipynb") as two,
    ):
        pages = Page(one), Page(two)
        for page in pages:
            page.run(SCRIPTING)
        yield pages


def test_a_fact_is_live_in_every_open_notebook_at_once(pages: tuple[Page, Page]) -> None:
    one, two = pages
    two.run("play('Hi.')\n%agent hello")
    assert "Trips are in km" not in two.printed(two.run(SYSTEM))
    said = one.shown(one.run("%agent /remember Trips are in km"))
    assert "Remembered for all of your notebooks" in said
    two.run("%agent hello again")
    assert "Trips are in km" in two.printed(two.run(SYSTEM))
    listed = two.shown(two.run("%agent /facts"))
    assert "Trips are in km" in listed
    assert "1 of 50 user" in listed
    one.run("%agent /facts undo")
    two.run("%agent hello once more")
    assert "Trips are in km" not in two.printed(two.run(SYSTEM))


def test_the_models_wish_is_asked_about_in_the_cell_and_outlives_the_kernel(pages: tuple[Page, Page]) -> None:
    one, two = pages
    one.run(f"play({CALL}, 'Noted.')")
    cell = one.start("%agent my trips are in km")
    one.press("Approve")
    assert cell.result()["status"] == "ok"
    one.kernel.restart()
    again = Page(one.kernel)
    again.run(SCRIPTING)
    for page in (again, two):
        assert "Trips are in km" in page.shown(page.run("%agent /facts"))
    assert "a.ipynb: my trips are in km" in two.shown(two.run("%agent /facts"))


def test_a_rejected_wish_leaves_nothing(pages: tuple[Page, Page]) -> None:
    one, two = pages
    one.run(f"play({CALL}, 'Well.')")
    cell = one.start("%agent my trips are in km")
    one.press("Reject")
    assert cell.result()["status"] == "ok"
    assert "Nothing is remembered." in two.shown(two.run("%agent /facts"))


def test_what_stands_in_a_fact_is_never_markup(pages: tuple[Page, Page]) -> None:
    one, two = pages
    one.run("current_session().command('/remember <img src=x onerror=alert(1)> | **bold** [a](http://b)')")
    html = next(each["data"]["text/html"] for each in two.outputs(two.run("%agent /facts")) if "data" in each)
    assert "<img" not in html and "<a " not in html and "<strong>" not in html
    assert "&lt;img src=x onerror=alert(1)&gt;" in html
