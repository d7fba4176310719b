"""Opens notebooks in pages. To load JupyterLab is most of what a test costs, so its pages are kept."""

from __future__ import annotations

from typing import TypeVar

from playwright.sync_api import BrowserContext, Page

from .lab import Lab, Notebook

N = TypeVar("N", bound=Notebook)


class Desk:
    """One server, one profile of a browser, and the pages that stand open.

    Parameters
    ----------
    lab : Lab
        The server.
    context : BrowserContext
        Where pages are made.
    """

    def __init__(self, lab: Lab, context: BrowserContext) -> None:
        self._lab = lab
        self._context = context
        self._kept: dict[str, Page] = {}
        self._pages: list[Page] = []
        self._notebooks: list[Notebook] = []
        self._count = 0

    def page(self, width: int = 1000, height: int = 1000) -> Page:
        """A page that is closed after the test."""
        page = self._context.new_page()
        page.set_viewport_size({"width": width, "height": height})
        self._pages.append(page)
        return page

    def open(
        self,
        kind: type[N],
        name: str,
        *cells: str,
        kernel: str = "python3",
        width: int = 1000,
        height: int = 1000,
        theme: str = "light",
        app: str = "doc",
    ) -> N:
        """Write a notebook with these cells and open it, on a kernel of its own."""
        self._count += 1
        name = f"{name.translate({ord(char): '-' for char in '[]/ :'})[:60]}-{self._count}"
        self._lab.shut_kernels()
        self._lab.theme(theme)
        self._lab.write(name, *cells, kernel=kernel)
        page = self._lab_page(theme, width, height) if app == "doc" else self.page(width, height)
        page.bring_to_front()  # a page behind another draws seldom
        notebook = kind(page, self._lab, name, app)
        self._notebooks.append(notebook)
        return notebook

    def clear(self, *, failed: bool = False) -> None:
        """After a test; one that failed may have left anything behind."""
        self._lab.shut_kernels()
        for notebook in self._notebooks:
            notebook.leave()
        for page in self._pages + (list(self._kept.values()) if failed else []):
            page.close()
        self._notebooks, self._pages = [], []
        if failed:
            self._kept = {}

    def _lab_page(self, theme: str, width: int, height: int) -> Page:
        if theme not in self._kept:
            self._kept[theme] = self._context.new_page()
        self._kept[theme].set_viewport_size({"width": width, "height": height})
        return self._kept[theme]
