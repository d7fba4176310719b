"""The check in its own process: always a verdict, whatever the source does to the parser."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Any

import pytest

from agent_magics.forge import check
from agent_magics.forge.checking import Checker, compile_check
from tests.patience import PROMPT
from tests.sandbox.processes import children, gone

FINE = "def fine(x: int) -> int:\n    return x\n"


def request(source: str) -> dict[str, Any]:
    return {"do": "check", "source": source, "name": "fine", "schema": None, "capabilities": []}


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "object", "properties": {"y": {}}}, "describes 'y'"),
        ({"type": "object", "properties": {}}, "doesn't describe the parameter 'x'"),
        ({"type": "object", "properties": {"x": {"type": "integer"}}}, "must require 'x'"),
        (
            {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]},
            "calls 'x' 'string'",
        ),
        ({"type": "array"}, "must be of type 'object'"),
        ({"type": "object", "properties": {"x": 1}, "required": ["x"]}, "must be a schema of its own"),
    ],
)
def test_schema_must_describe_the_signature(schema: dict[str, Any], said: str) -> None:
    verdict = check(FINE, "fine", schema)
    assert not verdict.ok
    assert said in str(verdict)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("x = 1\n", "defines no function"),
        ("class fine:\n    pass\n", "defines no function"),
        ("def fine(*args):\n    return args\n", "*args"),
        ("def fine(x, /):\n    return x\n", "positional-only"),
        ("def fine(x):\n    yield x\n", "generator"),
        ("def fine(x):\n    return x\n\nfine = 3\n", "more than one meaning"),
        ("def fine(x:\n", "was never closed"),
        ("def fine(x):\n\treturn x\n        return 2\n", "Line 3"),
    ],
)
def test_function_must_be_there_and_plain(source: str, said: str) -> None:
    assert said in str(check(source, "fine"))


def test_capabilities_lift_what_they_grant_and_nothing_else() -> None:
    source = "import datetime\n\ndef fine() -> str:\n    return str(datetime.datetime.now())\n"
    assert not check(source, "fine").ok
    assert not check(source, "fine", capabilities=["random"]).ok
    assert check(source, "fine", capabilities=["clock"]).ok
    fetches = "def fine(url: str) -> str:\n    return http_get(url)['text']\n"
    assert "capability 'http_get'" in str(check(fetches, "fine"))
    assert check(fetches, "fine", capabilities=["http_get:example.org"]).ok


def test_reasons_name_the_line_and_are_few() -> None:
    source = "def fine(x):\n" + "    eval(x)\n" * 40
    reasons = check(source, "fine").reasons
    assert ["Line 2", "Line 3"] == [reason.partition(":")[0] for reason in reasons[:2]]
    assert "And 32 more." == reasons[-1]


def test_compiler_takes_its_own_verdict() -> None:
    assert compile_check(FINE).ok
    assert "'return' outside function" in str(compile_check("return 1\n"))


def test_worker_that_is_late_is_ended_and_the_next_source_gets_another() -> None:
    before = children(os.getpid())
    checker = Checker(seconds=5.0)
    assert checker.ask(request(FINE)).ok
    (worker,) = children(os.getpid()) - before
    os.kill(worker, signal.SIGSTOP)
    checker.seconds = 0.1
    assert "did not come to an end" in str(checker.ask(request(FINE)))
    assert gone(worker)
    checker.seconds = 5.0
    assert checker.ask(request(FINE)).ok
    checker.close()


def test_worker_that_dies_is_a_refusal_and_the_next_source_gets_another() -> None:
    checker = Checker(seconds=5.0)
    assert "broke down" in str(checker.ask({"do": "check", "source": FINE}))
    assert checker.ask(request(FINE)).ok
    checker.close()


def test_schema_that_is_not_json_is_a_refusal() -> None:
    assert "not JSON" in str(check(FINE, "fine", {"x": {1, 2}}))


def test_threads_share_one_worker() -> None:
    verdicts: list[bool] = []
    threads = [threading.Thread(target=lambda: verdicts.append(check(FINE, "fine").ok)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert [True] * 8 == verdicts


@pytest.mark.parametrize(
    "source",
    [
        "\n".join(f"def f{n}(): pass" for n in range(1400)) + "\ndef fine(): pass\n",
        "def fine():\n    return (" + " + ".join("a" * 2 for _ in range(60)) + ")\n",
        "\n".join(f"x{n} = [x{n - 1}]" for n in range(1, 1400)) + "\ndef fine(): pass\n",
        "f = " + "+\\\n".join("'x'" for _ in range(1400)) + "\ndef fine(): pass\n",
        "def fine():\n" + "\n".join(f"    df.agg(x{n})" for n in range(1400)) + "\n",
        "x = {}\n" + "\n".join(f"df.agg(x[{n}])" for n in range(1400)) + "\ndef fine(): pass\n",
        "x = {'a': len}\n" + "\n".join(f"df.agg(x[{n}])" for n in range(1400)) + "\ndef fine(): pass\n",
        "import math\n" + "\n".join("import math" for _ in range(1400)) + "\ndef fine(): pass\n",
        "\n".join(f"import math as m{n}" for n in range(1400)) + "\ndef fine(): pass\n",
        "é" * 59_000,
        "#" + "é\n#" * 1400 + "\ndef fine(): pass\n",
    ],
)
def test_source_that_is_slow_to_judge_holds_nobody_up(source: str) -> None:
    check(FINE, "fine")
    began = time.perf_counter()
    check(source, "fine")
    assert time.perf_counter() - began < PROMPT
