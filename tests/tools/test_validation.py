"""Arguments against JSON Schema, draft 2020-12."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from agent_magics.tools.validation import Validator


@pytest.mark.parametrize(
    ("schema", "value", "problems"),
    [
        ({"type": "object", "required": ["a"]}, {}, ["'a' is a required property"]),
        (
            {"properties": {"a": {"items": {"type": "integer"}}}},
            {"a": [1, "2"]},
            ["a/1: '2' is not of type 'integer'"],
        ),
        ({"$defs": {"n": {"minimum": 5}}, "$ref": "#/$defs/n"}, 3, ["3 is less than the minimum of 5"]),
        ({"prefixItems": [{"type": "string"}], "items": False}, ["a"], []),
        ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, ["'b' is a dependency of 'a'"]),
        ({"type": "integer"}, True, ["True is not of type 'integer'"]),
    ],
    ids=repr,
)
def test_a_problem_says_what_and_where(schema, value, problems):
    assert problems == Validator(schema).problems(value)


def test_a_long_problem_is_cut():
    (problem,) = Validator({"type": "integer"}).problems("x" * 10_000)
    assert 300 == len(problem)


def test_a_schema_never_reaches_for_the_network():
    asked: list[str] = []

    class Listening(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

    with HTTPServer(("127.0.0.1", 0), Listening) as server:
        serving = threading.Thread(target=server.serve_forever, daemon=True)
        serving.start()
        try:
            url = f"http://127.0.0.1:{server.server_port}/schema.json"
            with pytest.raises(Exception, match="Unresolvable"):
                Validator({"$ref": url}).problems({})
        finally:
            server.shutdown()
    assert [] == asked
