"""The text inside a JSON object, while the object still arrives."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from agent_magics.providers.partial_json import TextField
from tests.providers.streams import awkward, places


@given(awkward, places, st.booleans(), st.sampled_from(["", " ", "\n  "]))
def test_the_text_is_the_same_however_the_json_is_cut(said, where, ascii_only, space):
    written = (
        json.dumps({"answer": said}, ensure_ascii=ascii_only).replace('{"', "{" + space + '"', 1) + space
    )
    edges = sorted({place % (len(written) + 1) for place in where})
    pieces = [written[start:end] for start, end in zip([0, *edges], [*edges, len(written)], strict=True)]
    field = TextField("answer")
    assert said == "".join(field.feed(piece) for piece in pieces)


def test_letters_are_told_as_soon_as_they_are_there():
    field = TextField("answer")
    assert ["", "", "H", "i", "", "!", ""] == [
        field.feed(piece) for piece in ('{"answer"', ': "', "H", "i", "\\", "u0021", '"}')
    ]


def test_another_field_tells_nothing():
    field = TextField("answer")
    assert ["", ""] == [field.feed(piece) for piece in ('{"steps": [{"tool": "a", ', '"answer": "no"}]}')]


def test_what_follows_the_text_is_not_part_of_it():
    field = TextField("answer")
    assert ["a", ""] == [field.feed(piece) for piece in ('{"answer": "a", "b": "c"', ', "d": "e"}')]
