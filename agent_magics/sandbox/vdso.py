"""Makes the clock a system call again, so that a filter on system calls can refuse it.

The kernel maps a small library into every process, the vDSO, whose functions read the clock without entering
the kernel; seccomp never sees them. In the zygote, before any child, the first bytes of these functions are
overwritten by the plain system call that each stands for. The C library, numpy and pandas then all ask the
kernel, and a child without the grant gets ``EPERM`` wherever it asks.

On x86-64 only. A kernel that seals its mappings, or another machine, leaves the vDSO as it is; then the
refusals of :mod:`.senses` and of whoever checked the code stand alone, and :attr:`.Isolation.clock_is_closed`
says so.
"""

from __future__ import annotations

import ctypes
import platform
import struct
from dataclasses import dataclass
from pathlib import Path

from agent_magics.sandbox.limits import libc

AT_SYSINFO_EHDR = 33
PROT_READ, PROT_WRITE, PROT_EXEC = 1, 2, 4
DYNAMIC_SEGMENT = 2
DT_STRTAB, DT_SYMTAB = 5, 6
SYMBOL = struct.Struct("<IBBHQQ")  # name, info, other, section, value, size
PROGRAM_HEADER = struct.Struct("<IIQQQQQQ")  # type, flags, offset, vaddr, paddr, filesz, memsz, align
X86_64_CALLS = {
    b"__vdso_clock_gettime": 228,
    b"__vdso_gettimeofday": 96,
    b"__vdso_time": 201,
    b"__vdso_clock_getres": 229,
    b"__vdso_getrandom": 318,
}
CLOCKS = {b"__vdso_clock_gettime", b"__vdso_gettimeofday", b"__vdso_time"}


@dataclass(frozen=True)
class Mapping:
    """Where the vDSO lies in this process."""

    start: int
    size: int


def close_vdso() -> bool:
    """Turn the vDSO's clocks into system calls; whether that could be done here."""
    mapping = _find()
    if platform.machine() != "x86_64" or mapping is None:
        return False
    image = ctypes.string_at(mapping.start, mapping.size)
    functions = _functions(image)
    if CLOCKS - functions.keys() or not _protect(mapping, PROT_READ | PROT_WRITE):
        return False
    for name in X86_64_CALLS.keys() & functions.keys():
        code = system_call(X86_64_CALLS[name])
        ctypes.memmove(mapping.start + functions[name], code, len(code))
    if not _protect(mapping, PROT_READ | PROT_EXEC):
        raise OSError("the vDSO could not be made executable again")
    return True


def system_call(number: int) -> bytes:
    """x86-64 code: ``mov eax, number; syscall; ret``. Arguments and the negative errno pass through."""
    return b"\xb8" + struct.pack("<I", number) + b"\x0f\x05\xc3"


def _find() -> Mapping | None:
    libc.getauxval.restype = ctypes.c_ulong
    libc.getauxval.argtypes = [ctypes.c_ulong]
    start = libc.getauxval(AT_SYSINFO_EHDR)
    for line in Path("/proc/self/maps").read_text(encoding="ascii", errors="replace").splitlines():
        first, _, rest = line.partition("-")
        if start and int(first, 16) == start:
            return Mapping(start, int(rest.partition(" ")[0], 16) - start)
    return None


def _functions(image: bytes) -> dict[bytes, int]:
    """Offsets of the functions that the vDSO exports, by name."""
    (headers,) = struct.unpack_from("<Q", image, 32)
    (count,) = struct.unpack_from("<H", image, 56)
    segments = [
        PROGRAM_HEADER.unpack_from(image, headers + index * PROGRAM_HEADER.size) for index in range(count)
    ]
    dynamic, length = next((s[2], s[6]) for s in segments if s[0] == DYNAMIC_SEGMENT)
    tags = dict(struct.unpack_from("<qQ", image, place) for place in range(dynamic, dynamic + length, 16))
    names, symbols = tags[DT_STRTAB], tags[DT_SYMTAB]
    found: dict[bytes, int] = {}
    for place in range(symbols, names, SYMBOL.size):
        name, _, _, _, value, size = SYMBOL.unpack_from(image, place)
        start = names + name
        if size:
            found[image[start : image.index(b"\0", start)]] = value
    return found


def _protect(mapping: Mapping, protection: int) -> bool:
    return libc.mprotect(ctypes.c_void_p(mapping.start), ctypes.c_size_t(mapping.size), protection) == 0
