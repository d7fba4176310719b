"""Processes and signals: making them, reaching into others, escaping one's own limits."""

from __future__ import annotations

from typing import Any

from tests.redteam.rows import Family, Layer, Row, attack, twin

ONLY_SECCOMP = frozenset({Layer.SECCOMP})
BOTH = frozenset({Layer.LANDLOCK, Layer.SECCOMP})
COMPUTES = twin("return sum(map(int, '123')) == 6")
GENERATES = twin("return list(zip(*[iter(range(6))] * 2)) == [(0, 1), (2, 3), (4, 5)]")
HANDLES = twin("""
    import signal
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    return signal.getsignal(signal.SIGUSR1) == signal.SIG_IGN
""")
ASKS_LIMITS = twin("import resource; return resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 0")


def _row(
    name: str, body: str, honest: str = COMPUTES, stops: frozenset[Layer] = ONLY_SECCOMP, **more: Any
) -> Row:
    return Row(name=name, family=Family.PROCESSES, attack=attack(body), twin=honest, stops=stops, **more)


def _signal(name: str, body: str, stops: frozenset[Layer] = BOTH) -> Row:
    family, since = Family.SIGNALS, 6 if Layer.LANDLOCK in stops else 1
    return Row(name=name, family=family, attack=attack(body), twin=HANDLES, stops=stops, landlock_since=since)


PROCESSES = [
    _row(
        "fork",
        """
        child = os.fork()
        if child == 0:
            os._exit(0)
        return os.waitpid(child, 0)[1] == 0
        """,
        GENERATES,
    ),
    _row(
        "fork twice and be nobody's child",
        """
        child = os.fork()
        if child == 0:
            os.setsid()
            if os.fork() == 0:
                open(world["folder"] + "/orphan", "w").write("x")
            os._exit(0)
        return os.waitpid(child, 0)[1] == 0
        """,
        GENERATES,
    ),
    _row("spawn a program", "return os.posix_spawn('/bin/true', ['true'], {}) > 0", stops=BOTH),
    _row("run a shell", "return os.system('exit 7') >> 8 == 7", stops=BOTH),
    _row(
        "run a program by subprocess",
        """
        import subprocess
        return subprocess.run(["/bin/echo", "x"], capture_output=True).stdout == b"x\\n"
        """,
        stops=BOTH,
    ),
    _row(
        "become another program",
        "os.execv('/bin/sh', ['sh', '-c', f\"echo > {world['folder']}/ran\"])",
        stops=BOTH,
    ),
    _row(
        "become the loader of programs",
        """
        import glob
        loader = glob.glob("/lib*/ld-linux-*")[0]
        script = f"echo > {world['folder']}/ran"
        os.execv(loader, [loader, "/bin/sh", "-c", script])
        """,
        stops=BOTH,
    ),
    _row(
        "run a program that exists in memory only",
        """
        file = os.memfd_create("x", 0)
        os.write(file, f"#!/bin/sh\\necho > {world['folder']}/ran\\n".encode())
        os.execve(file, ["x"], {})
        """,
    ),
    _row(
        "start a thread",
        """
        import threading
        done = []
        thread = threading.Thread(target=done.append, args=(1,))
        thread.start()
        thread.join()
        return done
        """,
        GENERATES,
    ),
    _row(
        "clone by clone3",
        """
        how = (ctypes.c_uint64 * 11)()
        how[4] = 17
        child = raw(435, 435, how, 88)
        if child == 0:
            os._exit(0)
        return os.waitpid(child, 0)[1] == 0
        """,
        needs="clone3, which containers refuse",
    ),
    _row(
        "leave for a namespace of one's own",
        "return raw(272, 97, 0x10000000) == 0",
        needs="user namespaces for everybody",
    ),
    _row(
        "a table of descriptors of one's own",
        "return raw(272, 97, 0x400) == 0",
        needs="unshare, which containers refuse",
    ),
    _row("be traced", "return raw(101, 117, 0, 0, 0, 0) == 0"),
    _row(
        "copy memory across processes",
        """
        found, wanted = ctypes.create_string_buffer(4), ctypes.create_string_buffer(b"abc")
        to = (ctypes.c_uint64 * 2)(ctypes.addressof(found), 4)
        of = (ctypes.c_uint64 * 2)(ctypes.addressof(wanted), 4)
        return raw(310, 270, os.getpid(), to, 1, of, 1, 0) == 4
        """,
        needs="a process that may be traced, which one started by another user is not",
    ),
    _row("hold a process by descriptor", "return os.pidfd_open(os.getppid()) >= 0"),
    _row(
        "take a descriptor out of another process",
        """
        return raw(438, 438, os.pidfd_open(world["victim"]), 0, 0) >= 0
        """,
        needs="ptrace rights over a process of the same user",
    ),
    _row("slow another process down", "os.setpriority(os.PRIO_PROCESS, world['victim'], 19); return True"),
    _row(
        "pin another process",
        """
        os.sched_setaffinity(world["victim"], os.sched_getaffinity(world["victim"]))
        return True
        """,
    ),
    _row(
        "limit another process",
        """
        import resource
        before = resource.prlimit(world["victim"], resource.RLIMIT_CORE)
        resource.prlimit(world["victim"], resource.RLIMIT_CORE, before)
        return True
        """,
        ASKS_LIMITS,
    ),
    _row(
        "raise one's own limits",
        """
        import resource
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 200), hard))
        return True
        """,
        ASKS_LIMITS,
        frozenset({Layer.SECCOMP, Layer.LIMITS}),
    ),
    _row("outlive one's parent", "return libc.prctl(1, 0, 0, 0, 0) == 0"),
    _row("let others read one's memory", "return libc.prctl(4, 1, 0, 0, 0) == 0"),
    _row("rename oneself", "return libc.prctl(15, b'kernel', 0, 0, 0) == 0"),
    _row(
        "switch off the layout's randomness",
        "return raw(135, 92, 0x0040000) >= 0",
        needs="personality, which containers refuse",
    ),
    _row(
        "keep a secret in the kernel's key ring",
        "return raw(250, 219, 0, -3, 1) != 0",
        needs="keyctl, which containers refuse",
    ),
    _row("share memory by key", "return raw(29, 194, 0, 4096, 0o1600) >= 0"),
    _row("send messages by key", "return raw(68, 186, 0, 0o1600) >= 0"),
    _row(
        "open a message queue",
        """
        queue = raw(240, 180, text("redteam"), 0o102, 0o600, None)
        raw(241, 181, text("redteam"))
        return queue >= 0
        """,
        needs="POSIX message queues",
    ),
    _row("a file in memory", "return os.memfd_create('x') >= 0"),
    _row(
        "handle page faults oneself",
        "return raw(323, 282, 1) >= 0",
        needs="userfaultfd, which containers refuse",
    ),
    _row("wait on many things", "return raw(291, 20, 0) >= 0"),
    _row("more filters", "return raw(317, 277, 2, 0, ctypes.byref(ctypes.c_uint32(0x7FFF0000))) == 0"),
    _row(
        "merge one's pages with the machine's",
        """
        import mmap
        page = mmap.mmap(-1, 65536)
        place = ctypes.addressof(ctypes.c_char.from_buffer(page))
        return raw(28, 233, ctypes.c_void_p(place), 65536, 12) == 0
        """,
        needs="a kernel with KSM",
    ),
]

SIGNALS = [
    _signal("signal another process", "os.kill(world['victim'], 10); return True"),
    _signal("signal the zygote", "os.kill(os.getppid(), 0); return os.getppid() > 1"),
    _signal(
        "signal a thread of another process",
        "return raw(234, 131, world['victim'], world['victim'], 10) == 0",
    ),
    _signal(
        "queue a signal with data",
        """
        facts = (ctypes.c_int32 * 32)()
        facts[0], facts[2] = 10, -1
        return raw(129, 138, world["victim"], 10, facts) == 0
        """,
    ),
    _signal(
        "signal by descriptor",
        """
        import signal
        signal.pidfd_send_signal(os.pidfd_open(world["victim"]), 10)
        return True
        """,
    ),
    _signal(
        "let the kernel signal for one, by fcntl",
        """
        import fcntl
        ours, theirs = os.pipe()
        fcntl.fcntl(ours, fcntl.F_SETOWN, world["victim"])
        fcntl.fcntl(ours, fcntl.F_SETFL, 0o20000)  # O_ASYNC
        os.write(theirs, b"x")
        """,
    ),
    _signal(
        "let the kernel signal for one, by a number of choice",
        """
        import fcntl
        ours, theirs = os.pipe()
        fcntl.fcntl(ours, fcntl.F_SETOWN, world["victim"])
        fcntl.fcntl(ours, 10, 12)  # F_SETSIG, SIGUSR2
        fcntl.fcntl(ours, fcntl.F_SETFL, 0o20000)
        os.write(theirs, b"x")
        """,
    ),
    _signal(
        "let the kernel signal for one, by ioctl",
        """
        import fcntl
        ours, theirs = socket.socketpair()
        fcntl.ioctl(ours, 0x8901, ctypes.c_int(world["victim"]))  # FIOSETOWN
        fcntl.ioctl(ours, 0x5452, ctypes.c_int(1))  # FIOASYNC
        theirs.send(b"x")
        """,
    ),
    _signal(
        "be signalled by a timer",
        """
        return raw(222, 107, 0, None, ctypes.byref(ctypes.c_int())) == 0
        """,
        ONLY_SECCOMP,
    ),
    _signal(
        "be signalled at every change",
        "import signal; signal.setitimer(signal.ITIMER_REAL, 9); return True",
        ONLY_SECCOMP,
    ),
]

ROWS = [*PROCESSES, *SIGNALS]
