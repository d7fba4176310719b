"""One kernel of each version, started when a test first wants it and kept for the tests that follow."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kernels.kernel import VERSIONS, LiveKernel
from tests.kernels.page import Page

SCRIPTING = """
%reset -f
%reload_ext agent_magics
%config AgentMagics.approve = ""
%config AgentMagics.frontend = "auto"
%config AgentMagics.provider = "auto"
%reload_ext agent_magics
import threading, time
from agent_magics import Session, current_session, provider, tool
from agent_magics.talk import Saying, Stop, Thinking, ToolCall, Usage
from agent_magics.testing import Hang, ScriptedProvider

def play(*replies):
    current_session().provider = script = ScriptedProvider(replies)
    return script

def call(name, /, **arguments):
    return ToolCall(id="c1", name=name, arguments=arguments)

def run_python(code):
    return call("run_python", code=code)

def told():
    \"\"\"What the model was told last.\"\"\"
    return current_session().provider.requests[-1][0][-1]["content"]

play("")
"""
"""The first cell: ``play`` scripts what the model replies to the next requests."""


def on_kernel(version: str, *values: object) -> object:
    """A parameter set for a test on one kernel; with xdist, a kernel's tests stay in one worker."""
    group = pytest.mark.xdist_group(f"ipykernel-{version}")
    return pytest.param(version, *values, marks=[pytest.mark.kernels, group])


oldest_and_newest = pytest.mark.parametrize(
    "kernel", [on_kernel(VERSIONS[0]), on_kernel(VERSIONS[-1])], indirect=True
)
"""For what differs between generations of kernels at most."""


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, LiveKernel]]:
    """The kernels that run; whichever still do at the end are ended."""
    kernels: dict[str, LiveKernel] = {}
    yield kernels
    for kernel in kernels.values():
        kernel.close()


@pytest.fixture(params=[on_kernel(version) for version in VERSIONS])
def kernel(
    request: pytest.FixtureRequest,
    running: dict[str, LiveKernel],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[LiveKernel]:
    """A kernel of each version. One that a test left busy or dead is not given to the next test."""
    version: str = request.param
    if version not in running:
        running[version] = LiveKernel(version, tmp_path_factory.mktemp("kernel"))
    yield running[version]
    if not running[version].at_rest():
        running.pop(version).close()


@pytest.fixture
def page(kernel: LiveKernel) -> Page:
    """A notebook on this kernel in which the extension was just loaded, with a few words to script turns."""
    page = Page(kernel)
    page.run(SCRIPTING)
    return page
