from hypothesis import given
from hypothesis import strategies as st

from agent_magics.ui.text import arriving, encodable, escape, marked, one_line, prose, visible

BIDI = "\u202e\u2066\u200b\u00ad\ufeff\U000e0041\u3164\u2800\ufe0f\u00a0\x07\x1b"


def test_characters_that_hide_or_turn_are_spelled_out():
    shown = visible(f"rm{BIDI}-rf")

    assert "rm⟨U+202E⟩⟨U+2066⟩⟨U+200B⟩⟨U+00AD⟩⟨U+FEFF⟩⟨U+E0041⟩" in shown
    assert all(char.isprintable() for char in shown)
    assert not set(shown) & set(BIDI)


def test_ordinary_text_of_any_script_stays_as_it_is():
    for text in ("naïve café", "Ελληνικά", "日本語", "עברית", "emoji 🚲", "a\tb\nc"):
        assert text == visible(text)


@given(st.text())
def test_what_is_visible_stays_visible(text: str):
    shown = visible(text)

    assert all(char.isprintable() or char in "\t\n" for char in shown)
    assert shown == visible(shown)


def test_terminal_codes_are_gone_from_prose():
    assert "red link" == prose("\x1b[31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07")


def test_control_characters_and_lone_surrogates_are_gone_from_prose():
    assert "ab\n\tc\ufffd" == prose("a\x00b\r\n\tc\x7f\ud800")


@given(
    st.lists(
        st.sampled_from(["\x1b", "[", "3", "1m", "]", "\x07", "\x9b", "a", "\r", "\n", "\\"]), max_size=12
    )
)
def test_a_terminal_code_is_gone_wherever_the_stream_was_cut(pieces: list[str]):
    shown, held = "", ""
    for piece in pieces:
        clean, held = arriving(held + piece)
        shown += clean

    assert prose("".join(pieces)) == shown + prose(held)


@given(st.text())
def test_escaped_text_has_no_tag_and_no_delimiter_of_mathematics(text: str):
    escaped = escape(text)

    assert "<" not in escaped.replace("<span>", "").replace("</span>", "")
    assert escaped.count("$") == escaped.count("<span>$</span>")


def test_our_own_messages_show_commands_as_code():
    assert "Set <code>a&lt;b</code>,<br>or <code>c</code>." == marked("Set `a<b`,\nor `c`.")


def test_a_lone_backtick_in_a_message_stays_a_backtick():
    assert "it`s" == marked("it`s")


def test_one_line_is_cut_with_an_ellipsis():
    assert "one two…" == one_line("one\n two   three four", 8)


def test_halves_of_surrogate_pairs_become_replacement_characters():
    assert {"a\ufffd": ["\ufffd", 1, None]} == encodable({"a\ud800": ["\udfff", 1, None]})
