"""A model of half a megabyte with random weights: the real engine runs it, and it knows nothing.

Its tokens are the printable characters, so what it says is noise that can be read; held to a schema it
writes valid JSON all the same, and that is what the tests need.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGUFWriter, TokenType

WIDTH, LAYERS, HEADS, HIDDEN, WINDOW = 64, 2, 4, 128, 4096
SPECIALS = ("<|im_start|>", "<|im_end|>")
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


CALL = "<tool_call>\n"
"""With this as a token of its own a bias can make the model call a tool, and the grammar does the rest."""
CALLING = (
    "{% if tools %}<|im_start|>system\n# Tools\n<tools>\n{% for tool in tools %}{{ tool | tojson }}\n"
    "{% endfor %}</tools>\nFor each call return a JSON object with name and arguments within "
    '<tool_call></tool_call> tags:\n<tool_call>\n{"name": <name>, "arguments": <object>}\n</tool_call>'
    "<|im_end|>\n{% endif %}{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{{ message['content'] or '' }}{% for call in message.tool_calls or [] %}<tool_call>\n"
    '{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}\n</tool_call>'
    "{% endfor %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def write_tiny_model(path: Path, *, template: str = TEMPLATE, shown: tuple[str, ...] = ()) -> Path:
    """Write the model to ``path``; the same bytes every time."""
    tokens = _vocabulary(shown)
    writer = GGUFWriter(path, "llama")
    _describe(writer, tokens, template)
    for name, tensor in _tensors(len(tokens)).items():
        writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _vocabulary(shown: tuple[str, ...]) -> list[tuple[str, float, TokenType]]:
    tokens = [
        ("<unk>", 0.0, TokenType.UNKNOWN),
        ("<s>", 0.0, TokenType.CONTROL),
        ("</s>", 0.0, TokenType.CONTROL),
    ]
    tokens += [(f"<0x{byte:02X}>", 0.0, TokenType.BYTE) for byte in range(256)]
    tokens += [(special, 0.0, TokenType.CONTROL) for special in SPECIALS]
    tokens += [(text, 0.0, TokenType.USER_DEFINED) for text in shown]
    tokens += [("▁" if code == 32 else chr(code), -float(code), TokenType.NORMAL) for code in range(32, 127)]
    return tokens


def _describe(writer: GGUFWriter, tokens: list[tuple[str, float, TokenType]], template: str) -> None:
    texts = [text for text, _, _ in tokens]
    writer.add_name("tiny-random")
    writer.add_context_length(WINDOW)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_file_type(0)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(texts)
    writer.add_token_scores([score for _, score, _ in tokens])
    writer.add_token_types([int(kind) for _, _, kind in tokens])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(texts.index("<|im_end|>"))
    writer.add_unk_token_id(0)
    writer.add_add_bos_token(False)
    writer.add_add_space_prefix(False)
    writer.add_chat_template(template)


def _tensors(size: int) -> dict[str, Any]:
    chance = np.random.default_rng(0)

    def noise(*shape: int) -> Any:
        return (chance.standard_normal(shape) * 0.3).astype(np.float32)

    ones = np.ones(WIDTH, np.float32)
    output = noise(size, WIDTH)
    output[:259] = 0.0  # bytes and controls hardly ever: what is said can be read
    tensors = {"token_embd.weight": noise(size, WIDTH), "output_norm.weight": ones, "output.weight": output}
    shapes = {
        "attn_q": (WIDTH, WIDTH),
        "attn_k": (WIDTH, WIDTH),
        "attn_v": (WIDTH, WIDTH),
        "attn_output": (WIDTH, WIDTH),
        "ffn_gate": (HIDDEN, WIDTH),
        "ffn_up": (HIDDEN, WIDTH),
        "ffn_down": (WIDTH, HIDDEN),
    }
    for layer in range(LAYERS):
        tensors |= {f"blk.{layer}.{name}.weight": noise(*shape) for name, shape in shapes.items()}
        tensors |= {f"blk.{layer}.{name}.weight": ones for name in ("attn_norm", "ffn_norm")}
    return tensors
