"""``vertex``: Claude and Gemini on Google's Vertex AI.

The same protocols as at their makers', at other addresses and with Google's own sign-in: google-auth finds
the credentials (a service account, ``gcloud``, the machine's own), and they are refreshed whenever they have
run out, also in the middle of a session.
https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/use-claude
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from importlib import import_module
from typing import Any

from agent_magics.errors import ConfigError, MissingKey
from agent_magics.providers import anthropic_messages, gemini_content
from agent_magics.providers.exchange import Reply
from agent_magics.providers.keys import Key, mask
from agent_magics.providers.remote import Remote
from agent_magics.providers.settings import Settings, Vendor, settings
from agent_magics.talk import JSON, Message, ProviderEvent, ToolSpec

VENDOR = Vendor(
    name="vertex",
    url="",
    urls=("VERTEX_BASE_URL",),
    models=("claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5", "gemini-3.8-flash"),
    window=200_000,
)
ANTHROPIC_VERSION = "vertex-2023-10-16"
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_PROJECT = ("GOOGLE_CLOUD_PROJECT", "ANTHROPIC_VERTEX_PROJECT_ID")
_LOCATION = ("GOOGLE_CLOUD_LOCATION", "CLOUD_ML_REGION")

_renewing = threading.Lock()
"""Held while a token is fetched; the module's, since a provider may be pickled."""


def vertex(model: str | None = None, *, project: str = "", location: str = "", **options: Any) -> Vertex:
    """Claude or Gemini on Vertex AI.

    Parameters
    ----------
    project, location : str
        Where; by default from the environment, the project also from the credentials, and ``global``.
    """
    credentials, found = _credentials()
    project = project or _first(_PROJECT) or found
    if not project:
        raise ConfigError(
            "Which project on Vertex?",
            f"${_PROJECT[0]} is empty, and the credentials name none.",
            f"Set ${_PROJECT[0]}.",
        )
    location = location or _first(_LOCATION) or "global"
    given = settings(VENDOR, model, options, local=True)
    base = given.base_url or f"https://{host(location)}"
    place = f"{base}/v1/projects/{project}/locations/{location}"
    return Vertex(replace(given, base_url=place), credentials)


def host(location: str) -> str:
    """The host that serves a location.

    >>> host("us-east5"), host("global")
    ('us-east5-aiplatform.googleapis.com', 'aiplatform.googleapis.com')
    """
    match location:
        case "global":
            return "aiplatform.googleapis.com"
        case "us" | "eu":
            return f"aiplatform.{location}.rep.googleapis.com"
        case _:
            return f"{location}-aiplatform.googleapis.com"


def _first(variables: tuple[str, ...]) -> str:
    return next((value for name in variables if (value := os.environ.get(name, "").strip())), "")


def _credentials() -> tuple[Any, str]:
    google_auth: Any = import_module("google.auth")  # an extra; its own types are partial
    try:
        credentials, project = google_auth.default(scopes=[_SCOPE])
    except google_auth.exceptions.DefaultCredentialsError as error:
        raise MissingKey(
            "No Google credentials for 'vertex'.",
            mask(str(error)).partition("\n")[0],
            "Run `gcloud auth application-default login`, or set $GOOGLE_APPLICATION_CREDENTIALS.",
        ) from None
    return credentials, project or ""


class Vertex(Remote):
    """A model on Vertex AI; which protocol it speaks follows from its name."""

    def __init__(self, settings: Settings, credentials: Any) -> None:
        super().__init__(settings, name="vertex", window=VENDOR.window)
        self._credentials = credentials
        self._claude = self.model.startswith("claude")
        self.tools_beside_schema = self._claude

    def holds(self, schema: Mapping[str, JSON]) -> str:
        """How it can be held to ``schema``: see :mod:`agent_magics.extract.held`."""
        return anthropic_messages.holds(schema) if self._claude else "native"

    async def fetch(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        schema: Mapping[str, JSON] | None = None,
    ) -> AsyncGenerator[ProviderEvent]:
        token = await self._signed_in()
        heard = False
        try:
            async with aclosing(super().fetch(messages, tools, schema=schema)) as events:
                async for event in events:
                    heard = True
                    yield event
            return
        except MissingKey as error:
            if heard or error.status != 401:
                raise
        # The token was still good by its date and yet refused: taken back, or this machine's clock is wrong.
        await self._signed_in(instead_of=token)
        async with aclosing(super().fetch(messages, tools, schema=schema)) as events:
            async for event in events:
                yield event

    async def once(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        schema: Mapping[str, JSON] | None = None,
    ) -> list[ProviderEvent]:
        token = await self._signed_in()
        try:
            return await super().once(messages, tools, schema=schema)
        except MissingKey as error:
            if error.status != 401:
                raise
        await self._signed_in(instead_of=token)
        return await super().once(messages, tools, schema=schema)

    async def _signed_in(self, *, instead_of: str = "") -> str:
        """A token that is good by its date, and not the one that was refused."""
        if not self._is_good(instead_of):
            await asyncio.to_thread(self._renew, instead_of)
        return self._credentials.token

    def _is_good(self, refused: str) -> bool:
        return self._credentials.valid and self._credentials.token != refused

    def _renew(self, refused: str) -> None:
        """Ask Google for another token; many rows that run out of it together ask once."""
        exceptions: Any = import_module("google.auth.exceptions")
        transport: Any = import_module("google.auth.transport.requests")
        with _renewing:
            if self._is_good(refused):
                return
            try:
                self._credentials.refresh(transport.Request())
            except exceptions.GoogleAuthError as error:
                raise MissingKey(
                    "Google refused to renew the credentials for 'vertex'.",
                    mask(str(error)).partition("\n")[0],
                    "Sign in again: `gcloud auth application-default login`.",
                ) from None

    def _url(self) -> str:
        if self._claude:
            return f"{self._settings.base_url}/publishers/anthropic/models/{self.model}:streamRawPredict"
        return (
            f"{self._settings.base_url}/publishers/google/models/{self.model}:streamGenerateContent?alt=sse"
        )

    def _headers(self) -> dict[str, str]:
        token = Key(value=self._credentials.token, source="Google's sign-in")
        return {"authorization": f"Bearer {token.value}"}

    def _body(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], schema: Mapping[str, JSON] | None
    ) -> dict[str, JSON]:
        if not self._claude:
            return gemini_content.encode(self._settings, messages, tools, schema, provider=self.name)
        body = anthropic_messages.encode(self._settings, messages, tools, schema, provider=self.name)
        del body["model"]  # the address names it
        return {**body, "anthropic_version": ANTHROPIC_VERSION}

    def _reply(self) -> Reply:
        if self._claude:
            return anthropic_messages.MessagesReply(vendor=self.name, model=self.model)
        return gemini_content.ContentReply(vendor=self.name, model=self.model)
