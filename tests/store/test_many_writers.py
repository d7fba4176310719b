"""Ten notebooks write to one store at once, and processes fork: nothing is lost, nothing mixed up."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from agent_magics.talk import Memory, SessionInfo
from tests.conftest import ROOT
from tests.store.conftest import Files
from tests.store.facts import a_turn, note, texts
from tests.store.writer import MEMORIES, TURNS

NAMES = [f"w{number}" for number in range(10)]


def write_at_once(path: Path) -> None:
    """Start all writers, let them go together, and wait for them."""
    writers = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.store.writer", str(path), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        for name in NAMES
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert "ready\n" == writer.stdout.readline()
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    ended = [(writer.communicate(timeout=100)[1], writer.returncode) for writer in writers]
    assert [("", 0)] * len(NAMES) == ended


@pytest.mark.parametrize("wal", [True, None], ids=["a file that is there", "a file that none has made yet"])
def test_ten_processes_write_at_once_and_nothing_is_lost(files: Files, wal: bool | None):
    if wal:
        files.open().append("before", note())
    write_at_once(files.path)
    store = files.open()
    for name in NAMES:
        expected = [fact for number in range(TURNS) for fact in a_turn(f"{name}-{number}")]
        assert expected == store.load(name)
        assert 2 * MEMORIES == len([each for each in store.memories(f"/{name}.ipynb") if name in each.id])
    together = texts(store.load("together"))
    for name in NAMES:
        assert [f"{name}-{number}" for number in range(TURNS)] == [
            text for text in together if text.startswith(f"{name}-")
        ]
    infos = {info.id: info for info in store.sessions()}
    last = TURNS - 1
    expected_infos = [
        SessionInfo(id=name, title=f"turn {last}", used=float(last), turns=TURNS) for name in NAMES
    ]
    assert expected_infos == [infos[name] for name in NAMES]
    assert len(NAMES) * MEMORIES == len(store.memories())
    assert [] == files.damaged() == files.notices


FORKED = """
import os, sys, threading
from pathlib import Path
from agent_magics.store import SQLiteStore
from tests.store.facts import note, texts

store = SQLiteStore(Path(sys.argv[1]))
store.append("before", note())
stop = threading.Event()

def write():
    number = 0
    while not stop.is_set() or number < 50:
        store.append("parent", note(str(number)))
        number += 1
    print("parent wrote", number, flush=True)

writing = threading.Thread(target=write)
writing.start()
children = []
for child in range(5):
    pid = os.fork()
    if pid == 0:
        for number in range(20):
            store.append(f"child {child}", note(str(number)))
        seen = len(store.load("before"))
        os._exit(0 if seen == 1 else 1)
    children.append(pid)
ended = [os.waitpid(pid, 0)[1] for pid in children]
stop.set()
writing.join()
print("children ended", ended)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_while_a_thread_writes_gives_the_child_a_connection_of_its_own(files: Files):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED, str(files.path)],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=ROOT,
        check=False,
    )
    assert "" == done.stderr
    assert f"children ended {[0] * 5}" in done.stdout
    store = files.open()
    wrote = int(done.stdout.split("parent wrote ")[1].split()[0])
    assert [str(number) for number in range(wrote)] == texts(store.load("parent"))
    for child in range(5):
        expected = [str(number) for number in range(20)]
        assert expected == texts(store.load(f"child {child}"))


def test_what_one_notebook_remembers_another_reads_at_once(files: Files):
    here, there = files.open(), files.open()
    assert [] == there.memories()
    here.remember(Memory(id="a", text="I prefer Polars"))
    assert ["I prefer Polars"] == [memory.text for memory in there.memories()]
    there.forget_memory("a")
    assert [] == here.memories()


def test_two_threads_open_a_fresh_file_at_once(files: Files):
    stores = [files.open() for _ in range(8)]
    ready = threading.Barrier(len(stores))

    def write(number: int) -> None:
        ready.wait()
        stores[number].append(str(number), note())

    threads = [threading.Thread(target=write, args=(number,)) for number in range(len(stores))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(stores) == len(files.open().sessions())


def test_a_store_goes_on_after_it_was_closed(files: Files):
    store = files.open()
    store.append("s", note("before"))
    store.close()
    store.append("s", note("after"))
    assert ["before", "after"] == texts(store.load("s"))


def test_a_file_that_was_deleted_meanwhile_is_made_again(files: Files):
    store = files.open()
    store.append("s", note("before"))
    for path in files.path.parent.iterdir():
        path.unlink()
    store.append("s", note("after"))
    store.close()
    assert ["after"] == texts(files.open().load("s"))
