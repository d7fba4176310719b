"""The terminal: ``agent-magics ask | chat | doctor | local install``, and what it shares with the notebook.

The composition root of the terminal. Each command has a file; how a turn is waited for and asked about at a
terminal is told in :mod:`agent_magics.terminal`, which scripts use too. What went wrong is said on standard
error in up to three lines, and in the exit code::

    0  done
    1  an error: of the provider, of a setting, of a tool that halted the turn
    2  the command line can't be taken as it is
    3  the turn reached a cap: rounds, failures, tokens, the budget
    4  the model declined
    130  cancelled
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any, TextIO

from agent_magics.errors import AgentMagicsError, ConfigError, UsageError

CANCELLED = 130
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        _never_fails(stream)
    options = _parser().parse_args(arguments)
    try:
        code = int(options.run(options))
        sys.stdout.flush()
        return code
    except AgentMagicsError as error:
        say_error(error)
        return 2 if isinstance(error, UsageError) else 1
    except KeyboardInterrupt:
        return CANCELLED
    except BrokenPipeError:  # whoever read our output has enough of it
        _give_up_output()
        return 1
    except OSError as error:
        _give_up_output()
        where = f"{error.filename}: " if error.filename else ""
        say_error(
            ConfigError(
                "A file or the output can't be used.",
                f"{where}{error.strerror or error}.",
                "Make room or give it another place; $AGENT_MAGICS_HOME names the data folder.",
            )
        )
        return 1


def say_error(error: AgentMagicsError) -> None:
    """The three lines of an error on standard error, where nothing in them steers the terminal."""
    from agent_magics.ui.text import visible

    print(visible(str(error)), file=sys.stderr)


def _give_up_output() -> None:
    """What is still in the buffer goes nowhere; Python would complain of it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _never_fails(stream: TextIO) -> None:
    """A terminal that can't show a character shows a question mark."""
    if reconfigure := getattr(stream, "reconfigure", None):
        reconfigure(errors="replace")


def _parser() -> argparse.ArgumentParser:
    from agent_magics import __version__

    parser = argparse.ArgumentParser(
        prog="agent-magics", description="An agent in the terminal, as %%agent is one in a notebook cell."
    )
    parser.add_argument("--version", action="version", version=f"agent-magics {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _ask(commands)
    _chat(commands)
    _doctor(commands)
    _local(commands)
    return parser


def _ask(commands: Any) -> None:
    def run(options: argparse.Namespace) -> int:
        from agent_magics.cli.ask import ask

        return ask(options)

    said = "One turn: the reply on standard output, everything else on standard error."
    parser = commands.add_parser("ask", help="one turn", description=said)
    parser.add_argument("prompt", nargs="*", metavar="PROMPT", help="what to ask; piped input is appended")
    parser.add_argument(
        "--image", action="append", default=[], metavar="PATH", help="a picture; may be given again"
    )
    _session_options(parser)
    parser.set_defaults(run=run)


def _chat(commands: Any) -> None:
    def run(options: argparse.Namespace) -> int:
        from agent_magics.cli.chat import chat

        return chat(options)

    said = "A conversation. `/` begins a command, Ctrl-C stops the turn, Ctrl-D leaves."
    parser = commands.add_parser("chat", help="a conversation", description=said)
    parser.add_argument(
        "--resume", default="", metavar="ID", help="go on with a stored session; /sessions lists them"
    )
    _session_options(parser)
    parser.set_defaults(run=run)


def _session_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-p", "--provider", default="", metavar="P", help="NAME or NAME:MODEL; default: auto")
    parser.add_argument("--model", metavar="M", help="the model; any name is accepted")
    parser.add_argument("--base-url", metavar="URL", help="another address of the provider")
    parser.add_argument(
        "--planner", choices=("native", "json", "classic"), help="how tools are called; default: as suits it"
    )
    parser.add_argument("--effort", choices=EFFORTS, metavar="LEVEL", help=", ".join(EFFORTS))
    parser.add_argument("--max-tokens", type=int, metavar="N", help="the longest reply, in tokens")
    parser.add_argument(
        "--approve", choices=("ask", "always", "never"), help="what happens where a tool asks; default: ask"
    )
    parser.add_argument("--max-rounds", type=int, default=25, metavar="N", help="rounds of tool calls; 25")
    parser.add_argument("--budget", type=float, metavar="USD", help="what a turn may cost, in dollars")
    parser.add_argument("--max-total-tokens", type=int, metavar="N", help="tokens of a turn, in all")
    parser.add_argument(
        "--replay",
        default="",
        metavar="FILE",
        help="play turns of a notebook or exported JSON; run nothing",
    )
    parser.add_argument("--max-seconds", type=float, metavar="S", help="how long a turn may take")


def _doctor(commands: Any) -> None:
    def run(options: argparse.Namespace) -> int:
        from agent_magics.cli.doctor import doctor

        return doctor()

    said = "What is here, what is missing, and what to do about it. Keys are never shown."
    commands.add_parser("doctor", help="what works here", description=said).set_defaults(run=run)


def _local(commands: Any) -> None:
    def run(options: argparse.Namespace) -> int:
        from agent_magics.cli.local import install

        return install()

    parser = commands.add_parser("local", help="the local model")
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    said = "Bring a small model that runs on this machine, or find that it is here."
    actions.add_parser("install", help=said, description=said).set_defaults(run=run)
