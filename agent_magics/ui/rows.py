"""A row: one line that says what happened, and a fold with the details.

Rows are made here once, from the turn's own records, and drawn twice: as widgets while the turn runs
(:mod:`agent_magics.ui.fold`) and as ``<details>`` when it has ended (:mod:`agent_magics.ui.settled`). So
nothing moves or changes its words when a panel settles.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from agent_magics.talk import CallRecord, Stage
from agent_magics.ui import fields, look
from agent_magics.ui.markdown import html
from agent_magics.ui.text import escape, one_line, visible
from agent_magics.ui.words import SHOWN, brief_arguments, outcome, seconds, verdict

_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|\n+")
STAGE_DETAIL = 300
"""Characters of what a stage said that are shown and saved."""

_MARKUP = re.compile(r"[*_`#>]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One line with a fold.

    ``key`` is what the fold is known by while it is open or closed; ``label`` is read aloud; ``summary``,
    ``right`` and the parts of the ``body`` are HTML.
    """

    key: str
    label: str
    summary: str
    right: str = ""
    body: tuple[str, ...] = ()


def thinking(step: int, text: str) -> Row:
    """The model thinks: its last whole sentence."""
    said = f' &nbsp;<span style="{look.DIM}">{escape(last_sentence(text))}</span>'
    return Row(key=thought_key(step), label="Thinking", summary="Thinking" + said)


def thought(step: int, text: str, time: float) -> Row:
    """The model has thought this, for so long."""
    return Row(
        key=thought_key(step),
        label="Thought" + (f" for {seconds(time)}" if time else ""),
        summary="Thought",
        right=seconds(time) if time else "",
        body=(html(text),) if text else (),
    )


def sent_back(step: int, text: str) -> Row:
    """An answer that did not keep its schema, and that the model was asked to mend."""
    return Row(
        key=f"sent-back-{step}",
        label="An answer that was sent back",
        summary="An answer that was sent back",
        body=(fields.block(one_line(text, SHOWN)),),
    )


def called(record: CallRecord, *, over: bool = True, waiting: bool = False, progress: str = "") -> Row:
    """A tool call as it stands: ``name(arguments) → result`` and how it went.

    Parameters
    ----------
    over : bool
        Whether the turn is over.
    waiting : bool
        Whether a person is being asked about it.
    progress : str
        What a running tool said last.
    """
    if record.stages:
        return _making(record, over=over, waiting=waiting)
    return _called(record, over=over, waiting=waiting, progress=progress)


def _called(record: CallRecord, *, over: bool, waiting: bool = False, progress: str = "") -> Row:
    quiet, loud = ("waiting for you", "") if waiting else verdict(record, over=over)
    if progress and quiet == "running":
        quiet = f"running · {visible(one_line(progress, 60))}"
    right = escape(quiet) + (f"{' ' if quiet else ''}<b>{escape(loud)}</b>" if loud else "")
    title = f"New tool {record.made}" if record.made else record.shown
    return Row(
        key=record.id,
        label=visible(one_line(f"{title}, {quiet} {loud}".strip(), 120)),
        summary=new_tool(record.made) if record.made else _call(record),
        right=right,
        body=_body(record),
    )


def _making(record: CallRecord, *, over: bool, waiting: bool) -> Row:
    """A tool that the model wrote or is writing: the stages that its source has passed, and where it
    stands."""
    row, stages = _called(record, over=over), record.stages
    last = stages[-1]
    right = row.right if record.approval or record.result else escape(_stage(last))
    if waiting:
        time = sum(stage.seconds for stage in stages)
        passed = sum(stage.ok for stage in stages)
        right = f"{passed} check{'s' if passed != 1 else ''} passed, {seconds(time)} ✓"
    listed = "".join(f"<div>{escape(_stage(stage, detail=True))}</div>" for stage in stages)
    return replace(
        row,
        label=f"New tool {visible(one_line(last.tool, 60))}",
        summary=new_tool(last.tool) + _comment(record),
        right=right,
        body=(*row.body, fields.label("Stages") + f'<div style="font-size:12.5px">{listed}</div>'),
    )


def _comment(record: CallRecord) -> str:
    """What a person who rejected it told the model."""
    rejected = record.approval is not None and record.approval.decision == "reject"
    said = outcome(record) if rejected else ""
    return f' <span style="{look.DIM}">→ {escape(said)}</span>' if said else ""


def new_tool(name: str) -> str:
    """The line of a tool that is being written, or was."""
    return f'New tool <code style="{look.NAME}">{escape(visible(one_line(name, 60)))}</code>'


def thought_key(step: int) -> str:
    return f"thought-{step}"


def _stage(stage: Stage, *, detail: bool = False) -> str:
    verdict = f"{visible(one_line(stage.name, 40))} {'✓' if stage.ok else '✕'}"
    if detail:
        verdict += f" {seconds(stage.seconds)} {visible(one_line(stage.detail, STAGE_DETAIL))}"
    return verdict.rstrip()


def last_sentence(text: str, most: int = 200) -> str:
    """The last whole sentence of a text that is still growing; its beginning while there is none."""
    parts = [part for part in _SENTENCE_END.split(text[-4 * most :]) if part.strip()]
    if not parts:
        return ""
    whole = parts[-2] if len(parts) > 1 else parts[-1]
    return visible(one_line(_MARKUP.sub("", whole), most))


def _call(record: CallRecord) -> str:
    name = escape(visible(one_line(record.shown, 60)))
    tail = outcome(record)
    after = f" → {escape(tail)}" if tail else ""
    return (
        f'<code style="{look.NAME}">{name}'
        f'<span style="{look.DIM}">({escape(brief_arguments(record.arguments))}){after}</span></code>'
    )


def _body(record: CallRecord) -> tuple[str, ...]:
    parts = [fields.arguments(record.arguments)]
    if record.call.problem:
        parts.append(fields.label("Problem") + fields.block(record.call.problem))
    if record.approval and record.approval.comment:
        parts.append(fields.label("Comment for the model") + fields.block(record.approval.comment))
    if record.result is not None:
        parts.append(fields.result(record.result, SHOWN))
    return tuple(parts)
