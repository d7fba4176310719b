"""``ggml``: a ``.gguf`` file through llama.cpp inside this process, with no HTTP between.

Faster to its first token than ``llama``, and less safe: a fault of the engine takes the kernel with it. The
engine's events are those of Chat Completions, so they are read as such.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from agent_magics.providers.local.file import ModelFile
from agent_magics.providers.local.inside import Inside
from agent_magics.providers.local.server import serve
from agent_magics.providers.openai_chat import ChatReply, encode
from agent_magics.providers.schemas import bound_form
from agent_magics.providers.threads import Tell
from agent_magics.talk import JSON, Message, ProviderEvent


def ggml(model: str | None = None, *, window: int = 0, **options: Any) -> Ggml:
    """A local model inside this process.

    Parameters
    ----------
    model : str, optional
        The path of a ``.gguf`` file; the installed weights by default.
    window : int
        The context window in tokens; 0 takes what the model was trained for.
    """
    file = ModelFile.find(model)
    return Ggml(file, file.settings(options), window=window)


class Ggml(Inside):
    """A model in llama.cpp, called directly."""

    name = "ggml"

    def _load(self) -> Any:
        # The engine opens a port whether or not it is used: nobody is told its key.
        return serve(str(self._file.path), self.window, secrets.token_urlsafe(24))

    def _generate(
        self, messages: Sequence[Message], schema: Mapping[str, JSON] | None, tell: Tell[ProviderEvent]
    ) -> None:
        reply, left = ChatReply(vendor=self.name), False

        def read(chunk: dict[str, Any]) -> bool:
            nonlocal left
            left = left or any(tell(event) for event in reply.read(chunk))
            return left

        self._engine.handle_chat_completions(
            encode(self._settings, messages, (), schema, form=bound_form), read
        )
        if not left:
            for event in reply.end():
                tell(event)
