"""What a vendor's refusal means: pure functions from a status, headers and a body to an error of ours.

Every error has three lines and no key; a body is shown cut. Whether the same request may be sent again is
decided here and nowhere else.
"""

from __future__ import annotations

import email.utils
import html
import json
import math
import re
import time
from collections.abc import Mapping
from typing import Any

from agent_magics.errors import BadReply, MissingKey, ProviderError, RateLimited, Unreachable
from agent_magics.providers.keys import mask
from agent_magics.providers.loose import dumps, items, obj
from agent_magics.providers.loose import text as text_of

AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
"""Statuses after which the same request may succeed."""

LONGEST_WAIT = 60.0
"""Seconds; a vendor who asks for more is not waited for in a notebook cell, and the error says so."""

_CUT = 300

_PAGE = re.compile(r"\s*<(?:!doctype|html|head|body|\?xml)", re.IGNORECASE)
_TITLE = re.compile(r"<title[^>]*>([^<]*)</title>", re.IGNORECASE)

_SPENT = (
    "insufficient_quota",
    "billing",
    "credit balance",
    "spend limit",
    "spending limit",
    "usage limit",
    "payment",
)
_FULL = (
    "context_length_exceeded",
    "exceed_context_size",
    "prompt is too long",
    "maximum context length",
    "exceeds the available context",
    "exceeds the maximum number of tokens",
)
_TRANSIENT_KINDS = frozenset(
    {
        "overloaded_error",
        "rate_limit_error",
        "rate_limit_exceeded",
        "api_error",
        "server_error",
        "timeout_error",
        "overloaded",
        "unavailable",
    }
)


class ContextFull(ProviderError):
    """The request is longer than the model's window; becomes the stop ``context_full``, not an error."""


def refused(vendor: str, status: int, headers: Mapping[str, str], body: bytes) -> ProviderError:
    """The error for an HTTP answer that is not a success."""
    text, kind = message_of(body)
    page = _title(text)
    said = page or cut(text) or "The answer had no text."
    if _is_full(status, kind, text):
        return ContextFull("The conversation is longer than the model's window.", said, status=status)
    delay = _delay_of(body)
    wait = retry_after(headers)
    wait = delay if wait is None else wait
    if (status in (401, 403) and not page) or (
        status == 400 and "API_KEY_INVALID" in _details_of(body, "reason")
    ):
        return MissingKey(
            f"{vendor} refused the key (HTTP {status}).",
            said,
            f"Check the key, and what it may do; `%agent /key {vendor}` sets another.",
            status=status,
        )
    if status == 429:
        return _rate_limited(vendor, said, wait, delay is None and _is_spent(vendor, kind, text, headers))
    again = headers.get("x-should-retry", "true").lower() != "false" and status in AGAIN
    return ProviderError(
        f"{vendor} answered with HTTP {status}.",
        said,
        _remedy(vendor, status, again, silent=bool(page) or not text),
        status=status,
        retry_after=wait,
        retryable=again and (wait or 0) <= LONGEST_WAIT,
    )


def in_stream(vendor: str, error: Any) -> ProviderError:
    """The error for an error object that came in the stream, under HTTP 200."""
    text, kind = _told(error)
    if _is_full(400, kind, text):
        return ContextFull("The conversation is longer than the model's window.", cut(text))
    again = kind.lower() in _TRANSIENT_KINDS or obj(error).get("code") in AGAIN
    spent = _mentions(_SPENT, kind, text)
    family = RateLimited if spent or "rate_limit" in kind else ProviderError
    return family(
        f"{vendor} broke off with an error.",
        cut(text) or f"Its only word was {kind!r}.",
        _remedy(vendor, 500 if again else 400, again and not spent),
        retryable=again and not spent,
    )


def dropped(vendor: str, why: str) -> Unreachable:
    """The error for a connection that ended before the answer did."""
    return Unreachable(
        f"The connection to {vendor} dropped before the answer was complete.",
        cut(why),
        "Run the cell again; what was said so far is kept.",
        retryable=True,
    )


def unreachable(vendor: str, address: str, why: str) -> Unreachable:
    """The error for a connection that could not be made."""
    return Unreachable(
        f"{vendor} can't be reached at {address}.",
        cut(why),
        "Check the address, the network and the proxy; `%agent /doctor` tries every provider.",
        retryable=True,
    )


def garbage(vendor: str, text: str) -> BadReply:
    """The error for something in the stream that is not of the protocol."""
    return BadReply(
        f"{vendor} sent something that is not of its protocol.",
        f"It began with {cut(text, 80)!r}.",
        "Check that the address speaks this protocol (`base_url`, `api`).",
    )


def cut(text: str, limit: int = _CUT) -> str:
    """``text`` without keys and not longer than ``limit``, on one line."""
    line = " ".join(mask(text).split())
    return line if len(line) <= limit else line[:limit] + "…"


def message_of(body: bytes) -> tuple[str, str]:
    """The vendor's message and its word for the kind of error, wherever in the JSON they are."""
    text = body.decode("utf-8", "replace")
    try:
        data = json.loads(text)
    except ValueError:
        return text, ""
    data = next(iter(items(data)), data)  # Gemini wraps the error of a stream in a list
    return _told(obj(data).get("error", data))


def _told(error: Any) -> tuple[str, str]:
    fields = obj(error)
    if not fields:
        return (error if isinstance(error, str) else json.dumps(error)), ""
    said = text_of(fields.get("message")) or text_of(fields.get("detail")) or dumps(fields)
    kinds = (text_of(fields.get(name)) for name in ("status", "code", "type"))
    return said, next((kind for kind in kinds if kind), "")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the vendor asked us to wait: ``retry-after-ms``, seconds, or an HTTP date."""
    milliseconds = _seconds(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "")
    seconds = _seconds(value)
    if seconds is not None:
        return seconds
    date = email.utils.parsedate_tz(value)
    try:
        return max(0.0, email.utils.mktime_tz(date) - time.time()) if date else None
    except (ValueError, OverflowError):  # a year that no clock has
        return None


def _seconds(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None


def _delay_of(body: bytes) -> float | None:
    """Google says how long to wait in the error's details, as ``"7.5s"``."""
    delays = (_seconds(delay.removesuffix("s")) for delay in _details_of(body, "retryDelay"))
    return next((delay for delay in delays if delay is not None), None)


def _details_of(body: bytes, name: str) -> list[str]:
    try:
        data = json.loads(body)
    except ValueError:
        return []
    data = next(iter(items(data)), data)
    error = obj(obj(data).get("error"))
    return [said for each in items(error.get("details")) if (said := text_of(obj(each).get(name)))]


def _rate_limited(vendor: str, said: str, wait: float | None, spent: bool) -> RateLimited:
    if spent:
        return RateLimited(
            f"{vendor} says that a spend limit is reached.",
            said,
            "Raise the limit or add credit on the vendor's page; waiting does not help.",
            status=429,
        )
    patient = (wait or 0) <= LONGEST_WAIT
    asked = f" (It asked us to wait {wait:.0f} s.)" if wait else ""
    return RateLimited(
        f"{vendor} says: too many requests.",
        said + asked,
        "Run the cell again later, or use another model.",
        status=429,
        retry_after=wait,
        retryable=patient,
    )


def _title(text: str) -> str:
    """What a web page is called that stands where the vendor's answer should: a proxy's, as a rule."""
    if not _PAGE.match(text):
        return ""
    title = _TITLE.search(text)
    called = f" {cut(html.unescape(title[1]), 80)!r}" if title and title[1].strip() else ""
    return f"The answer is a web page{called}, which may be a proxy's."


def _remedy(vendor: str, status: int, again: bool, *, silent: bool = False) -> str:
    if again:
        return "This passes by itself as a rule; run the cell again."
    if status == 407:
        return "Give the proxy its user and password: http://USER:PASSWORD@HOST in $HTTPS_PROXY."
    if status == 413:
        return "Shorten the prompt or what goes with it; `%agent /compact` makes room."
    if status != 404 and silent:
        return "Check the address (`base_url`), the proxy and the network."
    if status == 404:
        return f"Check the model's name and the address; `%agent /provider {vendor}:MODEL` sets another."
    return "Change what the message names, then run the cell again."


def _is_spent(vendor: str, kind: str, text: str, headers: Mapping[str, str]) -> bool:
    if headers.get("x-should-retry", "").lower() == "false":
        return True
    # Anthropic says when to come back, except when only money helps.
    silent = vendor == "anthropic" and not {"retry-after", "retry-after-ms"} & set(headers)
    return silent or _mentions(_SPENT, kind, text)


def _is_full(status: int, kind: str, text: str) -> bool:
    return status in (400, 413, 422) and _mentions(_FULL, kind, text)


def _mentions(words: tuple[str, ...], *texts: str) -> bool:
    return any(word in text.lower() for text in texts for word in words)
