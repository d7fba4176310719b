"""SmolLM2 behind ``%%agent`` in a real kernel: it streams, and it dies with the kernel."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tests.kernels.conftest import on_kernel
from tests.kernels.kernel import LiveKernel
from tests.kernels.page import Page
from tests.providers.conftest import smollm2  # noqa: F401  # the fixture

LONG = 100.0  # seconds for an answer on two processors that others use, too

pytestmark = [pytest.mark.local_model, pytest.mark.parametrize("version", [on_kernel("7.4.0")])]


@pytest.fixture
def page(version: str, smollm2: Path, tmp_path: Path) -> Iterator[Page]:  # noqa: F811
    with LiveKernel(version, tmp_path, AGENT_MAGICS_HOME=str(smollm2.parent.parent)) as kernel:
        page = Page(kernel)
        page.run("%load_ext agent_magics")
        yield page


def answer(page: Page) -> str:
    """What the panel shows of the answer by now."""
    seen = page.seen()
    boxes = [state["children"] for state in seen.values() if "agm-text" in state.get("_dom_classes", ())]
    inside = [child.removeprefix("IPY_MODEL_") for children in boxes for child in children]
    return "".join(seen[id_]["value"] for id_ in inside if id_ in seen)


def children(pid: int) -> set[int]:
    """The processes that a process has started and that live."""
    listed = [path.read_text().split() for path in Path(f"/proc/{pid}/task").glob("*/children")]
    return {int(child) for each in listed for child in each}


def servers(pid: int) -> set[int]:
    """The model servers among them."""
    return {
        child for child in children(pid) if b"/local/server.py" in Path(f"/proc/{child}/cmdline").read_bytes()
    }


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_the_installed_model_is_chosen_and_its_text_arrives_over_time(page: Page) -> None:
    assert "because local weights are installed" in page.shown(page.run("%agent"))
    cell = page.start("%%agent\nTell me in a few sentences what a bicycle is.")
    lengths: list[int] = []

    def ended() -> bool:
        if (length := len(answer(page))) not in lengths[-1:]:
            lengths.append(length)
        return cell.done

    page.kernel.until(ended, "the answer", LONG)
    assert cell.result()["status"] == "ok", page.error(cell)
    assert len(lengths) >= 5
    assert sum(before < after for before, after in pairwise(lengths)) >= 4
    turn = page.run(
        "print(_turn.stop in ('done', 'truncated'), len(_turn.reply) > 40, _turn.usage.output > 10)"
    )
    assert page.printed(turn) == "True True True\n"


def test_nothing_of_it_is_left_when_the_kernel_was_killed_in_the_midst_of_an_answer(page: Page) -> None:
    page.start("%%agent\nTell me in many sentences what a bicycle is.")
    page.kernel.until(lambda: len(answer(page)) > 20, "the answer to begin", LONG)
    assert len(servers(page.kernel.pid)) == 1
    started = children(page.kernel.pid)
    page.kernel.kill()
    page.kernel.until(lambda: not any(map(lives, started)), "all that the kernel started to be gone", 5)


def test_the_server_is_gone_when_another_provider_is_chosen(page: Page) -> None:
    page.run("%%agent\nSay hello.", limit=LONG)
    (server,) = servers(page.kernel.pid)
    page.run("%agent /provider stub")
    page.kernel.until(lambda: not lives(server), "the server to be gone", 5)
    assert servers(page.kernel.pid) == set()
