"""The function itself: there, plain, and described by its schema."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any, cast

Schema = Mapping[str, Any]

_TYPES: dict[str, frozenset[str]] = {
    "str": frozenset({"string"}),
    "int": frozenset({"integer"}),
    "float": frozenset({"number", "integer"}),
    "bool": frozenset({"boolean"}),
    "list": frozenset({"array"}),
    "tuple": frozenset({"array"}),
    "set": frozenset({"array"}),
    "dict": frozenset({"object"}),
    "List": frozenset({"array"}),
    "Sequence": frozenset({"array"}),
    "Iterable": frozenset({"array"}),
    "Dict": frozenset({"object"}),
    "Mapping": frozenset({"object"}),
    "DataFrame": frozenset({"string"}),
    "Series": frozenset({"string"}),
    "ndarray": frozenset({"string"}),
}
"""A hint's name -> the JSON types that can describe it. Frames and arrays are named: a variable's name is
text."""

OBJECTS = frozenset({"DataFrame", "Series", "ndarray", "Index", "NDArray"})
"""Hints of arguments that the caller gives by the name of a variable."""


def function_of(tree: ast.Module, name: str) -> ast.FunctionDef | None:
    """The function of that name at the top of a module."""
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]
    return found[0] if len(found) == 1 else None


def parameters(function: ast.FunctionDef) -> list[ast.arg]:
    """All its parameters, in order."""
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def required(function: ast.FunctionDef) -> list[str]:
    """Its parameters without a default."""
    args = [*function.args.posonlyargs, *function.args.args]
    plain = args[: len(args) - len(function.args.defaults)]
    pairs = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    return [arg.arg for arg in (*plain, *(arg for arg, default in pairs if default is None))]


def objects(function: ast.FunctionDef) -> frozenset[str]:
    """Parameters that take a frame or an array."""
    return frozenset(arg.arg for arg in parameters(function) if hinted(arg) in OBJECTS)


def hinted(arg: ast.arg) -> str:
    """The outermost name of a parameter's hint, without the module before it; empty where there is none."""
    hint = arg.annotation
    if isinstance(hint, ast.Constant) and isinstance(hint.value, str):
        try:
            hint = ast.parse(hint.value, mode="eval").body
        except SyntaxError:
            return ""
    while isinstance(hint, ast.Subscript):
        hint = hint.value
    return hint.id if isinstance(hint, ast.Name) else hint.attr if isinstance(hint, ast.Attribute) else ""


def unfit(tree: ast.Module, name: str) -> list[str]:
    """Why the module's function of that name can't be a tool's; empty if it can."""
    same = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]
    if not same:
        return [f"The source defines no function {name!r} at its top level."]
    function = same[-1]
    line = f"Line {function.lineno}:"
    if len(same) > 1 or _bound_again(tree, name):
        return [f"{line} {name!r} is given more than one meaning; define it once."]
    wrong: list[str] = []
    if function.decorator_list:
        wrong.append(f"{line} {name!r} can't have decorators: what runs must be what is written.")
    if function.args.vararg or function.args.kwarg:
        wrong.append(f"{line} {name!r} can't take *args or **kwargs: every argument has a name.")
    if function.args.posonlyargs:
        wrong.append(f"{line} {name!r} can't have positional-only parameters: it is called by name.")
    if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in _own_nodes(function)):
        wrong.append(f"{line} {name!r} can't be a generator; return a list.")
    return wrong


def _bound_again(tree: ast.Module, name: str) -> bool:
    """Whether anything but one ``def`` gives the name a meaning, at whatever depth."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=other, ctx=ast.Store() | ast.Del()) | ast.ClassDef(name=other) if other == name:
                return True
            case ast.alias(name=other, asname=None) | ast.alias(asname=other) if other == name:
                return True
            case ast.Global(names=others) if name in others:
                return True
            case _:
                pass
    return False


def _own_nodes(function: ast.FunctionDef) -> list[ast.AST]:
    """The nodes of a function's own body, without those of functions inside it."""
    found: list[ast.AST] = []
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        found.append(node)
        if not isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef | ast.GeneratorExp):
            waiting += ast.iter_child_nodes(node)
    return found


def mismatches(function: ast.FunctionDef, schema: Schema) -> list[str]:
    """Where a JSON Schema describes other arguments than the function takes."""
    if schema.get("type") != "object" or not isinstance(schema.get("properties", {}), dict):
        return ["The schema must be of type 'object', with the parameters as its properties."]
    described = cast("dict[str, Any]", schema.get("properties", {}))
    takes, needs = [arg.arg for arg in parameters(function)], required(function)
    wrong = [
        f"The schema describes {name!r}, which the function doesn't take."
        for name in described
        if name not in takes
    ]
    wrong += [
        f"The schema doesn't describe the parameter {name!r}." for name in takes if name not in described
    ]
    if wrong:
        return wrong
    demanded = cast("Sequence[str]", schema.get("required", []))
    wrong += [
        f"The schema must require {name!r}: it has no default." for name in needs if name not in demanded
    ]
    wrong += [f"The schema requires {name!r}, which has a default." for name in demanded if name not in needs]
    return wrong + [text for arg in parameters(function) if (text := _other_type(arg, described[arg.arg]))]


def _other_type(arg: ast.arg, described: Any) -> str:
    expected = _TYPES.get(hinted(arg))
    if not isinstance(described, dict):
        return f"The schema's entry for {arg.arg!r} must be a schema of its own."
    said = cast("dict[str, Any]", described).get("type")
    kinds = (
        {said}
        if isinstance(said, str)
        else set(cast("list[str]", said))
        if isinstance(said, list)
        else set[str]()
    )
    if expected and kinds and not kinds & expected:
        hint = ast.unparse(arg.annotation or arg)
        return f"The schema calls {arg.arg!r} {said!r}, but its type hint is {hint}."
    return ""
