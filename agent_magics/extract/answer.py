"""One answer in the making: is a reply what was asked for, and if not, what is the model told?"""

from __future__ import annotations

import json

from agent_magics.errors import ExtractionError
from agent_magics.extract.reading import json_values
from agent_magics.extract.schema import Schema
from agent_magics.extract.wrapping import VALUE
from agent_magics.talk import JSON

REPAIRS = 2

_UNREAD = "There is no JSON in the reply."
_SEVERAL = "The reply holds {number} different JSON values; exactly one is wanted."
_COMPLAINT = """\
The answer was sent back: {errors}

Give the whole answer again, corrected: only JSON, exactly one value, that keeps this JSON Schema:
{schema}"""


class Answer:
    """The answer to one question, through its repairs.

    Attributes
    ----------
    value : JSON
        The value that kept the schema; ``None`` before ``done``.
    done : bool
        Whether there is one.
    attempts : int
        How many replies were judged.
    errors : list of str
        What was wrong with the last one.
    """

    def __init__(self, schema: Schema, *, repairs: int = REPAIRS) -> None:
        self.schema = schema
        self.value: JSON = None
        self.done = False
        self.attempts = 0
        self.errors: list[str] = []
        self._repairs = repairs

    @property
    def reply(self) -> str:
        """The value as JSON."""
        return json.dumps(self.value, ensure_ascii=False)

    def judge(self, text: str, problem: str = "") -> str:
        """Take a whole reply; return what the model is to be told, or nothing if it will do.

        Parameters
        ----------
        problem : str
            Why the reply can't be read, where that is known already.

        Raises
        ------
        ExtractionError
            Of kind ``invalid``, if it will not do and no repair is left.
        """
        self.attempts += 1
        self.errors = [problem] if problem else self._take(text)
        if self.done:
            return ""
        if self.attempts > self._repairs:
            raise self.failed()
        return _COMPLAINT.format(
            errors="; ".join(self.errors), schema=json.dumps(self.schema.wanted, ensure_ascii=False)
        )

    def failed(self) -> ExtractionError:
        """The error of an answer that never kept the schema."""
        more = f" (and {len(self.errors) - 1} more)" if len(self.errors) > 1 else ""
        times = "once" if self.attempts == 1 else f"{self.attempts} times"
        return ExtractionError(
            "The answer does not keep the schema.",
            f"{self.errors[0].removesuffix('.')}{more}; asked {times}.",
            "Say in the prompt what is wanted there, loosen the schema, or take a stronger model.",
            kind="invalid",
            errors=self.errors,
            attempts=self.attempts,
        )

    def _take(self, text: str) -> list[str]:
        values = [self._unwrapped(value) for value in json_values(text)]
        if not values:
            return [_UNREAD]
        if len(values) == 1:
            return self._keep(values[0])
        fitting = [value for value in map(self.schema.settled, values) if not self.schema.problems(value)]
        if len(fitting) == 1:  # the others are examples, drafts, the schema said back
            return self._keep(fitting[0])
        return [_SEVERAL.format(number=len(values))]

    def _keep(self, value: JSON) -> list[str]:
        problems = self.schema.problems(value)
        if problems:
            value = self.schema.settled(value)
            problems = self.schema.problems(value)
        if not problems:
            self.value, self.done = value, True
        return problems

    def _unwrapped(self, value: JSON) -> JSON:
        """The value out of its object; a model that left the object away is understood as well."""
        if not self.schema.wrapped or not isinstance(value, dict) or list(value) != [VALUE]:  # pyright: ignore[reportUnknownArgumentType]
            return value  # pyright: ignore[reportUnknownVariableType]
        return value[VALUE]  # pyright: ignore[reportUnknownVariableType]
