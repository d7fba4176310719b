"""Tools: what they are, how a Python function becomes one, and the path that every call takes.

Here live the tools of the catalog (``builtin``) and the machinery that runs them. What is *allowed* is not
decided here: the toolbox asks a ``permit`` that it is handed. Tools that the model writes are made in
``forge``.

==============  ====================================================================
``tool``        :class:`Tool` and the decorator :func:`tool`
``schema``      type hints and docstring -> JSON Schema
``validation``  a value against a JSON Schema
``toolbox``     :class:`Toolbox`: alias, validation, permission, hooks, handler
``allowed``     which tools a session may offer
``result``      any Python value -> the JSON text that the model reads, capped
``running``     the call that is running: progress, from inside a tool
``threads``     a synchronous function, awaited without blocking the loop
==============  ====================================================================
"""

from agent_magics.tools.result import Results
from agent_magics.tools.tool import Tool, tool
from agent_magics.tools.toolbox import Deny, Permit, Toolbox, ToolUse

__all__ = ["Deny", "Permit", "Results", "Tool", "ToolUse", "Toolbox", "tool"]
