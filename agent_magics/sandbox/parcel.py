"""Data on its way in: one sealed memory file with the order and the arguments.

Pickle protocol 5 with the big buffers out of band: an array of 100 MB is copied once, into the memory file,
and mapped copy-on-write by the child. Pickles travel in this direction only. The host never reads one back.

Layout: the number of parts and the length of each (little-endian, 8 bytes), then the parts, each at a
multiple of 64 bytes. Part 0 is the order (JSON), part 1 the pickle, the others its buffers.
"""

from __future__ import annotations

import io
import mmap
import os
import pickle
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

ALIGNMENT = 64
CHUNK = 64 << 20
SEALS = 0x1 | 0x2 | 0x4 | 0x8  # F_SEAL_SEAL, SHRINK, GROW, WRITE
F_ADD_SEALS = 1033
MFD_NOEXEC_SEAL = 0x8  # Linux 6.3

# Whose objects travel: data, made by libraries that the child can import too.
TRAVELLERS = frozenset({
    "_codecs", "builtins", "collections", "copyreg", "datetime", "dateutil", "decimal", "enum", "fractions",
    "functools", "numpy", "pandas", "pyarrow", "pytz", "uuid", "zoneinfo",
})  # fmt: skip


class Untransportable(Exception):
    """An argument holds something that does not travel."""


@dataclass(frozen=True)
class Packed:
    """Arguments, ready to travel.

    Attributes
    ----------
    parts : list of memoryview
        A pickle, and its big buffers.
    packages : frozenset of str
        The top-level packages whose objects are among them.
    """

    parts: list[memoryview]
    packages: frozenset[str]

    @property
    def size(self) -> int:
        """Bytes in all."""
        return sum(part.nbytes for part in self.parts)


class _Packer(pickle.Pickler):
    """Pickles data of known libraries, and nothing that refers to the notebook's own code."""

    def __init__(self, file: io.BytesIO, buffers: list[pickle.PickleBuffer]) -> None:
        super().__init__(file, protocol=5, buffer_callback=buffers.append)
        self.packages: set[str] = set()

    def reducer_override(self, obj: Any) -> Any:
        owner = obj if isinstance(obj, type) or callable(obj) else type(obj)
        module = str(getattr(owner, "__module__", None) or "builtins")
        package = module.partition(".")[0]
        if package not in TRAVELLERS:
            name = getattr(owner, "__name__", type(obj).__name__)
            raise Untransportable(f"it holds {module}.{name}")
        self.packages.add(package)
        return NotImplemented


def pack(arguments: Mapping[str, Any]) -> Packed:
    """Pickle the arguments, big buffers apart.

    Raises
    ------
    Untransportable
        If an argument holds an object of a class that the child would not know.
    """
    buffers: list[pickle.PickleBuffer] = []
    head = io.BytesIO()
    packer = _Packer(head, buffers)
    try:
        packer.dump(dict(arguments))
        parts = [head.getbuffer(), *(buffer.raw() for buffer in buffers)]
    except (pickle.PicklingError, TypeError, AttributeError, BufferError, RecursionError) as error:
        raise Untransportable(str(error)) from error
    return Packed(parts, frozenset(packer.packages))


def pieces(parts: Sequence[memoryview]) -> Iterator[memoryview]:
    """A parcel's bytes in order: the table of its parts, and each part behind its padding."""
    table = struct.pack(f"<{len(parts) + 1}Q", len(parts), *(part.nbytes for part in parts))
    yield memoryview(table)
    end = len(table)
    for part in parts:
        start = _aligned(end)
        yield memoryview(bytes(start - end))
        yield part.cast("B") if part.nbytes else memoryview(b"")
        end = start + part.nbytes


def opened(view: memoryview) -> list[memoryview]:
    """The parts of a parcel whose bytes are in memory."""
    (count,) = struct.unpack_from("<Q", view)
    sizes = struct.unpack_from(f"<{count}Q", view, 8)
    parts: list[memoryview] = []
    end = 8 * (count + 1)
    for size in sizes:
        start = _aligned(end)
        end = start + size
        parts.append(view[start:end])
    return parts


def seal(parts: Sequence[memoryview]) -> int:
    """A descriptor of a memory file with these parts, which nobody can change any more."""
    import fcntl  # not on Windows, where no parcel is sealed

    file = _memory_file()
    try:
        for piece in pieces(parts):
            left = piece
            while left:
                left = left[os.write(file, left[:CHUNK]) :]
        fcntl.fcntl(file, F_ADD_SEALS, SEALS)
    except BaseException:
        os.close(file)
        raise
    return file


def unseal(file: int) -> list[memoryview]:
    """The parts of a sealed parcel, mapped copy-on-write; the descriptor may be closed afterwards."""
    return opened(
        memoryview(mmap.mmap(file, 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE))
    )


def unpack(parts: Sequence[memoryview]) -> dict[str, Any]:
    """The arguments of a parcel's parts. In the child, once it is confined."""
    return pickle.loads(parts[1], buffers=parts[2:])  # noqa: S301  written by the host, which trusts itself


def _memory_file() -> int:
    flags = os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING
    try:
        return os.memfd_create("parcel", flags | MFD_NOEXEC_SEAL)
    except OSError:  # a kernel before 6.3
        return os.memfd_create("parcel", flags)


def _aligned(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT
