"""``%agent`` and ``%%agent``: the line is parsed here, and nothing else is done."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand
from traitlets import Bool, Enum, Float, Int, TraitError, Unicode, validate
from traitlets.config import Config

from agent_magics.errors import AgentMagicsError, ConfigError, UsageError
from agent_magics.notebook.history import unsay
from agent_magics.notebook.options import help_text, parse

if TYPE_CHECKING:
    from agent_magics.notebook.notebook import Notebook


@magics_class
class AgentMagics(Magics):
    """An agent in a cell; see ``%agent --help``."""

    provider = Unicode("auto", help="Who answers: NAME, NAME:MODEL or auto.").tag(config=True)
    generator = Unicode("", help="Who writes missing tools: NAME[:MODEL], demo; empty: who answers.").tag(
        config=True
    )
    approve = Enum(
        ["", "ask", "always", "never"], "", help="Where a tool asks; empty: $AGENT_MAGICS_APPROVE, else ask."
    ).tag(config=True)
    frontend = Enum(
        ["auto", "widgets", "input", "none"], "auto", help="How a person is asked; auto finds out."
    ).tag(config=True)
    strict = Bool(False, help="Raise when a turn fails.").tag(config=True)
    max_rounds = Int(25, min=1, help="Rounds of tool calls in a turn.").tag(config=True)
    budget = Float(None, allow_none=True, help="US dollars that a turn may cost; None: no limit.").tag(
        config=True
    )
    idle_minutes = Float(
        15.0, min=0.0, help="Minutes without a turn until workers, a local model and sockets go; 0: never."
    ).tag(config=True)
    context = Unicode(
        "full", help="How much of earlier turns the model is sent: full, replies or last:N."
    ).tag(config=True)

    replay = Enum(
        ["", "off", "auto", "only"],
        "",
        help="Play recorded turns: auto runs the others, only never runs; empty: auto if there is an "
        "$AGENT_MAGICS_RECORD, else off.",
    ).tag(config=True)
    notebook = Unicode(
        "", help="The notebook's path or name, where nothing else tells it; its conversation is found by it."
    ).tag(config=True)
    store = Bool(True, help="Keep conversations, so that they are here again after a restart.").tag(
        config=True
    )

    matcher: Any = None
    hearing: Any = None
    """The completer's part, kept so that it can be taken back."""

    @validate("context")
    def _policy(self, proposal: dict[str, str]) -> str:
        """Said when it is set, and not only when a session is made with it."""
        from agent_magics.agent.history_policy import HistoryPolicy

        return str(HistoryPolicy.read(proposal["value"]))

    @validate("budget")
    def _limit(self, proposal: dict[str, float | None]) -> float | None:
        from agent_magics.agent.budget import Budget

        return Budget(usd=proposal["value"]).usd

    def command_names(self) -> list[str]:
        """The slash commands; without making a session only to know them."""
        if "book" in vars(self):
            return self.book.session.commands.names()
        from agent_magics.agent.commands.table import Commands

        return Commands().names()

    def session_ids(self) -> list[str]:
        """The ids of stored sessions, the one used last first; none where they can't be read."""
        try:
            return [info.id for info in self.book.session.past.sessions()]
        except AgentMagicsError:
            return []

    @cached_property
    def book(self) -> Notebook:
        """The agent of this shell; made with the first cell that needs it, not with ``%load_ext``."""
        from agent_magics.notebook.notebook import Notebook

        return Notebook(self.shell, self)

    def update_config(self, config: Config) -> None:
        """Take what ``%config AgentMagics.…`` says; the running session follows at once."""
        said = cast("dict[str, object]", config.get("AgentMagics", {}))  # pyright: ignore[reportUnknownMemberType]
        before = {name: getattr(self, name, None) for name in said}
        try:
            super().update_config(config)
            if "book" in vars(self):
                self.book.configure(said)
        except (TraitError, AgentMagicsError) as error:
            # Out of it, too: the shell would keep it, and fail with it when the extension is loaded again.
            config.pop("AgentMagics")  # pyright: ignore[reportUnknownMemberType]
            for name, value in before.items():
                setattr(self, name, value)
            raise not_a_setting(error) from None

    @no_var_expand
    @line_cell_magic
    def agent(self, line: str, cell: str | None = None) -> None:
        try:
            self._do(line, cell)
        finally:
            unsay(self.shell)

    agent.__doc__ = help_text(plain=True)

    def _do(self, line: str, cell: str | None) -> None:
        request = parse(line, cell or "")
        if request.get("help") or request.prompt == "?":
            self._say(help_text())
        elif request.prompt.startswith("/"):
            self._command(request.prompt)
        elif request.prompt:
            self.book.turn(request.prompt, request.values)
        elif cell is None and not request.values:
            self._command("/status")
        else:
            raise UsageError(
                "This cell has no prompt.",
                "There is no text below %%agent, nor on its line.",
                "Write what you want to know; `%agent --help` shows the options.",
            )

    def _command(self, line: str) -> None:
        """Run a slash command; one that may take long shows that it goes on."""
        from agent_magics.notebook.interrupts import HeldInterrupts, count_as_one
        from agent_magics.notebook.screen import publish
        from agent_magics.ui.report import report

        session = self.book.session
        meanwhile = session.commands.meanwhile(line)
        if not meanwhile:
            return self._say(session.command(line))
        try:
            with HeldInterrupts() as held:  # the line must not stay, whenever an interrupt comes
                shown, said = publish(report(meanwhile)), "Not finished."
                try:
                    with held.lifted():
                        said = session.command(line)
                finally:
                    shown.update(report(said))
        except KeyboardInterrupt:
            count_as_one()
            raise

    def _say(self, markdown: str) -> None:
        from agent_magics.notebook.screen import publish
        from agent_magics.ui.report import report

        publish(report(markdown))


def not_a_setting(error: TraitError | AgentMagicsError) -> AgentMagicsError:
    """What to say of a value that a setting can't have."""
    if isinstance(error, AgentMagicsError):
        return error
    return ConfigError(str(error), "The setting stays as it was.", "All settings: %config AgentMagics")
