"""Clock and chance without a grant: asked by Python, by libraries, and by native code."""

from __future__ import annotations

from typing import Any

from tests.redteam.rows import Family, Layer, Row, attack, twin

SECCOMP = frozenset({Layer.SECCOMP})
WORKER = frozenset({Layer.WORKER})
DATES = twin("""
    import datetime
    day = datetime.date(2026, 2, 28) + datetime.timedelta(days=1)
    return day.isoformat() == "2026-03-01" and datetime.datetime.fromtimestamp(0, datetime.UTC).year == 1970
""")
FORMATS = twin("import time; return time.strftime('%Y', time.gmtime(0)) == '1970'")
SEEDED = twin("import random; return random.Random(1).random() == random.Random(1).random()")
SEEDED_SHARED = twin("import random; random.seed(4); return 1 <= random.randint(1, 6) <= 6")
SEEDED_ARRAYS = twin(
    "import numpy; return numpy.random.default_rng(1).integers(9) == numpy.random.default_rng(1).integers(9)"
)
HASHES = twin("import uuid; return uuid.uuid5(uuid.NAMESPACE_DNS, 'a').version == 5")


def _clock(name: str, body: str, stops: frozenset[Layer] = WORKER, honest: str = DATES, **more: Any) -> Row:
    control = ("clock",) if stops == WORKER else ()
    return Row(
        name=name,
        family=Family.SENSES,
        attack=attack(body),
        twin=honest,
        stops=stops,
        control=control,
        **more,
    )


def _chance(name: str, body: str, stops: frozenset[Layer] = WORKER, honest: str = SEEDED, **more: Any) -> Row:
    control = ("random",) if stops == WORKER else ()
    return Row(
        name=name,
        family=Family.SENSES,
        attack=attack(body),
        twin=honest,
        stops=stops,
        control=control,
        **more,
    )


X86 = "an x86-64 machine, whose vDSO is made to ask the kernel"

ROWS = [
    _clock("time.time", "return time.time() > 1e9"),
    _clock("datetime.now", "import datetime; return datetime.datetime.now().year > 2000"),
    _clock("date.today", "import datetime; return datetime.date.today().year > 2000"),
    _clock("the date in words", "return int(time.strftime('%Y')) > 2000", honest=FORMATS),
    _clock("pandas' clock", "import pandas; return pandas.Timestamp('now').year > 2000"),
    _clock(
        "a clock that was kept from before",
        """
        import logging
        return logging.LogRecord("x", 0, "x", 0, "x", (), None).created > 1e9
        """,
    ),
    _clock(
        "the C library's time()",
        """
        now = ctypes.c_long()
        libc.time(ctypes.byref(now))
        return now.value > 1e9
        """,
        SECCOMP,
        needs=X86,
    ),
    _clock(
        "the C library's clock",
        """
        now = (ctypes.c_long * 2)()
        return libc.clock_gettime(0, now) == 0 and now[0] > 1e9
        """,
        SECCOMP,
        needs=X86,
    ),
    _clock(
        "numpy's clock", "import numpy; return numpy.datetime64('now').astype(int) > 1e9", SECCOMP, needs=X86
    ),
    _clock(
        "the kernel's clock", "return raw(228, 113, 0, (ctypes.c_long * 2)()) == 0", SECCOMP, honest=FORMATS
    ),
    _clock(
        "processor time",
        "return raw(98, 165, 0, ctypes.create_string_buffer(256)) == 0",
        SECCOMP,
        honest=FORMATS,
    ),
    _clock("sleeping", "time.sleep(0.01); return True", honest=FORMATS),
    _chance("random.random", "import random; return 0 <= random.random() < 1", honest=SEEDED_SHARED),
    _chance("a generator without a seed", "import random; return 0 <= random.Random().random() < 1"),
    _chance("os.urandom", "return len(os.urandom(4)) == 4", honest=HASHES),
    _chance("secrets", "import secrets; return len(secrets.token_hex(4)) == 8", honest=HASHES),
    _chance("a random UUID", "import uuid; return uuid.uuid4().version == 4", honest=HASHES),
    _chance(
        "numpy's shared generator", "import numpy; return 0 <= numpy.random.rand() < 1", honest=SEEDED_ARRAYS
    ),
    _chance(
        "numpy's new generator",
        "import numpy; return 0 <= numpy.random.default_rng().random() < 1",
        honest=SEEDED_ARRAYS,
    ),
    _chance(
        "pandas' sample",
        "import pandas; return len(pandas.Series([1, 2]).sample(1)) == 1",
        honest=SEEDED_ARRAYS,
    ),
    _chance(
        "the kernel's randomness",
        "return raw(318, 278, ctypes.create_string_buffer(8), 8, 0) == 8",
        SECCOMP,
        honest=HASHES,
    ),
    _chance(
        "the device of randomness",
        "return len(open('/dev/urandom', 'rb').read(4)) == 4",
        frozenset({Layer.LANDLOCK, Layer.SECCOMP}),
        honest=HASHES,
    ),
]
