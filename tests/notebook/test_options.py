"""What a magic's line asks for: options first, then a prompt that is prose."""

from __future__ import annotations

import pytest

from agent_magics.errors import UsageError
from agent_magics.notebook.options import OPTIONS, help_text, parse


@pytest.mark.parametrize(
    ("line", "prompt", "values"),
    [
        ("", "", {}),
        ("what is 2 + 2?", "what is 2 + 2?", {}),
        ("--into answer what is it?", "what is it?", {"into": "answer"}),
        ("--into=answer what?", "what?", {"into": "answer"}),
        ("answer << what is it?", "what is it?", {"into": "answer"}),
        ("answer <<", "", {"into": "answer"}),
        ("answer << --strict what?", "what?", {"into": "answer", "strict": True}),
        ("-p demo -m small hello", "hello", {"provider": "demo", "model": "small"}),
        ("--provider 'llama:/my models/a.gguf' hi", "hi", {"provider": "llama:/my models/a.gguf"}),
        ('--provider="llama:/my models/a.gguf" hi', "hi", {"provider": "llama:/my models/a.gguf"}),
        ("--max-rounds 3 hi", "hi", {"max-rounds": 3}),
        ("--budget 0.50 hi", "hi", {"budget": 0.5}),
        ("--budget $2 hi", "hi", {"budget": 2.0}),
        ("--max-seconds 90 hi", "hi", {"max-seconds": 90.0}),
        ("--max-total-tokens 5000 hi", "hi", {"max-total-tokens": 5000}),
        ("-- --into is an option", "--into is an option", {}),
        ("-5 degrees in Fahrenheit?", "-5 degrees in Fahrenheit?", {}),
        ("- a list", "- a list", {}),
        ("don't --into what?", "don't --into what?", {}),
        ("a << b and c << d", "b and c << d", {"into": "a"}),
        ("1 << 3 is what?", "1 << 3 is what?", {}),
        ("what is a<<b?", "what is a<<b?", {}),
    ],
)
def test_a_line_is_read_as_options_and_then_a_prompt(line, prompt, values):
    request = parse(line)
    assert (prompt, values) == (request.prompt, request.values)


def test_text_on_the_line_begins_the_prompt_and_the_cell_goes_on_with_it():
    assert (
        "Look at this:\n  indented\n\nand this" == parse("Look at this:", "\n  indented\n\nand this\n").prompt
    )


def test_nothing_in_a_cell_is_taken_for_an_option():
    assert ("--into x\n{a} $b 'c", {}) == (
        parse("", "--into x\n{a} $b 'c").prompt,
        parse("", "--into x").values,
    )


@pytest.mark.parametrize(
    ("line", "what", "why"),
    [
        ("--int x", "Unknown option: --int.", "Did you mean --into?"),
        ("--nope", "Unknown option: --nope.", "No option is close to it."),
        ("--zzz", "Unknown option: --zzz.", "No option is close to it."),
        ("--into", "--into needs a value.", "It is written --into NAME."),
        ("--into a-b x", "--into takes the name of a variable, not 'a-b'.", ""),
        ("--into lambda x", "--into takes the name of a variable, not 'lambda'.", ""),
        ("--budget 0 x", "--budget takes a number above 0, not '0'.", "It is the most US dollars"),
        ("--budget much x", "--budget takes a number above 0, not 'much'.", "It is the most US dollars"),
        ("--max-seconds nan x", "--max-seconds takes a number above 0, not 'nan'.", ""),
        ("--max-rounds 0 x", "--max-rounds takes a number of at least 1, not '0'.", ""),
    ],
)
def test_what_is_no_option_is_refused_with_what_would_be(line, what, why):
    with pytest.raises(UsageError) as raised:
        parse(line)
    assert what == raised.value.what
    assert raised.value.why.startswith(why)
    assert raised.value.remedy


@pytest.mark.parametrize("plain", [True, False])
def test_the_help_lists_every_option(plain):
    text = help_text(plain=plain)
    assert all(option.usage in text and option.summary in text for option in OPTIONS)


@pytest.mark.parametrize("name", ["get_ipython", "__builtins__", "_turn", "In", "class"])
@pytest.mark.parametrize("line", ["--into {} hi", "{} << hi"])
def test_a_reply_can_not_take_a_name_that_the_notebook_stands_on(line, name):
    with pytest.raises(UsageError, match="--into takes the name of a variable"):
        parse(line.format(name))
