"""Questions about tables: looked at first, then computed with real pandas."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from agent_magics.providers.demo import frame_questions
from agent_magics.providers.demo.pandas_code import compose
from agent_magics.providers.demo.passage import Passage
from agent_magics.providers.demo.tables import columns, variables
from agent_magics.testing import FakeWorkbench
from agent_magics.tools.builtin.inspect import inspect_tool
from agent_magics.tools.builtin.variables import variables_tool
from agent_magics.tools.tool import Tool
from tests.providers.demo.conversation import Conversation

mpl.use("Agg")


def python_tool(namespace: dict[str, Any]) -> Tool:
    """Runs an expression as the notebook's tool does."""

    def run_python(code: str) -> dict[str, Any]:
        value = eval(code, namespace)
        return {"value": value if type(value) in (str, int, float, bool, list, dict) else repr(value)}

    schema = {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]}
    return Tool(
        name="run_python", description="Run Python.", handler=run_python, parameters=schema, asks=True
    )


@pytest.fixture(params=[1, 2])
def trips(request) -> pd.DataFrame:
    random = np.random.default_rng(request.param)
    return pd.DataFrame({
        "vehicle": random.choice(["van", "car", "bicycle"], 60),
        "day": pd.date_range("2026-01-01", periods=60),
        "miles driven": random.random(60) * 30,
        "mph": random.random(60) * 60,
    })  # fmt: skip


@pytest.fixture
def notebook(trips) -> Conversation:
    workbench = FakeWorkbench(trips=trips, other=pd.DataFrame({"a": [1]}), name="Ann")
    return Conversation(
        variables_tool(workbench),
        inspect_tool(workbench),
        python_tool(workbench.namespace),
        workbench=workbench,
    )


def rows(reply: str) -> dict[str, list[float]]:
    """The rows of a Markdown table, by their first cell."""
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in reply.splitlines()
        if line.startswith("|")
    ]
    return {row[0]: [float(cell.replace(",", "")) for cell in row[1:]] for row in cells[2:]}


def test_what_is_in_a_table_is_listed_then_looked_at(notebook, trips):
    answer = notebook.ask("what is in trips?")
    assert [("variables", {}), ("inspect", {"name": "trips"})] == answer.calls
    assert "`trips` is a **DataFrame** with 60 rows and 4 columns" in answer.reply
    assert all(column in answer.reply for column in trips.columns)
    assert ", ".join(trips["vehicle"].unique()) in answer.reply


def test_a_statistic_by_group_is_computed_from_the_columns_seen(notebook, trips):
    answer = notebook.ask("what is the mean of mph by vehicle in trips?")
    code = 'trips.groupby("vehicle")["mph"].mean().to_dict()'
    assert [("inspect", {"name": "trips"}), ("run_python", {"code": code})] == answer.calls
    expected = trips.groupby("vehicle")["mph"].mean()
    assert {name: [pytest.approx(value, rel=1e-4)] for name, value in expected.items()} == rows(answer.reply)


@pytest.mark.parametrize(
    "question, expected",
    [
        ("what is the median of mph in trips?", lambda trips: trips["mph"].median()),
        ("standard deviation of miles in trips", lambda trips: trips["miles driven"].std()),
        ("total miles driven in trips", lambda trips: trips["miles driven"].sum()),
        ("what is the highest mph in trips", lambda trips: trips["mph"].max()),
        (
            "correlation between mph and miles driven in trips",
            lambda trips: trips["mph"].corr(trips["miles driven"]),
        ),
    ],
)
def test_a_statistic_of_a_column_is_told_as_a_number(notebook, trips, question, expected):
    reply = notebook.ask(question).reply
    assert pytest.approx(expected(trips), rel=1e-4) == float(reply.split("**")[1].replace(",", ""))


def test_several_statistics_become_columns(notebook, trips):
    answer = notebook.ask("mean and max of mph by vehicle in trips")
    expected = trips.groupby("vehicle")["mph"].agg(["mean", "max"])
    assert {name: pytest.approx(list(row), rel=1e-4) for name, row in expected.iterrows()} == rows(
        answer.reply
    )


def test_rows_are_counted_per_group(notebook, trips):
    answer = notebook.ask("how many rows per vehicle in trips?")
    assert {name: [count] for name, count in trips["vehicle"].value_counts().items()} == rows(answer.reply)


@pytest.mark.parametrize(
    "question, code",
    [
        ("plot mph of trips", 'trips["mph"].plot.hist('),
        ("plot mph by vehicle in trips", 'trips.groupby("vehicle")["mph"].mean().plot.bar('),
        ("plot mph over day in trips", 'trips.sort_values("day").plot.line('),
        ("scatter mph against miles driven in trips", "trips.plot.scatter("),
    ],
)
def test_plots_fit_the_kinds_of_the_columns_and_run(notebook, question, code):
    answer = notebook.ask(question)
    assert ["inspect", "run_python"] == answer.names
    assert answer.calls[1][1]["code"].startswith(code)
    assert "is drawn" in answer.reply


def test_a_column_that_is_not_there_is_not_made_up(notebook):
    answer = notebook.ask("mean of altitude in trips")
    assert ["inspect"] == answer.names
    assert "no column “altitude”" in answer.reply and "`miles driven`" in answer.reply


def test_a_column_of_words_has_no_mean(notebook):
    answer = notebook.ask("mean of vehicle in trips")
    assert ["inspect"] == answer.names
    assert "`vehicle` holds no numbers" in answer.reply and "`mph`" in answer.reply


def test_a_table_that_is_not_named_is_found_by_its_columns(notebook):
    answer = notebook.ask("mean of mph by vehicle")
    assert ["variables", "inspect", "inspect", "run_python"] == answer.names
    assert {"name": "trips"} == answer.calls[2][1]


def test_a_name_that_is_not_there_is_said(notebook):
    answer = notebook.ask("what is in nothing_here?")
    assert ["variables"] == answer.names
    assert "There is no variable `nothing_here`" in answer.reply
    missing = notebook.ask("mean of mph in nothing_here")
    assert "There is no variable 'nothing_here' in the notebook" in missing.reply


def test_a_rejected_computation_is_not_tried_again(trips):
    workbench = FakeWorkbench(trips=trips)
    tools = (inspect_tool(workbench), python_tool(workbench.namespace))
    refuse = {
        "run_python": "The user rejected this call: use the median. Don't try the same thing in another way."
    }
    conversation = Conversation(*tools, refuse=lambda name: refuse.get(name, ""), workbench=workbench)
    answer = conversation.ask("what is the mean of mph in trips?")
    assert ["inspect", "run_python"] == answer.names
    assert "`run_python` was not allowed" in answer.reply and "“use the median.”" in answer.reply


def test_without_run_python_the_code_is_shown(trips):
    workbench = FakeWorkbench(trips=trips)
    answer = Conversation(inspect_tool(workbench), workbench=workbench).ask(
        "what is the mean of mph in trips?"
    )
    assert '```python\nfloat(trips["mph"].mean())\n```' in answer.reply
    assert "There is no tool `run_python` here" in answer.reply


def test_an_error_of_the_code_is_told(trips):
    workbench = FakeWorkbench(trips=trips)

    def run_python(code: str) -> dict[str, Any]:
        return {"error": "MemoryError: too *much*"}

    schema = {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]}
    broken = Tool(name="run_python", description="", handler=run_python, parameters=schema)
    answer = Conversation(inspect_tool(workbench), broken, workbench=workbench).ask("mean of mph in trips")
    assert ["inspect", "run_python"] == answer.names
    assert "MemoryError: too \\*much\\*" in answer.reply


@pytest.mark.parametrize(
    "told",
    [
        {"columns": ["vehicle", "mph"]},
        {"columns": [{"name": "vehicle", "dtype": "object"}, {"name": "mph", "dtype": "float64"}]},
        {"columns": {"vehicle": "object", "mph": "float64"}},
        {"type": "DataFrame", "info": {"dtypes": {"vehicle": "object", "mph": "float64"}}},
        "DataFrame trips: 1,284 rows × 2 columns\n  vehicle  object   3 kinds\n  mph  float64  mean 31",
        {"value": "DataFrame trips\n vehicle  object\n mph  float64"},
    ],
)
def test_columns_are_read_however_they_are_told(told):
    question = frame_questions.read(Passage.of("mean of mph by vehicle in trips"))
    assert question is not None
    assert 'trips.groupby("vehicle")["mph"].mean().to_dict()' == compose(question, columns(told)).code


@pytest.mark.parametrize(
    "told",
    [
        {"variables": [{"name": "trips", "type": "DataFrame"}, {"name": "n", "type": "int"}]},
        {"trips": "DataFrame 3 × 2", "n": "int"},
        ["trips: DataFrame", "n: int"],
        "trips  DataFrame\nn  int",
    ],
)
def test_variables_are_read_however_they_are_told(told):
    assert [("trips", True), ("n", False)] == [(each.name, each.is_table) for each in variables(told)]


def test_names_of_columns_are_quoted_as_data():
    frame = pd.DataFrame({'a"b\\': [1.0, 3.0]})
    workbench = FakeWorkbench(df=frame)
    conversation = Conversation(
        inspect_tool(workbench), python_tool(workbench.namespace), workbench=workbench
    )
    assert "is **2**" in conversation.ask("mean of a b in df").reply
