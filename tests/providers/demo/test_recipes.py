"""Recipes: what is handed out is real, checked source, and the rules compute the same."""

from __future__ import annotations

import datetime as dt
import inspect
import re
import statistics

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_magics.forge import check
from agent_magics.providers.demo import recipes
from agent_magics.providers.demo.lexicon import Lexicon
from agent_magics.providers.demo.passage import Passage
from agent_magics.providers.demo.recipes.book import counts, dates, lists, texts
from agent_magics.providers.demo.recipes.draft import MODULES, draft_of
from tests.providers.demo.conversation import compiled

BOOK = [
    function
    for module in (counts, dates, lists, texts)
    for function in vars(module).values()
    if inspect.isfunction(function)
]
REQUESTS = {
    'How many words are in "the cat sat"?': "count_words",
    "count_vowels": "count_vowels",
    "Write a tool that counts the consonants in a text": "count_consonants",
    "how many different words are in this text: a b a": "count_unique_words",
    "How many characters has “naïve”?": "count_characters",
    "how many letters are in banana": "count_letters",
    "count the digits of 'a1b2'": "count_digits",
    "how many lines does this text have?\n\nx\ny": "count_lines",
    "number of sentences in 'Stop. Go!'": "count_sentences",
    'How often does "an" occur in "banana"?': "count_occurrences",
    "letter frequency of 'hello'": "letter_frequency",
    "the 3 most common words of 'a b a'": "common_words",
    "What is the longest word in 'a bb ccc'?": "longest_word",
    "is 'racecar' a palindrome?": "is_palindrome",
    "reverse 'stressed'": "reverse_text",
    "summarise this text: One. Two. Three. Four.": "summarise_text",
    "how many days are between 3 May 2024 and 1 June 2024?": "days_between",
    "working days between 2024-03-01 and 2024-03-08": "working_days_between",
    "what weekday was 20 July 1969?": "weekday_of",
    "what date is 90 days after 31 January 2024?": "add_days",
    "is 2024 a leap year": "is_leap_year",
    "the mean of 3, 5 and 9": "mean_of",
    "median of 1, 2 and 4": "median_of",
    "standard deviation of 1, 2, 3": "standard_deviation_of",
    "sum of the numbers 1, 2": "sum_of",
    "smallest of the numbers 3, 1 and 2": "smallest_of",
    "what is the largest of these numbers: 3, 1, 2": "largest_of",
    "mean of a column of numbers by group": "mean_by_group",
    "a tool for the median of values per group": "median_by_group",
    "celsius_to_kelvin": "celsius_to_kelvin",
    "a tool that converts miles per hour to km/h": "miles_per_hour_to_kilometres_per_hour",
    "bytes to MiB": "bytes_to_mebibytes",
}


@pytest.mark.parametrize("request_, name", REQUESTS.items())
def test_a_request_gets_the_tool_that_it_asks_for(request_, name):
    draft = recipes.write(request_)
    assert draft is not None
    assert name == draft.name


@pytest.mark.parametrize("request_", REQUESTS)
def test_every_draft_passes_the_check_and_works_for_its_example(request_):
    draft = recipes.write(request_)
    assert draft is not None
    verdict = check(draft.source, draft.name, draft.parameters)
    assert () == tuple(verdict.reasons)
    jsonschema.validate(draft.example, draft.parameters)
    assert re.fullmatch(r"[a-z][a-z0-9_]{2,49}", draft.name)
    assert set(re.findall(r"^import (\w+)", draft.source, re.MULTILINE)) <= set(MODULES)
    assert re.search(r'"""[A-Z].*Parameters\n', draft.source, re.DOTALL)
    compiled(draft.source, draft.name)(**draft.example)


@pytest.mark.parametrize("function", BOOK, ids=lambda function: function.__name__)
def test_the_book_hands_out_what_it_runs_and_every_page_can_be_asked_for(function):
    draft = draft_of(function, {})
    assert draft.source.endswith(inspect.getsource(function))
    assert check(draft.source, draft.name, draft.parameters).ok
    assert function.__name__ in REQUESTS.values()


@pytest.mark.parametrize(
    "request_",
    [
        "",
        "Write me a sonnet.",
        "what is the largest planet?",
        "hello",
        "{}",
        "in",
        "mean",
        "convert",
        "9" * 10_000,
    ],
)
def test_what_no_recipe_knows_gets_none(request_):
    assert recipes.write(request_) is None


def test_a_renamed_draft_is_the_same_tool_under_another_name():
    draft = recipes.write("celsius to kelvin")
    assert draft is not None
    other = draft.renamed("celsius_to_kelvin_2")
    assert 303.15 == compiled(other.source, "celsius_to_kelvin_2")(30)
    assert {"name", "description", "parameters", "source", "example"} == set(other.arguments())


texts_ = st.text(
    alphabet=st.characters(blacklist_characters="\"“”'`", blacklist_categories=("Cs",)), min_size=1
)


@settings(max_examples=50)
@given(texts_.filter(str.strip))
def test_counts_of_any_text_agree_with_counts_by_hand(text):
    def answer(what: str) -> object:
        job = recipes.understand(Passage.of(f'how many {what} are in "{text}"?'), Lexicon())
        assert job is not None and not job.hole
        return job.work(**job.arguments)

    assert len(text) == answer("characters")
    assert sum(character in "aeiou" for character in text.lower()) == answer("vowels")
    assert len(text.splitlines()) == answer("lines")
    assert len([character for character in text if character.isdigit()]) == answer("digits")


@settings(max_examples=50)
@given(st.dates(), st.dates())
def test_days_between_any_two_dates_are_counted(first, second):
    draft = recipes.write(f"how many days are between {first.isoformat()} and {second.isoformat()}?")
    assert draft is not None
    assert (second - first).days == compiled(draft.source, draft.name)(**draft.example)


@settings(max_examples=50)
@given(st.dates(min_value=dt.date(1900, 1, 1), max_value=dt.date(2100, 1, 1)))
def test_a_date_in_any_form_is_the_same_day(day):
    forms = (
        f"{day:%Y-%m-%d}",
        f"{day.day} {day:%B} {day.year}",
        f"{day:%b} {day.day}, {day.year}",
        f"{day.day}.{day.month}.{day.year}",
    )
    for form in forms:
        draft = recipes.write(f"which day of the week is {form}?")
        assert draft is not None
        assert {"day": day.isoformat()} == draft.example, form


@settings(max_examples=50)
@given(st.dates(dt.date(1600, 1, 1), dt.date(2400, 1, 1)), st.integers(0, 5000), st.booleans())
def test_days_are_added_and_taken_away(day, days, back):
    draft = recipes.write(f"what date is {days} days {'before' if back else 'after'} {day.isoformat()}?")
    assert draft is not None
    expected = day + dt.timedelta(days=-days if back else days)
    assert expected.isoformat() == compiled(draft.source, draft.name)(**draft.example)


@settings(max_examples=50)
@given(st.lists(st.integers(-1000, 1000), min_size=2, max_size=12))
def test_statistics_of_any_numbers_agree_with_the_library(numbers):
    listed = ", ".join(map(str, numbers[:-1])) + f" and {numbers[-1]}"
    for word, function in (
        ("mean", statistics.fmean),
        ("median", statistics.median),
        ("standard deviation", statistics.stdev),
    ):
        draft = recipes.write(f"what is the {word} of {listed}?")
        assert draft is not None
        assert numbers == draft.example["values"]
        assert function(numbers) == pytest.approx(compiled(draft.source, draft.name)(**draft.example))


@settings(max_examples=50)
@given(st.dates(dt.date(2000, 1, 1), dt.date(2030, 1, 1)), st.integers(0, 400))
def test_working_days_are_those_from_monday_to_friday(first, days):
    last = first + dt.timedelta(days=days)
    expected = sum((first + dt.timedelta(days=day)).weekday() < 5 for day in range(days))
    assert expected == dates.working_days_between(first.isoformat(), last.isoformat())
