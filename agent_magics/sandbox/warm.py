"""Warm-up in the zygote: what libraries build or read on first use is built and read before the first call.

Otherwise every child would pay for it again, in time and in its own memory; and where no file may be opened
(level B) it could not be had at all.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable
from typing import Any

NOT_NEEDED = re.compile(r"\.(tests|plotting|_testing|conftest|clipboard|testing)\b")

_kept: list[object] = []


def up(*, hoard: bool = False) -> list[str]:
    """Exercise the libraries that are loaded; what fails is reported and is no reason to have no sandbox.

    Parameters
    ----------
    hoard : bool
        Also keep what is otherwise read from files when needed: every time zone, every character encoding,
        every module of pandas.
    """
    steps: list[tuple[str, Callable[[], object]]] = [("standard", _standard)]
    if "numpy" in sys.modules:
        steps.append(("numpy", _numpy))
    if "pandas" in sys.modules:
        steps.append(("pandas", _pandas))
        if "pyarrow" in sys.modules:
            steps.append(("pyarrow", _arrow))
    if hoard:
        steps.append(("hoard", _hoard))
    cold: list[str] = []
    for name, step in steps:
        try:
            step()
        except Exception as error:  # a version of the library that works otherwise
            cold.append(f"{name}: {type(error).__name__}: {error}")
    return cold


def _standard() -> None:
    import datetime as dt
    import decimal
    import statistics
    import zoneinfo

    moment = dt.datetime.strptime("2026-01-02 03:04:05 +0000", "%Y-%m-%d %H:%M:%S %z")
    moment.astimezone(zoneinfo.ZoneInfo("UTC")).strftime("%A %d %B %Y")
    decimal.Decimal("1.10").quantize(decimal.Decimal("0.1"))
    re.compile(r"(?P<word>\w+)\s+(\d+)").match("a 1")
    statistics.quantiles([1, 2, 3, 4])


def _numpy() -> None:
    np: Any = sys.modules["numpy"]
    square = np.ones((64, 64))
    np.matmul(square, square)  # OpenBLAS takes a buffer of its own with the first product
    np.linalg.inv(square + 64 * np.eye(64))
    np.linalg.svd(square)
    np.fft.rfft(square[0])
    np.random.default_rng(0).normal(size=8)
    str(np.arange(4.0).reshape(2, 2))


def _frame() -> Any:
    pd: Any = sys.modules["pandas"]
    text = "a,b,c,d\n1,2.5,x,2026-01-01\n1,3,y,2026-01-02\n"
    return pd.read_csv(io.StringIO(text), parse_dates=["d"])


def _pandas() -> None:
    pd: Any = sys.modules["pandas"]
    frame = _frame()
    frame.groupby("a").b.agg(["mean", "sum"]).reset_index().to_dict("records")
    frame.merge(frame, on="a").describe()
    frame.pivot_table(index="a", columns="c", values="b", aggfunc="sum")
    frame.sort_values("b").iloc[0].to_json()
    frame.set_index("d").resample("ME").b.sum()
    frame.c.str.upper().str.contains("X")
    frame.assign(e=frame.d.dt.month, f=frame.b.rolling(2).mean()).to_csv()
    pd.Timestamp("2026-01-01", tz="UTC").tz_convert("Europe/Berlin")
    pd.to_datetime(["2026-01-01"])
    pd.to_numeric(["1"])
    str(frame)


def _arrow() -> None:
    from agent_magics.sandbox import columns, rebuild

    buffers: list[memoryview] = []

    def add(data: memoryview) -> int:
        buffers.append(data)
        return len(buffers) - 1

    attachment = columns.describe(_frame(), add)
    assert attachment is not None
    rebuild.rebuild(attachment, buffers)


def _hoard() -> None:
    import codecs
    import contextlib
    import encodings.aliases
    import importlib
    import pkgutil
    import zoneinfo

    _kept.extend(zoneinfo.ZoneInfo(name) for name in sorted(zoneinfo.available_timezones()))
    for name in sorted(set(encodings.aliases.aliases.values())):
        with contextlib.suppress(LookupError):  # one of another platform
            codecs.lookup(name)
    if pandas := sys.modules.get("pandas"):
        for module in pkgutil.walk_packages(pandas.__path__, "pandas."):
            if not NOT_NEEDED.search(module.name):
                with contextlib.suppress(Exception):  # it wants a package that is not installed
                    importlib.import_module(module.name)
