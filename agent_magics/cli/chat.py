"""``agent-magics chat``: the same session, commands and approvals, line by line."""

from __future__ import annotations

import argparse
import sys

from agent_magics.agent.commands.command import Command
from agent_magics.api import Session
from agent_magics.cli import say_error
from agent_magics.cli.doctor import front
from agent_magics.cli.screen import answer_and_progress
from agent_magics.cli.sessions import open_session
from agent_magics.doctor import command
from agent_magics.errors import AgentMagicsError
from agent_magics.ui.text import prose, visible

PROMPT = "agent> "


class Leave(Exception):
    """The conversation is over."""


def chat(options: argparse.Namespace) -> int:
    """Talk until the input ends."""
    interactive = sys.stdin.isatty()
    if interactive:
        _edit_lines()
    with open_session(options, answer_and_progress(), store="default", resume=options.resume) as session:
        session.commands.add(command(front))
        session.commands.add(Command(name="quit", usage="", summary="Leave; so does Ctrl-D.", run=_leave))
        if interactive:
            print(f"{_model(session)} · {session.why}", file=sys.stderr)
            print("/help lists the commands, Ctrl-C stops a turn, Ctrl-D leaves.", file=sys.stderr)
        while _one_line(session, PROMPT if interactive else ""):
            pass
    return 0


def _one_line(session: Session, prompt: str) -> bool:
    """Read a line and do what it says; whether there may be another."""
    try:
        line = input(prompt)
    except EOFError:
        if prompt:
            print(file=sys.stderr)
        return False
    except KeyboardInterrupt:  # a line that was begun is thrown away
        print(file=sys.stderr)
        return True
    try:
        if line.lstrip().startswith("/") and (meanwhile := session.commands.meanwhile(line)):
            print(meanwhile, file=sys.stderr)
        said = session.dispatch(line)
    except Leave:
        return False
    except KeyboardInterrupt:
        return True  # the turn was stopped, and its end was shown
    except AgentMagicsError as error:
        say_error(error)
    except OSError:  # the terminal is gone
        raise
    except Exception as error:  # a command of a plugin; the session lives on
        print(visible(f"The command failed: {type(error).__name__}: {error}"), file=sys.stderr)
    else:
        if isinstance(said, str):
            print(prose(said))
    return True


def _leave(session: object, words: str) -> str:
    raise Leave


def _model(session: Session) -> str:
    return f"{session.provider.name}:{session.provider.model}".rstrip(":")


def _edit_lines() -> None:
    """Arrow keys, history and pasted lines, where Python was built with them."""
    try:
        import readline
    except ImportError:
        return
    readline.parse_and_bind("set enable-bracketed-paste on")
