"""A kept tool as a plain Python function: called like one, and still confined."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agent_magics.errors import ToolError
from agent_magics.forge.doors import Sandboxed
from agent_magics.forge.draft import Draft

if TYPE_CHECKING:
    from agent_magics.forge.shelf import Shelf


class ConfinedFunction:
    """Calls a kept tool in the sandbox. It takes and returns plain values, arrays and DataFrames.

    Parameters
    ----------
    name : str
        The tool.
    shelf : Shelf
        Where it is kept, and whether it is approved; looked up at each call.
    sandbox : Sandboxed
        Where calls run.
    """

    def __init__(self, name: str, shelf: Shelf, sandbox: Sandboxed) -> None:
        self.__name__ = name
        self._shelf = shelf
        self._sandbox = sandbox
        draft = self._draft()
        self.__doc__ = draft.description
        self._bound = draft.sha256 if shelf.permits(draft) else ""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it.

        Raises
        ------
        ToolError
            If the tool is gone or not approved as it is now, if the arguments don't fit, or if the call
            failed.
        """
        draft = self._draft()
        if draft.sha256 != self._bound and not self._shelf.approvals.covers(draft):
            raise ToolError(
                f"{draft.name} is not approved as it is now.",
                "Its text on the disk is not the one that you approved.",
                "Have the agent call it once: you are asked then.",
            )
        outcome = self._sandbox.call(
            draft.source,
            draft.name,
            _named(draft, args, kwargs),
            seconds=draft.seconds,
            memory_mb=draft.memory_mb,
            capabilities=draft.capabilities,
        )
        if outcome.error is not None:
            raise ToolError(outcome.error.message)
        if outcome.stdout:
            print(_visible(outcome.stdout), end="")  # noqa: T201  what the function printed, where a person called it
        return outcome.value

    def __repr__(self) -> str:
        inside = ", ".join(self._draft().parameters.get("properties", {}))
        return f"<confined function {self.__name__}({inside})>"

    def _draft(self) -> Draft:
        found = self._shelf.find(self.__name__)
        if found is None:
            raise ToolError(f"The tool {self.__name__!r} is no longer there.")
        return found[1].draft


def _visible(text: str) -> str:
    """What a stranger printed, unable to rewrite the lines above it."""
    return "".join(char if char in "\n\t" or char.isprintable() else repr(char)[1:-1] for char in text)


def _named(draft: Draft, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by name, as a Python call would bind them."""
    takes = list(draft.parameters.get("properties", {}))
    if len(args) > len(takes):
        raise ToolError(f"{draft.name} takes {len(takes)} arguments, not {len(args)}.")
    by_place = dict(zip(takes, args, strict=False))
    if both := by_place.keys() & kwargs.keys():
        raise ToolError(f"{draft.name} was given {min(both)!r} twice.")
    values = {**by_place, **kwargs}
    if unknown := values.keys() - set(takes):
        raise ToolError(f"{draft.name} takes no {min(unknown)!r}; it takes {', '.join(takes)}.")
    missing = [name for name in draft.parameters.get("required", []) if name not in values]
    if missing:
        raise ToolError(f"{draft.name} needs {missing[0]!r}.")
    return values
