"""Known secrets are taken out of whatever holds text, and nothing else is changed."""

from __future__ import annotations

import json
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_magics import masking
from agent_magics.masking import MASK, MaskedStream, hide, look_around, masked
from agent_magics.talk import ReplyReceived, ToolCall, Usage
from agent_magics.tools.result import Results

SECRET = "planted-value-4a5b6c7d"


@pytest.fixture(autouse=True)
def planted(nothing_hidden: None) -> None:
    hide(SECRET)


def test_a_text_without_a_secret_is_the_same_object():
    for thing in ("plain", ["a", {"b": 1}], {"pk_customer_order_id": [1, None]}, ToolCall(id="1", name="f")):
        assert masked(thing) is thing


def test_a_secret_is_taken_out_at_any_depth():
    call = ToolCall(id="1", name="f", arguments={SECRET: [f"a{SECRET}b", {"x": (SECRET, 1)}]})
    assert masked(call).arguments == {MASK: [f"a{MASK}b", {"x": (MASK, 1)}]}
    deep: list[object] = [SECRET]
    for _ in range(5000):
        deep = [deep]
    at: object = masked(deep)
    while isinstance(at, list):
        at = at[0]
    assert at == MASK


def test_a_secret_is_known_as_json_and_as_an_address_writes_it():
    odd = 'quo"ted/secret+9'
    hide(odd)
    assert json.loads(masked(json.dumps({"key": odd}))) == {"key": MASK}
    assert masked("http://h/?key=quo%22ted%2Fsecret%2B9") == f"http://h/?key={MASK}"


@given(st.lists(st.integers(1, 30), max_size=30), st.text(max_size=20), st.text(max_size=20))
def test_a_secret_that_comes_in_pieces_is_never_shown(sizes: list[int], before: str, after: str):
    text, stream, shown = f"{before}{SECRET}{after}", MaskedStream(), list[str]()
    for size in sizes:
        shown.append(stream.take(text[:size]))
        text = text[size:]
    shown += [stream.take(text), stream.rest()]
    assert "".join(shown) == masked(f"{before}{SECRET}{after}")


def test_nothing_is_held_back_that_can_begin_no_secret():
    stream = MaskedStream()
    assert [stream.take(each) for each in ("Hel", "lo world, pla", "in text")] == [
        "Hel",
        "lo world, ",
        "plain text",
    ]
    assert stream.rest() == ""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("X_API_KEY", "no-digits-in-it"),
        ("GITHUB_TOKEN", "abcdefgh12345678"),
        ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCY"),
        ("DB_PASSWORD", "correct-horse-42-battery"),
    ],
)
def test_the_environment_tells_its_secrets_by_their_names(name: str, value: str):
    look_around({name: f" {value} "})
    assert masked(f"it is {value}.") == f"it is {MASK}."


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OPENAI_API_KEY", "lm-studio"),
        ("OPENAI_API_KEY", "none"),
        ("TOKENIZERS_PARALLELISM", "false"),
        ("SIGNING_KEY_FILE", "/home/me/.ssh/id_ed25519"),
        ("S3_KEY_PREFIX", "data/2024/raw-files"),
        ("KEYCLOAK_URL", "https://login.example:8443"),
        ("POSTGRES_PASSWORD", "postgres"),
        ("PLAIN", "abcdefgh87654321"),
    ],
)
def test_what_is_a_placeholder_a_path_or_a_plain_word_is_left_alone(name: str, value: str):
    look_around({name: value})
    assert masked(f"it is {value}.") == f"it is {value}."


def test_a_result_is_masked_before_it_is_cut():
    results = Results(limit=60)
    result = results.wrap("x" * 40 + SECRET + "y" * 200)
    told = (
        result.text
        + result.brief
        + "".join(str(results.more(str(result.handle), page)) for page in (1, 2, 3))
    )
    assert "planted" not in told
    assert MASK in told
    assert results.wrap(f"it is {SECRET}").text == '{"result": "it is [key]", "ok": true}'
    assert results.wrap({"error": SECRET}).brief == MASK


def test_a_log_holds_no_secret_also_not_in_a_traceback(caplog: pytest.LogCaptureFixture):
    masking.guard_logs()
    log = logging.getLogger("agent_magics")
    try:
        raise ValueError(f"no such key: {SECRET}")
    except ValueError:
        log.exception("failed with %s", SECRET)
    log.warning("plain %d", 5)
    assert SECRET not in caplog.text
    assert "ValueError: no such key: [key]" in caplog.text
    assert "plain 5" in caplog.text


def test_a_reply_keeps_what_has_no_secret():
    usage = Usage(input=1)
    reply = ReplyReceived(
        step=0, text=f"a {SECRET}", thinking="t", calls=(), stop="end", usage=usage, seconds=0.0, at=0.0
    )
    assert masked(reply).text == f"a {MASK}"
    assert masked(reply).usage is usage
