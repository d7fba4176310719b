import random
from collections.abc import Iterator

import pytest

from agent_magics.talk import Saying
from agent_magics.ui.markdown import html

from .front import FrontEnd
from .test_panel import Shown
from .turns import began, replied

TOKENS = 20_000
LINES = 1_500
SENTENCES = (
    "The mean of `speed` is **34.2** in the sample, a little above what was expected.",
    "See [the notes](https://example.org/notes) for how *outliers* were found and why they stay.",
    "With $n = 1284$ the interval is narrow enough to tell vans from cars.",
)
BLOCKS = (
    "## A heading",
    "- one item with `code`\n- another item\n  that goes on\n- a third",
    "| vehicle | trips | mph |\n|:--|--:|--:|\n| car | 611 | 41.5 |\n| van | 402 | 34.2 |",
    "```python\ntrips['fpf'] = trips['mph'] * 2688\n\nprint(trips.describe())\n```",
)


def answer(seed: int = 7) -> list[str]:
    """A long answer of ordinary blocks, as about 20,000 tokens."""
    chance = random.Random(seed)
    text = ""
    while len(text) < 5 * TOKENS:
        sentences = " ".join(chance.choices(SENTENCES, weights=(5, 5, 1), k=chance.randint(2, 7)))
        text += sentences + "\n\n" + (chance.choice(BLOCKS) + "\n\n" if chance.random() < 0.4 else "")
    return [text[at : at + 5] for at in range(0, len(text), 5)]


def paced(tokens: list[str], seconds: float, between: float = 0.04) -> Iterator[list[str]]:
    """The tokens that come between two drawings."""
    each = max(1, round(len(tokens) * between / seconds))
    for at in range(0, len(tokens), each):
        yield tokens[at : at + each]


def play(shown: Shown, tokens: list[str], seconds: float) -> tuple[int, int]:
    """Stream these tokens in so much time; how many messages and bytes that took."""
    shown.play(began())
    messages, size = shown.front.messages, shown.front.bytes
    for batch in paced(tokens, seconds):
        shown.play(*(Saying(text=token) for token in batch), after=0.04)
    shown.play(replied("".join(tokens)), after=0.04)
    return shown.front.messages - messages, shown.front.bytes - size


@pytest.mark.parametrize("seconds", [0.5, 10, 45])
def test_a_long_answer_costs_a_bounded_number_of_messages_and_bytes(front: FrontEnd, seconds: float):
    messages, size = play(Shown(front), answer(), seconds)

    assert messages <= 1_500
    assert size <= 4_000_000


@pytest.mark.parametrize(
    "tokens",
    [
        ["```python\n", *["x = f(1)\n"] * LINES],
        ["| a | b |\n|--|--|\n", *["| 1 | 2 |\n"] * LINES],
        ["- an ", "item ", "with ", "a few ", "words\n"] * LINES,
        ["word "] * (8 * LINES),
    ],
    ids=["fence", "table", "list", "paragraph"],
)
def test_a_block_that_never_ends_is_sent_ever_less_often(front: FrontEnd, tokens: list[str]):
    _, size = play(Shown(front), tokens, 10)

    assert size <= 80 * sum(map(len, tokens)) + 1_000_000


def test_a_long_answer_shows_the_same_pieces_as_the_whole(front: FrontEnd):
    tokens = answer()
    shown = Shown(front)
    play(shown, tokens, 10)

    text = [model["value"] for _, model in front.seen() if str(model.get("_model_name")).startswith("HTML")]
    assert html("".join(tokens)) in "".join(str(value) for value in text)


def test_what_is_frozen_is_never_touched_again(front: FrontEnd):
    shown = Shown(front)
    last: dict[str, int] = {}
    shown.play(began())
    for batch in paced(answer(), 10):
        shown.play(*(Saying(text=token) for token in batch), after=0.04)
        (box,) = [model for _, model in front.seen() if "agm-text" in model.get("_dom_classes", ())]
        frozen = [child.removeprefix("IPY_MODEL_") for child in box["children"][:-1]]
        for child in frozen:
            count = sum(id_ == child for id_, _ in front.updates)
            assert last.setdefault(child, count) == count


def test_mathematics_is_typeset_once_it_is_final(front: FrontEnd):
    shown = Shown(front)
    shown.play(began(), Saying(text="So $a^2$ is it.\n\nAnd"))
    shown.play(Saying(text=" more.\n\nEnd."))

    kinds = [model["_model_name"] for _, model in front.seen() if "<p " in str(model.get("value"))]
    assert ["HTMLMathModel", "HTMLModel"] == kinds
