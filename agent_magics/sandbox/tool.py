"""Runs a source's function on its arguments and makes a reply of whatever comes of it.

The same in every tier: in a confined child of a zygote, and in a fresh process where there is none.
"""

from __future__ import annotations

import contextlib
import gc
import linecache
import pickle
import sys
import traceback
import types
from collections.abc import Mapping, Sequence
from typing import Any

from agent_magics.sandbox import errand, parcel, reply, senses
from agent_magics.sandbox.columns import NoArrow, NoColumn

MODULE = "tool"
FILE = "<tool>"

Body = list[bytes | memoryview]


class Failed(Exception):
    """The call came to a fault that is already put into words."""

    def __init__(self, kind: str, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.kind, self.line = kind, line


def perform(order: Mapping[str, Any], parts: Sequence[memoryview], *, errands: int | None = None) -> Body:
    """The body of the reply to one order.

    Parameters
    ----------
    order : mapping
        ``source``, ``function``, ``memory_mb``, ``clock``, ``moment``, ``seed``, ``http_get``, ``scratch``.
    parts : sequence of memoryview
        The parcel that the arguments are in.
    errands : int, optional
        The descriptor of the socket on which the host does errands.
    """
    exhausted = reply.fault("memory", _too_little(order))  # made while there is memory to make it
    try:
        value = _run(order, parts, errands)
        body = reply.Wrapper().wrap(value)
    except Failed as failure:
        return reply.fault(failure.kind, str(failure), failure.line)
    except (reply.Unreturnable, NoArrow, NoColumn) as error:
        return reply.fault("refused_reply", str(error))
    except MemoryError:
        body = None
    except BaseException as error:  # whatever the tool raises is its answer
        return _raised(error, order["source"])
    finally:
        _flush()
    if body is None:
        gc.collect()
        return exhausted
    return body


def rehearse() -> None:
    """Touch what every call touches, while nobody waits: each first touch of a page is a page copied."""
    compile("def f(x): return [x, 1.5]", FILE, "exec")
    reply.Wrapper().wrap({"a": [1, "b"]})
    reply.fault("exception", "E: x (line 1: f())", 1)
    pickle.loads(pickle.dumps({"a": [1, "b"]}))  # noqa: S301  our own


def _run(order: Mapping[str, Any], parts: Sequence[memoryview], errands: int | None) -> Any:
    _grant(order)
    try:
        arguments = parcel.unpack(parts)
    except (ImportError, AttributeError) as error:
        raise Failed("arguments", f"An argument can't be rebuilt in the sandbox: {error}.") from error
    module = _module(order, errands)
    function = module.__dict__.get(order["function"])
    if not callable(function):
        raise Failed("function", f"The source defines no function {order['function']!r}.")
    return function(**arguments)


def _grant(order: Mapping[str, Any]) -> None:
    if order["moment"] is not None:
        senses.stop_clock(order["moment"])
    elif not order["clock"]:
        senses.hide_clock()
    if order["seed"] is None:
        senses.hide_chance()
    else:
        senses.start_chance(order["seed"])


def _module(order: Mapping[str, Any], errands: int | None) -> types.ModuleType:
    """The tool's module, registered under its name: dataclasses look their annotations up there."""
    source = order["source"]
    linecache.cache[FILE] = (len(source), None, source.splitlines(keepends=True), FILE)
    try:
        code = compile(source, FILE, "exec", dont_inherit=True)
    except SyntaxError as error:
        shown = f": {error.text.strip()!r}" if error.text else ""
        raise Failed("syntax", f"Line {error.lineno}: {error.msg}{shown}.", error.lineno) from error
    except (ValueError, RecursionError, OverflowError) as error:
        raise Failed("syntax", f"The source does not compile: {error}.") from error
    module = types.ModuleType(MODULE)
    if errands is not None:
        module.__dict__.update(errand.functions(errands, http=order["http_get"], scratch=order["scratch"]))
    sys.modules[MODULE] = module
    exec(code, module.__dict__)  # noqa: S102  this is what the sandbox is for
    return module


def _raised(error: BaseException, source: str) -> Body:
    frames = traceback.extract_tb(error.__traceback__)
    line = next((frame.lineno for frame in reversed(frames) if frame.filename == FILE), None)
    try:
        text = str(error)
    except BaseException:  # an exception's own __str__ is the tool's code too
        text = "(its text could not be made)"
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    lines = source.splitlines()
    if line is not None and line <= len(lines):
        said = f"{said[:1500]} (line {line}: {lines[line - 1].strip()[:200]})"
    return reply.fault("exception", said, line)


def _too_little(order: Mapping[str, Any]) -> str:
    return (
        f"The call needed more memory than its {order['memory_mb']} MB. Work on less at a time, use "
        f"generators or smaller types, or ask for more memory."
    )


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BaseException):  # a stream that the tool closed or replaced
            stream.flush()
