"""The forge: tools that the model writes, from a draft to a tool that is kept.

A draft goes through stages, each with a verdict that shows while it happens::

    draft -> check -> compile -> schema -> probe -> approval -> save -> register

Nothing of a draft runs in this process. Before a person has seen it, it runs in the sandbox only, with the
model's own example and nothing of the notebook. How a call is confined is the sandbox's matter; who is asked,
and how, is the agent's; both are handed in.

==============  ==================================================================
``workshop``    ties all of it to one session; start here
``pipeline``    the stages, in order
``draft``       what a model hands in
``names``       what a tool may be called
``tree``        the check of the source
``checking``    the same in a process of its own, within half a second
``schema``      a schema that describes the function
``confined``    calls of a tool's function in the sandbox
``registry``    the tools that are kept: files that people can read and diff
``approvals``   what a person approved, by hash; never beside the tools
``likeness``    tools that do nearly the same
``generator``   who writes the source, if not the planner
==============  ==================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_magics.forge.checking import check
    from agent_magics.forge.draft import Draft
    from agent_magics.forge.registry import Registry
    from agent_magics.forge.tree.verdict import Verdict
    from agent_magics.forge.workshop import Workshop

_HOMES = {
    "check": "agent_magics.forge.checking",
    "Draft": "agent_magics.forge.draft",
    "Registry": "agent_magics.forge.registry",
    "Verdict": "agent_magics.forge.tree.verdict",
    "Workshop": "agent_magics.forge.workshop",
}

__all__ = ["Draft", "Registry", "Verdict", "Workshop", "check"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
