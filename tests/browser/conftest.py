"""One server and one browser for all of these tests; a notebook of its own for each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from .desk import Desk
from .lab import CHROMIUM, FLAGS, Lab, Notebook
from .live import ClassicNotebook, LiveNotebook

OpenNotebook = Callable[..., Notebook]
OpenLive = Callable[..., LiveNotebook]
FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Function) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep a picture of the open pages when a test fails, and say where."""
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    if report.failed and "context" in item.funcargs:
        arguments: dict[str, Any] = item.funcargs
        folder: Path = arguments["tmp_path"]
        for number, page in enumerate(arguments["context"].pages):
            page.screenshot(path=folder / f"page-{number}.png")
            report.sections.append(("page", f"{page.url}: {folder}/page-{number}.png"))
    return report


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    server = Lab(tmp_path_factory.mktemp("lab"))
    try:
        yield server
    finally:
        server.close()


class Driver:
    """Playwright, whose event loop goes on running in this thread between its calls.

    Tests of other folders run in the same process and begin loops of their own, so the loop is only to be
    seen while a test of this folder runs.
    """

    def __init__(self) -> None:
        self.playwright = sync_playwright().start()
        self._loop = asyncio.get_running_loop()
        self.leave()

    def enter(self) -> None:
        asyncio._set_running_loop(self._loop)

    def leave(self) -> None:
        asyncio._set_running_loop(None)

    @contextmanager
    def entered(self) -> Generator[None]:
        self.enter()
        try:
            yield
        finally:
            self.leave()


@pytest.fixture(scope="session")
def driver() -> Iterator[Driver]:
    made = Driver()
    yield made
    with made.entered():
        made.playwright.stop()


@pytest.fixture(autouse=True)
def driving(driver: Driver) -> Iterator[None]:
    with driver.entered():
        yield


@pytest.fixture(scope="session")
def browser(driver: Driver) -> Iterator[Browser]:
    with driver.entered():
        chromium = driver.playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS, headless=True)
    yield chromium
    with driver.entered():
        chromium.close()


@pytest.fixture(scope="session")
def context(browser: Browser, driver: Driver) -> Iterator[BrowserContext]:
    """One profile for all pages: the front end's scripts are read once."""
    with driver.entered():
        profile = browser.new_context()
    yield profile
    with driver.entered():
        profile.close()


@pytest.fixture(scope="session")
def kept_desk(lab: Lab, context: BrowserContext) -> Desk:
    return Desk(lab, context)


@pytest.fixture
def desk(kept_desk: Desk, request: pytest.FixtureRequest) -> Iterator[Desk]:
    """Where notebooks are opened; it is cleared after the test."""
    yield kept_desk
    kept_desk.clear(failed=request.node.stash.get(FAILED, False))


@pytest.fixture
def open_page(desk: Desk) -> Callable[..., Page]:
    """Make a page of some width and height."""
    return desk.page


@pytest.fixture
def notebook(desk: Desk, request: pytest.FixtureRequest) -> OpenNotebook:
    """Write a notebook with these cells and open it."""
    return partial(desk.open, Notebook, request.node.name)


@pytest.fixture
def live(desk: Desk, request: pytest.FixtureRequest) -> OpenLive:
    """Write a notebook whose cells ask the agent, for a kernel of some version, and open it."""

    def open_live(*cells: str, kernel: str = "7.4.0", app: str = "doc", **more: Any) -> LiveNotebook:
        kind = ClassicNotebook if app.startswith("nbclassic") else LiveNotebook
        return desk.open(kind, request.node.name, *cells, kernel=f"ipykernel-{kernel}", app=app, **more)

    return open_live


@pytest.fixture(scope="session")
def shots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pictures go that are looked at and not kept."""
    return tmp_path_factory.mktemp("shots")
