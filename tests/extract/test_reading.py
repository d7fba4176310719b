"""The JSON in a reply."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_magics.extract.reading import json_values

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ('{"a": 1}', [{"a": 1}]),
        ("  [1, 2]\n", [[1, 2]]),
        ("3", [3]),
        ('~~~json\n{"a": 1}\n~~~', [{"a": 1}]),
        ('````\n{"a": "```"}\n````', [{"a": "```"}]),
        ('Before\n```json\n{"a": 1}\n```\nthen\n```json\n{"a": 2}\n```', [{"a": 1}, {"a": 2}]),
        ('```json\n{"a": 1}\n```\nAgain: {"a": 1}', [{"a": 1}]),
        ('As [1] says: {"a": [1]}.', [{"a": [1]}]),
        ('{"a": 1}\n{"a": 2}', [{"a": 1}, {"a": 2}]),
        ('{"a": 1} or {"a": 1}', [{"a": 1}]),
        ("{a: 1} is not it", []),
        ('{"a": NaN}', []),
        ("__import__('os').getcwd()", []),
        ('{"a": "line\nbreak"}', [{"a": "line\nbreak"}]),
        ('{"a": "\\ud83d\\ude00"}', [{"a": "😀"}]),
        ('{"a": "\\ud83d"}', [{"a": "\ufffd"}]),
        ("[" * 100_000, []),
        ("{" * 100_000 + '"a"', []),
        ("", []),
    ],
)
def test_it_is_found_bare_fenced_and_in_prose(said, found):
    assert found == json_values(said)


@settings(deadline=None)  # the machine may be busy
@given(values, st.sampled_from(["{}", "```json\n{}\n```", "Here:\n\n~~~\n{}\n~~~\nDone."]))
def test_any_value_is_read_back_from_its_own_text(value, around):
    import json

    assert [value] == json_values(around.replace("{}", json.dumps(value)))


@settings(deadline=None)  # the machine may be busy
@given(st.text())
def test_no_text_is_too_much_for_it(text):
    assert isinstance(json_values(text), list)
