"""What comes out of many rows: values where they were found, and errors as data where they weren't."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal

from agent_magics.errors import ConfigError
from agent_magics.talk import JSON, Usage

Library = Literal["pandas", "polars"]
LIBRARIES: tuple[Library, ...] = ("pandas", "polars")


@dataclass(frozen=True, kw_only=True, slots=True)
class RowError:
    """One row that has no value.

    Parameters
    ----------
    index : int
        The row's place, from 0.
    kind : {"refused", "truncated", "invalid", "provider", "empty", "template"}
        Why: the model declined; the answer was cut off; it broke the schema to the end; the request failed;
        the row has no text; the template names what the row doesn't have.
    message : str
        One sentence or more for a person.
    """

    index: int
    kind: str
    message: str

    def __bool__(self) -> bool:
        """False, so that ``[row for row in rows if row]`` keeps what was found."""
        return False


class Rows(list[Any]):
    """The values of many rows, in the rows' order; a :class:`RowError` stands where there is none.

    Attributes
    ----------
    usage : Usage
        The tokens of all requests of this run, repairs included.
    reused : int
        How many values came from the checkpoint.
    seconds : float
        How long it took.

    Examples
    --------
    >>> rows = Rows([{"age": 3}, RowError(index=1, kind="refused", message="No.")])
    >>> rows.failures
    [RowError(index=1, kind='refused', message='No.')]
    """

    def __init__(
        self,
        values: list[Any] | None = None,
        *,
        usage: Usage | None = None,
        reused: int = 0,
        seconds: float = 0.0,
    ) -> None:
        super().__init__(values or [])
        self.usage = usage or Usage()
        self.reused = reused
        self.seconds = seconds

    @property
    def failures(self) -> list[RowError]:
        """The rows without a value."""
        return [each for each in self if isinstance(each, RowError)]

    def to_frame(self, library: Library | None = None) -> Any:
        """The values as a data frame, a row for each: keys are columns, a failed row is empty.

        Parameters
        ----------
        library : {"pandas", "polars"}, optional
            Whose frame. By default pandas, or polars where only that is installed.

        Raises
        ------
        ConfigError
            If it isn't installed.
        """
        return import_module(_installed(library)).DataFrame([_as_record(each) for each in self])


def _as_record(value: Any) -> dict[str, JSON]:
    match value:
        case RowError():
            return {}
        case dict():
            return value  # pyright: ignore[reportUnknownVariableType]  # an object of JSON
        case _:
            return {"value": value}


def _installed(library: Library | None) -> str:
    for name in (library,) if library else LIBRARIES:
        if name in LIBRARIES and find_spec(name) is not None:
            return name
    wanted = library or "pandas"
    raise ConfigError(
        f"There is no {library or 'pandas and no polars'} here to make a frame with.",
        "The rows themselves are a list of dicts.",
        f"Install it: pip install {wanted}"
        if wanted in LIBRARIES
        else f"Name one of {', '.join(LIBRARIES)}.",
    )
