"""Reading a model file's own description."""

from __future__ import annotations

import pytest

from agent_magics.errors import ConfigError
from agent_magics.providers.local.header import read_header
from tests.providers.tiny_model import TEMPLATE, WINDOW, write_tiny_model


def test_the_header_tells_window_and_template(tiny):
    header = read_header(tiny)
    assert ("tiny-random", "llama", WINDOW, TEMPLATE) == (
        header.name,
        header.architecture,
        header.window,
        header.template,
    )
    assert not header.takes_tools


def test_a_template_that_speaks_of_tools_takes_them(tmp_path):
    assert read_header(
        write_tiny_model(tmp_path / "t.gguf", template="{% if tools %}x{% endif %}")
    ).takes_tools


def test_what_is_no_model_is_refused_in_three_lines(tmp_path, tiny):
    cases = {
        "missing.gguf": None,
        "empty.gguf": b"",
        "text.gguf": b"hello " * 100,
        "cut.gguf": tiny.read_bytes()[:100],
    }
    for name, data in cases.items():
        path = tmp_path / name
        if data is not None:
            path.write_bytes(data)
        with pytest.raises(ConfigError) as caught:
            read_header(path)
        assert len(str(caught.value).splitlines()) == 3
