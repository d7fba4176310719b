"""What each name of a source stands for.

One name means one thing in the whole source, whatever the scope: a name that stands for a module anywhere is
taken for that module everywhere, and may not be given another meaning. That is stricter than Python, and it
is what makes the answers below certain.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from agent_magics.forge.tree.modules import exports, is_module

DEEPEST = 90
"""Levels of the tree. Python's own compiler refuses at about a hundred."""


_READERS = ("agg", "aggregate", "apply", "transform")
"""Methods that look into a table of functions and don't change it."""


class TooDeep(Exception):
    """The tree has more levels than anybody writes."""


@dataclass(kw_only=True)
class Bindings:
    """What the names of one source stand for.

    Attributes
    ----------
    nodes : list of ast.AST
        Every node of the tree, parents before children.
    parents : dict
        Node -> the node that it is part of.
    modules : dict
        Name -> the dotted name of the module that it stands for.
    origins : dict
        Name -> where it was imported from, as ``module.name``.
    bound : Counter
        Name -> in how many places it is given a meaning.
    values : dict
        Name -> the expression that it is assigned, the last one.
    functions : set of str
        Names of functions and classes.
    """

    nodes: list[ast.AST] = field(default_factory=list[ast.AST])
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict[ast.AST, ast.AST])
    modules: dict[str, str] = field(default_factory=dict[str, str])
    origins: dict[str, str] = field(default_factory=dict[str, str])
    bound: Counter[str] = field(default_factory=Counter[str])
    values: dict[str, ast.expr] = field(default_factory=dict[str, ast.expr])
    functions: set[str] = field(default_factory=set[str])

    def module(self, node: ast.expr) -> str | None:
        """The module that an expression stands for, where it stands for one."""
        match node:
            case ast.Name(id=name):
                return self.modules.get(name)
            case ast.Attribute(value=value, attr=attr):
                base = self.module(value)
                path = f"{base}.{attr}" if base else ""
                return path if base and is_module(path) and attr not in exports()[base] else None
            case _:
                return None

    def origin(self, node: ast.expr) -> str | None:
        """Where the thing comes from that an expression stands for: ``numpy.linalg.norm``."""
        match node:
            case ast.Name(id=name):
                return self.origins.get(name)
            case ast.Attribute(value=value, attr=attr):
                base = self.module(value) or self.origin(value)
                return f"{base}.{attr}" if base else None
            case _:
                return None

    def certain(self, node: ast.expr) -> str | None:
        """The origin of an expression whose name never means anything else."""
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and (root.id in self.modules or self.bound[root.id] == 1):
            return self.origin(node)
        return None

    def value(self, name: str) -> ast.expr | None:
        """The one expression that a name is ever given."""
        return self.values.get(name) if self.bound[name] == 1 else None

    def table(self, name: str) -> ast.expr | None:
        """The literal collection that a name is given, if it is only ever looked into, and so stays."""
        value = self.value(name)
        if not isinstance(value, ast.Dict | ast.List | ast.Tuple):
            return None
        for node in self.nodes:
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
                match self.parents[node]:
                    case ast.Subscript(value=looked_into, ctx=ast.Load()) if looked_into is node:
                        continue
                    case ast.Compare() | ast.Call(func=ast.Name(id="sorted" | "len" | "list")):
                        continue
                    case ast.Call(func=ast.Attribute(attr=attr)) if attr in _READERS:
                        continue
                    case _:
                        return None
        return value


def read(tree: ast.Module) -> Bindings:
    """Walk the tree once and note what binds.

    Raises
    ------
    TooDeep
        If the tree has too many levels.
    """
    found = Bindings()
    level: list[ast.AST] = [tree]
    for _ in range(DEEPEST):
        below: list[ast.AST] = []
        for node in level:
            found.nodes.append(node)
            for child in _children(node):
                found.parents[child] = node
                below.append(child)
        if not below:
            break
        level = below
    else:
        raise TooDeep
    for node in found.nodes:
        if (note := _NOTES.get(type(node))) is not None:
            note(found, node)
    return found


_CONTEXTS = (ast.expr_context, ast.operator, ast.cmpop, ast.unaryop, ast.boolop)


def _children(node: ast.AST) -> list[ast.AST]:
    children: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            children += [each for each in cast("list[object]", value) if isinstance(each, ast.AST)]
        elif isinstance(value, ast.AST) and not isinstance(value, _CONTEXTS):
            children.append(value)
    return children


def _import(found: Bindings, node: ast.Import) -> None:
    for alias in node.names:
        name = alias.asname or alias.name.partition(".")[0]
        found.modules[name] = alias.name if alias.asname else name
        found.bound[name] += 1


def _import_from(found: Bindings, node: ast.ImportFrom) -> None:
    for alias in node.names:
        name, path = alias.asname or alias.name, f"{node.module}.{alias.name}"
        if is_module(path) and alias.name not in exports().get(node.module or "", ()):
            found.modules[name] = path
        else:
            found.origins[name] = path
        found.bound[name] += 1


def _name(found: Bindings, node: ast.Name) -> None:
    if not isinstance(node.ctx, ast.Load):
        found.bound[node.id] += 1
        match found.parents[node]:
            case ast.Assign(targets=[_], value=value) | ast.AnnAssign(value=ast.expr() as value):
                found.values[node.id] = value
            case _:
                found.bound[node.id] += 1  # a loop, an unpacking: not one expression


def _function(found: Bindings, node: ast.FunctionDef) -> None:
    found.bound[node.name] += 1
    if not node.decorator_list:  # decorated, it may be anything
        found.functions.add(node.name)


def _class(found: Bindings, node: ast.ClassDef) -> None:
    found.bound[node.name] += 1
    if not node.decorator_list:
        found.functions.add(node.name)


def _argument(found: Bindings, node: ast.arg) -> None:
    found.bound[node.arg] += 2  # whoever calls gives it its value


def _handler(found: Bindings, node: ast.ExceptHandler | ast.MatchAs | ast.MatchStar) -> None:
    if node.name:
        found.bound[node.name] += 2


def _rest(found: Bindings, node: ast.MatchMapping) -> None:
    if node.rest:
        found.bound[node.rest] += 2


def _declared(found: Bindings, node: ast.Global | ast.Nonlocal) -> None:
    found.bound.update(dict.fromkeys(node.names, 2))


_NOTES: dict[type[ast.AST], Callable[[Bindings, Any], None]] = {
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Name: _name,
    ast.FunctionDef: _function,
    ast.ClassDef: _class,
    ast.arg: _argument,
    ast.ExceptHandler: _handler,
    ast.MatchAs: _handler,
    ast.MatchStar: _handler,
    ast.MatchMapping: _rest,
    ast.Global: _declared,
    ast.Nonlocal: _declared,
}
