"""The walls themselves: the table of system calls, the clock's detour, the roots, what the zygote is like."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
from seccompy.syscalls import AARCH64_SYSCALLS, X86_64_SYSCALLS

from agent_magics.sandbox import vdso
from agent_magics.sandbox.roots import read_roots
from agent_magics.sandbox.syscalls import PROT_EXEC, PROT_WRITE, Rule, rules
from tests.sandbox.processes import zygotes

ROOT = Path(__file__).resolve().parents[2]
EVERY = rules(files=True, clock=True, path_stat=True)
WITH_SUB_COMMANDS = {
    "fcntl",
    "ioctl",
    "prctl",
    "madvise",
    "futex",
    "prlimit64",
    "mmap",
    "mprotect",
    "open",
    "openat",
}


def plain(source: str) -> subprocess.CompletedProcess[str]:
    """A source in a Python of its own."""
    command = [sys.executable, "-c", source]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=30, check=False)


def test_every_call_of_the_table_exists_on_x86_64():
    assert set() == {rule.call for rule in EVERY} - X86_64_SYSCALLS.keys()


def test_only_old_calls_of_the_table_are_missing_on_aarch64():
    assert {"open", "readlink", "getdents", "time"} >= {rule.call for rule in EVERY} - AARCH64_SYSCALLS.keys()


def test_calls_that_python_cannot_do_without_are_in_both_tables():
    needed = {
        "read",
        "write",
        "openat",
        "mmap",
        "munmap",
        "mremap",
        "brk",
        "exit_group",
        "futex",
        "rt_sigaction",
    }
    assert needed <= {rule.call for rule in EVERY} & X86_64_SYSCALLS.keys() & AARCH64_SYSCALLS.keys()


def test_call_with_sub_commands_is_never_allowed_by_name_alone():
    bare = {rule.call for rule in EVERY if not rule.tests and not rule.error}
    assert set() == bare & WITH_SUB_COMMANDS


@pytest.mark.parametrize(
    "word", ["sock", "kill", "fork", "clone", "exec", "trace", "mount", "chmod", "unlink", "set"]
)
def test_nothing_of_that_kind_is_allowed(word):
    assert set() == {rule.call for rule in EVERY if word in rule.call and not rule.error}


def test_files_are_opened_only_where_landlock_watches():
    without = {rule.call for rule in rules(files=False, clock=True, path_stat=True) if not rule.error}
    assert set() == without & {"open", "openat"}


def test_clock_is_read_only_with_a_grant():
    without = {rule.call for rule in rules(files=True, clock=False, path_stat=True) if not rule.error}
    assert set() == without & {"clock_gettime", "gettimeofday", "time", "times", "getrusage", "nanosleep"}


def _allows(table: list[Rule], call: str, *arguments: int) -> bool:
    """What the filter would say; the first matching rule wins."""
    for rule in table:
        if rule.call == call and all(
            arguments[test.argument] & test.mask == test.value for test in rule.tests
        ):
            return not rule.error
    return False


@pytest.mark.parametrize(
    ("call", "arguments", "allowed"),
    [
        ("mmap", (0, 4096, 3, 0x22), True),
        ("mmap", (0, 4096, PROT_EXEC | 1, 0x2), True),
        ("mmap", (0, 4096, PROT_EXEC | PROT_WRITE, 0x2), False),
        ("mmap", (0, 4096, PROT_EXEC | 1, 0x22), False),
        ("mprotect", (0, 4096, PROT_EXEC), False),
        ("openat", (0, 0, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY), True),
        *[("openat", (0, 0, flag), False) for flag in (os.O_WRONLY, os.O_RDWR, os.O_CREAT, os.O_TRUNC)],
        *[("openat", (0, 0, flag), False) for flag in (os.O_APPEND, os.O_PATH, os.O_TMPFILE, os.O_ASYNC)],
        ("fcntl", (1, 1, 0), True),
        *[("fcntl", (1, command, 0), False) for command in (4, 5, 6, 7, 8, 9, 10, 15, 36, 37, 1024, 1026)],
        ("ioctl", (1, 0x5401), True),
        *[("ioctl", (1, command), False) for command in (0x5412, 0x5421, 0x5452, 0x8901, 0x8902)],
        ("madvise", (0, 0, 4), True),
        *[("madvise", (0, 0, advice), False) for advice in (9, 12, 21, 22, 100, 101)],
        ("prlimit64", (0, 7, 0), True),
        ("prlimit64", (0, 7, 1), False),
        ("prlimit64", (1, 7, 0), False),
        ("futex", (0, 128), True),
        ("futex", (0, 6), False),
        ("prctl", (1, 0), False),
        ("newfstatat", (3, 0, 0, 0x1000), True),
        ("newfstatat", (3, 0, 0, 0), False),
        ("newfstatat", (3, 0, 0, 0x1100), False),
    ],
)  # fmt: skip
def test_sub_command_is_judged(call, arguments, allowed):
    assert allowed is _allows(EVERY, call, *arguments)


def test_upper_half_of_an_argument_hides_nothing():
    """The kernel looks at 32 bits of a command; the filter wants the others to be empty."""
    assert not _allows(EVERY, "fcntl", 1, (1 << 32) | 1, 0)


def test_roots_hold_no_home_no_project_and_not_the_root():
    roots = read_roots()
    assert all(root.is_absolute() for root in roots)
    assert set() == {Path("/"), Path.home(), ROOT, Path("/etc"), Path("/tmp"), Path("/proc")} & set(roots)
    assert not any(root in ROOT.parents for root in roots)


def test_roots_hold_the_library_and_its_packages():
    covered = read_roots()
    for module in ("json", "numpy"):
        spec = importlib.util.find_spec(module)
        assert spec is not None and spec.origin is not None
        assert any(root in Path(os.path.realpath(spec.origin)).parents for root in covered)


def test_system_call_is_encoded_as_the_manual_says():
    """mov eax, imm32 is b8; syscall is 0f 05; ret is c3 (Intel SDM, volume 2)."""
    assert bytes.fromhex("b8 e4 00 00 00 0f 05 c3") == vdso.system_call(228)


def test_clock_asks_the_kernel_once_the_vdso_is_closed():
    """A process of its own, since this cannot be undone: afterwards a filter can refuse the clock."""
    source = """
import errno, time
from seccompy import Action, Filter
from agent_magics.sandbox.vdso import close_vdso
assert close_vdso()
assert time.time() > 1e9 and time.monotonic() > 0
sieve = Filter(default=Action.ALLOW)
sieve.errno("clock_gettime", errno.EPERM)
sieve.load()
try:
    time.time()
except PermissionError:
    print("refused")
"""
    assert "x86_64" == platform.machine(), "run this on x86-64"
    done = subprocess.run(
        [sys.executable, "-c", source], cwd=ROOT, capture_output=True, text=True, timeout=30, check=False
    )
    assert ("refused\n", "") == (done.stdout, done.stderr)


def test_zygote_is_single_clean_and_out_of_reach(sandbox):
    sandbox.call("def f():\n    return 1", "f")
    for zygote in zygotes():
        status = dict(line.split(":", 1) for line in Path(f"/proc/{zygote}/status").read_text().splitlines())
        assert "1" == status["Threads"].strip()
        assert Path("/") == Path(f"/proc/{zygote}/cwd").readlink()
        environment = Path(f"/proc/{zygote}/environ").read_bytes()
        assert (b"HOME=" not in environment, b"KEY" not in environment) == (True, True)
        assert zygote == os.getsid(zygote)
        assert "800" == Path(f"/proc/{zygote}/oom_score_adj").read_text().strip()


def test_child_has_its_few_descriptors_and_no_capabilities(sandbox):
    source = """
import ctypes
def f():
    held = []
    for number in range(64):
        try:
            import os
            os.fstat(number)
        except OSError:
            continue
        held.append(number)
    return held
"""
    assert ([0, 1, 2, 3], [0, 1, 2, 3, 4]) == (
        sandbox.call(source, "f").value,
        sandbox.call(source, "f", capabilities=["scratch"]).value,
    )
    libc = ctypes.CDLL(None)
    assert 0 == libc.getppid() - os.getppid()  # the test itself is not confined


def test_package_stands_on_nothing_but_our_errors():
    source = """
import sys
before = set(sys.modules)
import agent_magics.sandbox
from agent_magics.sandbox import Sandbox
loaded = set(sys.modules) - before
ours = sorted(n for n in loaded if n.startswith("agent_magics") and not n.startswith("agent_magics.sandbox"))
heavy = sorted({n.partition(".")[0] for n in loaded} & {"numpy", "pandas", "httpx", "ssrfguard", "seccompy"})
print(ours, heavy)
"""
    done = subprocess.run(
        [sys.executable, "-c", source], cwd=ROOT, capture_output=True, text=True, timeout=30, check=False
    )
    assert "['agent_magics', 'agent_magics.errors', 'agent_magics.masking'] []\n" == done.stdout
