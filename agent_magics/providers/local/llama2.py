"""``llama2``: a ``.gguf`` file by a plain NumPy forward pass, to see how it is done.

Slow, and open: with ``show_candidates`` the five likeliest next tokens of each step are told as thinking,
with their probabilities, before one of them is said.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from agent_magics.providers.local.file import ModelFile
from agent_magics.providers.local.inside import Inside
from agent_magics.providers.threads import Tell
from agent_magics.talk import JSON, Message, ProviderEvent, Saying, Stop, Thinking, Usage

CANDIDATES = 5


def llama2(
    model: str | None = None,
    *,
    window: int = 0,
    show_candidates: bool = False,
    seed: int | None = None,
    **options: Any,
) -> Llama2:
    """A Llama model in NumPy; by default the installed weights.

    Parameters
    ----------
    show_candidates : bool
        Whether to tell each step's likeliest next tokens as thinking.
    seed : int, optional
        Makes the sampling repeatable.
    """
    for package in ("numpy", "gguf", "jinja2"):
        import_module(package)
    file = ModelFile.find(model)
    made = Llama2(file, file.settings(options), window=window)
    made.show_candidates, made.seed = show_candidates, seed
    return made


class Llama2(Inside):
    """A model whose every step can be watched."""

    name = "llama2"
    holds = "text"
    show_candidates = False
    seed: int | None = None

    def _load(self) -> Any:
        from agent_magics.providers.local.transformer import load

        return load(self._file.path)

    def _generate(
        self, messages: Sequence[Message], schema: Mapping[str, JSON] | None, tell: Tell[ProviderEvent]
    ) -> None:
        if schema is not None:
            # Nothing holds this model to a schema; asking in words is all that can be done here.
            wish = f"Answer with JSON of this JSON Schema and nothing else: {dict(schema)}"
            messages = [*messages[:-1], {**messages[-1], "content": f"{messages[-1]['content']}\n\n{wish}"}]
        prompt = self._engine.tokenizer.encode(self._prompt(messages))
        limit = min(self._settings.max_tokens or self.window, max(0, self.window - len(prompt)))
        if limit == 0:
            tell(Stop(reason="context_full", detail=f"The prompt has {len(prompt)} of {self.window} tokens."))
            return
        said = 0
        ended = False
        for event in self._events(prompt, limit):
            said += isinstance(event, Usage)
            if isinstance(event, Stop):
                ended = True
            elif not isinstance(event, Usage) and tell(event):
                return
        tell(Usage(input=len(prompt), output=said))
        tell(Stop(reason="end" if ended else "max_tokens"))

    def _events(self, prompt: list[int], limit: int) -> Iterator[ProviderEvent]:
        """Each token as a ``Usage`` of one, what it says, and a ``Stop`` if the model ends by itself."""
        import numpy as np

        chance = np.random.default_rng(self.seed)
        letters = codecs.getincrementaldecoder("utf-8")("replace")
        memory, logits = self._engine.start(), None
        for token in prompt:
            logits = self._engine.step(token, memory)
        for _ in range(limit):
            token, likely = self._pick(logits, chance)
            yield Usage(output=1)
            if self.show_candidates:
                yield Thinking(text=self._told(likely))
            if token in self._engine.end:
                yield Stop(reason="end")
                break
            if piece := letters.decode(self._engine.tokenizer.bytes_of(token)):
                yield Saying(text=piece)
            logits = self._engine.step(token, memory)
        if rest := letters.decode(b"", final=True):
            yield Saying(text=rest)

    def _pick(self, logits: Any, chance: Any) -> tuple[int, list[tuple[int, float]]]:
        """The next token, and the likeliest ones with their probabilities."""
        import numpy as np

        def shares_at(temperature: float) -> Any:
            raised = np.exp((logits - logits.max()).astype(np.float64) / temperature)
            return raised / raised.sum()

        plain = shares_at(1.0)  # shown as the model gives them, whatever temperature they are drawn at
        likely = [(int(token), float(plain[token])) for token in np.argsort(-plain)[:CANDIDATES]]
        temperature = self._settings.temperature if self._settings.temperature is not None else 1.0
        if temperature == 0:
            return likely[0][0], likely
        shares = shares_at(temperature)
        return int(chance.choice(len(shares), p=shares)), likely

    def _told(self, likely: list[tuple[int, float]]) -> str:
        pieces = self._engine.tokenizer.pieces
        said = self._engine.tokenizer.bytes_of
        named = [(said(token).decode("utf-8", "replace") or pieces[token], share) for token, share in likely]
        return " · ".join(f"{piece!r} {share:.0%}" for piece, share in named) + "\n"

    def _prompt(self, messages: Sequence[Message]) -> str:
        sandbox: Any = import_module("jinja2.sandbox")  # the template comes with the file: it is not trusted
        engine = sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
        template = engine.from_string(self._engine.template or _CHATML)
        return template.render(messages=list(messages), add_generation_prompt=True)


_CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
    "{% endfor %}<|im_start|>assistant\n"
)
