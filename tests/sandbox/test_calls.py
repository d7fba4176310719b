"""What a call comes to: a value, or a fault that says what happened and what to change."""

from __future__ import annotations

import pytest

from agent_magics.sandbox import KINDS, Sandbox, SandboxError


def value_of(sandbox: Sandbox, source: str, function: str = "f", **arguments: object) -> object:
    outcome = sandbox.call(source, function, arguments)
    assert outcome.error is None, outcome.error
    return outcome.value


def test_value_comes_back(sandbox):
    assert 42 == value_of(sandbox, "def f(x):\n    return 2 * x", x=21)


def test_seconds_and_output_are_told(sandbox):
    outcome = sandbox.call("def f():\n    print('seen')\n    return 1", "f")
    assert ("seen\n", True, True) == (outcome.stdout, outcome.ok, 0 < outcome.seconds < 60)


def test_output_before_a_fault_is_kept(sandbox):
    outcome = sandbox.call("def f():\n    print('so far')\n    1 / 0", "f")
    assert ("so far\n", "exception") == (outcome.stdout, outcome.error.kind)


def test_output_on_the_error_stream_is_kept_too(sandbox):
    outcome = sandbox.call("import sys\ndef f():\n    print('seen', file=sys.stderr)", "f")
    assert "seen\n" == outcome.stdout


def test_exception_tells_its_line_and_the_line_s_text(sandbox):
    error = sandbox.call("def f(x):\n    y = x\n    return y / 0\n", "f", {"x": 1}).error
    assert ("exception", 3, "ZeroDivisionError: division by zero (line 3: return y / 0)") == (
        error.kind,
        error.line,
        error.message,
    )


def test_exception_in_a_helper_points_at_the_helper(sandbox):
    error = sandbox.call("def g():\n    raise KeyError('k')\ndef f():\n    return g()", "f").error
    assert (2, "KeyError: 'k' (line 2: raise KeyError('k'))") == (error.line, error.message)


def test_exception_whose_text_is_an_exception_is_told_all_the_same(sandbox):
    source = "class E(Exception):\n    def __str__(self): return 1 / 0\ndef f():\n    raise E"
    assert "E: (its text could not be made) (line 4: raise E)" == sandbox.call(source, "f").error.message


def test_syntax_error_tells_the_line(sandbox):
    error = sandbox.call("def f():\n    return (1,\n", "f").error
    assert ("syntax", 2) == (error.kind, error.line)


@pytest.mark.parametrize(
    "source", ["x = 1\0", "(" * 5000, "-" * 200_000 + "1", "\ud800 = 1", "x = '" + "\\N{" * 9]
)
def test_source_that_no_parser_takes_is_a_fault(sandbox, source):
    assert sandbox.call(source, "f").error.kind in {"syntax", "crashed", "memory", "arguments"}


def test_missing_function_is_named(sandbox):
    error = sandbox.call("def g():\n    return 1", "f").error
    assert ("function", "The source defines no function 'f'.") == (error.kind, error.message)


def test_arguments_that_do_not_fit_are_an_exception(sandbox):
    error = sandbox.call("def f(a):\n    return a", "f", {"b": 1}).error
    assert ("exception", True) == (error.kind, error.message.startswith("TypeError: f() got an unexpected"))


def test_exiting_is_an_exception(sandbox):
    error = sandbox.call("import sys\ndef f():\n    sys.exit('bye')", "f").error
    assert "SystemExit: bye (line 3: sys.exit('bye'))" == error.message


def test_dataclass_with_annotations_as_text_works(sandbox):
    source = """
from __future__ import annotations
from dataclasses import dataclass, field
from typing import ClassVar

@dataclass
class Point:
    x: int
    tags: list[str] = field(default_factory=list)
    count: ClassVar[int] = 0

def f():
    return Point(1, ["a"])
"""
    assert {"x": 1, "tags": ["a"]} == value_of(sandbox, source)


def test_type_hints_of_the_tool_s_own_classes_resolve(sandbox):
    source = """
import typing

class Unit: ...

def g(u: "Unit") -> "list[Unit]": ...

def f():
    return [hint.__name__ for hint in typing.get_type_hints(g).values()]
"""
    assert ["Unit", "list"] == value_of(sandbox, source)


def test_source_is_compiled_without_our_own_future_imports(sandbox):
    source = "def g(x: int): ...\ndef f():\n    return g.__annotations__['x'] is int"
    assert value_of(sandbox, source) is True


def test_nothing_is_left_for_the_next_call(sandbox):
    source = "import json\ndef f():\n    seen = hasattr(json, 'mark')\n    json.mark = 1\n    return seen"
    assert [False, False] == [value_of(sandbox, source) for _ in range(2)]


def test_recursion_too_deep_is_an_exception(sandbox):
    error = sandbox.call("def f():\n    return f()", "f").error
    assert ("exception", True) == (error.kind, error.message.startswith("RecursionError: "))


@pytest.mark.parametrize("limit", [{"seconds": 0}, {"seconds": -1}, {"seconds": 1e9}, {"memory_mb": 0}])
def test_limit_that_is_none_is_refused_before_anything_runs(sandbox, limit):
    with pytest.raises(SandboxError):
        sandbox.call("def f():\n    return 1", "f", **limit)


def test_kinds_are_the_documented_ones():
    import agent_magics.sandbox.outcome as outcome

    assert sorted(KINDS) == sorted(kind for kind in KINDS if f"``{kind}``" in (outcome.__doc__ or ""))


def test_closed_sandbox_says_so():
    sandbox = Sandbox()
    sandbox.close()
    with pytest.raises(SandboxError, match="closed"):
        sandbox.call("def f():\n    return 1", "f")


def test_rested_sandbox_wakes_by_itself():
    with Sandbox() as sandbox:
        sandbox.prepare()
        sandbox.rest()
        assert 1 == value_of(sandbox, "def f():\n    return 1")


def test_unknown_level_and_family_are_refused():
    with pytest.raises(SandboxError, match="No level 'E'"):
        Sandbox("E")  # pyright: ignore[reportArgumentType]
    with Sandbox() as sandbox, pytest.raises(SandboxError, match="No family 'all'"):
        sandbox.prepare("all")
