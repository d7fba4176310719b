"""Providers by name: registered ones, our own, and those of installed packages.

A name is looked for among what :func:`provider` registered, then among our own, then in the entry point group
``agent_magics.providers``. Nothing is imported before it is asked for, and nothing is cached: each ``build``
calls the factory anew.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar, overload

from agent_magics.errors import ConfigError, UnknownProvider, UsageError
from agent_magics.ports import Provider
from agent_magics.providers.adapt import adapt
from agent_magics.providers.choose import Choice, choose, ollama_models

GROUP = "agent_magics.providers"

Factory = Callable[..., Any]
F = TypeVar("F", bound=Factory)

_OURS = {
    "anthropic": "agent_magics.providers.anthropic:anthropic",
    "candle": "agent_magics.providers.local.candle:candle",
    "demo": "agent_magics.providers.demo:demo",
    "gemini": "agent_magics.providers.gemini:gemini",
    "ggml": "agent_magics.providers.local.ggml:ggml",
    "llama": "agent_magics.providers.local.llama:llama",
    "ollama": "agent_magics.providers.ollama:ollama",
    "openai": "agent_magics.providers.openai:openai",
    "llama2": "agent_magics.providers.local.llama2:llama2",
    "stub": "agent_magics.providers.stub:stub",
    "vertex": "agent_magics.providers.vertex:vertex",
}
_EXTRAS = {
    "candle": "agent-magics[candle]",
    "ggml": "agent-magics[local]",
    "llama": "agent-magics[local]",
    "llama2": "agent-magics[llama2]",
    "vertex": "agent-magics[vertex]",
}
_PLANNERS = ("native", "json", "classic")
_registered: dict[str, Factory] = {}


@overload
def provider(name: str) -> Callable[[F], F]: ...
@overload
def provider(name: str, factory: F) -> F: ...
def provider(name: str, factory: Any = None) -> Any:
    """Register a provider's factory; the last one under a name wins.

    The factory is called for each session, with ``model`` and whatever options were given, as keywords. It
    returns any object with ``fetch(messages, tools)``: see :func:`~agent_magics.providers.adapt.adapt`.

    Examples
    --------
    >>> class Parrot:
    ...     def fetch(self, messages, tools):
    ...         yield {"type": "saying", "text": messages[-1]["content"]}
    >>> @provider("parrot")
    ... def parrot(model=None, **options):
    ...     return Parrot()
    >>> Registry().build("parrot").name
    'parrot'
    """

    def register(made: Factory) -> Factory:
        _registered[name] = made
        return made

    return register if factory is None else register(factory)


def registered(name: str) -> Factory | None:
    """What :func:`provider` registered last under a name; a cell that is run again registers anew."""
    return _registered.get(name)


class Registry:
    """Every provider of this process, by name; the :class:`~agent_magics.ports.Providers` of a session."""

    def build(self, spec: str | Any, **options: Any) -> Provider:
        """The provider for ``"name"``, ``"name:model"`` or ``"auto"``; an object with ``fetch``, adapted.

        Options that are ``None`` count as not given. A ``model=`` wins over the one in ``spec``.

        Raises
        ------
        UnknownProvider
            If there is none of that name, with the names that there are.
        ConfigError
            If its package can't be loaded, with the real reason.
        """
        if not isinstance(spec, str):
            planner = options.get("planner")
            return planned(adapt(spec), planner) if planner else adapt(spec)
        name, model = split(self._choice(spec).spec)
        given = {key: value for key, value in options.items() if value is not None}
        model = given.pop("model", None) or model
        planner = given.pop("planner", "")
        made = self._make(name, self._factory(name), {"model": model or None, **given})
        return planned(adapt(made, name=name, model=model), planner)

    def names(self) -> list[str]:
        """The registered and installed names, sorted."""
        return sorted({*_registered, *_OURS, *(point.name for point in entry_points(group=GROUP))})

    def models(self, name: str) -> list[str]:
        """Model names to offer for completion; any other is accepted too. Empty where none are known."""
        if name == "ollama":
            return ollama_models()
        module = _OURS.get(name, "").partition(":")[0]
        if not module or name in _registered:
            return []
        loaded = _loaded(name, lambda: import_module(module))
        return list(getattr(getattr(loaded, "VENDOR", None), "models", ()))

    def why(self, spec: str) -> str:
        """One sentence: why ``build(spec)`` chose what it chose."""
        return self._choice(spec).why

    def _choice(self, spec: str) -> Choice:
        return choose(self.names()) if spec == "auto" else Choice(spec=spec, why=f"{spec} was asked for.")

    def _factory(self, name: str) -> Factory:
        if name in _registered:
            return _registered[name]
        if name in _OURS:
            module, _, function = _OURS[name].partition(":")
            return _loaded(name, lambda: getattr(import_module(module), function))
        for point in entry_points(group=GROUP, name=name):
            return _from_package(name, point)
        raise self._unknown(name)

    def _make(self, name: str, factory: Factory, options: dict[str, Any]) -> Any:
        return _loaded(name, lambda: factory(**options) if _takes_options(factory) else factory())

    def _unknown(self, name: str) -> UnknownProvider:
        names = self.names()
        near = difflib.get_close_matches(name, names, n=1)
        return UnknownProvider(
            f"unknown provider {name!r}. Available: {', '.join(names)}",
            f"No package installed here offers {name!r}." + (f" Is {near[0]!r} meant?" if near else ""),
            "Register one with `agent_magics.provider(name)`, or install the package that has it.",
        )


def planned(inner: Provider, planner: str = "") -> Provider:
    """``inner`` with its tools called as ``planner`` says; by default as suits the model itself.

    Raises
    ------
    UsageError
        If there is no such planner.
    """
    if planner and planner not in _PLANNERS:
        raise UsageError(
            f"There is no planner {planner!r}.",
            f"There are {', '.join(_PLANNERS)}.",
            "Leave it out to take the model's own.",
        )
    wanted = planner or getattr(inner, "planner", "native")
    if planner:
        inner = getattr(inner, "inner", inner)  # what another planner was put around
    if wanted == "classic":
        from agent_magics.providers.demo import demo

        return demo()
    if wanted != "json":
        return inner
    from agent_magics.providers.json_planner import JSONPlanner

    return JSONPlanner(inner, guided=getattr(inner, "guided", False))


def split(spec: str) -> tuple[str, str]:
    """``"name:model"`` cut at its first colon; models may hold colons, slashes and paths.

    >>> split("ollama:gpt-oss:latest")
    ('ollama', 'gpt-oss:latest')
    """
    name, _, model = spec.partition(":")
    return name.strip(), model.strip()


def _from_package(name: str, point: EntryPoint) -> Factory:
    thing = _loaded(name, point.load, package=point.dist.name if point.dist else "")
    if name in _registered:  # the package registered it while it was loaded
        return _registered[name]
    if callable(thing):
        return thing
    package = point.dist.name if point.dist else point.value
    raise UnknownProvider(
        f"{package} did not register a provider named {name!r}.",
        f"Its entry point {point.value!r} was loaded, and is no factory either.",
        f"Tell its authors to call `provider({name!r})`, or use another provider.",
    )


def _loaded(name: str, load: Callable[[], Any], package: str = "") -> Any:
    try:
        return load()
    except (ImportError, SyntaxError, AttributeError) as error:
        wanted = _EXTRAS.get(name)
        raise ConfigError(
            f"Provider {name!r} can't be loaded.",
            f"{type(error).__name__}: {error}",
            f"Install what it needs: pip install {wanted!r}"
            if wanted
            else f"Repair or remove {package or name!r}.",
        ) from error


def _takes_options(factory: Factory) -> bool:
    import inspect

    try:
        return bool(inspect.signature(factory).parameters)
    except ValueError:  # a builtin without a signature
        return True
