"""The catalog's tools over a namespace: what they say, and that they survive whatever is in it."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from agent_magics.testing import FakeWorkbench
from agent_magics.tools import Results
from agent_magics.tools.builtin.inspect import inspect_tool
from agent_magics.tools.builtin.more import more_tool
from agent_magics.tools.builtin.variables import variables_tool
from tests.tools.calls import call_tool


class Broken:
    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    def __len__(self) -> int:
        raise RuntimeError("no length")

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("no attribute")


TRIPS = pd.DataFrame({"km": [1.5, 2.5, 6.0], "city": ["Bern", "Rome", "Bern"], "odd": [[1], {}, None]})


async def payload(made: Any, bench: FakeWorkbench, **arguments: Any) -> dict[str, Any]:
    return json.loads((await call_tool(made, bench, **arguments)).text)


async def test_variables_lists_what_a_person_made():
    bench = FakeWorkbench(x=3, _private=1, math=math, trips=TRIPS, text="hi", shown=1)
    said = await payload(variables_tool(bench, hidden=frozenset({"shown"})), bench)
    assert [("text", "'hi'"), ("trips", "3 × 3"), ("x", "3")] == [
        (v["name"], v["value"]) for v in said["variables"]
    ]
    assert (3, "3 variables") == (said["count"], said["brief"])


async def test_variables_survives_whatever_is_there():
    names = {
        "broken": Broken(),
        "huge": 10**6_000,
        "nan": math.nan,
        "space": SimpleNamespace(a=1),
        "none": None,
    }
    bench = FakeWorkbench(**names)
    said = await payload(variables_tool(bench), bench)
    assert sorted(names) == [each["name"] for each in said["variables"]]


async def test_a_frame_is_told_by_its_columns_and_its_first_rows():
    bench = FakeWorkbench(trips=TRIPS)
    said = await payload(inspect_tool(bench), bench, name="trips")
    assert ("DataFrame", 3, "3 × 3") == (said["type"], said["rows"], said["brief"])
    km, city, odd = said["columns"]
    assert {"name": "km", "dtype": "float64", "mean": 10 / 3, "min": 1.5, "max": 6.0} == km
    assert (2, ["Bern", "Rome"]) == (city["distinct"], city["values"])
    assert "not summarised" in odd["note"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (5, {"type": "int", "value": "5"}),
        ("x" * 5_000, {"type": "str", "length": 5_000, "value": "x" * 2_000}),
        ({"a": 1}, {"type": "dict", "length": 1, "keys": ["a"]}),
        ([1, 2], {"type": "list", "length": 2, "value": "[1, 2]"}),
        (np.zeros((2, 3)), {"type": "ndarray", "shape": [2, 3], "dtype": "float64"}),
        (pd.Series([1, 2]), {"type": "Series", "shape": [2]}),
        (Broken(), {"type": "Broken"}),
        (len, {"type": "builtin_function_or_method"}),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_a_value_is_told_by_what_it_is(value, expected):
    bench = FakeWorkbench(value=value)
    said = await payload(inspect_tool(bench), bench, name="value")
    assert expected == {key: said[key] for key in expected}


async def test_a_name_that_is_not_there_is_told_with_its_near_ones():
    bench = FakeWorkbench(trips=TRIPS)
    said = await payload(inspect_tool(bench), bench, name="trip")
    assert "There is no variable 'trip' in the notebook. Did you mean trips?" == said["error"]
    assert "See variables()." in (await payload(inspect_tool(bench), bench, name="zzz"))["error"]


async def test_more_reads_on_and_names_what_there_is():
    results = Results(limit=100)
    results.wrap("x" * 250)
    made = more_tool(results)
    assert 50 == len((await payload(made, FakeWorkbench(), handle="r1", page=3))["text"])
    assert "pages 1 to 3" in (await payload(made, FakeWorkbench(), handle="r1", page=4))["error"]
    assert "Known handles: r1." in (await payload(made, FakeWorkbench(), handle="r2"))["error"]
    assert "less than the minimum" in (await payload(made, FakeWorkbench(), handle="r1", page=0))["error"]


def test_what_reads_only_says_so():
    bench = FakeWorkbench()
    for made in (variables_tool(bench), inspect_tool(bench), more_tool(Results())):
        assert (True, False) == (made.read_only, made.asks)
