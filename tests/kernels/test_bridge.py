"""Clicks reach a cell that is still running, and nothing else changes; on every kernel."""

from __future__ import annotations

import pytest

from tests.kernels.conftest import on_kernel
from tests.kernels.kernel import VERSIONS, LiveKernel, Request

# What the magic does, made small: a cell that shows a button and waits for it.
PREPARE = """
import threading, time, ipywidgets
from IPython.display import display
from agent_magics.notebook.bridge import Bridge

if "bridge" in globals():
    bridge.uninstall()
bridge = Bridge(get_ipython())
assert bridge.install(), bridge.why
order = []
get_ipython().register_magic_function(lambda line: print("executed", line), magic_name="agent")

def on_click(button):
    print("clicked in", threading.current_thread().name)
    order.append("click")

def take(code):
    if not code.endswith(" known"):
        return None
    order.append(code)
    return ""

def ask(on_click=on_click, owns=None, seconds=15):
    button, text, wake = ipywidgets.Button(), ipywidgets.Text(), threading.Event()
    button.on_click(on_click)
    owned = {button.comm.comm_id, text.comm.comm_id}
    end = time.monotonic() + seconds
    with bridge.listening(owns or owned.__contains__, take):
        display(button, text)
        while not order and time.monotonic() < end:
            bridge.wait(wake, 1)
            wake.clear()
            bridge.pump()
    order.append("cell")
    return text.value
"""

ROUTES = [on_kernel(version, "shell") for version in VERSIONS] + [
    on_kernel(version, "subshell") for version in VERSIONS if version != "6.31.0"
]


@pytest.fixture
def asking(kernel: LiveKernel) -> LiveKernel:
    prepared = kernel.run(PREPARE)
    assert prepared.result()["status"] == "ok", prepared.result()
    return kernel


def button_of(kernel: LiveKernel, cell: Request) -> str:
    return kernel.widget("ButtonModel", cell)


def value(kernel: LiveKernel, expression: str) -> str:
    return kernel.run(f"print({expression})").text.strip()


@pytest.mark.parametrize(("kernel", "route"), ROUTES, indirect=["kernel"])
def test_a_click_reaches_the_waiting_cell_on_the_main_thread(asking: LiveKernel, route: str) -> None:
    subshell = asking.new_subshell() if route == "subshell" else None
    cell = asking.execute("ask()")
    click = asking.click(button_of(asking, cell), subshell)
    assert cell.result()["status"] == "ok"
    assert cell.text == "clicked in MainThread\n"
    asking.until(lambda: click.states == ["busy", "idle"], "the click's statuses")


@pytest.mark.parametrize(("kernel", "route"), ROUTES, indirect=["kernel"])
def test_what_was_typed_before_the_click_is_there_when_the_cell_goes_on(
    asking: LiveKernel, route: str
) -> None:
    subshell = asking.new_subshell() if route == "subshell" else None
    cell = asking.execute("print(ask())")
    asking.type_into(asking.widget("TextModel", cell), "with a comment", subshell)
    asking.click(button_of(asking, cell), subshell)
    cell.result()
    assert cell.text.splitlines()[-1] == "with a comment"


def test_run_all_keeps_its_order_and_finds_what_the_cell_bound(asking: LiveKernel) -> None:
    cell = asking.execute("ask(); bound = 'a value'")
    button = button_of(asking, cell)
    queued = [asking.execute(f"order.append({n}); print({n}, bound)") for n in range(3)]
    asking.click(button)
    for request in (cell, *queued):
        request.result()
    assert [request.text for request in queued] == [f"{n} a value\n" for n in range(3)]
    assert value(asking, "order") == "['click', 'cell', 0, 1, 2]"


def test_other_requests_pass_and_are_answered_after_the_cell(asking: LiveKernel) -> None:
    cell = asking.execute("ask()")
    button = button_of(asking, cell)
    complete = asking.send("complete_request", {"code": "order.app", "cursor_pos": 9})
    whole = asking.send("is_complete_request", {"code": "for i in x:"})
    asking.click(button)
    assert [match.rpartition(".")[2] for match in complete.result()["matches"]] == ["append"]
    assert whole.result()["status"] == "incomplete"
    assert cell.result()["status"] == "ok"


def test_a_click_on_another_cells_button_waits_for_the_end_of_this_cell(asking: LiveKernel) -> None:
    shown = asking.run("b = ipywidgets.Button(); b.on_click(lambda _: order.append('other')); display(b)")
    other = button_of(asking, shown)
    cell = asking.execute("ask()")
    button = button_of(asking, cell)
    foreign = asking.click(other)
    asking.click(button)
    cell.result()
    asking.until(lambda: foreign.states == ["busy", "idle"], "the other click to be handled")
    assert value(asking, "order") == "['click', 'cell', 'other']"


def test_a_click_on_a_button_that_is_gone_is_harmless(asking: LiveKernel) -> None:
    cell = asking.execute("ask()")
    button = button_of(asking, cell)
    stale = asking.click("no-such-comm")
    asking.click(button)
    assert cell.result()["status"] == "ok"
    asking.until(lambda: stale.states == ["busy", "idle"], "the stale click's statuses")


def test_a_second_click_on_a_button_that_is_gone_says_nothing(asking: LiveKernel) -> None:
    cell = asking.execute("ask(lambda button: (button.close(), order.append('click')))")
    button = button_of(asking, cell)
    clicks = [asking.click(button) for _ in range(3)]
    assert cell.result()["status"] == "ok"
    clicks.append(asking.click(button))
    after = asking.run("print('after')")
    assert (cell.text, after.text) == ("", "after\n")
    assert [""] * 4 == [click.text for click in clicks]


def test_the_front_end_hears_that_the_cell_is_still_busy_after_a_click(asking: LiveKernel) -> None:
    cell = asking.execute("ask()")
    click = asking.click(button_of(asking, cell))
    cell.result()
    statuses = [
        (message["parent_header"].get("msg_id"), message["content"]["execution_state"])
        for name, message in asking.heard
        if name == "iopub" and message["header"]["msg_type"] == "status"
    ]
    after = statuses[statuses.index((click.id, "idle")) + 1]
    assert after == (cell.id, "busy")


def test_an_interrupt_ends_the_wait_and_leaves_the_bridge_ready(asking: LiveKernel) -> None:
    cell = asking.execute("ask()")
    button_of(asking, cell)
    asking.interrupt()
    assert cell.result()["ename"] == "KeyboardInterrupt"
    again = asking.execute("ask()")
    asking.click(button_of(asking, again))
    assert again.result()["status"] == "ok"


def test_an_interrupt_inside_a_callback_ends_the_cell_and_the_click(asking: LiveKernel) -> None:
    cell = asking.execute(
        "def spin(_):\n"
        "    print('spinning', flush=True)\n"
        "    end = time.monotonic() + 30\n"
        "    while time.monotonic() < end: pass\n"
        "ask(spin)"
    )
    click = asking.click(button_of(asking, cell))
    asking.until(lambda: cell.text == "spinning\n", "the callback to run")
    asking.interrupt()
    assert cell.result()["ename"] == "KeyboardInterrupt"
    assert click.states == ["busy", "idle"]
    assert value(asking, "order") == "[]"


def test_an_interrupt_in_the_midst_of_traffic_leaves_nothing_unanswered(asking: LiveKernel) -> None:
    # ipykernel 7.0 to 7.3 stop hearing here by themselves, also after the cell (ipython/ipykernel#1554).
    for position in range(8):
        cell = asking.execute("ask(lambda _: print('clicked'))")
        button = button_of(asking, cell)
        requests = [cell]
        for turn in range(8):
            requests.append(asking.click(button) if turn % 2 else asking.send("kernel_info_request"))
            if turn == position:
                asking.interrupt()
        for request in requests:
            asking.until(lambda r=request: r.states[-1:] == ["idle"], "every request to be done")
        assert cell.result()["ename"] == "KeyboardInterrupt"


def test_a_burst_of_requests_is_answered_while_the_cell_waits(asking: LiveKernel) -> None:
    cell = asking.execute("ask()")
    button = button_of(asking, cell)
    for _ in range(20):
        burst = [asking.send("kernel_info_request") for _ in range(4)]
        for request in burst:
            assert request.result()["status"] == "ok"
    assert not cell.done
    asking.click(button)
    assert cell.result()["status"] == "ok"


def test_queued_cells_do_not_run_after_an_interrupt(asking: LiveKernel) -> None:
    cell = asking.execute("ask()")
    button_of(asking, cell)
    queued = asking.execute("order.append('ran')")
    asking.interrupt()
    assert cell.result()["status"] == "error"
    assert queued.result()["status"] == "aborted"


@pytest.mark.parametrize("command", ["%agent /approve known", " %agent  /reject known\n"])
def test_an_approval_can_be_typed_in_another_cell_while_this_one_waits(
    asking: LiveKernel, command: str
) -> None:
    cell = asking.execute("ask(); print(order)")
    button_of(asking, cell)
    typed = asking.execute(command)
    reply = typed.result()
    assert (reply["status"], reply["payload"], typed.states) == ("ok", [], ["busy", "idle"])
    cell.result()
    assert cell.text == f"{[command.strip(), 'cell']}\n"
    assert typed.text == ""


def test_an_approval_of_something_unknown_is_executed_after_the_cell(asking: LiveKernel) -> None:
    cell = asking.execute("ask()")
    button = button_of(asking, cell)
    typed = asking.execute("%agent /approve stranger")
    asking.click(button)
    cell.result()
    typed.result()
    assert typed.text == "executed /approve stranger\n"


def test_a_cell_that_only_contains_an_approval_is_an_ordinary_cell(asking: LiveKernel) -> None:
    cell = asking.execute("ask()")
    button = button_of(asking, cell)
    queued = asking.execute("%agent /approve known\nprint(order)")
    asking.click(button)
    queued.result()
    assert queued.text == "executed /approve known\n['click', 'cell']\n"


def test_a_reloaded_page_gets_the_state_of_the_widgets_while_the_cell_waits(asking: LiveKernel) -> None:
    cell = asking.execute("ask()")
    button = button_of(asking, cell)
    assert asking.send("kernel_info_request").result()["status"] == "ok"
    assert button in asking.send("comm_info_request").result()["comms"]
    control = {"comm_id": f"control {cell.id}", "target_name": "jupyter.widget.control", "data": {}}
    asking.send("comm_open", control, metadata={"version": "1.0.0"})
    asking.comm(control["comm_id"], {"method": "request_states"})

    def states() -> list[dict[str, object]]:
        messages = [message["content"] for message in cell.answers("iopub", "comm_msg")]
        return [each["data"]["states"] for each in messages if each["comm_id"] == control["comm_id"]]

    asking.until(lambda: bool(states()), "the widgets' states")
    assert button in states()[0]
    assert not cell.done
    asking.click(button)
    cell.result()
    assert value(asking, "bridge.newcomer") == "True"


def test_a_failing_filter_lets_the_message_pass_to_the_kernel(asking: LiveKernel) -> None:
    cell = asking.execute("ask(owns=lambda comm_id: 1 / 0, seconds=2)")
    click = asking.click(button_of(asking, cell))
    assert cell.result()["status"] == "ok"
    asking.until(lambda: click.states == ["busy", "idle"], "the click to be handled by the kernel")
    assert value(asking, "order") == "['cell', 'click']"


def test_what_was_kept_and_not_handled_goes_to_the_kernel_when_the_cell_ends(asking: LiveKernel) -> None:
    cell = asking.execute(
        "button = ipywidgets.Button(); button.on_click(on_click)\n"
        "with bridge.listening(button.comm.comm_id.__eq__):\n"
        "    display(button)\n"
        "    print(bridge.wait(threading.Event(), 15))\n"
        "order.append('cell')"
    )
    click = asking.click(button_of(asking, cell))
    cell.result()
    assert cell.text == "True\n"
    asking.until(lambda: click.states == ["busy", "idle"], "the click to be handled by the kernel")
    assert value(asking, "order") == "['cell', 'click']"


def test_an_inner_wait_leaves_the_outer_one_listening(asking: LiveKernel) -> None:
    cell = asking.execute(
        "with bridge.listening(lambda comm_id: False):\n"
        "    with bridge.listening(lambda comm_id: False):\n"
        "        pass\n"
        "    ask()"
    )
    asking.click(button_of(asking, cell))
    assert cell.result()["status"] == "ok"
    assert cell.text == "clicked in MainThread\n"


def test_installing_twice_and_uninstalling_leaves_the_kernel_as_it_was(asking: LiveKernel) -> None:
    asking.run(
        "bridge.uninstall(); stream = get_ipython().kernel.shell_stream; before = stream._recv_callback\n"
        "bridge.install(); bridge.install(); bridge.uninstall()"
    )
    assert value(asking, "stream._recv_callback == before, bridge.available, bridge.why") == (
        "True False It has been uninstalled."
    )


def test_a_cell_may_ask_by_input_while_the_bridge_is_listening(asking: LiveKernel) -> None:
    cell = asking.execute(
        "with bridge.listening(lambda comm_id: False):\n    print('got', input('Approve? '))",
        allow_stdin=True,
    )
    assert asking.answer("yes") == "Approve? "
    cell.result()
    assert cell.text == "got yes\n"


@pytest.mark.parametrize("kernel", [on_kernel(v) for v in VERSIONS if v != "6.31.0"], indirect=True)
def test_a_cell_on_a_subshell_is_told_that_it_has_to_ask_in_another_way(asking: LiveKernel) -> None:
    subshell = asking.new_subshell()
    content = {"code": "print(bridge.available, bridge.why)", "silent": False, "allow_stdin": False}
    request = asking.send("execute_request", content, subshell)
    request.result()
    assert request.text.startswith("False This cell runs on a subshell")
    assert value(asking, "bridge.available") == "True"
