"""The lists of words that the walk goes by. What may be used is listed; what is not on a list is refused.

Attributes are the exception: an object's attributes can't be listed, so the ones that lead out are. Those
that begin with an underscore are all refused.
"""

from __future__ import annotations

import ast
import builtins


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NODES = frozenset(
    getattr(ast, name)
    for name in [
        "Module",
        "Expression",
        "FunctionDef",
        "Return",
        "Delete",
        "Assign",
        "AugAssign",
        "AnnAssign",
        "For",
        "While",
        "If",
        "With",
        "withitem",
        "Raise",
        "Try",
        "Assert",
        "Import",
        "ImportFrom",
        "Global",
        "Nonlocal",
        "Expr",
        "Pass",
        "Break",
        "Continue",
        "ClassDef",
        "ExceptHandler",
        "BoolOp",
        "NamedExpr",
        "BinOp",
        "UnaryOp",
        "Lambda",
        "IfExp",
        "Dict",
        "Set",
        "ListComp",
        "SetComp",
        "DictComp",
        "GeneratorExp",
        "Yield",
        "YieldFrom",
        "Compare",
        "Call",
        "FormattedValue",
        "JoinedStr",
        "Constant",
        "Attribute",
        "Subscript",
        "Starred",
        "Name",
        "List",
        "Tuple",
        "Slice",
        "comprehension",
        "arguments",
        "arg",
        "keyword",
        "alias",
        "Match",
        "match_case",
        "MatchValue",
        "MatchSingleton",
        "MatchSequence",
        "MatchMapping",
        "MatchStar",
        "MatchAs",
        "MatchOr",
        "MatchClass",
        "Load",
        "Store",
        "Del",
        "And",
        "Or",
        "Add",
        "Sub",
        "Mult",
        "Div",
        "FloorDiv",
        "Mod",
        "Pow",
        "LShift",
        "RShift",
        "BitOr",
        "BitXor",
        "BitAnd",
        "MatMult",
        "Invert",
        "Not",
        "UAdd",
        "USub",
        "Eq",
        "NotEq",
        "Lt",
        "LtE",
        "Gt",
        "GtE",
        "Is",
        "IsNot",
        "In",
        "NotIn",
    ]
)
"""Kinds of syntax. Not among them: async, ``except*``, type parameters, template strings, and what comes
next."""

BUILTINS = _words("""
    abs all any ascii bin bool bytearray bytes callable chr classmethod complex dict divmod enumerate filter
    float format frozenset hash hex int isinstance issubclass iter len list map max min next oct ord pow print
    property range repr reversed round set slice sorted staticmethod str sum tuple zip Ellipsis NotImplemented
""") | frozenset(
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, Exception) and not name.startswith("_")
)
"""Builtins that a tool may use: plain data and plain functions, and the exceptions that are errors."""

REACHING = _words("""
    eval exec compile open __import__ getattr setattr delattr globals locals vars input breakpoint type super
    object memoryview
""")
"""Builtins that reach further. Not even a variable may have such a name: what reads like one is refused."""

SPECIAL_NAMES = _words("__name__")
"""Names with two underscores that may be read: ``if __name__ == "__main__":`` is an ordinary line."""

SPECIAL_METHODS = _words("""
    __abs__ __add__ __and__ __bool__ __bytes__ __call__ __ceil__ __complex__ __contains__ __delitem__
    __divmod__ __enter__ __eq__ __exit__ __float__ __floor__ __floordiv__ __format__ __ge__ __getitem__ __gt__
    __hash__ __iadd__ __iand__ __ifloordiv__ __imatmul__ __imod__ __imul__ __index__ __init__ __int__
    __invert__ __ior__ __ipow__ __isub__ __iter__ __itruediv__ __ixor__ __le__ __len__ __lshift__ __lt__
    __matmul__ __missing__ __mod__ __mul__ __ne__ __neg__ __next__ __or__ __pos__ __post_init__ __pow__
    __radd__ __rand__ __rdivmod__ __repr__ __reversed__ __rfloordiv__ __rmatmul__ __rmod__ __rmul__ __ror__
    __round__ __rpow__ __rshift__ __rsub__ __rtruediv__ __rxor__ __setitem__ __str__ __sub__ __truediv__
    __trunc__ __xor__
""")
"""Methods that a class may define. Not among them: what answers for attributes, pickling, class creation, and
the array protocols, by which numpy would read memory at an address of the class's choice."""

_FRAMES = _words("""
    gi_code gi_frame gi_running gi_suspended gi_yieldfrom cr_await cr_code cr_frame cr_origin cr_running
    cr_suspended ag_await ag_code ag_frame ag_running ag_suspended tb_frame tb_lasti tb_lineno tb_next f_back
    f_builtins f_code f_globals f_lasti f_lineno f_locals f_trace f_trace_lines f_trace_opcodes f_generator
    co_argcount co_cellvars co_code co_consts co_exceptiontable co_filename co_firstlineno co_flags
    co_freevars co_kwonlyargcount co_lines co_linetable co_lnotab co_name co_names co_nlocals
    co_posonlyargcount co_positions co_qualname co_stacksize co_varnames co_branches func_closure func_code
    func_defaults func_dict func_globals im_class im_func im_self with_traceback obj name_from mro
""")
_MODULES = _words(
    "builtins codecs ctypes ctypeslib f2py importlib subprocess sys pickle marshal cffi capsule"
)
_TEMPLATES = _words("format_map vformat get_field from_custom_template style eval")
_FILES = _words("""
    tofile fromfile memmap dump dumps to_pickle to_sql to_hdf to_parquet to_feather to_excel to_stata to_gbq
    to_clipboard to_orc to_xml to_iceberg plot hist boxplot savefig
""")
_MEMORY = _words("setflags buffer_info construct_fast indptr tocsr tocsc tobsr setfield getfield refcheck")

ATTRIBUTES_REFUSED = _FRAMES | _MODULES | _TEMPLATES | _FILES | _MEMORY
"""Attributes that lead out: of a frame, to a module, through a name in a string, to a file, or beyond the
bounds of an array. ``format``, ``query`` and their like are in :mod:`.calls`: those may be called, with
care."""

NEVER_ASSIGNED = _words("strides dtype writeable")
"""Attributes of arrays that change what memory they stand for."""

CLOCKS = _words("now utcnow today")

AGGREGATES = _words("""
    all any bfill count cumcount cummax cummin cumprod cumsum describe diff ffill first idxmax idxmin kurt
    last max mean median min mode ngroup nunique ohlc pct_change prod rank sem shift size skew std sum unique
    var abs round sqrt log log2 log10 log1p exp expm1 sign floor ceil lower upper strip len
""")
"""Names that may be given as text where pandas looks a function up by its name."""

KEYWORDS_REFUSED = {
    "refcheck": "it leaves other arrays with memory that is gone",
    "fastpath": "it skips the checks that keep an array within its memory",
    "allow_pickle": "it unpickles, which runs code",
    "storage_options": "it opens connections",
    "win_type": "pandas looks it up by name in another library; compute the weights yourself",
}
