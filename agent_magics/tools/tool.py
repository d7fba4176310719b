"""A tool: a name, a schema and a handler, and what it may be trusted with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, overload

from agent_magics.talk import JSON, ToolSpec


@dataclass(frozen=True, kw_only=True, repr=False)
class Tool:
    """Something that the model may call.

    Most tools are made from a function with :func:`tool`.

    Parameters
    ----------
    name : str
        What the model calls it.
    description : str
        One or two sentences for the model: what it does and when to reach for it.
    handler : callable
        Called with the validated arguments as keywords; a plain or an async function. A dict that it
        returns is the result as it is; a dict with ``error`` is a failure; any other value becomes
        ``{"result": ...}``.
    parameters : mapping
        JSON Schema (draft 2020-12) of the arguments, an object.
    aliases : tuple of str
        Other names under which the model may call it; they are not offered to it.
    parallel_safe : bool
        Whether calls may run beside other calls.
    read_only : bool
        Whether it changes nothing anywhere; the phase ``plan`` allows these only.
    needs_kernel : bool
        Whether the handler must run on the kernel's main thread, in the user's namespace.
    asks : bool
        Whether a person is asked before each call.
    asks_itself : bool
        Whether the handler asks a person by itself, once it knows about what.
    why_ask : callable, optional
        Arguments -> why a person is asked about this call; empty where nobody is. For tools that don't ask
        before each call.
    edits : bool
        Whether all it changes is files of the project; the phase ``accept_edits`` allows these.
    generated : bool
        Whether the model wrote it.
    brings_data : bool
        Whether its results may hold text that others wrote: pages, files, variables. A conversation that has
        read such text asks before it remembers anything.
    code : str
        The argument that holds program text, where there is one: it is shown as source when the tool asks.
    scope : callable, optional
        Arguments -> what "always this session" covers. By default the whole tool.
    objects : frozenset of str
        Arguments that name a variable of the notebook; the handler gets the object.
    convert : callable, optional
        Validated JSON arguments -> the Python values that the handler's type hints ask for.
    """

    name: str
    description: str
    handler: Callable[..., Any]
    parameters: Mapping[str, JSON] = field(default_factory=lambda: {"type": "object", "properties": {}})
    aliases: tuple[str, ...] = ()
    parallel_safe: bool = False
    read_only: bool = False
    needs_kernel: bool = False
    asks: bool = False
    asks_itself: bool = False
    why_ask: Callable[[Mapping[str, JSON]], str] | None = None
    edits: bool = False
    generated: bool = False
    brings_data: bool = True
    code: str = ""
    scope: Callable[[Mapping[str, JSON]], str] | None = None
    objects: frozenset[str] = frozenset()
    convert: Callable[[Mapping[str, JSON]], dict[str, Any]] | None = None

    @property
    def spec(self) -> ToolSpec:
        """The tool as a provider is told of it."""
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": dict(self.parameters),
            },
        }

    def asked_because(self, arguments: Mapping[str, JSON]) -> str:
        """Why a person is asked about a call with these arguments; empty where nobody is."""
        if self.asks:
            return "It can change something, so it asks before each call."
        return self.why_ask(arguments) if self.why_ask else ""

    def covers(self, arguments: Mapping[str, JSON]) -> str:
        """What an "always this session" for these arguments covers, as a key."""
        return f"{self.name}:{self.scope(arguments)}" if self.scope else self.name

    def __repr__(self) -> str:
        names = ", ".join(self.parameters.get("properties", {}))
        return f"<Tool {self.name}({names})>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself, as plain Python: nothing is checked and nobody is asked."""
        return self.handler(*args, **kwargs)


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...


@overload
def tool(
    *,
    name: str = "",
    description: str = "",
    aliases: tuple[str, ...] = (),
    parallel_safe: bool = False,
    read_only: bool = False,
    needs_kernel: bool = False,
    asks: bool = False,
    brings_data: bool = True,
) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Make a typed Python function into a tool.

    The schema comes from the type hints, the descriptions from the docstring (numpydoc, Google or reST).
    A parameter whose type JSON can't hold (a DataFrame, an array, a class of yours) takes the *name* of a
    notebook variable, and the function gets the object.

    Parameters
    ----------
    name, description : str
        Override what the function's own name and docstring say.
    aliases, parallel_safe, read_only, needs_kernel, asks, brings_data
        See :class:`Tool`.

    Raises
    ------
    ConfigError
        If a parameter has no type hint, or the function takes ``*args`` or ``**kwargs``.

    Examples
    --------
    >>> @tool(read_only=True)
    ... def area(width: float, height: float = 1.0) -> float:
    ...     '''Area of a rectangle in square metres.'''
    ...     return width * height
    >>> area.name, area.parameters["required"]
    ('area', ['width'])
    >>> area(2, 3)
    6
    """
    if function is None:
        return partial(_from_function, **options)
    return _from_function(function)


def _from_function(
    function: Callable[..., Any], *, name: str = "", description: str = "", **options: Any
) -> Tool:
    from agent_magics.tools.schema import signature_schema  # pydantic: heavy, so not before it is needed

    schema = signature_schema(function)
    return Tool(
        name=name or function.__name__,
        description=description or schema.description or function.__name__.replace("_", " "),
        handler=function,
        parameters=schema.parameters,
        objects=schema.objects,
        convert=schema.convert,
        needs_kernel=options.pop("needs_kernel", False) or bool(schema.objects),
        **options,
    )
