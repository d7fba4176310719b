"""``%load_ext agent_magics`` and its reverse.

Loading is quiet and quick: it registers the magics and imports nothing that a turn needs. No thread starts,
nothing is read from the network, and loading again changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from traitlets import TraitError

from agent_magics import front
from agent_magics.notebook.completion import matcher
from agent_magics.notebook.hearing import Hearing
from agent_magics.notebook.magics import AgentMagics, not_a_setting
from agent_magics.notebook.prose import Prose, keep_prose

if TYPE_CHECKING:
    from agent_magics.talk import Turn

TURN = "agent_magics.talk.turn.Turn"
"""By name: loading imports nothing that a turn needs."""

_loaded: dict[int, AgentMagics] = {}


def load(shell: Any) -> None:
    """Register the magics in this shell."""
    if id(shell) in _loaded:
        return
    try:
        magics = AgentMagics(shell)
    except TraitError as error:  # a configuration file says it
        raise not_a_setting(error) from None
    _loaded[id(shell)] = magics
    shell.register_magics(magics)
    shell.input_transformers_cleanup.append(keep_prose)
    shell.input_transformer_manager.token_transformers.append(Prose)
    magics.matcher = matcher(magics, shell)
    shell.Completer.custom_matchers.append(magics.matcher)
    shell.display_formatter.mimebundle_formatter.for_type(TURN, _as_it_ended)
    front.install(lambda: magics.book.front, lambda: magics.book.session)
    magics.hearing = Hearing(getattr(shell, "kernel", None))
    magics.hearing.start()


def unload(shell: Any) -> None:
    """Take everything back that loading put in place."""
    magics = _loaded.pop(id(shell), None)
    if magics is None:
        return
    front.install(None, None)
    magics.hearing.stop()
    shell.display_formatter.mimebundle_formatter.pop(TURN, None)
    if "book" in vars(magics):
        magics.book.close()
    shell.input_transformers_cleanup.remove(keep_prose)
    shell.input_transformer_manager.token_transformers.remove(Prose)
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop("agent", None)
    shell.Completer.custom_matchers.remove(magics.matcher)
    if magics in shell.configurables:
        shell.configurables.remove(magics)


def _as_it_ended(turn: Turn, **_: object) -> dict[str, Any]:
    """A turn that is a cell's value shows as its own cell did: ``_turn`` brings back what a page has lost."""
    from agent_magics.ui.settled import bundle

    return bundle(turn)
