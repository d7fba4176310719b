"""Runs a command on a kernel that seems to lack something: ``hidden.py landlock|seccomp|both COMMAND...``."""

from __future__ import annotations

import errno
import os
import sys

from seccompy import Action, Filter

LANDLOCK_CALLS = (444, 445, 446)
PR_SET_SECCOMP = 22


def main() -> None:
    """Hide it and become the command."""
    sieve = Filter(default=Action.ALLOW)
    if sys.argv[1] in ("landlock", "both"):
        for call in LANDLOCK_CALLS:
            sieve.errno(call, errno.ENOSYS)
    if sys.argv[1] in ("seccomp", "both"):
        sieve.errno("seccomp", errno.ENOSYS)
        sieve.errno("prctl", errno.EINVAL, args={0: PR_SET_SECCOMP})
    sieve.load()
    os.execv(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
