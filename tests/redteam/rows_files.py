"""Files: reading what is private, writing anything, and everything that only looks like a file."""

from __future__ import annotations

import os
from typing import Any

from tests.redteam.rows import Family, Layer, Row, attack, twin

LANDLOCK, SECCOMP = Layer.LANDLOCK, Layer.SECCOMP
BOTH = frozenset({LANDLOCK, SECCOMP})
ONLY_SECCOMP = frozenset({SECCOMP})

READS_LIBRARY = twin("import os; return len(open(os.__file__).read()) > 1000")
LISTS_LIBRARY = twin("import os; return 'os.py' in os.listdir(os.path.dirname(os.__file__))")
IN_MEMORY = twin("""
    import io
    file = io.StringIO()
    file.write("a,b")
    return file.getvalue().split(",") == ["a", "b"]
""")
PATHS = twin("import posixpath; return posixpath.normpath('/a/../b') == '/b'")


def _row(name: str, body: str, honest: str, stops: frozenset[Layer] = BOTH, **more: Any) -> Row:
    return Row(name=name, family=Family.FILES, attack=attack(body), twin=honest, stops=stops, **more)


def _descriptors_of_a_plain_process(_: object) -> bool:
    """A process that is simply forked holds what its parent holds."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os._exit(0 if os.fstat(ours) else 1)
    status = os.waitpid(child, 0)[1]
    os.close(ours)
    os.close(theirs)
    return status == 0


ROWS = [
    _row("read a secret file", "return open(world['secret']).read() == world['content']", READS_LIBRARY),
    _row("read the list of users", "return 'root:' in open('/etc/passwd').read()", READS_LIBRARY),
    _row(
        "read a secret by descriptor calls",
        "return os.read(os.open(world['secret'], os.O_RDONLY), 9) == world['content'].encode()[:9]",
        READS_LIBRARY,
    ),
    _row("leave a library by ..", "return 'root:' in open('/usr/lib/../../etc/passwd').read()", PATHS),
    _row(
        "leave a library by .. in a relative path",
        """
        folder = os.open("/usr/lib", os.O_RDONLY | os.O_DIRECTORY)
        return os.read(os.open("../../etc/passwd", os.O_RDONLY, dir_fd=folder), 9)
        """,
        PATHS,
    ),
    _row(
        "take a folder whose name begins like a library's",
        "return bool(os.listdir('/usr/lib' + 'exec'))",
        LISTS_LIBRARY,
        needs="a folder /usr/libexec with something in it",
    ),
    _row("follow a link to a secret", "return open(world['link']).read() == world['content']", READS_LIBRARY),
    _row(
        "go there first and read by a short name",
        """
        os.chdir(world["folder"])
        return open("secret").read() == world["content"]
        """,
        READS_LIBRARY,
    ),
    _row("list the root", "return 'etc' in os.listdir('/')", LISTS_LIBRARY),
    _row("list a private folder", "return 'secret' in os.listdir(world['folder'])", LISTS_LIBRARY),
    _row(
        "scan a private folder",
        "return 'secret' in [e.name for e in os.scandir(world['folder'])]",
        LISTS_LIBRARY,
    ),
    _row(
        "read one's own environment",
        "return open('/proc/self/environ', 'rb').read() is not None",
        READS_LIBRARY,
        needs="a /proc that a process may read of itself",
    ),
    _row(
        "read one's own memory map",
        "return 'libc' in open('/proc/self/maps').read()",
        READS_LIBRARY,
        needs="a /proc that a process may read of itself",
    ),
    _row(
        "read the host's command line",
        "return bool(open(f\"/proc/{world['host']}/cmdline\").read())",
        READS_LIBRARY,
    ),
    _row("list processes", "return any(name.isdigit() for name in os.listdir('/proc'))", LISTS_LIBRARY),
    _row(
        "read the kernel's settings",
        "return bool(open('/sys/kernel/mm/transparent_hugepage/enabled').read())",
        READS_LIBRARY,
        needs="a /sys with that file",
    ),
    _row("read a device", "return open('/dev/zero', 'rb').read(4) == bytes(4)", READS_LIBRARY),
    _row("open a terminal", "return os.open('/dev/ptmx', os.O_RDWR) >= 0", IN_MEMORY, needs="a /dev/ptmx"),
    _row("write a file", "return open(world['folder'] + '/new', 'w').write('x')", IN_MEMORY),
    _row(
        "write in the temporary folder",
        """
        path = f"/tmp/redteam-{os.getpid()}"
        open(path, "w").write("x")
        os.unlink(path)
        return True
        """,
        IN_MEMORY,
    ),
    _row(
        "write in shared memory's folder",
        """
        path = f"/dev/shm/redteam-{os.getpid()}"
        open(path, "w").write("x")
        os.unlink(path)
        return True
        """,
        IN_MEMORY,
        needs="a /dev/shm",
    ),
    _row("append to a file", "return open(world['secret'], 'a').write('x')", IN_MEMORY),
    _row(
        "open an installed package for writing",
        "return os.open(os.path.dirname(ctypes.__file__) + '/__init__.py', os.O_RDWR) >= 0",
        IN_MEMORY,
        needs="an installation that this user may write",
    ),
    _row("cut a file", "os.truncate(world['secret'], 3); return True", IN_MEMORY, landlock_since=3),
    _row(
        "create by openat2",
        """
        how = (ctypes.c_uint64 * 3)(os.O_RDWR | os.O_CREAT, 0o600, 0)
        return raw(437, 437, -100, text(world["folder"] + "/new"), how, 24) >= 0
        """,
        IN_MEMORY,
    ),
    _row(
        "create a file without a name",
        "return os.open(world['folder'], os.O_TMPFILE | os.O_RDWR, 0o600) >= 0",
        IN_MEMORY,
        needs="a file system with O_TMPFILE",
    ),
    _row(
        "hold a place without opening it",
        "return os.open(world['secret'], os.O_PATH) >= 0",
        READS_LIBRARY,
        ONLY_SECCOMP,
    ),
    _row("change rights", "os.chmod(world['secret'], 0o666); return True", IN_MEMORY, ONLY_SECCOMP),
    _row("change times", "os.utime(world['secret'], (1, 1)); return True", IN_MEMORY, ONLY_SECCOMP),
    _row(
        "change the owner to oneself",
        "os.chown(world['secret'], os.getuid(), os.getgid()); return True",
        IN_MEMORY,
        ONLY_SECCOMP,
    ),
    _row(
        "set an attribute",
        "os.setxattr(world['secret'], 'user.x', b'1'); return True",
        IN_MEMORY,
        ONLY_SECCOMP,
        needs="a file system with user attributes",
    ),
    _row("remove a file", "os.unlink(world['secret']); return True", IN_MEMORY),
    _row("rename a file", "os.rename(world['secret'], world['folder'] + '/new'); return True", IN_MEMORY),
    _row("link a file", "os.link(world['secret'], world['folder'] + '/new'); return True", IN_MEMORY),
    _row("make a symbolic link", "os.symlink('nowhere', world['folder'] + '/new'); return True", IN_MEMORY),
    _row("make a folder", "os.mkdir(world['folder'] + '/new'); return True", IN_MEMORY),
    _row("make a named pipe", "os.mkfifo(world['folder'] + '/new'); return True", IN_MEMORY),
    _row(
        "lock a library file",
        """
        import fcntl
        fcntl.flock(os.open(os.__file__, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
        """,
        READS_LIBRARY,
        ONLY_SECCOMP,
    ),
    _row(
        "lease a library file",
        """
        import fcntl
        return fcntl.fcntl(os.open(os.__file__, os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_RDLCK) == 0
        """,
        READS_LIBRARY,
        ONLY_SECCOMP,
        needs="a library that this user owns",
    ),
    _row(
        "be told of a folder's changes",
        """
        import fcntl
        folder = os.open("/usr/lib", os.O_RDONLY)
        return fcntl.fcntl(folder, fcntl.F_NOTIFY, 2) == 0
        """,
        LISTS_LIBRARY,
        ONLY_SECCOMP,
    ),
    _row(
        "watch a private folder",
        """
        watch = raw(294, 26, 0)
        return raw(254, 27, watch, text(world["folder"]), 2) >= 0
        """,
        LISTS_LIBRARY,
        ONLY_SECCOMP,
    ),
    _row("run a program of one's own", "os.execv(world['program'], ['program'])", IN_MEMORY),
    _row(
        "use a descriptor that was left open",
        """
        found = []
        for descriptor in range(4, 256):
            try:
                os.fstat(descriptor)
            except OSError:
                continue
            found.append(descriptor)
        return found
        """,
        READS_LIBRARY,
        frozenset({Layer.ZYGOTE}),
        canary=_descriptors_of_a_plain_process,
    ),
]
