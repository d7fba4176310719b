"""Time and chance in the worker: refused in words unless granted; a result depends on its arguments.

The kernel side of this is in :mod:`.syscalls` and :mod:`.vdso`: without the grant no call reads the clock,
and nothing ever reads the system's randomness. This module makes the refusal readable, and gives a granted
clock that stands still, or random numbers from a seed, to everything that Python code asks for them.

What is left of chance: the hash seed and object addresses differ from one zygote to the next. What is left of
time: code can count its own steps.
"""

from __future__ import annotations

import ctypes
import datetime as dt
import gc
import os
import random
import sys
import time
from collections.abc import Callable
from typing import Any, NoReturn

CLOCK_REFUSED = "The clock was not granted. Take the time as an argument, or ask for the capability 'clock'."
CHANCE_REFUSED = (
    "Randomness was not granted. Seed a generator with an argument, or ask for the capability 'random'."
)
WALL_CLOCKS = ("time", "time_ns", "clock_gettime", "clock_gettime_ns")
STOPWATCHES = ("monotonic", "perf_counter", "process_time", "thread_time")
WITH_A_MOMENT = ("localtime", "gmtime", "ctime")  # answer for now unless they are given a moment

# Modules as objects with attributes to set: replacing functions is what this module is about.
_time: Any = time
_random: Any = random
_os: Any = os
_seed: Callable[..., None] = random.Random.seed


class NotGranted(PermissionError):
    """The code used what its call was not granted."""


def _refuse_clock(*_: object, **__: object) -> NoReturn:
    raise NotGranted(CLOCK_REFUSED)


def _refuse_chance(*_: object, **__: object) -> NoReturn:
    raise NotGranted(CHANCE_REFUSED)


def hide_clock() -> None:
    """Make every way to the wall clock raise in words.

    Stopwatches stand at 0 instead: libraries time themselves, and should go on.
    """
    for name in (*WALL_CLOCKS, "sleep"):
        setattr(_time, name, _refuse_clock)
    _stop_watches()
    _answer_for(_refuse_clock)
    _set_now(_refuse_clock, _refuse_clock)


def stop_clock(moment: str) -> None:
    """Let every clock stand at ``moment``; a moment without an offset is UTC."""
    at = dt.datetime.fromisoformat(moment)
    if at.tzinfo is None:
        at = at.replace(tzinfo=dt.UTC)
    seconds = at.timestamp()
    nanoseconds = int(seconds) * 1_000_000_000 + at.microsecond * 1000

    def now(kind: Any, tz: Any = None) -> Any:
        return kind.fromtimestamp(seconds, tz)

    def utcnow(kind: Any) -> Any:
        return kind.fromtimestamp(seconds, dt.UTC).replace(tzinfo=None)

    for name in WALL_CLOCKS:
        answer = nanoseconds if name.endswith("_ns") else seconds
        setattr(_time, name, _constant(answer))
    _time.sleep = _constant(None)
    _stop_watches()
    _answer_for(_constant(seconds))
    _set_now(now, utcnow)


def _constant(value: Any) -> Callable[..., Any]:
    def answer(*_: object) -> Any:
        return value

    return answer


def _stop_watches() -> None:
    for name in STOPWATCHES:
        setattr(_time, name, _constant(0.0))
        setattr(_time, f"{name}_ns", _constant(0))


def _answer_for(now: Callable[..., Any]) -> None:
    """Let the functions that answer for now, unless they are told for when, answer for ``now()``."""

    def with_a_moment(original: Callable[[Any], Any]) -> Callable[..., Any]:
        def answer(at: Any = None) -> Any:
            return original(now() if at is None else at)

        return answer

    for name in WITH_A_MOMENT:
        setattr(_time, name, with_a_moment(getattr(_time, name)))
    strftime, asctime = _time.strftime, _time.asctime

    def format_moment(form: str, at: Any = None) -> str:
        return strftime(form, _time.localtime() if at is None else at)

    def text_of_moment(at: Any = None) -> str:
        return asctime(_time.localtime() if at is None else at)

    _time.strftime, _time.asctime = format_moment, text_of_moment


def _set_now(now: Callable[..., Any], utcnow: Callable[..., Any]) -> None:
    """Replace what ``datetime`` answers for now.

    The class is written in C and reads the clock by itself, so its own table of methods is changed; a
    subclass in its place would break ``isinstance`` for every library that is loaded already.
    """
    (methods,) = gc.get_referents(dt.datetime.__dict__)
    methods["now"] = classmethod(now)
    methods["utcnow"] = classmethod(utcnow)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(dt.datetime))
    if pandas := sys.modules.get("pandas"):
        stamp: Any = pandas.Timestamp

        def stamp_now(kind: Any, tz: Any = None) -> Any:
            if tz is None:
                return kind(dt.datetime.now())  # noqa: DTZ005  what was asked for
            return kind(dt.datetime.now(dt.UTC)).tz_convert(tz)

        def stamp_utcnow(kind: Any) -> Any:
            return kind(dt.datetime.now(dt.UTC))

        stamp.now = stamp.today = classmethod(stamp_now)
        stamp.utcnow = classmethod(stamp_utcnow)


def hide_chance() -> None:
    """Make every way to an unseeded random number raise in words; seeding opens the way again."""
    _set_system_source(_refuse_chance)
    shared = _close(_random, _shared_functions())

    def seed(self: random.Random, a: Any = None, version: int = 2) -> None:
        if a is None:
            _refuse_chance()
        _seed(self, a, version)
        if self is _random._inst:
            _reopen(_random, shared)

    _set_seed(seed)
    if numpy := _numpy_random():
        _hide_numpy(numpy)


def _hide_numpy(numpy: Any) -> None:
    legacy = numpy.mtrand._rand
    shared = _close(numpy, _bound_to(legacy, numpy, apart_from=("get_state", "set_state")))

    def seed(seed: Any = None) -> None:
        if seed is None:
            _refuse_chance()
        legacy.seed(seed)
        _reopen(numpy, shared)

    numpy.seed = seed
    numpy.RandomState = numpy.mtrand.RandomState = _seeded_only(numpy.RandomState, numpy.bit_generator)


def _seeded_only(plain: Any, entropy: Any) -> Any:
    """``RandomState``, for those who bring a seed.

    Before it looks at its seed, it draws entropy that it then throws away; that draw alone is let through.
    """

    class SameInstances(type):
        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, plain)

    class RandomState(plain, metaclass=SameInstances):
        def __init__(self, seed: Any = None) -> None:
            if seed is None:
                _refuse_chance()
            draw, entropy.randbits = entropy.randbits, _constant(0)
            try:
                plain.__init__(self, seed)
            finally:
                entropy.randbits = draw

    return RandomState


def start_chance(start: int) -> None:
    """Let every random number of this process follow from ``start``."""
    source = random.Random(start)  # noqa: S311  reproducible on purpose

    def seed(self: random.Random, a: Any = None, version: int = 2) -> None:
        _seed(self, source.getrandbits(256) if a is None else a, version)

    _set_system_source(source.randbytes)
    _set_seed(seed)
    _random.seed()
    if numpy := _numpy_random():
        numpy.seed(source.getrandbits(32))


def _set_seed(seed: Callable[..., None]) -> None:
    _random.Random.seed = seed
    _random.seed = seed.__get__(_random._inst)


def _set_system_source(read: Callable[..., Any]) -> None:
    """Stand in for the system's randomness, where os.urandom, secrets, uuid4 and numpy look for it."""
    _os.urandom = _random._urandom = read
    posix: Any = sys.modules.get("posix")
    if posix is not None:
        posix.urandom = read


def _numpy_random() -> Any:
    return sys.modules.get("numpy.random")


def _shared_functions() -> list[str]:
    """Functions of ``random`` that draw from its one shared generator."""
    return _bound_to(_random._inst, _random, apart_from=("seed", "getstate", "setstate"))


def _bound_to(generator: Any, module: Any, *, apart_from: tuple[str, ...]) -> list[str]:
    names = [name for name in module.__all__ if name not in apart_from]
    return [name for name in names if getattr(getattr(module, name), "__self__", None) is generator]


def _close(module: Any, names: list[str]) -> dict[str, Any]:
    originals = {name: getattr(module, name) for name in names}
    for name in names:
        setattr(module, name, _refuse_chance)
    return originals


def _reopen(module: Any, originals: dict[str, Any]) -> None:
    for name, function in originals.items():
        setattr(module, name, function)
