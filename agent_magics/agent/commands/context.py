"""``/context``: what the model would be sent, part by part, and how much of its window that fills."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Sequence
from typing import TYPE_CHECKING

from agent_magics.agent.commands.command import Command
from agent_magics.agent.context import START, Part, Preview
from agent_magics.agent.history_policy import marks
from agent_magics.errors import UsageError
from agent_magics.talk import Message, Turn

if TYPE_CHECKING:
    from agent_magics.agent.session import Session

USAGE = "[policy full|replies|last:N]"

SHOWN = 40_000
"""Characters of a part that are shown: a page must be able to hold it. The sizes are those of the whole."""

_PROMPT = 60

_POLICIES = {
    "full": "whole turns are sent",
    "replies": "of earlier turns only prompts and replies are sent",
    "last": "only the last turns are sent, of each the prompt and the reply",
}


def run(session: Session, words: str) -> str:
    match words.split():
        case []:
            return _report(session)
        case ["policy"]:
            return f"{_policy(session)} Others: `/context {USAGE}`."
        case ["policy", policy]:
            session.context.policy = policy
            return f"From the next prompt on: {_policy(session)}"
        case _:
            raise UsageError(
                f"/context can't take {words!r}.",
                f"It is written /context {USAGE}.",
                "For example `/context policy last:4`, or `/context` alone.",
            )


def _policy(session: Session) -> str:
    policy = session.context.policy
    return f"policy **{policy}**, so {_POLICIES[policy.partition(':')[0]]}."


def _report(session: Session) -> str:
    turns = session.conversation.turns
    preview = session.context.preview(turns, session.specs(), session.provider)
    lines = [_policy(session), _window(preview), _last(session), _compacted(session, preview)]
    texts = [(part.name, part.text) for part in preview.parts if part.text]
    texts.append(("messages", "\n".join(map(_line, preview.messages[1:]))))
    return "\n\n".join(
        [
            " ".join(line for line in lines if line),
            _sizes(preview.parts),
            *([_turns(session, preview)] if turns else ()),
            *(f"**{name}**\n\n{fenced(_cut(text))}" for name, text in texts if text),
        ]
    )


def _window(preview: Preview) -> str:
    if not preview.window:
        return "The model's window is unknown: compaction waits for `/compact`, or for a request too long."
    full = preview.tokens / preview.window
    due = f"compaction starts at {START:.0%}"
    return f"About {preview.tokens:,} of the model's {preview.window:,} tokens ({full:.0%}); {due}."


def _last(session: Session) -> str:
    measure = session.context.measure_for(session.provider)
    if not measure.told:
        return ""
    return f"The last request had {measure.told:,} tokens (estimated: {measure.guessed:,})."


def _compacted(session: Session, preview: Preview) -> str:
    """What is shortened already, and what the next request would bring."""
    now = session.context.compaction_of(session.conversation.turns)
    done, due = now.done(), preview.compaction.done(since=now)
    said = [f"Compacted: {done}; `/compact undo` takes it back."] if done else []
    if due:
        said.append(f"The next request finds it too full, so what is shown is shorter: {due}.")
    if preview.window and preview.tokens > START * preview.window:
        said.append("Before it the model is asked to sum up the middle, if there is enough of it.")
    return " ".join(said)


def _sizes(parts: Sequence[Part]) -> str:
    rows = [f"| {part.name} | {part.tokens:,} | {part.size:,} |" for part in parts]
    total = sum(part.tokens for part in parts)
    head = ["| part | tokens, about | characters |", "|:--|--:|--:|"]
    return "\n".join([*head, *rows, f"| **all** | **{total:,}** | |"])


def _turns(session: Session, preview: Preview) -> str:
    """The turns, each with what is sent of it."""
    sizes: dict[str, int] = {}
    for each in preview.entries:
        sizes[each.key[0]] = sizes.get(each.key[0], 0) + each.size
    tokens = session.context.measure_for(session.provider).tokens
    summed = preview.compaction.turns
    rows = [
        f"| {number} | {_prompt(turn)} | {tokens(sizes[turn.id]) if turn.id in sizes else '–'} | {notes} |"
        for number, turn in enumerate(session.conversation.turns, 1)
        for notes in [", ".join(_notes(turn, session.context.pins, summed, sizes))]
    ]
    return "\n".join(["| turn | prompt | tokens, about | |", "|--:|:--|--:|:--|", *rows])


def _notes(turn: Turn, pins: Container[str], summed: Container[str], sent: Container[str]) -> Iterator[str]:
    yield from map(_cell, marks(turn))
    if turn.id in pins:
        yield "pinned"
    elif turn.id in summed:
        yield "summed up in part" if turn.id in sent else "summed up"
    elif turn.id not in sent:
        yield "not sent"


def _prompt(turn: Turn) -> str:
    said = _cell(turn.prompt)
    return said if len(said) <= _PROMPT else f"{said[:_PROMPT]}…"


def _cell(text: str) -> str:
    """Somebody's text in a cell of a table: one line, and none of it markup."""
    line = " ".join(text.split())
    return "".join(f"&#{ord(sign)};" if sign in _MARKUP else sign for sign in line)


_MARKUP = frozenset("\\`*_{}[]<>()#+!|&~$:")


def _line(message: Message) -> str:
    """A message as it is sent; a picture is named, since nobody reads its bytes."""
    if not isinstance(message["content"], str):
        message = {**message, "content": [_named(part) for part in message["content"]]}
    return json.dumps(message, ensure_ascii=False)


def _named(part: Message) -> Message:
    return {**part, "data": f"… {len(part['data']):,} characters …"} if "data" in part else part


def _cut(text: str) -> str:
    if len(text) <= SHOWN:
        return text
    half, left_out = SHOWN // 2, len(text) - SHOWN
    return f"{text[:half]}\n… {left_out:,} more characters …\n{text[-half:]}"


def fenced(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}text\n{text.strip()}\n{fence}"


COMMAND = Command(
    name="context",
    usage=USAGE,
    summary="What the model would be sent, part by part, with sizes; how much of earlier turns it gets.",
    run=run,
)
