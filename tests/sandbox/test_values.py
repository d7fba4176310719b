"""What comes out: JSON, dates as text, arrays and frames; and a sentence for everything else."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest


def returned(sandbox, expression: str, imports: str = "", **arguments: object):
    parameters = ", ".join(arguments)
    source = f"{imports}\ndef f({parameters}):\n    return {expression}\n"
    outcome = sandbox.call(source, "f", arguments)
    assert outcome.error is None, outcome.error
    return outcome.value


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("None", None),
        ("[True, 1, 2.5, 'é😀']", [True, 1, 2.5, "é😀"]),
        ("{'a': {'b': [1]}}", {"a": {"b": [1]}}),
        ("(1, (2,))", [1, [2]]),
        ("{3, 1, 2}", [1, 2, 3]),
        ("{1: 'a', None: 'b', (2, 'c'): 'd'}", {"1": "a", "None": "b", "2, c": "d"}),
        ("range(3)", [0, 1, 2]),
        ("{'a': 1}.keys()", ["a"]),
        ("b'\\x00\\xff'", b"\x00\xff"),
        ("[float('inf'), -float('inf')]", [math.inf, -math.inf]),
        ("10 ** 4000", 10**4000),
        ("datetime.datetime(2026, 1, 2, 3, 4)", "2026-01-02T03:04:00"),
        ("[datetime.date(2026, 1, 2), datetime.timedelta(hours=1)]", ["2026-01-02", "1:00:00"]),
        ("[decimal.Decimal('1.10'), fractions.Fraction(1, 3), 1 + 2j]", ["1.10", "1/3", "(1+2j)"]),
        ("uuid.UUID(int=1)", "00000000-0000-0000-0000-000000000001"),
        ("enum.Enum('Colour', {'RED': 'red'}).RED", "red"),
        ("collections.Counter('aab')", {"a": 2, "b": 1}),
        ("collections.deque([1, 2])", [1, 2]),
        ("'\\ud800'", "?"),
    ],
)
def test_plain_value_comes_back_as_data(sandbox, expression, expected):
    imports = "import collections, datetime, decimal, enum, fractions, uuid"
    assert expected == returned(sandbox, expression, imports)


def test_not_a_number_comes_back(sandbox):
    value = returned(sandbox, "{'a': [1, float('nan')]}")
    assert (1, True) == (value["a"][0], math.isnan(value["a"][1]))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("np.float64(1.5)", 1.5),
        ("np.int8(3)", 3),
        ("np.bool_(True)", True),
        ("np.str_('a')", "a"),
        ("np.datetime64('2026-01-02')", "2026-01-02"),
        ("{np.int64(1): np.float32(0.5)}", {"1": 0.5}),
        ("pd.Timestamp('2026-01-02')", "2026-01-02T00:00:00"),
        ("[pd.NaT, pd.NA]", [None, None]),
        ("pd.Period('2026-01', 'M')", "2026-01"),
        ("pd.Series([1, 2]).describe().to_dict()['mean']", 1.5),
    ],
)
def test_scalar_of_a_library_comes_back_as_data(sandbox, expression, expected):
    assert expected == returned(sandbox, expression, "import numpy as np, pandas as pd")


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.int16).reshape(2, 3),
        np.array([[1.5, np.nan]]),
        np.array([True, False]),
        np.array(["ab", "é"]),
        np.array([b"ab"]),
        np.array(["2026-01-02"], dtype="datetime64[D]"),
        np.array([1 + 2j]),
        np.array(3.0),
        np.zeros((0, 3)),
        np.arange(10)[::2],
        np.asfortranarray(np.arange(6).reshape(2, 3)),
        np.arange(3, dtype=">i4"),
    ],
    ids=lambda array: f"{array.dtype}{array.shape}",
)
def test_array_goes_in_and_comes_back(sandbox, array):
    value = returned(sandbox, "a", a=array)
    np.testing.assert_array_equal(array, value)
    assert (array.shape, array.dtype.kind) == (value.shape, value.dtype.kind)


def test_returned_array_can_be_written(sandbox):
    value = returned(sandbox, "np.zeros(3)", "import numpy as np")
    value[0] = 1
    assert [1.0, 0.0, 0.0] == value.tolist()


FRAMES = {
    "numbers": pd.DataFrame({"a": [1, 2], "b": [0.5, np.nan]}),
    "text": pd.DataFrame({"s": ["x", None, "é"]}),
    "truth": pd.DataFrame({"t": [True, False, True]}),
    "moments": pd.DataFrame({"d": pd.date_range("2026", periods=3, tz="Europe/Berlin")}),
    "durations": pd.DataFrame({"d": pd.to_timedelta([1, 2], unit="s")}),
    "categories": pd.DataFrame({"c": pd.Categorical(["u", "v", "u"], ordered=True)}),
    "nullable": pd.DataFrame(
        {"n": pd.array([1, None], dtype="Int64"), "b": pd.array([True, None], "boolean")}
    ),
    "named rows": pd.DataFrame({"a": [1, 2]}, index=pd.Index(["x", "y"], name="key")),
    "dates as rows": pd.DataFrame({"a": [1, 2]}, index=pd.to_datetime(["2026-01-01", "2026-01-03"])),
    "levels": pd.DataFrame(
        {"a": [1, 2]}, index=pd.MultiIndex.from_tuples([("x", 1), ("y", 2)], names=["k", None])
    ),
    "numbered columns": pd.DataFrame([[1, 2]]),
    "the same name twice": pd.DataFrame([[1, 2]], columns=["a", "a"]),
    "columns in levels": pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")])),
    "no rows": pd.DataFrame({"a": np.array([], dtype=np.int64)}),
    "no columns": pd.DataFrame(index=pd.RangeIndex(3)),
    "part of another": pd.DataFrame({"a": range(10), "s": list("abcdefghij")}).iloc[3:6],
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_frame_goes_in_and_comes_back(sandbox, frame):
    pd.testing.assert_frame_equal(frame, returned(sandbox, "d", d=frame), check_freq=False)


def test_lists_in_a_column_come_back(sandbox):
    value = returned(sandbox, "pd.DataFrame({'l': [[1, 2], [], None]})", "import pandas as pd")
    assert [[1, 2], [], None] == [None if item is None else list(item) for item in value["l"]]


def test_series_and_index_come_back(sandbox):
    series = pd.Series([1.5, 2.5], index=["a", "b"], name="s")
    pd.testing.assert_series_equal(series, returned(sandbox, "s", s=series))
    pd.testing.assert_index_equal(series.index, returned(sandbox, "s.index", s=series))


def test_frames_and_arrays_come_back_inside_of_other_values(sandbox):
    value = returned(sandbox, "{'all': [d, d.a.to_numpy(), {'n': len(d)}]}", d=pd.DataFrame({"a": [1, 2]}))
    assert ([1, 2], [1, 2], 2) == (
        value["all"][0]["a"].tolist(),
        value["all"][1].tolist(),
        value["all"][2]["n"],
    )


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("(n for n in range(3))", "A value of type builtins.generator came back."),
        ("len", "A value of type builtins.builtin_function_or_method came back."),
        ("object()", "A value of type builtins.object came back."),
        ("10 ** 5000", "The value holds an integer of more than 4,300 digits."),
        ("{1: 'a', '1': 'b'}", "Two keys of a dict read '1' as text."),
        ("{object(): 1}", "A dict key of type object came back."),
        ("np.array([object()])", "An array of dtype object came back."),
        ("pd.DataFrame({'a': [1, 'x', object()]})", "Column 'a' mixes kinds of values"),
        ("pd.DataFrame({'a': [{'k': 1}]})", "A column of type struct<k: int64> came back"),
    ],
)
def test_value_that_does_not_travel_is_refused_in_words(sandbox, expression, message):
    source = f"import numpy as np, pandas as pd\ndef f():\n    return {expression}"
    error = sandbox.call(source, "f").error
    assert ("refused_reply", True) == (error.kind, error.message.startswith(message)), error.message


class OfTheNotebook:
    """A class that the child does not know."""


@pytest.mark.parametrize(
    "argument",
    [
        OfTheNotebook(),
        OfTheNotebook,
        lambda: 1,
        open,
        {"deep": [OfTheNotebook()]},
        np.array([OfTheNotebook()]),
    ],
    ids=["instance", "class", "function", "builtin", "nested", "in an array"],
)
def test_argument_of_the_notebook_s_own_stays_there(sandbox, argument):
    error = sandbox.call("def f(a):\n    return 1", "f", {"a": argument}).error
    assert ("arguments", True) == (error.kind, error.message.startswith("An argument stays here: it holds"))


def test_plain_arguments_arrive_as_they_are(sandbox):
    import datetime as dt
    import decimal

    values = [
        None,
        True,
        1,
        2.5,
        "é",
        [1],
        {"a": (1, 2)},
        {1, 2},
        b"x",
        dt.date(2026, 1, 2),
        decimal.Decimal("1.1"),
    ]
    source = "def f(v):\n    return [type(x).__name__ for x in v]"
    expected = ["NoneType", "bool", "int", "float", "str", "list", "dict", "set", "bytes", "date", "Decimal"]
    assert expected == sandbox.call(source, "f", {"v": values}).value


def test_argument_is_a_copy(sandbox):
    mine = np.zeros(3)
    source = "def f(a):\n    a[0] = 1\n    return float(a.sum())"
    assert (1.0, 0.0) == (sandbox.call(source, "f", {"a": mine}).value, mine.sum())
