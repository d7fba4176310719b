"""``%load_ext agent_magics`` is quiet and cheap, and can be taken back."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kernels.conftest import oldest_and_newest, on_kernel
from tests.kernels.kernel import VERSIONS, LiveKernel
from tests.kernels.page import Page

HEAVY = (
    *("httpx", "ipywidgets", "jsonschema", "markdown_it", "nbformat", "nh3", "numpy", "pandas", "pydantic"),
    *(
        f"agent_magics.{part}"
        for part in ("agent", "api", "forge", "providers", "sandbox", "talk", "tools", "ui")
    ),
)
"""What a turn needs and loading doesn't."""

LOOK = """
import sys, threading, socket, json
def look():
    return set(sys.modules), {thread.name for thread in threading.enumerate()}
opened, connect = [], socket.socket.connect
socket.socket.connect = lambda self, address: opened.append(address) or connect(self, address)
"""


@pytest.fixture
def fresh(kernel: LiveKernel, tmp_path: Path) -> Iterator[Page]:
    """A notebook on a kernel of its own, in which nothing was loaded."""
    with LiveKernel(kernel.version, tmp_path) as own:
        yield Page(own)


@oldest_and_newest
def test_loading_prints_nothing_starts_nothing_and_imports_nothing_heavy(fresh: Page) -> None:
    fresh.run(LOOK)
    fresh.run("modules, threads = look()")
    loading = fresh.run("%load_ext agent_magics")
    assert fresh.outputs(loading) == []
    fresh.run("more_modules, more_threads = look()")
    cell = fresh.run(
        "print(json.dumps([sorted(more_modules - modules), sorted(more_threads - threads), opened]))"
    )
    modules, threads, opened = json.loads(fresh.printed(cell))
    assert [name for name in modules if name.startswith(HEAVY)] == []
    assert (threads, opened) == ([], [])


@oldest_and_newest
def test_the_first_look_at_the_session_opens_no_connection_but_to_this_machine(fresh: Page) -> None:
    fresh.run(LOOK)
    fresh.run("%load_ext agent_magics")
    fresh.run("%agent")
    assert (
        fresh.printed(fresh.run("print({host for host, *_ in opened} <= {'127.0.0.1', '::1'})")) == "True\n"
    )


@oldest_and_newest
def test_loading_again_and_unloading_twice_changes_nothing(page: Page) -> None:
    page.run("session = current_session()")
    page.run("%load_ext agent_magics\n%load_ext agent_magics")
    assert page.printed(page.run("print(session is current_session())")) == "True\n"
    page.run("%unload_ext agent_magics\n%unload_ext agent_magics")
    unknown = page.start("%agent hello")
    assert unknown.result()["status"] == "error"
    assert "`%agent` not found" in page.printed(unknown)


def test_unloading_leaves_the_shell_as_it_was(page: Page) -> None:
    page.run("%unload_ext agent_magics")
    page.run(
        "shell = get_ipython()\n"
        "def state():\n"
        "    return (\n"
        "        list(shell.input_transformers_cleanup),\n"
        "        list(shell.input_transformer_manager.token_transformers),\n"
        "        {kind: sorted(names) for kind, names in shell.magics_manager.magics.items()},\n"
        "        [type(each).__name__ for each in shell.configurables],\n"
        "        sorted(shell.strdispatchers['complete_command'].strs),\n"
        "        shell.kernel.shell_stream._recv_callback,\n"
        "    )\n"
        "before = state()"
    )
    page.run("%load_ext agent_magics")
    page.run("from agent_magics import current_session\ncurrent_session().provider = 'stub'")
    page.run("%agent hello")
    assert page.printed(page.run("print(state() == before)")) == "False\n"
    page.run("%unload_ext agent_magics")
    assert page.printed(page.run("print(state() == before)")) == "True\n"


@oldest_and_newest
def test_a_reload_begins_a_new_session_and_works(page: Page) -> None:
    page.run("session = current_session()")
    page.run("%reload_ext agent_magics")
    page.run("play('Here I am.')")
    assert page.shown(page.run("%agent hello")).endswith("Here I am.")
    assert page.printed(page.run("print(session is current_session())")) == "False\n"
    error = "try: session.ask('still there?')\nexcept Exception as error: print(error.what)"
    assert page.printed(page.run(error)) == "This session is closed.\n"


@pytest.mark.parametrize("version", [on_kernel(version) for version in VERSIONS])
def test_after_a_restart_of_the_kernel_everything_works_again(version: str, tmp_path: Path) -> None:
    with LiveKernel(version, tmp_path) as kernel:
        page = Page(kernel)
        page.run("%load_ext agent_magics")
        page.run("from agent_magics import current_session\ncurrent_session().provider = 'stub'")
        cell = page.start("%%agent\nhello")
        cell.result()
        kernel.restart()
        page = Page(kernel)
        page.run("%load_ext agent_magics")
        page.run("from agent_magics import current_session\ncurrent_session().provider = 'stub'")
        assert page.shown(page.run("%%agent\nhello again")).endswith("hello again")


@oldest_and_newest
def test_settings_of_the_configuration_and_the_environment_are_taken(page: Page) -> None:
    page.run("%config AgentMagics.max_rounds = 7\n%config AgentMagics.approve = 'never'")
    page.run("%reload_ext agent_magics")
    settings = "print(current_session().max_rounds, current_session().policy.approve)"
    assert page.printed(page.run(settings)) == "7 never\n"
    page.run("%config AgentMagics.max_rounds = 25\n%config AgentMagics.approve = ''")
    assert page.printed(page.run(settings)) == "25 ask\n"
    page.run("import os; os.environ['AGENT_MAGICS_APPROVE'] = 'always'\n%reload_ext agent_magics")
    assert page.printed(page.run(settings)) == "25 always\n"
    page.run("del os.environ['AGENT_MAGICS_APPROVE']")


@oldest_and_newest
def test_a_setting_takes_effect_in_the_session_that_runs(page: Page) -> None:
    page.run("play('Hi.')")
    page.run("%agent hello")
    page.run("%config AgentMagics.provider = 'stub'")
    assert page.shown(page.run("%agent hello")).endswith("hello")
    page.run("%agent /provider stub:other")
    page.run("%config AgentMagics.provider = 'stub'")
    state = "print(current_session().provider.model, len(current_session().conversation.turns))"
    assert page.printed(page.run(state)) == "stub 2\n"
    page.run("%config AgentMagics.approve = 'never'")
    assert "what would ask is refused" in page.shown(page.run("%agent"))


@pytest.mark.parametrize("kernel", [on_kernel("7.0.1"), on_kernel("7.3.0")], indirect=True)
def test_a_kernel_that_goes_deaf_by_itself_hears_again_while_we_are_loaded(fresh: Page) -> None:
    # Without us one of these is never answered, mostly within the first hundred (ipython/ipykernel#1554).
    fresh.run("%load_ext agent_magics")
    kernel = fresh.kernel
    answered = 0
    for turn in range(300):
        requests = [kernel.execute("1"), kernel.send("kernel_info_request")]
        time.sleep(turn % 8 / 2000)
        requests += [kernel.execute("2"), kernel.send("kernel_info_request")]
        for request in requests:
            kernel.until(lambda r=request: r.states[-1:] == ["idle"], f"an answer in turn {turn}")
        answered += sum(request.states[-1:] == ["idle"] for request in requests)
    assert answered == 1200
