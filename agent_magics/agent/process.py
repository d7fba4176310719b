"""Whether the process that wrote something is still there to go on with it."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path


def this_process() -> str:
    """This process, as others can look for it: its machine and its number."""
    return f"{socket.gethostname()}:{os.getpid()}"


def lives(process: str) -> bool:
    """Whether another process of that name seems to live. Of other machines and of Windows nothing is known,
    and a number may have been given anew; so nothing may be lost by either answer."""
    host, _, number = process.rpartition(":")
    if host != socket.gethostname() or not number.isdecimal() or int(number) == os.getpid():
        return False
    return sys.platform != "win32" and _runs(int(number))


def _runs(number: int) -> bool:
    try:
        os.kill(number, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it is another user's
        return True
    try:  # one that has died may wait to be buried
        return Path(f"/proc/{number}/stat").read_text(errors="replace").rpartition(")")[2].split()[0] != "Z"
    except (OSError, IndexError):
        return True
