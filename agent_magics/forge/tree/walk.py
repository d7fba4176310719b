"""The walk over the tree: every node, each by the rule of its kind.

Modules are never values: a name that stands for a module may only be followed by a dot and a listed name. So
there is nothing to follow through assignments, arguments, containers and returns. Functions that need care
(:mod:`.calls`) may only be called where they stand, for the same reason.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from typing import Any

from agent_magics.forge.tree import calls, hints
from agent_magics.forge.tree.bindings import Bindings
from agent_magics.forge.tree.modules import CHANCE, CLOCK, exports, is_module, refusal
from agent_magics.forge.tree.words import (
    ATTRIBUTES_REFUSED,
    BUILTINS,
    CLOCKS,
    KEYWORDS_REFUSED,
    NEVER_ASSIGNED,
    NODES,
    REACHING,
    SPECIAL_METHODS,
    SPECIAL_NAMES,
)

MOST_REASONS = 8
_GRANTED = {"http_get": "http_get", "scratch": "scratch"}


class Walk:
    """Goes over one source and collects the reasons against it.

    Parameters
    ----------
    names : Bindings
        What its names stand for.
    capabilities : iterable of str
        What it is to be granted: ``clock``, ``random``, ``http_get:HOST``, ``scratch``.
    """

    def __init__(self, names: Bindings, capabilities: Iterable[str] = ()) -> None:
        self.names = names
        self.granted = {each.partition(":")[0] for each in capabilities}
        self.reasons: list[str] = []

    def go(self) -> list[str]:
        """The reasons against the source, in the order of its lines."""
        for node in self.names.nodes:
            if type(node) not in NODES:
                self.refuse(node, f"{_kind(node)} can't be used in a tool")
            elif (rule := _RULES.get(type(node))) is not None:
                rule(self, node)
        self._seeds()
        ordered = sorted(dict.fromkeys(self.reasons), key=_line_of)
        more = len(ordered) - MOST_REASONS
        return [*ordered[:MOST_REASONS], *([f"And {more} more."] if more > 0 else [])]

    def refuse(self, node: ast.AST, why: str) -> None:
        """Add a reason, with its line."""
        self.reasons.append(f"Line {self._line(node)}: {why}.")

    def _line(self, node: ast.AST) -> int:
        while not hasattr(node, "lineno") and node in self.names.parents:
            node = self.names.parents[node]
        return getattr(node, "lineno", 1)

    # -- names -----------------------------------------------------------------------------------

    def name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.loaded(node)
        else:
            self.bind(node, node.id)

    def loaded(self, node: ast.Name) -> None:
        name = node.id
        if name.startswith("__") and name not in SPECIAL_NAMES:
            self.refuse(node, f"the name {name!r} can't be used")
        elif name in REACHING:
            self.refuse(node, calls.instead_of(name))
        elif name in self.names.modules:
            self.only_followed(node, self.names.modules[name])
        elif name not in self.names.bound and name not in BUILTINS and name not in SPECIAL_NAMES:
            self.unknown(node, name)
        elif (origin := self.names.origins.get(name)) is not None:
            self.thing(node, origin)

    def unknown(self, node: ast.AST, name: str) -> None:
        if (needed := _GRANTED.get(name)) is None:
            self.refuse(node, f"the name {name!r} is not defined here, and no builtin that a tool may use")
        elif needed not in self.granted:
            self.refuse(node, f"{name!r} is there only with the capability {needed!r}")

    def bind(self, node: ast.AST, name: str, *, special: bool = False) -> None:
        """A name is given a meaning."""
        if name.startswith("__") and not (special and name in SPECIAL_METHODS):
            self.refuse(node, f"the name {name!r} can't be defined in a tool")
        elif name in REACHING:
            self.refuse(node, f"{name!r} is a builtin that reaches further; choose another name")
        elif name in self.names.modules and not isinstance(node, ast.alias):
            self.refuse(node, f"{name!r} is a module here; choose another name")
        elif not name.isascii():
            self.refuse(node, f"names are written in ASCII letters, not as {name!r}")

    def only_followed(self, node: ast.expr, path: str) -> None:
        parent = self.names.parents.get(node)
        if not (isinstance(parent, ast.Attribute) and parent.value is node):
            self.refuse(
                node, f"the module {path!r} can't be handed on as a value; name what you need from it"
            )

    def declared(self, node: ast.Global | ast.Nonlocal) -> None:
        for name in node.names:
            self.bind(node, name)

    def handler(self, node: ast.ExceptHandler | ast.MatchAs | ast.MatchStar) -> None:
        if node.name:
            self.bind(node, node.name)

    def rest(self, node: ast.MatchMapping) -> None:
        if node.rest:
            self.bind(node, node.rest)

    # -- attributes ------------------------------------------------------------------------------

    def attribute(self, node: ast.Attribute) -> None:
        base = self.names.module(node.value)
        if base is not None:
            self.export(node, base)
        else:
            self.word(node, node.attr)
            if (origin := self.names.origin(node)) is not None:
                self.thing(node, origin)
            elif node.attr in calls.METHODS and not calls.is_part_of_url(node, self.names):
                self.careful(node, calls.METHODS[node.attr])
        if not isinstance(node.ctx, ast.Load):
            self.assigned(node)

    def word(self, node: ast.AST, attr: str) -> None:
        """An attribute by its name alone."""
        if attr.startswith("_") and not self._is_base_init(node):
            self.refuse(node, f"attributes that begin with an underscore can't be used ({attr!r})")
        elif attr in ATTRIBUTES_REFUSED:
            self.refuse(node, f"the attribute {attr!r} can't be used in a tool")
        elif attr in CLOCKS and "clock" not in self.granted:
            self.refuse(node, f"{attr!r} reads the clock: take the time as an argument, or ask for 'clock'")

    def _is_base_init(self, node: ast.AST) -> bool:
        """``Base.__init__(self, ...)`` in a class that derives from ``Base``; ``super()`` reaches further."""
        match node, self.names.parents.get(node):
            case ast.Attribute(value=ast.Name(id=base), attr="__init__"), ast.Call(
                func=func, args=[ast.Name(), *_]
            ):
                return func is node and base in self._bases_around(node)
            case _:
                return False

    def _bases_around(self, node: ast.AST) -> set[str]:
        while not isinstance(node, ast.ClassDef) and node in self.names.parents:
            node = self.names.parents[node]
        bases = node.bases if isinstance(node, ast.ClassDef) else []
        return {base.id for base in bases if isinstance(base, ast.Name)}

    def export(self, node: ast.Attribute, module: str) -> None:
        path = f"{module}.{node.attr}"
        if node.attr in exports().get(module, ()):
            self.thing(node, path)
        elif is_module(path):
            self.only_followed(node, path)
        else:
            self.refuse(node, f"{node.attr!r} can't be taken from the module {module!r}")

    def thing(self, node: ast.Name | ast.Attribute, origin: str) -> None:
        """Something that was imported: perhaps it needs a grant, perhaps care."""
        if origin in CLOCK and "clock" not in self.granted:
            self.refuse(node, f"{origin} needs the clock: take the time as an argument, or ask for 'clock'")
        if (origin in CHANCE or origin.startswith("secrets.")) and "random" not in self.granted:
            self.refuse(node, f"{origin} needs chance: take a seed as an argument, or ask for 'random'")
        if origin in calls.BASES_ONLY:
            self.base_only(node, origin)
        elif (rule := calls.FUNCTIONS.get(origin)) is not None:
            self.careful(node, rule)
        elif isinstance(node, ast.Attribute) and node.attr in calls.METHODS and origin not in calls.PLAIN:
            self.careful(node, calls.METHODS[node.attr])

    def careful(self, node: ast.Name | ast.Attribute, rule: calls.Rule) -> None:
        """Something that may only be called where it stands, with arguments that keep its rule."""
        name = node.attr if isinstance(node, ast.Attribute) else node.id
        call = self.names.parents.get(node)
        if not (isinstance(call, ast.Call) and call.func is node):
            if self.names.origin(node) not in calls.HANDED_ON and not self._is_looked_at(node):
                self.refuse(node, f"{name!r} may only be called where it stands, not handed on")
        elif why := rule(call, self):
            self.refuse(call, why)

    def base_only(self, node: ast.expr, origin: str) -> None:
        parent = self.names.parents.get(node)
        if not (isinstance(parent, ast.ClassDef) and node in parent.bases) and not self._is_hint(node):
            self.refuse(node, f"{origin} may only be derived from, with a class statement")

    def assigned(self, node: ast.Attribute) -> None:
        if node.attr in NEVER_ASSIGNED:
            self.refuse(node, f"the attribute {node.attr!r} can't be assigned: it changes what memory means")
        base: ast.expr = node.value
        while isinstance(base, ast.Attribute | ast.Subscript):
            base = base.value
        if isinstance(base, ast.Name) and (base.id in self.names.modules or base.id in self.names.origins):
            self.refuse(node, "what was imported can't be changed")

    def _is_looked_at(self, node: ast.expr) -> bool:
        """A type in a hint, in ``isinstance``, or followed by one of its own methods."""
        if self.names.origin(node) not in calls.TYPES:
            return False
        parent = self.names.parents.get(node)
        if isinstance(parent, ast.Tuple):
            parent = self.names.parents.get(parent)
        match parent:
            case ast.Attribute() | ast.Call(func=ast.Name(id="isinstance" | "issubclass")):
                return True
            case _:
                return self._is_hint(node)

    def _is_hint(self, node: ast.AST) -> bool:
        parent = self.names.parents.get(node)
        while isinstance(parent, ast.BinOp | ast.Subscript | ast.Tuple):
            node, parent = parent, self.names.parents.get(parent)
        match parent:
            case ast.arg(annotation=hint) | ast.AnnAssign(annotation=hint) | ast.FunctionDef(returns=hint):
                return hint is node
            case _:
                return False

    # -- statements ------------------------------------------------------------------------------

    def imported(self, node: ast.Import) -> None:
        for alias in node.names:
            if not is_module(alias.name):
                self.refuse(node, refusal(alias.name))
            self.bound_by_import(node, alias)

    def imported_from(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        if node.level or (module != "__future__" and not is_module(module)):
            self.refuse(node, refusal("." * node.level + module))
            return
        for alias in node.names:
            listed = alias.name in exports().get(module, ()) or is_module(f"{module}.{alias.name}")
            if module == "__future__":
                listed = alias.name == "annotations" and alias.asname is None
            if not listed:
                self.refuse(node, f"{alias.name!r} can't be imported from {module!r}")
            self.bound_by_import(node, alias)

    def bound_by_import(self, node: ast.AST, alias: ast.alias) -> None:
        name = alias.asname or alias.name.partition(".")[0]
        self.bind(alias, name)
        again = self.names.bound[name] > 1 and name in self.names.modules
        if again and not self._same_imports(name):
            self.refuse(node, f"{name!r} is a module here; choose another name for the other thing")

    def _same_imports(self, name: str) -> bool:
        meanings: set[str] = set()
        count = 0
        for each in self.names.nodes:
            if isinstance(each, ast.Import | ast.ImportFrom):
                for alias in each.names:
                    if (alias.asname or alias.name.partition(".")[0]) == name:
                        prefix = f"{each.module}." if isinstance(each, ast.ImportFrom) else ""
                        whole = alias.name if alias.asname or prefix else alias.name.partition(".")[0]
                        meanings.add(prefix + whole)
                        count += 1
        return len(meanings) == 1 and count == self.names.bound[name]

    def function(self, node: ast.FunctionDef) -> None:
        in_class = isinstance(self.names.parents.get(node), ast.ClassDef)
        self.bind(node, node.name, special=in_class)
        if node.returns is not None:
            self.hint(node.returns)

    def class_(self, node: ast.ClassDef) -> None:
        self.bind(node, node.name)
        for keyword in node.keywords:
            if keyword.arg != "total":
                self.refuse(node, f"a class can't have the keyword {keyword.arg!r}")
        if any(self.names.origin(base) in calls.BASES_ONLY for base in node.bases):
            self.enumeration(node)

    def enumeration(self, node: ast.ClassDef) -> None:
        """One with members can't be called to make another; one without could be, with any attribute."""
        names = [line.targets[0] for line in node.body if isinstance(line, ast.Assign)]
        if any(isinstance(name, ast.Name) and name.id.startswith("_") for name in names):
            self.refuse(node, "an enumeration has no names that begin with an underscore")
        plain = (ast.Constant, ast.Tuple, ast.UnaryOp)
        values = [line.value for line in node.body if isinstance(line, ast.Assign)]
        if not any(isinstance(each, plain) or self._is_auto(each) for each in values):
            self.refuse(node, "an enumeration has members with plain values; one without can't be in a tool")

    def _is_auto(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and self.names.certain(node.func) == "enum.auto"

    def constant(self, node: ast.Constant) -> None:
        """pandas answers for an attribute with the item of that label: a name in a text is a name."""
        if isinstance(node.value, str) and _INTERNAL.search(node.value) and node.value != "__main__":
            self.refuse(node, f"a text can't begin or end with two underscores ({node.value[:40]!r})")

    def argument(self, node: ast.arg) -> None:
        self.bind(node, node.arg)
        if node.annotation is not None:
            self.hint(node.annotation)

    def annotated(self, node: ast.AnnAssign) -> None:
        self.hint(node.annotation)

    def keyword(self, node: ast.keyword) -> None:
        name = node.arg or ""
        if name.startswith("__"):
            self.refuse(node, f"the keyword {name!r} can't be used")
        elif name in KEYWORDS_REFUSED:
            self.refuse(node, f"the keyword {name!r} can't be used: {KEYWORDS_REFUSED[name]}")
        elif name == "verify_integrity" and not _is_true(node.value):
            self.refuse(node, "verify_integrity can only be True: without it an index may point nowhere")
        elif name == "aggfunc" and not calls.is_function(node.value, self.names):
            self.refuse(node, calls.NAME_A_FUNCTION.format("aggfunc"))

    def pattern(self, node: ast.MatchClass) -> None:
        for attr in node.kwd_attrs:
            self.word(node, attr)

    # -- text and numbers ------------------------------------------------------------------------

    def hint(self, node: ast.expr) -> None:
        for where, why in hints.beyond(node):
            self.refuse(where, why)

    def arithmetic(self, node: ast.BinOp) -> None:
        match node:
            case ast.BinOp(op=ast.Pow(), right=ast.Constant(value=int(power))) if power > 10_000:
                self.refuse(node, f"a power of {power:,} has no end; use floats or logarithms")
            case ast.BinOp(op=ast.Pow(), right=ast.BinOp(op=ast.Pow(), right=ast.Constant())):
                self.refuse(node, "a power of a power grows beyond all bounds; use logarithms")
            case ast.BinOp(op=ast.LShift(), right=ast.Constant(value=int(places))) if places > 10_000:
                self.refuse(node, f"a shift by {places:,} places is a number without end")
            case (
                ast.BinOp(op=ast.Mult(), left=ast.Constant(value=str() | bytes()))
                | ast.BinOp(op=ast.Mult(), left=ast.List() | ast.Tuple())
            ) if isinstance(node.right, ast.Constant) and _is_big(node.right.value):
                self.refuse(node, "this repeats something more than ten million times")
            case _:
                pass

    def _seeds(self) -> None:
        """Functions of chance that share one generator may be used once it is seeded by an argument."""
        if "random" in self.granted:
            return
        imported = {*self.names.modules.values(), *self.names.origins.values()}
        for module, functions in calls.SHARED_CHANCE.items():
            if not any(path.partition(".")[0] == module.partition(".")[0] for path in imported):
                continue
            used = [each for each in self.names.nodes if self._takes(each, module, functions)]
            seeded = any(self._takes(each, module, frozenset({"seed"})) for each in self.names.nodes)
            if used and not seeded:
                self.refuse(
                    used[0], f"{module} needs a seed: call {module}.seed(...) first, or ask for 'random'"
                )

    def _takes(self, node: ast.AST, module: str, functions: frozenset[str]) -> bool:
        if not isinstance(node, ast.Name | ast.Attribute):
            return False
        origin = self.names.origin(node)
        return (
            origin is not None
            and origin.rpartition(".")[0] == module
            and origin.rpartition(".")[2] in functions
        )


def _kind(node: ast.AST) -> str:
    names = {"AsyncFunctionDef": "async", "Await": "await", "TryStar": "except*", "AsyncFor": "async"}
    return names.get(type(node).__name__, type(node).__name__)


def _line_of(reason: str) -> int:
    return int(reason[5 : reason.index(":")]) if reason.startswith("Line ") else 0


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _is_big(value: object) -> bool:
    return isinstance(value, int) and value > 10_000_000


_INTERNAL = re.compile(r"\A__\w|\w__\Z")

_RULES: dict[type[ast.AST], Callable[[Walk, Any], None]] = {
    ast.Name: Walk.name,
    ast.Attribute: Walk.attribute,
    ast.Import: Walk.imported,
    ast.ImportFrom: Walk.imported_from,
    ast.FunctionDef: Walk.function,
    ast.ClassDef: Walk.class_,
    ast.arg: Walk.argument,
    ast.AnnAssign: Walk.annotated,
    ast.keyword: Walk.keyword,
    ast.MatchClass: Walk.pattern,
    ast.MatchAs: Walk.handler,
    ast.MatchStar: Walk.handler,
    ast.MatchMapping: Walk.rest,
    ast.ExceptHandler: Walk.handler,
    ast.Global: Walk.declared,
    ast.Nonlocal: Walk.declared,
    ast.BinOp: Walk.arithmetic,
    ast.Constant: Walk.constant,
}
