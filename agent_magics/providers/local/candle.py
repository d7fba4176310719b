"""``candle``: a ``.gguf`` file through mistral.rs, an engine in Rust built on Candle, inside this process.

Another engine for the same file, to compare with. https://github.com/EricLBuehler/mistral.rs
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from agent_magics.providers.local.file import ModelFile
from agent_magics.providers.local.inside import Inside
from agent_magics.providers.loose import dumps, text
from agent_magics.providers.schemas import grammar_form
from agent_magics.providers.threads import Tell
from agent_magics.talk import JSON, Message, ProviderEvent, Saying, Stop, Usage


def candle(model: str | None = None, *, window: int = 0, **options: Any) -> Candle:
    """A local model in mistral.rs; by default the installed weights."""
    # It logs on standard output, which in a notebook is the user's cell. Read once, when it is imported.
    os.environ.setdefault("RUST_LOG", "off")
    import_module("mistralrs")
    file = ModelFile.find(model)
    return Candle(file, file.settings(options), window=window)


class Candle(Inside):
    """A model in mistral.rs."""

    name = "candle"

    def _load(self) -> Any:
        engine: Any = import_module("mistralrs")
        path = self._file.path
        which = engine.Which.GGUF(quantized_model_id=str(path.parent), quantized_filename=path.name)
        return engine.Runner(which=which, token_source="none")  # noqa: S106 (no token: nothing is fetched)

    def _generate(
        self, messages: Sequence[Message], schema: Mapping[str, JSON] | None, tell: Tell[ProviderEvent]
    ) -> None:
        engine: Any = import_module("mistralrs")
        form = (
            {"grammar_type": "json_schema", "grammar": dumps(grammar_form(schema))}
            if schema is not None
            else {}
        )
        request = engine.ChatCompletionRequest(
            messages=list(messages),
            model="default",
            stream=True,
            max_tokens=self._settings.max_tokens,
            temperature=self._settings.temperature,
            **form,
        )
        finish, usage = "", None
        for chunk in self._engine.send_chat_completion_request(request):
            choice = chunk.choices[0]
            if (said := text(choice.delta.content)) and tell(Saying(text=said)):
                return
            finish, usage = choice.finish_reason or finish, chunk.usage or usage
        if usage:
            tell(Usage(input=usage.prompt_tokens, output=usage.completion_tokens))
        tell(Stop(reason="max_tokens" if finish == "length" else "end"))
