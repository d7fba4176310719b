"""A JupyterLab of our own, and the few things that tests do in one of its notebooks."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self
from urllib.request import Request, urlopen

import nbformat
from playwright.sync_api import Locator, Page
from playwright.sync_api import TimeoutError as NotInTime

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-proxy-server",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
STARTS = 60.0
"""Seconds that a server or a page may take to be there."""

DEAF = tuple(f"ipykernel-{version}" for version in ("7.0.1", "7.1.0", "7.2.0", "7.3.0"))
"""Kernels that may stop hearing before the extension can help them (ipython/ipykernel#1554)."""

HEARS = 20.0
"""Seconds in which such a kernel has answered, if it hears at all."""

QUIET = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/docmanager-extension:plugin": {"autosave": False},
    "@jupyterlab/completer-extension:manager": {"autoCompletion": False},
}

CONNECTED = """() => {
    const context = window.jupyterapp?.shell?.currentWidget?.sessionContext;
    return context?.isReady && context.session?.kernel?.connectionStatus === "connected"
        && context.session.kernel.status === "idle";
}"""
"""The page's own view of its kernel: an indicator that says idle may only mean that it knows nothing yet."""


OPEN_INSTEAD = """async path => {
    const {shell, commands} = window.jupyterapp, before = [...shell.widgets("main")];
    await commands.execute("docmanager:open", {path});
    before.forEach(each => each.dispose());
}"""
"""JupyterLab is there already: the notebook takes the place of the one before."""


class Lab:
    """A Jupyter server with JupyterLab, Notebook 7 and nbclassic, in a folder of its own, without a token.

    Parameters
    ----------
    folder : Path
        Where everything goes: notebooks, settings, the log.
    """

    def __init__(self, folder: Path) -> None:
        self.notebooks = folder / "notebooks"
        self._folder = folder
        self._log = folder / "server.log"
        for name in ("notebooks", "runtime", "config", "data", "ipython", "settings", "workspaces", "home"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        self._write_settings()
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                self._command(),
                env=self._environment(),
                cwd=folder,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.url = self._url()

    def close(self) -> None:
        """Stop the server and its kernels, which are in its session."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait(20)

    def theme(self, name: str) -> None:
        """``"light"`` or ``"dark"``, for pages that are opened from now on."""
        wanted = "JupyterLab Dark" if name == "dark" else "JupyterLab Light"
        self._setting("@jupyterlab/apputils-extension:themes", {"theme": wanted, "adaptive-theme": False})

    def write(
        self,
        name: str,
        *cells: str,
        outputs: dict[int, list[dict[str, Any]]] | None = None,
        kernel: str = "python3",
    ) -> Path:
        """A notebook of code cells, for a kernel of that name (``ipykernel-6.31.0``)."""
        book = nbformat.v4.new_notebook()
        book.metadata.kernelspec = {"name": kernel, "display_name": kernel, "language": "python"}
        book.cells = [nbformat.v4.new_code_cell(cell) for cell in cells]
        for at, data in (outputs or {}).items():
            book.cells[at].outputs = [nbformat.v4.new_output("display_data", each) for each in data]
            book.cells[at].execution_count = at + 1
        path = self.notebooks / f"{name}.ipynb"
        nbformat.write(book, path)
        return path

    def kernel(self, name: str) -> str:
        """The kernel that a notebook is written for."""
        return nbformat.read(self.notebooks / f"{name}.ipynb", 4).metadata.kernelspec.name

    def shut_kernels(self) -> None:
        """End every session, so that the next notebook starts a kernel of its own."""
        with urlopen(f"{self.url}/api/sessions", timeout=20) as answer:
            sessions = json.load(answer)
        for session in sessions:
            urlopen(Request(f"{self.url}/api/sessions/{session['id']}", method="DELETE"), timeout=20).close()

    def _command(self) -> list[str]:
        options = {
            "ServerApp.ip": "127.0.0.1",
            "ServerApp.port": "0",
            "ServerApp.root_dir": str(self.notebooks),
            "ServerApp.allow_root": "True",
            "ServerApp.open_browser": "False",
            "IdentityProvider.token": "",
            "ServerApp.password": "",
            "ServerApp.disable_check_xsrf": "True",
            "ServerApp.answer_yes": "True",
            "LabApp.user_settings_dir": str(self._folder / "settings"),
            "JupyterNotebookApp.user_settings_dir": str(self._folder / "settings"),
            "LabApp.workspaces_dir": str(self._folder / "workspaces"),
            "LabApp.extension_manager": "readonly",
            "LabApp.expose_app_in_browser": "True",
            "JupyterNotebookApp.expose_app_in_browser": "True",
        }
        return [sys.executable, "-m", "jupyterlab", *(f"--{name}={value}" for name, value in options.items())]

    def _environment(self) -> dict[str, str]:
        folder = self._folder
        return os.environ | {
            "HOME": str(folder / "home"),
            "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
            "JUPYTER_CONFIG_DIR": str(folder / "config"),
            "JUPYTER_DATA_DIR": str(folder / "data"),
            "JUPYTER_PATH": str(ROOT / ".build" / "share" / "jupyter"),  # kernels of every version
            "IPYTHONDIR": str(folder / "ipython"),
            "AGENT_MAGICS_HOME": str(folder / "home" / "agent_magics"),
            "AGENT_MAGICS_MODEL": "demo",
            "PYTHONPATH": os.pathsep.join((str(ROOT), str(HERE))),
            "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
        }

    def _url(self) -> str:
        runtime = self._folder / "runtime"
        info = until(lambda: next(runtime.glob("jpserver-*.json"), None), "the server's address", STARTS)
        return until(lambda: _address(info), "the server to answer", STARTS)

    def _write_settings(self) -> None:
        for name, values in QUIET.items():
            self._setting(name, values)

    def _setting(self, name: str, values: dict[str, Any]) -> None:
        extension, plugin = name.split(":")
        path = self._folder / "settings" / extension / f"{plugin}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))


class Notebook:
    """One open notebook in a page.

    Parameters
    ----------
    page : Page
        The browser's page.
    lab : Lab
        The server.
    name : str
        The notebook's name without its ending.
    app : {"doc", "lab", "notebooks", "nbclassic/notebooks"}
        Which front end; ``doc`` is JupyterLab's single-document mode, which a page may show already.
    """

    CONNECTED = CONNECTED

    def __init__(self, page: Page, lab: Lab, name: str, app: str = "doc") -> None:
        self.page = page
        self.name = name
        self.app = app
        self.may_be_deaf = lab.kernel(name) in DEAF
        self.dialogs: list[str] = []
        self._lab = lab
        page.on("dialog", self._dialog)
        if app == "doc" and page.url.startswith(f"{lab.url}/doc/"):
            page.evaluate(OPEN_INSTEAD, f"{name}.ipynb")
        else:
            middle = "tree/" if app in ("doc", "lab") else ""
            page.goto(f"{lab.url}/{app}/{middle}{name}.ipynb", timeout=STARTS * 1000)
        self._ready()

    def leave(self) -> None:
        """Leave the page to another notebook."""
        self.page.remove_listener("dialog", self._dialog)

    def run_all(self) -> None:
        self.menu("Run", "runmenu:run-all")

    def menu(self, name: str, command: str) -> None:
        self.page.locator(f'li.lm-MenuBar-item:has-text("{name}")').first.click()
        self.page.locator(f'li.lm-Menu-item[data-command="{command}"]').first.click()

    def save(self, lab: Lab) -> Path:
        """Save, and the file once it is whole."""
        path = lab.notebooks / f"{self.name}.ipynb"
        before = path.read_text()
        self.menu("File", "docmanager:save")
        until(lambda: path.read_text() not in ("", before) and _is_json(path), "the notebook to be saved")
        return path

    def again(self, lab: Lab, *, trusted: bool = True) -> Self:
        """The saved notebook, opened anew in this page; without trust as a copy from elsewhere."""
        name = self.name
        if not trusted:
            name = f"{name}-copy"
            book = json.loads((lab.notebooks / f"{self.name}.ipynb").read_text())
            for cell in book["cells"]:
                cell["metadata"].pop("trusted", None)
            book["cells"][0]["source"] += "  # a copy from elsewhere has another hash"
            (lab.notebooks / f"{name}.ipynb").write_text(json.dumps(book))
        self.leave()
        self.page.goto("about:blank")
        return type(self)(self.page, lab, name, self.app)

    def wait(self, condition: str, seconds: float = 30.0, argument: Any = None) -> None:
        """Wait until a JavaScript function returns something true."""
        self.page.wait_for_function(condition, arg=argument, timeout=seconds * 1000)

    def at(self, selector: str) -> Locator:
        return self.page.locator(selector)

    def panel(self) -> Locator:
        """The live panel."""
        return self.page.locator(".agm")

    def settled(self) -> Locator:
        return self.page.locator(".agent-turn")

    def button(self, text: str) -> Locator:
        return self.page.locator(f'.agm button:text-is("{text}")')

    def _ready(self) -> None:
        """Wait until cells can be run."""
        if self.may_be_deaf:
            try:
                self._connect(HEARS)
                return
            except NotInTime:
                self._lab.shut_kernels()
                self.page.reload(timeout=STARTS * 1000)
        self._connect(STARTS)

    def _connect(self, seconds: float) -> None:
        """Wait for the kernel; Lab asks which one when a page is faster than the server's list."""
        self.page.locator(".jp-Notebook .jp-Cell").first.wait_for(timeout=STARTS * 1000)
        asked = "document.querySelector('.jp-Dialog button.jp-mod-accept')"
        self.wait(f"() => {asked} || ({self.CONNECTED})()", seconds)
        if self.page.locator(".jp-Dialog").count():
            self.page.locator(".jp-Dialog button.jp-mod-accept").click()
        self.wait(self.CONNECTED, seconds)

    def _dialog(self, dialog: Any) -> None:
        if dialog.type == "beforeunload":  # to leave with unsaved changes is the test's decision
            dialog.accept()
            return
        self.dialogs.append(f"{dialog.type}: {dialog.message}")
        dialog.dismiss()


def until(condition: Callable[[], Any], what: str, seconds: float = 30.0) -> Any:
    """The first true answer of ``condition``; after the limit, an error that says what was awaited."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        if answer := condition():
            return answer
        time.sleep(0.05)  # between two looks; the wait itself has the limit above
    raise AssertionError(f"waited {seconds:.0f} s for {what}")


def _is_json(path: Path) -> bool:
    try:
        json.loads(path.read_text())
    except ValueError:
        return False
    return True


def _address(info: Path) -> str:
    try:
        url = json.loads(info.read_text())["url"].rstrip("/")
        urlopen(f"{url}/api/status", timeout=5).close()
    except (OSError, ValueError):
        return ""
    return url
