"""The stream decoders: the same events, however the bytes were cut."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from agent_magics.providers.sse import SSE, Lines
from tests.providers.streams import awkward, byte_by_byte, cuts, encode_sse, frames_of, places

texts = st.lists(awkward.map(lambda text: {"text": text}), min_size=1, max_size=6)


@given(texts, places, st.sampled_from(["\n", "\r\n", "\r"]), st.booleans(), st.booleans())
def test_events_are_the_same_wherever_the_bytes_are_cut(payloads, where, line_end, done, pings):
    data = encode_sse(payloads, line_end=line_end, done=done, pings=pings)
    expected = [json.dumps(payload, ensure_ascii=False) for payload in payloads] + ["[DONE]"] * done
    for chunks in ([data], byte_by_byte(data), cuts(data, where)):
        assert expected == frames_of(chunks, SSE())


@given(texts, places, st.sampled_from(["\n", "\r\n"]))
def test_lines_are_the_same_wherever_the_bytes_are_cut(payloads, where, line_end):
    expected = [json.dumps(payload, ensure_ascii=False) for payload in payloads]
    data = line_end.join(expected).encode()
    for chunks in ([data], byte_by_byte(data), cuts(data, where)):
        assert expected == frames_of(chunks, Lines())


def test_unicode_line_separators_in_a_text_do_not_end_a_line():
    text = "before\u2028between\u0085after"
    assert [f'{{"a":"{text}"}}'] == frames_of([f'data: {{"a":"{text}"}}\n\n'.encode()], SSE())


def test_data_over_several_lines_is_joined_by_line_feeds():
    assert ["one\ntwo"] == frames_of([b"data: one\ndata: two\n\n"], SSE())


def test_comments_ids_and_blank_lines_are_not_events():
    assert ["x"] == frames_of([b"\xef\xbb\xbf: hi\n\n\n\nid: 3\nretry: 10\n\nevent: e\ndata:x\n\n\n"], SSE())


def test_an_event_whose_last_blank_line_never_came_is_still_read_at_the_end():
    assert ["x"] == frames_of([b"data: x"], SSE())


def test_bytes_that_are_not_utf8_become_replacement_characters_and_harm_nothing_else():
    assert ["a�b", "c"] == frames_of([b"data: a\xffb\n\ndata: c\n\n"], SSE())
