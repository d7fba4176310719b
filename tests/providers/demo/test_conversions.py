"""Conversions, against factors that this file states for itself."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_magics.providers.demo import recipes
from agent_magics.providers.demo.lexicon import Lexicon
from agent_magics.providers.demo.passage import Passage
from agent_magics.providers.demo.recipes import conversions
from agent_magics.providers.demo.units import UNITS, Unit, convert, line
from tests.providers.demo.conversation import Conversation, Maker, compiled

FACTORS = {
    "length": {
        "m": 1, "km": 1000, "cm": 0.01, "mm": 0.001, "inches": 0.0254, "feet": 0.3048, "yards": 0.9144,
        "miles": 1609.344, "nautical miles": 1852, "furlongs": 201.168,
    },
    "mass": {"kg": 1, "g": 0.001, "mg": 1e-6, "tonnes": 1000, "lb": 0.45359237, "oz": 0.028349523125},
    "time": {"s": 1, "minutes": 60, "hours": 3600, "days": 86400, "weeks": 604800, "fortnights": 1209600},
    "speed": {"m/s": 1, "km/h": 1 / 3.6, "mph": 0.44704, "knots": 1852 / 3600},
    "area": {"square metres": 1, "m²": 1, "hectares": 1e4, "acres": 4046.8564224, "square feet": 0.09290304},
    "volume": {"litres": 1, "ml": 0.001, "cubic metres": 1000, "gallons": 3.785411784, "cups": 0.2365882365},
    "data": {"bytes": 1, "bits": 0.125, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1024, "MiB": 1024**2},
    "energy": {"joules": 1, "kJ": 1e3, "kcal": 4184, "kWh": 3.6e6},
    "pressure": {"pascals": 1, "hPa": 100, "bar": 1e5, "atm": 101325},
}  # fmt: skip
PAIRS = [
    (factors[source] / factors[target], source, target)
    for factors in FACTORS.values()
    for source in factors
    for target in factors
    if factors[source] != factors[target]
]
TO_CELSIUS = {
    "celsius": lambda value: value,
    "°C": lambda value: value,
    "fahrenheit": lambda value: (value - 32) * 5 / 9,
    "degrees Fahrenheit": lambda value: (value - 32) * 5 / 9,
    "kelvin": lambda value: value - 273.15,
    "K": lambda value: value - 273.15,
}
QUESTIONS = (
    "convert {value} {source} to {target}",
    "What is {value} {source} in {target}?",
    "how many {target} are {value} {source}?",
    "please express {value} {source} as {target}",
    "{value} {source} in {target}",
)
values = st.floats(min_value=0.01, max_value=1e6).map(lambda value: round(value, 2))


def understood(prompt: str) -> conversions.Conversion:
    found = conversions.read(Passage.of(prompt).open, Lexicon.of(prompt))
    assert found is not None, prompt
    return found


@settings(max_examples=60)
@given(value=values, pair=st.sampled_from(PAIRS), question=st.sampled_from(QUESTIONS))
def test_any_number_of_any_unit_is_converted_in_any_wording(value, pair, question):
    ratio, source, target = pair
    job = conversions.job(understood(question.format(value=value, source=source, target=target)))
    assert math.isclose(value * ratio, job.work(**job.arguments), rel_tol=1e-9)


@settings(max_examples=60)
@given(value=values, pair=st.sampled_from(PAIRS))
def test_the_source_of_a_converter_computes_the_same(value, pair):
    ratio, source, target = pair
    draft = recipes.write(f"convert {value} {source} to {target}")
    assert draft is not None
    (argument,) = draft.example.values()
    assert value == argument
    assert math.isclose(value * ratio, compiled(draft.source, draft.name)(**draft.example), rel_tol=1e-9)


@settings(max_examples=60)
@given(
    value=st.floats(min_value=-200, max_value=5000).map(lambda value: round(value, 1)),
    source=st.sampled_from(list(TO_CELSIUS)),
    target=st.sampled_from(["celsius", "fahrenheit", "kelvin"]),
)
def test_temperatures_have_their_own_zero(value, source, target):
    celsius = TO_CELSIUS[source](value)
    name = {"°C": "celsius", "degrees Fahrenheit": "fahrenheit", "K": "kelvin"}.get(source, source)
    if celsius < -273.15 or name == target:
        return
    expected = {"celsius": celsius, "fahrenheit": celsius * 9 / 5 + 32, "kelvin": celsius + 273.15}[target]
    draft = recipes.write(f"convert {value} {source} to {target}")
    assert draft is not None
    assert math.isclose(expected, compiled(draft.source, draft.name)(**draft.example), abs_tol=1e-6)


@settings(max_examples=60)
@given(
    name=st.text("abcdefghijklmnopqrtuvwxyz", min_size=5, max_size=9).map(lambda text: f"q{text}"),
    size=st.floats(min_value=0.01, max_value=1000).map(lambda value: round(value, 2)),
    value=st.integers(1, 10_000),
)
def test_units_that_the_prompt_makes_up_are_converted(name, size, value):
    prompt = f"A {name} is {size} metres. How many {name}s is {value} km?"
    draft = recipes.write(prompt)
    assert draft is not None
    assert f"1 {name} =" in draft.description
    assert math.isclose(
        value * 1000 / size, compiled(draft.source, draft.name)(kilometres=value), rel_tol=1e-9
    )


def test_made_up_units_may_rest_on_each_other():
    found = understood("A zib is 12 blorps. A blorp is 3 snorks. How many snorks are 5 zibs?")
    assert 180 == convert(5, found.source, found.target)


def test_rates_and_powers_are_composed():
    assert math.isclose(
        100 / 3.6 / (201.168 / 1209600),
        convert(100, *_units("km/h", "furlongs per fortnight")),
    )
    assert math.isclose(40468.564224, convert(1, *_units("square furlongs", "m^2")))
    assert math.isclose(0.001, convert(1, *_units("cubic decimetres", "m³")))


def test_amounts_in_two_units_are_one():
    found = understood("How many cm are 5 ft 11 in?")
    assert found.value is not None
    assert math.isclose(180.34, convert(found.value, found.source, found.target))


@pytest.mark.parametrize("digits", ["३०", "٣٠", "３０", "30", "thirty"])
def test_numbers_of_every_script_are_read(digits):
    assert 30 == understood(f"convert {digits} celsius to fahrenheit").value


def test_every_pair_of_units_of_a_kind_has_source_that_compiles_and_agrees():
    for source in UNITS.values():
        for target in UNITS.values():
            if source.kind != target.kind or source is target:
                continue
            draft = conversions.job(conversions.Conversion(value=7, source=source, target=target)).draft
            computed = compiled(draft.source, draft.name)(**draft.example)
            assert math.isclose(convert(7, source, target), computed, rel_tol=1e-9, abs_tol=1e-9), draft.name


def test_there_and_back_again_is_where_it_began():
    for source in UNITS.values():
        for target in UNITS.values():
            if source.kind == target.kind:
                ratio, shift = line(source, target)
                back, more = line(target, source)
                assert (1, 0) == (ratio * back, shift * back + more)


def test_what_no_number_can_turn_into_each_other_is_said():
    reply = Conversation().ask("convert 5 kg to metres").reply
    assert "kilograms measure mass, metres measure length: no number turns one into the other." == reply


def test_an_unknown_unit_is_named_and_can_be_defined_afterwards():
    conversation = Conversation()
    assert "no unit called “glims”" in conversation.ask("convert 10 km to glims").reply
    assert "**5,000 glims**" in conversation.ask("A glim is 2 metres. Convert 10 km to glims").reply


def test_nothing_is_colder_than_absolute_zero():
    conversation = Maker().conversation
    answer = conversation.ask("convert -300 celsius to kelvin")
    assert ["make_tool", "celsius_to_kelvin"] == answer.names
    assert "below absolute zero" in answer.results[1]
    assert "below absolute zero" in answer.reply


def _units(source: str, target: str) -> tuple[Unit, Unit]:
    first, second = Lexicon().find(source), Lexicon().find(target)
    assert first and second
    return first, second
