"""Functions and methods that take a name, a path, text to be run, or chance as an argument.

Each has a rule that looks at the call; it says why the call can't be made, or nothing. They may only be
called where they stand, so that a rule always sees the arguments.
"""

from __future__ import annotations

import ast
import string
from collections.abc import Callable, Iterator
from functools import partial
from typing import Protocol

from agent_magics.forge.tree.bindings import Bindings
from agent_magics.forge.tree.modules import exports
from agent_magics.forge.tree.words import AGGREGATES, ATTRIBUTES_REFUSED, BUILTINS


class Judge(Protocol):
    """What a rule may ask of the walk."""

    names: Bindings
    granted: set[str]


Rule = Callable[[ast.Call, Judge], str]

NAME_A_FUNCTION = (
    "{} takes a function, or the name of an aggregate written out where it is called, such as 'mean'; a name "
    "that is only known at run time could be any method"
)
BASES_ONLY = frozenset(f"enum.{name}" for name in ("Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"))
"""What may be derived from but not called: called with a dict, they make classes with any attribute."""

PLAIN = frozenset({"pandas.json_normalize", "random.sample", "numpy.random.sample", "operator.itemgetter"})
"""Functions that share the name of a method with a rule, but not its dangers."""

_INSTEAD = {
    "getattr": "write the attribute with a dot",
    "setattr": "assign the attribute with a dot",
    "type": "use isinstance()",
    "super": "call the base class's method by its name, or don't derive",
    "open": "take the content as an argument",
    "input": "take it as an argument",
    "eval": "use ast.literal_eval for data, or parse the text yourself",
    "vars": "use a dict",
}


def instead_of(name: str) -> str:
    """Why a builtin is refused, and what to do."""
    remedy = _INSTEAD.get(name)
    return f"{name!r} can't be used in a tool" + (f": {remedy}" if remedy else "")


# -- functions that are looked up by name ------------------------------------------------------------


def is_function(node: ast.expr, names: Bindings, deep: int = 0) -> bool:
    """Whether an expression is a function, an aggregate's name, or a collection of these, for certain."""
    if deep > 6:
        return False
    again = partial(is_function, names=names, deep=deep + 1)
    parts = _parts(node, names)
    if parts is not None:
        return all(map(again, parts))
    match node:
        case ast.Constant(value=str(text)):
            return text in AGGREGATES
        case ast.Lambda():
            return True
        case ast.Call(func=function):
            return names.certain(function) in ("functools.partial", "operator.itemgetter")
        case ast.Name(id=name):
            return _name_is_function(name, names, again)
        case ast.Attribute():
            return _attribute_is_function(node, names)
        case _:
            return False


def _parts(node: ast.expr, names: Bindings) -> list[ast.expr] | None:
    """What all has to be a function, where an expression is made of parts."""
    match node:
        case ast.Tuple(elts=[ast.Constant(value=str()), function]):
            return [function]  # a named aggregation: ("column", "mean")
        case ast.List(elts=parts) | ast.Set(elts=parts) | ast.Tuple(elts=parts) | ast.Dict(values=parts):
            return parts
        case ast.DictComp(value=value):
            return [value]
        case ast.IfExp(body=one, orelse=other):
            return [one, other]
        case ast.Subscript(value=ast.Name(id=name)):
            table = names.table(name)
            return [table] if table is not None else None
        case ast.Call(func=function, args=args) if names.certain(function) == "pandas.NamedAgg":
            return args[1:]  # given by name, it is checked as aggfunc=
        case _:
            return None


def _name_is_function(name: str, names: Bindings, again: Callable[[ast.expr], bool]) -> bool:
    if name in names.origins:
        return names.bound[name] == 1
    if name in names.functions:
        return names.bound[name] == 1
    if name not in names.bound:
        return name in BUILTINS
    value = names.value(name)
    if isinstance(value, ast.Dict | ast.List | ast.Tuple | ast.Set):
        value = names.table(name)
    return value is not None and again(value)


def _attribute_is_function(node: ast.Attribute, names: Bindings) -> bool:
    """``np.mean`` or ``str.upper``; any other attribute may hold any text."""
    match node.value:
        case ast.Name(id=name) if name in BUILTINS and name not in names.bound:
            return True
        case value if (module := names.module(value)) is not None:
            return node.attr in exports()[module]
        case _:
            return False


def _takes_functions(call: ast.Call, judge: Judge) -> str:
    """pandas' ``agg``, ``apply`` and ``transform`` look a method up by the text that they are given."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else "it"
    if _is_open(call):
        return f"{name} can't take *args or **kwargs here"
    first = call.args[:1]
    named = [each.value for each in call.keywords if each.arg == "func" or name in ("agg", "aggregate")]
    if name in ("agg", "aggregate"):
        plain = {"axis", "engine", "args", "numeric_only"}
        named = [each.value for each in call.keywords if each.arg not in plain]
    if all(is_function(each, judge.names) for each in (*first, *named)):
        return ""
    return NAME_A_FUNCTION.format(name)


def _few_positions(most: int) -> Rule:
    def rule(call: ast.Call, judge: Judge) -> str:
        if _is_open(call) or len(call.args) > most:
            return "give the function by name here: aggfunc=..."
        return ""

    return rule


# -- text that is run, and text with fields ----------------------------------------------------------


def _query(call: ast.Call, judge: Judge) -> str:
    """A query is Python that pandas evaluates: comparisons of columns, and nothing that is called."""
    match call:
        case ast.Call(args=[ast.Constant(value=str(text))], keywords=[]):
            return "" if _is_comparison(text) else "a query compares columns with constants, and nothing else"
        case _:
            return "query takes one text, written out; or use a boolean mask: df[df['a'] > limit]"


_URLS = frozenset({"urllib.parse.urlsplit", "urllib.parse.urlparse"})


def is_part_of_url(node: ast.Attribute, names: Bindings) -> bool:
    """The ``query`` of an address that was taken apart is text, no method."""
    whole = node.value
    if isinstance(whole, ast.Name):
        whole = names.value(whole.id)
    return node.attr == "query" and isinstance(whole, ast.Call) and names.certain(whole.func) in _URLS


_COMPARISON = (
    ast.Expression, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.Name, ast.Constant, ast.List,
    ast.Tuple,
    ast.Load, ast.And, ast.Or, ast.Not, ast.Invert, ast.USub, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Mod,
    ast.BitAnd, ast.BitOr, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn,
)  # fmt: skip


def _is_comparison(text: str) -> bool:
    if len(text) > 500:
        return False
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return all(
        isinstance(each, _COMPARISON) and not (isinstance(each, ast.Name) and each.id.startswith("_"))
        for each in ast.walk(tree)
    )


def _format(call: ast.Call, judge: Judge) -> str:
    match call.func:
        case ast.Attribute(value=ast.Constant(value=str(text))):
            return (
                "" if all(map(_is_plain_field, _fields(text))) else "a field of .format() can't reach inside"
            )
        case _:
            return ".format() is for a literal text; use an f-string"


def _fields(text: str, deep: int = 0) -> Iterator[str]:
    try:
        for _, field, spec, _ in string.Formatter().parse(text):
            if field is not None:
                yield field
            if spec and deep < 3:
                yield from _fields(spec, deep + 1)
    except ValueError:
        yield "."  # whatever it is, it is no plain field


def _is_plain_field(field: str) -> bool:
    """A number or a name, perhaps with an index; attributes only if they could be written with a dot."""
    name, _, rest = field.partition(".")
    parts = [part.partition("[")[0] for part in rest.split(".")] if rest else []
    clean = all(
        part.isidentifier() and not part.startswith("_") and part not in ATTRIBUTES_REFUSED for part in parts
    )
    return clean and name.partition("[")[2][:1] != "_" and not field.endswith(".")


# -- paths ---------------------------------------------------------------------------------------------


def _to_text(call: ast.Call, judge: Judge) -> str:
    """Without a path these return their text."""
    into = [each.arg for each in call.keywords if each.arg in ("path_or_buf", "buf", "path", None)]
    return "this can only return its text here; give it no path" if call.args or into else ""


_IN_MEMORY = ("io.StringIO", "io.BytesIO")


def _from_text(call: ast.Call, judge: Judge) -> str:
    source = call.args[0] if call.args else None
    if isinstance(source, ast.Name):
        source = judge.names.value(source.id)
    is_text = isinstance(source, ast.Call) and judge.names.certain(source.func) in _IN_MEMORY
    return "" if is_text and not _is_open(call) else "this can only read from io.StringIO(text) here"


# -- chance and time -----------------------------------------------------------------------------------


def _needs_seed(call: ast.Call, judge: Judge) -> str:
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    none = [each for each in given if isinstance(each, ast.Constant) and each.value is None]
    if "random" in judge.granted or (given and not none):
        return ""
    return "chance needs a seed: give one, or take it as an argument, or ask for 'random'"


def _needs_state(call: ast.Call, judge: Judge) -> str:
    """pandas' ``sample`` and scipy's ``rvs``; a ``random.Random`` samples from a population that it is
    given."""
    names = {each.arg for each in call.keywords}
    if "random" in judge.granted or "random_state" in names:
        return ""
    if len(call.args) > 1 and not names & {"n", "frac"}:
        return ""
    return "chance needs a seed: give random_state=..., or ask for 'random'"


def _needs_moment(least: int) -> Rule:
    def rule(call: ast.Call, judge: Judge) -> str:
        if "clock" in judge.granted or (len(call.args) >= least and not _is_open(call)):
            return ""
        return "without a moment this reads the clock: give it one, or ask for 'clock'"

    return rule


def _needs_keyword(name: str) -> Rule:
    def rule(call: ast.Call, judge: Judge) -> str:
        if "clock" in judge.granted or (name in {each.arg for each in call.keywords} and not _is_open(call)):
            return ""
        return f"what is left out is taken from the clock: give {name}=..., or ask for 'clock'"

    return rule


def _no_moment_in_words(call: ast.Call, judge: Judge) -> str:
    """``pandas.Timestamp("now")`` and ``numpy.datetime64("today")`` read the clock."""
    if "clock" in judge.granted:
        return ""
    given = (*call.args, *(keyword.value for keyword in call.keywords))
    words = (each for node in given for each in ast.walk(node) if isinstance(each, ast.Constant))
    said = [each.value for each in words if isinstance(each.value, str)]
    if any(text.strip().lower() in ("now", "today") for text in said):
        return "'now' reads the clock: take the time as an argument, or ask for 'clock'"
    return ""


# -- others --------------------------------------------------------------------------------------------


def _wraps(call: ast.Call, judge: Judge) -> str:
    return "" if len(call.args) == 1 and not call.keywords else "wraps takes the function only"


def _never(why: str) -> Rule:
    return lambda call, judge: why


def _validated(call: ast.Call, judge: Judge) -> str:
    unchecked = any(each.arg in ("validate", None) for each in call.keywords) or len(call.args) > 3
    return "without validation codes may point nowhere" if unchecked else ""


def _closed(call: ast.Call, judge: Judge) -> str:
    return "this can't take **kwargs here" if _is_open(call) else ""


def _is_open(call: ast.Call) -> bool:
    """Whether arguments come out of a collection, so that nobody can see them."""
    starred = any(isinstance(each, ast.Starred) for each in call.args)
    return starred or any(each.arg is None for each in call.keywords)


FUNCTIONS: dict[str, Rule] = {
    "functools.wraps": _wraps,
    "numpy.ndarray": _never("make arrays with np.array, np.zeros and the like"),
    "pandas.read_csv": _from_text,
    "pandas.read_fwf": _from_text,
    "pandas.read_json": _from_text,
    "pandas.pivot_table": _few_positions(4),
    "pandas.crosstab": _few_positions(3),
    "pandas.MultiIndex": _few_positions(2),
    "pandas.Categorical": _closed,
    "random.Random": _needs_seed,
    "random.seed": _needs_seed,
    "dateutil.parser.parse": _needs_keyword("default"),
    "dateutil.rrule.rrule": _needs_keyword("dtstart"),
    "dateutil.rrule.rrulestr": _needs_keyword("dtstart"),
    "time.strftime": _needs_moment(2),
    "time.localtime": _needs_moment(1),
    "time.gmtime": _needs_moment(1),
    "time.ctime": _needs_moment(1),
    "time.asctime": _needs_moment(1),
    **dict.fromkeys(
        ("numpy.datetime64", "numpy.array", "numpy.asarray", "pandas.Timestamp", "pandas.to_datetime",
         "pandas.Series", "pandas.DatetimeIndex", "pandas.Period", "pandas.date_range"),
        _no_moment_in_words,
    ),
    **dict.fromkeys(
        (f"numpy.random.{name}" for name in
         ("default_rng", "RandomState", "seed", "PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64",
          "SeedSequence")),
        _needs_seed,
    ),
}  # fmt: skip
"""Where it comes from -> its rule."""

TYPES = frozenset({"numpy.ndarray", "pandas.MultiIndex", "pandas.Categorical"})
"""Types among them that may be looked at, as in a hint, but called only where they stand."""

HANDED_ON = frozenset({
    "numpy.array", "numpy.asarray", "numpy.datetime64", "pandas.Series", "pandas.Timestamp",
    "pandas.DatetimeIndex", "pandas.Period", "pandas.to_datetime",
})  # fmt: skip
"""Converters among them that are also handed on, as to ``map``."""

METHODS: dict[str, Rule] = {
    "format": _format,
    "query": _query,
    **dict.fromkeys(("agg", "aggregate", "apply", "transform"), _takes_functions),
    "pivot_table": _few_positions(3),
    **dict.fromkeys(("to_csv", "to_json", "to_string", "to_markdown", "to_html", "to_latex"), _to_text),
    "sample": _needs_state,
    "rvs": _needs_state,
    "from_codes": _validated,
    "set_codes": _closed,
    "resize": _closed,
}
"""Method -> its rule, whatever it is a method of."""

SHARED_CHANCE: dict[str, frozenset[str]] = {
    "random": exports()["random"] - {"Random", "SystemRandom", "seed"},
    "numpy.random": frozenset(name for name in exports()["numpy.random"] if name.islower())
    - {"default_rng", "seed"},
}
"""Modules whose functions draw from one shared generator."""
