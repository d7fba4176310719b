"""Text that can be sent and stored, and the words for times and sums.

A Python string may hold halves of characters: JSON writes some characters as two escapes, and file names
that are no text come as halves, too. UTF-8 has no way to write one, so a single half in a history would make
every later request fail.
"""

from __future__ import annotations


def whole(text: str) -> str:
    """``text`` with halves put together where they belong together, and replaced where they are alone.

    >>> whole("\\ud83d\\ude00"), whole("a\\ud83d")
    ('😀', 'a�')
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def seconds(time: float) -> str:
    """A duration in three figures at most.

    >>> seconds(0.012), seconds(2.4), seconds(24), seconds(64)
    ('12 ms', '2.4 s', '24 s', '1 min 04 s')
    """
    if time < 0.9995:
        return f"{time * 1e3:.0f} ms"
    if time < 9.95:
        return f"{time:.1f} s"
    if time < 59.5:
        return f"{time:.0f} s"
    return f"{int(time + 0.5) // 60} min {int(time + 0.5) % 60:02d} s"


def dollars(sum_: float) -> str:
    """A sum of US dollars; small ones with their ten-thousandths.

    >>> dollars(0.0123), dollars(2.5), dollars(0)
    ('$0.0123', '$2.50', '$0')
    """
    return f"${sum_:.2f}" if sum_ >= 1 else f"${sum_:.4f}" if sum_ else "$0"
