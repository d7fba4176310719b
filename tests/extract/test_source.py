"""Rows -> texts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from agent_magics.errors import UsageError
from agent_magics.extract.source import NoText, Source


def texts(rows: Any, template: str | None = None) -> list[str]:
    return [each() for each in Source(rows, template)]


def test_texts_numbers_and_mappings_are_rows() -> None:
    assert ["a", "3", '{"x": "é"}', '["b"]'] == texts(["a", 3, {"x": "é"}, ["b"]])


def test_a_series_and_a_column_are_rows_and_their_number_is_known() -> None:
    series = pd.Series(["a", "b"])

    assert ["a", "b"] == texts(series)
    assert ["a", "b"] == texts(series.to_frame("text"))
    assert 2 == Source(series).total


def test_a_frame_is_put_into_words_by_a_template() -> None:
    frame = pd.DataFrame({"title": ["T1", "T2"], "first name": ["Ada", "Bob"], "price": [1.5, 2.25]})

    assert ["T1: Ada, 1.50", "T2: Bob, 2.25"] == texts(frame, "{title}: {first name}, {price:.2f}")


def test_a_frame_like_polars_is_read_row_by_row() -> None:
    class Frame:
        columns = ("a", "b")

        def __iter__(self) -> Any:
            raise AssertionError("a polars frame iterates over its columns")

        def __len__(self) -> int:
            return 2

        def iter_rows(self) -> Any:
            return iter([(1, "x"), (2, "y")])

    assert ["1x", "2y"] == texts(Frame(), "{a}{b}")


def test_a_generator_is_read_one_row_at_a_time() -> None:
    read = []

    def rows() -> Any:
        for at in range(1_000_000):
            read.append(at)
            yield f"row {at}"

    source = Source(rows())
    assert source.total is None
    assert "row 0" == next(iter(source))()
    assert 1 == len(read)


def test_no_attribute_and_no_index_is_ever_looked_up() -> None:
    class Row(dict[str, Any]):
        secret = "s"

    for template in ("{a.secret}", "{a[0]}", "{a.__class__}"):
        with pytest.raises(NoText) as caught:
            texts([Row(a=["x"])], template)
        assert "template" == caught.value.kind
    assert ["kept"] == texts([{"a.b": "kept"}], "{a.b}")


@pytest.mark.parametrize("template", ["{}", "{0:{a}}", "{", "{a:{b}}", "{a!z}"])
def test_a_template_that_is_more_than_names_is_refused_at_once(template: str) -> None:
    with pytest.raises(UsageError):
        Source([{"a": 1}], template)


def test_a_column_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(UsageError, match=r"(?s)'titel'.*title"):
        Source(pd.DataFrame({"title": ["x"]}), "{titel}")
    with pytest.raises(UsageError, match="template"):
        Source(pd.DataFrame({"a": ["x"], "b": ["y"]}))


@pytest.mark.parametrize(
    "nothing", [None, float("nan"), pd.NA, pd.NaT, np.nan, np.float32("nan"), "", "  \n"]
)
def test_a_row_without_a_text_says_so(nothing: Any) -> None:
    with pytest.raises(NoText) as caught:
        texts([nothing])
    assert "empty" == caught.value.kind


def test_what_is_missing_in_a_record_is_written_as_nothing() -> None:
    assert ["a=, b=1"] == texts([{"a": None, "b": 1}], "a={a}, b={b}")


@pytest.mark.parametrize("rows", ["text", b"bytes", {"a": 1}, 3])
def test_what_is_not_many_rows_is_refused(rows: Any) -> None:
    with pytest.raises(UsageError, match="not many rows"):
        Source(rows)


def test_braces_are_kept() -> None:
    assert ["{x} 1"] == texts([{"a": 1}], "{{x}} {a}")
