"""A look at a value never fails, whatever the value does, and one broken variable hides no other."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from agent_magics.tools.builtin.summary import brief, describe
from agent_magics.tools.result import json_text


class Silent:
    def __repr__(self) -> str:
        raise RuntimeError("no repr")


class Shapeless:
    dtype = "float64"

    @property
    def shape(self) -> Any:
        raise RuntimeError("no shape")


class Classless:
    @property
    def __class__(self) -> Any:
        raise RuntimeError("no class")


class BrokenText(str):
    __slots__ = ()

    def __len__(self) -> int:
        raise RuntimeError("no length")

    __getitem__ = __repr__ = __len__  # type: ignore[assignment]


class BrokenDict(dict[str, int]):
    def __iter__(self) -> Any:
        raise RuntimeError("no keys")

    __len__ = __repr__ = __iter__  # type: ignore[assignment]


class Undocumented:
    __doc__ = 3  # type: ignore[assignment]


ENDLESS: list[Any] = []
ENDLESS.append(ENDLESS)


@pytest.mark.parametrize(
    "make",
    [
        Silent,
        Shapeless,
        Classless,
        lambda: BrokenText("x"),
        lambda: BrokenDict(a=1),
        lambda: Undocumented,
        lambda: ENDLESS,
        lambda: {Silent(): 1},
        lambda: pd.DataFrame([[1, 2]], columns=["a", "a"]),
        lambda: pd.DataFrame({"a": [Silent()]}),
        lambda: np.array([Silent(), None], dtype=object),
    ],
)
def test_any_value_can_be_looked_at(make: Callable[[], Any]) -> None:
    value = make()
    assert isinstance(brief(value), str)
    assert type(value).__name__ == json.loads(json_text(describe(value)))["type"]


def test_columns_of_the_same_name_are_each_described() -> None:
    columns = describe(pd.DataFrame([[1, "x"]], columns=["a", "a"]))["columns"]
    assert ["int64", "str"] == [column["dtype"] for column in columns]


def test_a_number_of_numpy_is_told_as_a_number() -> None:
    assert "np.float64(2.5)" == brief(np.float64(2.5))


def test_an_array_is_told_by_its_beginning_and_its_range() -> None:
    told = describe(np.arange(1_000))
    assert ("[0 1 2 3 4]", 499.5, 0, 999) == (told["head"], told["mean"], told["min"], told["max"])


def test_a_column_is_told_by_its_beginning_and_its_range() -> None:
    told = describe(pd.Series([3.0, 1.0], index=["x", "y"]))
    assert ("x    3.0\ny    1.0\ndtype: float64", 2.0) == (told["head"], told["mean"])
