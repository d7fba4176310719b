import io

from hypothesis import given
from hypothesis import strategies as st

from agent_magics.talk import Compacting, Event, Noticed, Retrying, Saying, Thinking
from agent_magics.ui.plain import PlainView, question

from .turns import SOURCE, answered, asked, began, call, ended, replied, returned, started, with_a_call


def shown(*events: Event, styled: bool = False) -> str:
    out = io.StringIO()
    view = PlainView(out, styled=styled)
    for event in events:
        view(event)
    return out.getvalue()


def test_the_answer_comes_as_it_is_said():
    assert "It has 7." == shown(Saying(text="It h"), Saying(text="as 7."))


def test_thinking_and_answer_each_begin_on_their_own_line_and_thinking_is_dim():
    assert "\x1b[2mHm.\x1b[22m\nSo." == shown(Thinking(text="Hm."), Saying(text="So."), styled=True)


def test_a_call_is_one_line_when_it_has_returned():
    events = with_a_call()[:5]

    assert '· inspect(name="trips") → 7  12 ms ✓\n' == shown(*events)


def test_a_turn_ends_with_what_it_took():
    assert "Hi\n[m-1 · 3 s · 120 tokens]\n" == shown(began(), Saying(text="Hi"), replied("Hi"), ended("Hi"))


def test_an_error_says_its_lines():
    error = "No key.\nBoth are empty.\nSet it."

    assert "No key.\nBoth are empty.\nSet it.\n[m-1 · 3 s · 120 tokens]\n" == shown(
        began(), ended(stop="provider_error", error=error)
    )


def test_retries_and_notices_are_lines():
    assert "… again in 7 s (2 of 3): 529\n! Nobody was asked.\n" == shown(
        Retrying(attempt=2, tries=3, delay=7, why="529"), Noticed(text="Nobody was asked.", at=0.0)
    )


def test_summing_up_is_a_line():
    assert "… summing up earlier messages\n" == shown(Compacting())


def test_the_answer_goes_to_one_place_and_everything_else_aside():
    out, aside = io.StringIO(), io.StringIO()
    view = PlainView(out, aside)
    for event in (began(), Thinking(text="Hm."), Saying(text="Hi"), replied("Hi"), ended("Hi")):
        view(event)

    assert "Hi\n" == out.getvalue()
    assert "Hm.\n[m-1 · 3 s · 120 tokens]\n" == aside.getvalue()


def test_a_question_shows_everything_that_would_run():
    of = call(name="run_python", code=SOURCE, timeout=5)

    assert question(asked(of, facts=(("May use", "nothing"),))).split("\n") == [
        "Run this? run_python",
        "It runs code.",
        "   1  def area(r):",
        "   2      return 3.14 * r * r",
        "timeout = 5",
        "May use: nothing",
        "Your answer is bound to this text (sha256 9f2c41d7). "
        "Without an answer it counts as rejected in 10 minutes.",
    ]


@given(st.lists(st.text(alphabet="\x1b[]31m\x07\x9b\r\nab\u202e"), max_size=5))
def test_nothing_that_is_said_steers_the_terminal(texts: list[str]):
    said = [Saying(text=text) for text in texts]
    of = call(name="".join(texts), a="".join(texts))
    events = [
        began(),
        *said,
        replied("", "", of),
        started(of),
        asked(of, source="".join(texts)),
        answered(comment="".join(texts)),
        returned(brief="".join(texts)),
        Noticed(text="".join(texts), at=0.0),
    ]

    assert not set(shown(*events)) & set("\x1b\x07\x9b\r")
