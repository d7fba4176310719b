"""SmolLM2 and a schema: five fields out of fifty short texts.

    python -m tests.benchmarks.bench_extract_model [HOW MANY]

Decoding is bound to the schema, so every answer must be valid; how many fields are right is another question,
and is printed as it is. The model has 135 million parameters.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_magics import extract
from agent_magics.errors import ExtractionError
from agent_magics.extract import Schema
from agent_magics.ports import Provider
from agent_magics.providers import Registry
from agent_magics.providers.local import weights

HOME = Path(__file__).resolve().parents[2] / ".build" / "home"
SCHEMA = "customer, product, quantity int, city, urgent yes|no"
FIELDS = ("customer", "product", "quantity", "city", "urgent")

_CUSTOMERS = ("Ann Lee", "Boris Novak", "Carla Diaz", "Deniz Kaya", "Emeka Obi", "Fumiko Sato", "Greta Holm")
_PRODUCTS = ("red lamps", "oak tables", "wool scarves", "steel bolts", "glass jars")
_CITIES = ("Berlin", "Lagos", "Osaka", "Lima", "Oslo", "Izmir")
_TEXTS = (
    "{customer} from {city} orders {quantity} {product}.{haste}",
    "Please send {quantity} {product} to {customer} in {city}.{haste}",
    "Order: {quantity} x {product}. Customer: {customer}, {city}.{haste}",
    "Hello, this is {customer}. I need {quantity} {product} here in {city}.{haste}",
)
_HASTE = (" It is urgent!", " There is no hurry.")


@dataclass(frozen=True, kw_only=True)
class Case:
    text: str
    truth: dict[str, Any]


def cases(number: int = 50) -> Iterator[Case]:
    """The texts, each with what it says."""
    for at in range(number):
        urgent = at % 3 == 0
        truth = {
            "customer": _CUSTOMERS[at % 7],
            "product": _PRODUCTS[at % 5],
            "quantity": 2 + (at * 7) % 90,
            "city": _CITIES[at % 6],
            "urgent": "yes" if urgent else "no",
        }
        yield Case(text=_TEXTS[at % 4].format(**truth, haste=_HASTE[not urgent]), truth=truth)


def asked(case: Case, model: Provider) -> Any:
    """What the model makes of a text; an error as itself."""
    try:
        return extract(case.text, SCHEMA, provider=model, repairs=0)
    except ExtractionError as error:
        return error


def main(number: int) -> None:
    os.environ["AGENT_MAGICS_HOME"] = str(HOME)
    model = Registry().build(f"llama:{weights.install()}", temperature=0, max_tokens=120)
    schema = Schema.of(SCHEMA)
    right: Counter[str] = Counter()
    valid, began = 0, time.perf_counter()
    for case in cases(number):
        value = asked(case, model)
        if isinstance(value, ExtractionError):
            print(f"{case.text}\n    {value.kind}: {value.errors}")
            continue
        valid += not schema.problems(value)
        found = {name for name in FIELDS if value[name] == case.truth[name]}
        right.update(found)
        right["all five"] += len(found) == len(FIELDS)
    seconds = time.perf_counter() - began
    print(
        f"SmolLM2-135M, 5 fields of {number} texts: {valid / number:.0%} valid, {seconds / number:.2f} s each"
    )
    for name in (*FIELDS, "all five"):
        print(f"    {name:<10} {right[name] / number:4.0%} right")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
