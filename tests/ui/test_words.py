import pytest

from agent_magics.talk import STOPS, Usage
from agent_magics.ui.rows import last_sentence
from agent_magics.ui.words import ENDS, brief_arguments, elapsed, meter, seconds


@pytest.mark.parametrize(
    ("time", "shown"),
    [
        (0.0, "0 ms"),
        (0.0123, "12 ms"),
        (0.9996, "1.0 s"),
        (2.44, "2.4 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 min 00 s"),
        (64.2, "1 min 04 s"),
        (3600, "60 min 00 s"),
    ],
)
def test_a_duration_has_three_figures_at_most(time: float, shown: str):
    assert shown == seconds(time)


def test_elapsed_time_counts_whole_seconds():
    assert ["0 s", "3 s", "1 min 00 s"] == [elapsed(0.9), elapsed(3.99), elapsed(60)]


@pytest.mark.parametrize(
    ("usage", "arriving", "shown"),
    [
        (Usage(), 0, "3 s"),
        (Usage(input=1), 0, "3 s · 1 token"),
        (Usage(input=6000, output=318), 0, "3 s · 6,318 tokens"),
        (Usage(input=6000), 84, "3 s · ~6,084 tokens"),
    ],
)
def test_the_meter_tells_what_is_known_from_what_is_estimated(usage: Usage, arriving: int, shown: str):
    assert shown == meter(3.2, usage, arriving)


def test_arguments_are_brief_and_visible():
    arguments = {"path": "data/\u202etrips.csv", "lines": [1, 40], "text": "x" * 500}

    brief = brief_arguments(arguments)
    assert brief.startswith('path="data/⟨U+202E⟩trips.csv", lines=[1, 40], text="xxx')
    assert brief.endswith("…")
    assert len(brief) <= 90


def test_every_stop_but_done_has_its_words():
    assert set(STOPS) - {"done"} == ENDS.keys()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", ""),
        ("Look fi", "Look fi"),
        ("Look first. Then an", "Look first."),
        ("# A **plan**\nOne is `x`. Tw", "One is x."),
    ],
)
def test_the_last_whole_sentence_stands_for_a_thought(text: str, sentence: str):
    assert sentence == last_sentence(text)
