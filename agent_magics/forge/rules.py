"""The rules of a tool's source, as its author is told them. The check (:mod:`.tree`) holds every one of
them."""

from __future__ import annotations

from agent_magics.forge import names
from agent_magics.talk import JSON

RULES = """\
The source is one Python module with a top-level function of the tool's name: typed parameters, a docstring,
no decorators, no *args, no **kwargs, not async, no generator. It returns JSON values, arrays or DataFrames.
It runs alone in a confined process, anew at each call: no files, network, processes; nothing is kept.
- Imports: math, statistics, re, json, datetime, decimal, fractions, collections, itertools, functools,
  string, textwrap, random, csv, io.StringIO, numpy, pandas, scipy and other plain libraries. Use a module
  only as `module.name`; never assign or pass a module, and never name a variable like one.
- No attributes with a leading underscore; no getattr, setattr, eval, exec, open, type, super, object, input.
- `.format` only on a literal text (use f-strings). `agg`, `apply`, `transform` take a function, or the name
  of an aggregate as a literal; don't name methods of your own like these. `read_csv` only from io.StringIO,
  `to_csv` only without a path. Names are ASCII.
- No clock and no chance: take dates and seeds as arguments, or ask for the capabilities `clock`, `random`,
  `http_get:HOST` (then call http_get(url)), `scratch`.
- A parameter hinted `pd.DataFrame`, `pd.Series` or `np.ndarray` takes the name of a notebook variable; in the
  example give its data as JSON."""

DESCRIPTION = """\
Write a new tool, when no tool does what is needed and it will be of use again. It is checked, tried with your
example, and shown to the user, who decides. What is rejected comes back with the reason: mend it and call
again, three times in all. Afterwards call the tool by its name.
"""

PARAMETERS: dict[str, JSON] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": f"What it is called: {names.PATTERN}"},
        "description": {"type": "string", "description": "What it does, one or two sentences"},
        "source": {"type": "string", "description": "The Python module"},
        "parameters": {
            "type": "object",
            "description": "JSON Schema of the arguments; left out, it is made from the type hints",
        },
        "example": {
            "type": "object",
            "description": "Arguments for which it must work; it is tried with them",
        },
        "expected": {"description": "What the example must return, if you know it for certain"},
        "tests": {
            "type": "array",
            "maxItems": 9,
            "description": "Further calls that it must manage",
            "items": {
                "type": "object",
                "properties": {"arguments": {"type": "object"}, "returns": {}},
                "required": ["arguments"],
                "additionalProperties": False,
            },
        },
        "call": {"type": "object", "description": "Arguments to call it with as soon as it is approved"},
        "capabilities": {
            "type": "array",
            "items": {"type": "string"},
            "description": "What it needs beyond computing: clock, random, http_get:HOST, scratch",
        },
        "seconds": {"type": "number", "description": "Time of a call, if 60 s are not enough"},
        "memory_mb": {"type": "integer", "description": "Memory of a call, if 64 MB are not enough"},
        "anyway": {"type": "boolean", "description": "Write it although a tool like it was named to you"},
    },
    "required": ["name", "description"],
    "additionalProperties": False,
}
"""The arguments of ``make_tool``."""
