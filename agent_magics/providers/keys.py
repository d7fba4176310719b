"""Keys: where they are found, and how they are kept out of everything that is shown.

A key is looked for in the order: given in code, typed into this process, environment, the nearest ``.env``
(vendors' key variables only, never an address or a setting), the system's keyring. Whatever was found once is
known to :mod:`agent_magics.masking`; :func:`mask` takes out of a vendor's words also what looks like a key.
"""

from __future__ import annotations

import functools
import logging
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from agent_magics import masking
from agent_magics.errors import ConfigError, MissingKey
from agent_magics.masking import MASK
from agent_magics.providers import dotenv

SERVICE = "agent_magics"
"""The name under which the system's keyring holds our keys."""

_LOOKS_LIKE_A_KEY = re.compile(
    r"\b(?:sk|pk|rk|xai|gsk|hf|r8)[-_][A-Za-z0-9_\-*]{12,}"  # OpenAI, Anthropic and the many who copied them
    r"|\bAIza[A-Za-z0-9_\-]{20,}"  # Google API keys
    r"|\bya29\.[A-Za-z0-9_\-.]{10,}"  # Google access tokens
    r"|(?<=Bearer )[A-Za-z0-9_\-.=+/]{8,}"
)
_SHORTEST_MASKED = 6  # a shorter "key" (a test's "x") would black out ordinary words
_CERTAINLY_WHOLE = 20
_handed_out: set[str] = set()
_typed: dict[str, str] = {}
"""Variable -> the key that a person typed into this process."""


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Key:
    """A secret and where it came from; only :attr:`source` is ever shown."""

    value: str
    source: str

    def __post_init__(self) -> None:
        masking.hide(self.value)  # whatever becomes of it
        # A header can't carry these, and the HTTP library's own complaint would quote the key.
        if not self.value.isascii() or not self.value.isprintable() or " " in self.value:
            raise ConfigError(
                f"The key from {self.source} can't be sent.",
                "It has spaces, line breaks or characters that are not ASCII.",
                "Copy it again from the vendor's page.",
            )
        _handed_out.add(self.value)

    def __reduce__(self) -> tuple[Any, ...]:
        """Made anew where it arrives, so that it is masked there as well."""
        return functools.partial(Key, value=self.value, source=self.source), ()

    def __repr__(self) -> str:
        return f"Key({MASK} from {self.source})"


def mask(text: str, *secrets: str) -> str:
    """``text`` without any key: those given, those found so far, and whatever looks like one."""
    known = sorted({*secrets, *_handed_out}, key=len, reverse=True)
    long = [secret for secret in known if len(secret) >= _CERTAINLY_WHOLE]
    short = [secret for secret in known if _SHORTEST_MASKED <= len(secret) < _CERTAINLY_WHOLE]
    # Short ones last: one that happens to be a piece of another key would leave the other's rest in sight.
    return masking.masked(_without(_LOOKS_LIKE_A_KEY.sub(MASK, _without(text, long)), short))


def mask_log(record: logging.LogRecord) -> bool:
    """A filter for the loggers of other libraries: the record stays, without any key."""
    record.msg, record.args = mask(record.getMessage()), ()
    return True


def _without(text: str, secrets: Iterable[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, MASK)
    return text


def find(variables: Sequence[str], given: str | None = None) -> Key | None:
    """The first key there is: given, or by the name of one of ``variables``."""
    if given:
        return Key(value=given.strip(), source="api_key=")
    places = (_in_process, _in_environment, _in_dotenv, _in_keyring)
    return next((key for look in places if (key := look(variables))), None)


def require(vendor: str, variables: Sequence[str], given: str | None = None) -> Key:
    """Like :func:`find`, or :class:`~agent_magics.errors.MissingKey` that names the variable."""
    if key := find(variables, given):
        return key
    names = " and ".join(f"${name}" for name in variables)
    raise MissingKey(
        f"No API key for {vendor!r}.",
        f"Looked in {names}, .env and the keyring; all are empty.",
        f"Set ${variables[0]} or use `%agent /key {vendor}`, or run without one: `%agent /provider demo`.",
    )


def keep(variable: str, value: str) -> str:
    """Use a key in this process from now on, and keep it in the system's keyring where there is a real one;
    where that is, or that there is none."""
    _typed[variable] = Key(value=value, source="/key").value
    import keyring
    from keyring.core import recommended  # pyright: ignore[reportUnknownVariableType]  # typed in part
    from keyring.errors import KeyringError

    backend = keyring.get_keyring()
    try:
        if recommended(backend):  # not: none at all, a file of plain text
            keyring.set_password(SERVICE, variable, value)
            if keyring.get_password(SERVICE, variable) == value:
                return f"in the keyring ({backend.name})"
    except KeyringError:
        pass
    return "for this process only: this system has no keyring that can be used"


def forget(variable: str) -> bool:
    """Forget a key that :func:`keep` was given; whether there was one."""
    import keyring
    from keyring.errors import KeyringError

    known = _typed.pop(variable, "")
    try:
        kept = keyring.get_password(SERVICE, variable)
        if kept:
            masking.hide(kept)
            keyring.delete_password(SERVICE, variable)
    except KeyringError:
        return bool(known)
    return bool(known or kept)


def _in_process(variables: Iterable[str]) -> Key | None:
    for name in variables:
        if value := _typed.get(name):
            return Key(value=value, source="typed here")
    return None


def _in_environment(variables: Iterable[str]) -> Key | None:
    for name in variables:
        if value := os.environ.get(name, "").strip():
            return Key(value=value, source=f"${name}")
    return None


def _in_dotenv(variables: Iterable[str]) -> Key | None:
    found = dotenv.entries()
    for name in variables:
        if value := found.get(name):
            return Key(value=value, source=f"{name} in .env")
    return None


def _in_keyring(variables: Iterable[str]) -> Key | None:
    import keyring
    from keyring.errors import KeyringError

    for name in variables:
        try:
            value = keyring.get_password(SERVICE, name)
        except KeyringError:  # no keyring on this machine: as good as an empty one
            return None
        if value:
            return Key(value=value.strip(), source=f"{name} in the keyring")
    return None
