"""A typed Python function becomes a tool: its schema, its words, and the values that it is given."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import functools
import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, Optional

import numpy as np
import pandas as pd
import pytest
from pydantic import BaseModel, Field

from agent_magics import tool
from agent_magics.errors import ConfigError
from agent_magics.testing import FakeWorkbench
from agent_magics.tools import Results, Tool, Toolbox
from tests.tools.calls import call_tool


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Point:
    x: float
    y: float = 0.0


class City(BaseModel):
    name: str
    people: Annotated[int, Field(ge=0)] = 0


class Anything:
    """A class that JSON can't hold."""


def properties(made: Tool) -> dict[str, Any]:
    return made.parameters["properties"]


def test_name_description_and_schema_come_from_the_function():
    @tool
    def area(width: float, height: float = 1.0) -> float:
        """Area of a rectangle in square metres.

        Both sides are in metres.
        """
        return width * height

    assert ("area", "Area of a rectangle in square metres.\nBoth sides are in metres.") == (
        area.name,
        area.description,
    )
    expected = {
        "type": "object",
        "properties": {"width": {"type": "number"}, "height": {"type": "number", "default": 1.0}},
        "required": ["width"],
        "additionalProperties": False,
    }
    assert expected == area.parameters


def test_what_the_decorator_says_wins():
    @tool(
        name="mul", description="Multiply.", aliases=("times",), read_only=True, parallel_safe=True, asks=True
    )
    def product(a: int, b: int) -> int:
        """Product."""
        return a * b

    assert ("mul", "Multiply.", ("times",), True, True, True) == (
        product.name,
        product.description,
        product.aliases,
        product.read_only,
        product.parallel_safe,
        product.asks,
    )


def test_a_tool_is_still_the_function_for_python():
    @tool
    def double(x: int) -> int:
        return 2 * x

    assert 4 == double(2)


def test_a_function_without_a_docstring_is_described_by_its_name():
    @tool
    def count_words(text: str) -> int:
        return len(text.split())

    assert "count words" == count_words.description


HINTS = [
    (int, {"type": "integer"}, 3, 3),
    (float, {"type": "number"}, 3, 3.0),
    (str, {"type": "string"}, "a", "a"),
    (bool, {"type": "boolean"}, True, True),
    (None, {"type": "null"}, None, None),
    (Any, {}, [1, {"a": None}], [1, {"a": None}]),
    (list[int], {"type": "array", "items": {"type": "integer"}}, [1, 2], [1, 2]),
    (set[int], {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}, [1, 2], {1, 2}),
    (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}, {"a": 1}, {"a": 1}),
    (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "a", "a"),
    (Optional[int], {"anyOf": [{"type": "integer"}, {"type": "null"}]}, None, None),  # noqa: UP045
    (Literal["km", "mi"], {"type": "string", "enum": ["km", "mi"]}, "mi", "mi"),
    (Colour, {"$ref": "#/$defs/Colour"}, "red", Colour.RED),
    (Point, {"$ref": "#/$defs/Point"}, {"x": 1}, Point(1.0)),
    (
        list[Point],
        {"type": "array", "items": {"$ref": "#/$defs/Point"}},
        [{"x": 1, "y": 2}],
        [Point(1.0, 2.0)],
    ),
    (City, {"$ref": "#/$defs/City"}, {"name": "Bern", "people": 5}, City(name="Bern", people=5)),
    (dt.date, {"type": "string", "format": "date"}, "2026-11-30", dt.date(2026, 11, 30)),
    (
        dt.datetime,
        {"type": "string", "format": "date-time"},
        "2026-11-30T10:00:00",
        dt.datetime.fromisoformat("2026-11-30T10:00:00"),
    ),
    (dt.timedelta, {"type": "string", "format": "duration"}, "PT90S", dt.timedelta(seconds=90)),
    (Path, {"type": "string", "format": "path"}, "a/b", Path("a/b")),
    (
        Annotated[int, Field(ge=1, description="a page")],
        {"type": "integer", "minimum": 1, "description": "a page"},
        2,
        2,
    ),
]


@pytest.mark.parametrize(
    ("hint", "schema", "argument", "expected"), HINTS, ids=lambda value: repr(value)[:40]
)
async def test_a_hint_becomes_a_schema_and_an_argument_the_value_that_it_asks_for(
    hint, schema, argument, expected
):
    got: list[Any] = []

    def keep(value: Any) -> None:
        got.append(value)

    keep.__annotations__["value"] = hint
    made = tool(keep)
    assert schema == properties(made)["value"]
    result = await call_tool(made, value=argument)
    assert (True, [expected]) == (result.ok, got), result.text


@pytest.mark.parametrize(
    ("hint", "argument", "said"),
    [
        (int, "three", "value: 'three' is not of type 'integer'"),
        (Literal["km", "mi"], "m", "value: 'm' is not one of ['km', 'mi']"),
        (Point, {"y": 1}, "value: 'x' is a required property"),
        (dt.date, "yesterday", "value: Input should be a valid date"),
        (City, {"name": "Bern", "people": -1}, "value/people: -1 is less than the minimum of 0"),
    ],
    ids=repr,
)
async def test_an_argument_that_does_not_fit_is_refused_with_the_place_where(hint, argument, said):
    def keep(value: Any) -> None:
        raise AssertionError("must not run")

    keep.__annotations__["value"] = hint
    result = await call_tool(tool(keep), value=argument)
    assert not result.ok
    assert "invalid arguments for keep" in result.text
    assert said in result.text


async def test_defaults_are_taken_as_they_are():
    sentinel = object()
    got: list[Any] = []

    @tool
    def keep(
        a: int = 1, b: str | None = None, when: dt.date = dt.date(2026, 1, 1), x: Any = sentinel
    ) -> None:
        got.append((a, b, when, x))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (await call_tool(keep)).ok
    assert [(1, None, dt.date(2026, 1, 1), sentinel)] == got
    assert "required" not in keep.parameters


async def test_an_argument_that_is_not_in_the_signature_is_refused():
    @tool
    def nothing() -> str:
        return "ran"

    result = await call_tool(nothing, surprise=1)
    assert not result.ok
    assert "('surprise' was unexpected)" in result.text


@pytest.mark.parametrize(
    "name",
    ["json", "copy", "schema", "dict", "model_config", "model_fields", "_private", "model_name", "class_"],
)
async def test_a_parameter_may_have_any_name(name):
    scope: dict[str, Any] = {}
    exec(f"def shout({name}: str) -> str:\n    return {name}.upper()", scope)
    made = tool(scope["shout"])
    assert [name] == made.parameters["required"]
    assert '{"result": "HI", "ok": true}' == (await call_tool(made, **{name: "hi"})).text


@pytest.mark.parametrize(
    "docstring",
    [
        """Shout it.

        Parameters
        ----------
        text : str
            What to shout.
        times : int
            How often.
        """,
        """Shout it.

        Args:
            text: What to shout.
            times: How often.

        Returns:
            The noise.
        """,
        """Shout it.

        :param text: What to shout.
        :param times: How often.
        """,
    ],
    ids=["numpydoc", "Google", "reST"],
)
def test_the_docstring_describes_the_parameters_in_every_common_style(docstring):
    def shout(text: str, times: int = 1) -> str:
        return text.upper() * times

    shout.__doc__ = docstring
    made = tool(shout)
    assert "Shout it." == made.description
    assert ["What to shout.", "How often."] == [each["description"] for each in properties(made).values()]


def test_parameters_that_numpydoc_describes_together_share_their_words():
    @tool
    def area(width: float, height: float) -> float:
        """Area.

        Parameters
        ----------
        width, height : float
            In metres.
        """
        return width * height

    assert ["In metres.", "In metres."] == [each["description"] for each in properties(area).values()]


@pytest.mark.parametrize(
    "docstring", ["Args:\n  x", "Raises:", ":param", "Parameters\n----------\n", "", "\n\n"]
)
def test_an_odd_docstring_is_no_error(docstring):
    def odd(x: int) -> int:
        return x

    odd.__doc__ = docstring
    assert tool(odd).description


# -- notebook objects ----------------------------------------------------------------------------


async def test_a_frame_is_taken_by_the_name_of_its_variable():
    @tool
    def rows(df: pd.DataFrame) -> int:
        """Count rows.

        Parameters
        ----------
        df : DataFrame
            The table.
        """
        return len(df)

    assert frozenset({"df"}) == rows.objects
    expected = {
        "type": "string",
        "description": "Name of a notebook variable that holds a DataFrame. The table.",
    }
    assert expected == properties(rows)["df"]
    assert rows.needs_kernel
    bench = FakeWorkbench(sales=pd.DataFrame({"a": [1, 2, 3]}))
    assert '{"result": 3, "ok": true}' == (await call_tool(rows, bench, df="sales")).text
    missing = await call_tool(rows, bench, df="sale")
    assert "There is no variable 'sale' in the notebook." in missing.text


@pytest.mark.parametrize(
    ("hint", "held"),
    [
        (np.ndarray, "ndarray"),
        (Anything, "Anything"),
        (pd.DataFrame | pd.Series, "DataFrame or Series"),
        (Optional[pd.DataFrame], "DataFrame"),  # noqa: UP045
        (Callable[[int], int], "Callable"),
        (list[Anything], "list"),
    ],
    ids=repr,
)
def test_whatever_json_cannot_hold_is_taken_by_name(hint, held):
    def look(value: Any) -> None: ...

    look.__annotations__["value"] = hint
    made = tool(look)
    assert f"Name of a notebook variable that holds a {held}." == properties(made)["value"]["description"]


async def test_an_optional_frame_may_be_left_out_or_be_null():
    @tool
    def rows(df: Optional[pd.DataFrame] = None) -> str:  # noqa: UP045
        return "none" if df is None else str(len(df))

    bench = FakeWorkbench(df=pd.DataFrame({"a": [1]}))
    assert '{"result": "none", "ok": true}' == (await call_tool(rows, bench)).text
    assert '{"result": "none", "ok": true}' == (await call_tool(rows, bench, df=None)).text
    assert '{"result": "1", "ok": true}' == (await call_tool(rows, bench, df="df")).text


async def test_an_async_function_is_awaited():
    @tool
    async def later(x: int) -> int:
        return x + 1

    assert '{"result": 2, "ok": true}' == (await call_tool(later, x=1)).text


async def test_a_method_is_a_tool_without_its_self():
    class Counter:
        def __init__(self) -> None:
            self.count = 0

        def add(self, by: int) -> int:
            """Add."""
            self.count += by
            return self.count

    counter = Counter()
    assert '{"result": 5, "ok": true}' == (await call_tool(tool(counter.add), by=5)).text
    assert 5 == counter.count


# -- what can't be a tool ------------------------------------------------------------------------


def stars(*numbers: int) -> None: ...
def two_stars(**options: int) -> None: ...
def unhinted(x) -> None: ...
def positional(x: int, /) -> None: ...
def undefined(x: NotThere) -> None: ...  # noqa: F821  # pyright: ignore[reportUndefinedVariable]


class Called:
    def __call__(self, x: int) -> int:
        return x


@pytest.mark.parametrize(
    ("function", "what", "remedy"),
    [
        (stars, "it takes *numbers", "Give it named parameters with type hints."),
        (two_stars, "it takes **options", "Give it named parameters with type hints."),
        (unhinted, "'x' has no type hint", "Write for example `x: str`."),
        (positional, "'x' is positional-only", "Take out the `/`."),
        (undefined, "name 'NotThere' is not defined", "Import or define the type first."),
        (functools.partial(math.pow, 2), "it is not a function", "Decorate a function made with `def`."),
        (Called(), "it is not a function", "Decorate a function made with `def`."),
        (Anything, "it is not a function", "Decorate a function made with `def`."),
        (print, "it takes *args", "Give it named parameters with type hints."),
        (dict.get, "'self'", ""),
        (5, "it is not a function", ""),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_can_not_be_a_tool_is_refused_in_three_lines(function, what, remedy):
    with pytest.raises(ConfigError) as error:
        tool(function)
    assert error.value.what.startswith("Can't make ")
    assert what in error.value.what
    assert error.value.why
    assert remedy in error.value.remedy


@pytest.mark.parametrize("name", ["<lambda>", "two words", "", "x" * 65, "punkt.name"])
def test_a_name_that_vendors_refuse_is_refused_when_the_tool_is_offered(name):
    made = Tool(name=name, description="", handler=lambda: None)
    with pytest.raises(ConfigError, match="letters, digits"):
        Toolbox([made])


def test_only_tools_go_into_a_toolbox():
    with pytest.raises(ConfigError, match="is not a tool"):
        Toolbox([print])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]


def test_a_schema_that_is_no_object_is_refused():
    with pytest.raises(ConfigError, match="not of type 'object'"):
        Toolbox([Tool(name="odd", description="", handler=print, parameters={"type": "string"})])


async def test_a_schema_that_is_no_schema_is_an_error_for_the_model_not_a_crash():
    odd = Tool(
        name="odd",
        description="",
        handler=print,
        parameters={"type": "object", "properties": {"x": {"type": "text"}}},
    )
    result = await call_tool(odd, x=1)
    assert not result.ok
    assert isinstance(Results().wrap(result).text, str)
