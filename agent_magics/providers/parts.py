"""What a message's content may be: a text, or a list of parts.

A part is ``{"type": "text", "text": ...}`` or ``{"type": "image", "media_type": "image/png", "data": ...}``
with the picture in base64. Each provider turns images into its vendor's form; a provider that can't see gets
a text in their place, so that the model knows that something was there.

>>> image(bytes([0x89]) + b"PNG...")["media_type"]
'image/png'
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent_magics.errors import UsageError
from agent_magics.providers.loose import items, obj, text
from agent_magics.talk import Image

Part = dict[str, Any]

_SIGNATURES = (
    (b"\x89PNG", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"RIFF", "image/webp"),
)


def image(data: bytes, media_type: str = "") -> Part:
    """A picture as a part; its kind is read from its first bytes unless it is given.

    Raises
    ------
    UsageError
        If the bytes are no PNG, JPEG, GIF or WebP and no ``media_type`` says what they are.
    """
    kind = media_type or next((name for start, name in _SIGNATURES if data.startswith(start)), "")
    if not kind:
        raise UsageError(
            "This is not a picture that a model can take.",
            "Its first bytes are of no PNG, JPEG, GIF or WebP.",
            "Convert it to PNG.",
        )
    return {"type": "image", "media_type": kind, "data": base64.b64encode(data).decode("ascii")}


LARGEST = 5_000_000
"""Bytes of a picture file; the least that the vendors' limits allow."""


def picture(path: str | Path) -> Image:
    """The picture in a file, for a prompt.

    Raises
    ------
    UsageError
        If there is no such file, it can't be read, it is too large, or no picture.
    """
    file = Path(path).expanduser()
    try:
        size = file.stat().st_size
        data = file.read_bytes() if size <= LARGEST else b""
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise UsageError(
            f"The picture {str(path)!r} can't be read.", f"{why}, from {Path.cwd()}.", "Check the path."
        ) from None
    if size > LARGEST:
        raise UsageError(
            f"The picture {str(path)!r} is too large.",
            f"It has {size / 1e6:.1f} MB; vendors take up to {LARGEST / 1e6:.0f} MB.",
            "Make it smaller, for example 1500 pixels wide.",
        )
    part = image(data)
    return Image(media_type=part["media_type"], data=part["data"])


def parts_of(content: Any) -> Iterator[Part]:
    """The parts of any content; a plain text is one part."""
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    for part in items(content):
        yield obj(part)


def plain(content: Any) -> str:
    """Any content as text alone."""
    if isinstance(content, str):
        return content
    return "\n".join(
        text(part.get("text")) if part.get("type") == "text" else f"[{part.get('media_type', 'a part')}]"
        for part in parts_of(content)
    )
