"""Libraries, characters and sheer size: what only a check before running can name. Stopped by the tree
check."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Callable
from typing import Any

from tests.redteam.rows import Family, Layer, Row

TREE = frozenset({Layer.TREE})

PLAIN = "import json\n\ndef twin(world):\n    return json.loads(json.dumps([1])) == [1]\n"
ARRAYS = "import numpy as np\n\ndef twin(world):\n    return np.linalg.norm(np.array([3.0, 4.0])) == 5.0\n"
VIEWS = """
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

def twin(world):
    return sliding_window_view(np.arange(4), 2).sum(axis=1).tolist() == [1, 3, 5]
"""
FRAMES = """
import pandas as pd

def twin(world):
    df = pd.DataFrame({"g": ["a", "a", "b"], "v": [1, 2, 5]})
    table = df.groupby("g").agg(total=("v", "sum"), mean=("v", "mean"))
    return df.query("v > 1").shape == (2, 2) and table.to_csv().startswith("g,total")
"""
READS = """
import io
import pandas as pd

def twin(world):
    return pd.read_csv(io.StringIO("a,b\\n1,2\\n")).to_dict("list") == {"a": [1], "b": [2]}
"""
SEEDED = """
import random
import numpy as np

def twin(world):
    return random.Random(3).random() == random.Random(3).random() and np.random.default_rng(1).random() < 1
"""
DATED = """
import datetime

def twin(world):
    return datetime.date.fromisoformat("2026-05-04").isoformat() == "2026-05-04"
"""
TEXT = 'def twin(world):\n    return "naïve – „½“ ✓".upper().startswith("NAÏVE")\n'


def _row(
    name: str,
    family: Family,
    body: str,
    honest: str,
    canary: Callable[[Any], Any] | None = None,
) -> Row:
    body = textwrap.dedent(body).strip("\n")
    source = body if "def attack(" in body else f"def attack(world):\n{textwrap.indent(body, '    ')}"
    return Row(name=name, family=family, attack=source + "\n", twin=honest, stops=TREE, canary=canary)


MODULES = [
    _row("os", Family.MODULES, "import os\nreturn os.getpid() > 0", PLAIN),
    _row("module through a module", Family.MODULES, "import random\nreturn random._os.getpid() > 0", SEEDED),
    _row("module beside a module", Family.MODULES,
         "import statistics\nreturn statistics.sys.path != []", PLAIN),
    _row("codecs through json", Family.MODULES, "import json\nreturn bool(json.codecs.open)", PLAIN),
    _row("sys through a chain", Family.MODULES, "import re\nreturn bool(re.enum.sys.modules)", PLAIN),
    _row("ctypes through numpy", Family.MODULES,
         "import numpy\nreturn bool(numpy.ctypeslib.ctypes.CDLL)", ARRAYS),
    _row("os through pandas", Family.MODULES,
         "import pandas\nreturn bool(pandas.io.common.os.system)", FRAMES),
    _row("module imported from a module", Family.MODULES,
         "from statistics import sys\nreturn bool(sys.path)", PLAIN),
    _row("module as a value", Family.MODULES, "import json\nalias = json\nreturn bool(alias.codecs)", PLAIN),
    _row("module in a list", Family.MODULES, "import json\nreturn bool([json][0].codecs)", PLAIN),
    _row("module as an argument", Family.MODULES, """
        import json

        def reach(thing):
            return thing.codecs

        def attack(world):
            return bool(reach(json))
    """, PLAIN),
    _row("module as a result", Family.MODULES, """
        import json

        def give():
            return json

        def attack(world):
            return bool(give().codecs)
    """, PLAIN),
    _row("module as a default", Family.MODULES, """
        import json

        def attack(world, thing=json):
            return bool(thing.codecs)
    """, PLAIN),
    _row("module as an attribute", Family.MODULES, """
        import json

        class Holder:
            held = json

        def attack(world):
            return bool(Holder.held.codecs)
    """, PLAIN),
    _row("module by a comprehension", Family.MODULES,
         "import json\nreturn all(bool(m.codecs) for m in (json,))", PLAIN),
    _row("module by unpacking", Family.MODULES, "import json\na, b = json, 1\nreturn bool(a.codecs)", PLAIN),
    _row("module by a conditional", Family.MODULES,
         "import json\nreturn bool((json if world else None).codecs)", PLAIN),
    _row("importlib", Family.MODULES,
         "import importlib\nreturn importlib.import_module('os').getpid() > 0", PLAIN),
    _row("inspect", Family.MODULES, "import inspect\nreturn inspect.currentframe() is not None", PLAIN),
    _row("gc", Family.MODULES, "import gc\nreturn len(gc.get_objects()) > 100", PLAIN),
    _row("ctypes", Family.MODULES, "import ctypes\nreturn ctypes.CDLL(None) is not None", PLAIN),
    _row("pickle", Family.MODULES, "import pickle\nreturn pickle.loads(pickle.dumps(1)) == 1", PLAIN),
    _row("marshal", Family.MODULES, "import marshal\nreturn marshal.loads(marshal.dumps(1)) == 1", PLAIN),
    _row("subprocess", Family.MODULES, "import subprocess\nreturn bool(subprocess.Popen)", PLAIN),
    _row("timeit runs text", Family.MODULES,
         "import timeit\nreturn timeit.timeit('1', number=1) >= 0", PLAIN),
    _row("runpy", Family.MODULES, "import runpy\nreturn bool(runpy.run_module)", PLAIN),
    _row("dataclass from text", Family.MODULES, """
        from dataclasses import make_dataclass
        return make_dataclass('A', [('x', 'int')])(1).x == 1
    """, PLAIN),
    _row("namespace with any attribute", Family.MODULES, """
        from types import SimpleNamespace
        return SimpleNamespace(**{'__array_interface__': 1}).__array_interface__ == 1
    """, PLAIN),
    _row("sympy evaluates text", Family.MODULES, """
        try:
            import sympy
        except ImportError:
            return True
        return sympy.sympify('1 + 1') == 2
    """, PLAIN),
]  # fmt: skip

DATA = [
    _row("numpy unpickles", Family.DATA, """
        import numpy as np
        path = world['folder'] + '/a.npy'
        np.save(path, np.array([{}], dtype=object), allow_pickle=True)
        return np.load(path, allow_pickle=True)[0] == {}
    """, ARRAYS),
    _row("numpy writes a file", Family.DATA, """
        import numpy as np
        np.arange(3).tofile(world['folder'] + '/b')
        return True
    """, ARRAYS),
    _row("numpy maps a file", Family.DATA, """
        import numpy as np
        return np.memmap(world['secret'], mode='r').size > 0
    """, ARRAYS),
    _row("pandas unpickles", Family.DATA, """
        import pandas as pd
        pd.Series([1]).to_pickle(world['folder'] + '/c')
        return pd.read_pickle(world['folder'] + '/c')[0] == 1
    """, FRAMES),
    _row("pandas writes a file", Family.DATA, """
        import pandas as pd
        pd.DataFrame({'a': [1]}).to_csv(world['folder'] + '/d.csv')
        return True
    """, FRAMES),
    _row("pandas writes a file, handed on", Family.DATA, """
        import pandas as pd
        write = pd.DataFrame({'a': [1]}).to_csv
        write(world['folder'] + '/e.csv')
        return True
    """, FRAMES),
    _row("pandas reads a file", Family.DATA, """
        import pandas as pd
        return len(pd.read_csv(world['secret'], header=None)) == 1
    """, READS),
    _row("reader handed on", Family.DATA, """
        import pandas as pd
        return len(list(map(pd.read_csv, [world['secret']]))) == 1
    """, READS),
    _row("pandas evaluates text", Family.DATA, """
        import pandas as pd
        return pd.eval('1 + 1') == 2
    """, FRAMES),
    _row("query with a method", Family.DATA, """
        import pandas as pd
        return len(pd.DataFrame({'a': [1, 2]}).query('a.isin([1])', engine='python')) == 1
    """, FRAMES),
    _row("query with a local name", Family.DATA, """
        import pandas as pd
        df, limit = pd.DataFrame({'a': [1, 2]}), 1
        return len(df.query('a > @limit')) == 1
    """, FRAMES),
    _row("method by name in agg", Family.DATA, """
        import pandas as pd
        name = 'to_' + 'list'
        return pd.Series([1]).agg(name) == [1]
    """, FRAMES),
    _row("method by name in apply", Family.DATA, """
        import pandas as pd
        return pd.Series([1]).apply('to_list') == [1]
    """, FRAMES),
    _row("method by name from an argument", Family.DATA, """
        import pandas as pd

        def reduce(series, how):
            return series.agg(how)

        def attack(world):
            return reduce(pd.Series([1]), 'to_list') == [1]
    """, FRAMES),
    _row("method by name in aggfunc", Family.DATA, """
        import pandas as pd
        df, how = pd.DataFrame({'k': [1], 'v': [2]}), 'su' + 'm'
        return df.pivot_table(index='k', values='v', aggfunc=how).iloc[0, 0] == 2
    """, FRAMES),
    _row("apply handed on", Family.DATA, """
        import pandas as pd
        run = pd.Series([1]).agg
        return run('to_list') == [1]
    """, FRAMES),
    _row("method by name from a table that changes", Family.DATA, """
        import pandas as pd
        HOW = {'a': 'sum'}

        def attack(world):
            HOW['a'] = 'to_list'
            return pd.Series([1]).agg(HOW['a']) == [1]
    """, FRAMES),
    _row("method by name from a property", Family.DATA, """
        import pandas as pd

        class How:
            @property
            def name(self):
                return 'to_list'

        def attack(world):
            return pd.Series([1]).agg(How().name) == [1]
    """, FRAMES),
    _row("method by name from a false partial", Family.DATA, """
        import pandas as pd
        from functools import partial

        def partial(name):
            return name

        def attack(world):
            return pd.Series([1]).agg(partial('to_list')) == [1]
    """, FRAMES),
    _row("file by a false StringIO", Family.DATA, """
        import pandas as pd
        from io import StringIO

        def StringIO(path):
            return path

        def attack(world):
            return len(pd.read_csv(StringIO(world['secret']), header=None)) == 1
    """, READS),
    _row("query of a false address", Family.DATA, """
        import pandas as pd
        from urllib.parse import urlsplit

        def urlsplit(df):
            return df

        def attack(world):
            return len(urlsplit(pd.DataFrame({'a': [1, 2]})).query('a.isin([1])', engine='python')) == 1
    """, FRAMES),
    _row("memory at an address by a label", Family.MEMORY, """
        import numpy as np
        import pandas as pd
        real = np.array([42], dtype='u8')
        address = real.__array_interface__['data'][0]
        window = {'shape': (1,), 'typestr': '<u8', 'data': (address, True), 'version': 3}
        return int(np.asarray(pd.Series({'__array_interface__': window}))[0]) == 42
    """, ARRAYS),
    _row("index that points nowhere, handed on", Family.MEMORY, """
        import pandas as pd
        make = pd.MultiIndex
        made = make([['a']], [[5]], None, None, False, None, False)
        return made.codes[0][0] == 5
    """, FRAMES),
    _row("array's own memory", Family.MEMORY, """
        import numpy as np
        return np.zeros(1).ctypes.data > 0
    """, ARRAYS),
    _row("strides of one's choice", Family.MEMORY, """
        import numpy as np
        return np.lib.stride_tricks.as_strided(np.zeros(1), (1000,), (8,)).size == 1000
    """, VIEWS),
    _row("strides assigned", Family.MEMORY, """
        import warnings
        import numpy as np
        warnings.simplefilter('ignore')
        a = np.zeros((2, 2))
        a.strides = (0, 8)
        return a.strides == (0, 8)
    """, VIEWS),
    _row("memory at an address", Family.MEMORY, """
        import numpy as np
        real = np.array([42], dtype='u8')
        address = real.__array_interface__['data'][0]
        class Window:
            __array_interface__ = {'shape': (1,), 'typestr': '<u8', 'data': (address, True), 'version': 3}
        return int(np.asarray(Window())[0]) == 42
    """, ARRAYS),
    _row("resize that leaves views behind", Family.MEMORY, """
        import numpy as np
        a = np.zeros(4)
        view = a[:]
        a.resize(8, refcheck=False)
        return view.size == 4 and a.size == 8
    """, ARRAYS),
    _row("codes that point nowhere", Family.MEMORY, """
        import pandas as pd
        made = pd.Categorical.from_codes([7], ['a'], validate=False)
        return made.codes[0] == 7
    """, FRAMES),
    _row("index that points nowhere", Family.MEMORY, """
        import pandas as pd
        made = pd.MultiIndex(levels=[['a']], codes=[[5]], verify_integrity=False)
        return made.codes[0][0] == 5
    """, FRAMES),
    _row("spline without checks", Family.MEMORY, """
        import numpy as np
        from scipy.interpolate import BSpline
        return BSpline.construct_fast(np.zeros(1), np.zeros(1), 3).k == 3
    """, ARRAYS),
    _row("library state in numpy", Family.DATA, """
        import numpy as np
        before = np.geterr()
        np.seterr(all='ignore')
        changed = np.geterr() != before
        np.seterr(**before)
        return changed
    """, ARRAYS),
    _row("xml from a file", Family.DATA, """
        import xml.etree.ElementTree as ET
        path = world['folder'] + '/h.xml'
        open(path, 'w').write('<a/>')
        return ET.parse(path).getroot().tag == 'a'
    """, PLAIN),
]  # fmt: skip

SENSES = [
    _row("now", Family.SENSES, "import datetime\nreturn datetime.datetime.now().year > 2000", DATED),
    _row("now, handed on", Family.SENSES, """
        from datetime import datetime
        read = datetime.now
        return read().year > 2000
    """, DATED),
    _row("today of a value", Family.SENSES, """
        from datetime import date
        return date(2000, 1, 1).today().year > 2000
    """, DATED),
    _row("time", Family.SENSES, "import time\nreturn time.time() > 0", DATED),
    _row("localtime without a moment", Family.SENSES,
         "import time\nreturn time.localtime().tm_year > 2000", DATED),
    _row("now in words, pandas", Family.SENSES,
         "import pandas as pd\nreturn pd.Timestamp('now').year > 2000", DATED),
    _row("now in words, numpy", Family.SENSES,
         "import numpy as np\nreturn str(np.datetime64('now')) > '2'", DATED),
    _row("date with the rest from the clock", Family.SENSES, """
        from dateutil import parser
        return parser.parse('10:15').year > 2000
    """, DATED),
    _row("shared generator unseeded", Family.SENSES, "import random\nreturn random.random() < 1", SEEDED),
    _row("generator without a seed", Family.SENSES,
         "import random\nreturn random.Random().random() < 1", SEEDED),
    _row("generator with no seed said", Family.SENSES,
         "import random\nreturn random.Random(None).random() < 1", SEEDED),
    _row("numpy unseeded", Family.SENSES,
         "import numpy as np\nreturn np.random.default_rng().random() < 1", SEEDED),
    _row("numpy's old generator", Family.SENSES, "import numpy as np\nreturn np.random.rand() < 1", SEEDED),
    _row("module secrets", Family.SENSES, "import secrets\nreturn len(secrets.token_hex(4)) == 8", SEEDED),
    _row("uuid4", Family.SENSES, "import uuid\nreturn uuid.uuid4().version == 4", SEEDED),
    _row("rows at random", Family.SENSES, """
        import pandas as pd
        return len(pd.DataFrame({'a': [1, 2]}).sample(n=1)) == 1
    """, SEEDED),
]  # fmt: skip


def _parses_late(source: str) -> Callable[[Any], bool]:
    """Shows that the parser alone takes longer than half a second over a source, breaks over it, or dies."""

    def canary(world: Any) -> bool:
        script = "import ast, sys, time\nsource = sys.stdin.read()\nbegan = time.perf_counter()\n"
        script += "try:\n    ast.parse(source)\nexcept (MemoryError, RecursionError, SyntaxError):\n"
        script += "    sys.exit(3)\n"
        script += "sys.exit(3 if time.perf_counter() - began > 0.5 else 0)"
        parser = subprocess.run(
            [sys.executable, "-c", script],
            input=source,
            text=True,
            timeout=60,
            check=False,
            capture_output=True,
        )
        return parser.returncode != 0

    return canary


def _heavy(name: str, source: str) -> Row:
    whole = f"{source}\n\ndef attack(world):\n    return True\n"
    return _row(name, Family.EXHAUSTION, whole, PLAIN, canary=_parses_late(source))


EXHAUSTION = [
    _heavy("brackets without end", "x = " + "(" * 5_000 + ")" * 5_000),
    _heavy("signs without end", "x = " + "-" * 50_000 + "1"),
    _heavy("nots without end", "x = " + "not " * 14_000 + "1"),
    _heavy("lambdas without end", "x = " + "lambda: " * 6_000 + "0"),
    _heavy("subscripts without end", "x = y" + "[0]" * 18_000),
    _heavy("calls without end", "x = y" + "()" * 25_000),
    _heavy("a number of many digits", "x = " + "9" * 50_000),
    _heavy("indentation without end",
           "\n".join(" " * depth + "if 1:" for depth in range(120)) + "\n" + " " * 120 + "x = 1"),
    _row("a power of a power", Family.EXHAUSTION, "return (9 ** 9 ** 4) > 1", PLAIN),
    _row("a shift without end", Family.EXHAUSTION, "return (1 << 90_000) > 1", PLAIN),
    _row("a list repeated without end", Family.EXHAUSTION, "return len([0] * 10_000_001) > 1", PLAIN),
]  # fmt: skip

PERSON = [
    _row("text that runs backwards", Family.PERSON,
         "level = 'user'\nif level != 'none\u202e\u2066# admin\u2069\u2066':\n    return True", TEXT),
    _row("letter that looks like another", Family.PERSON,
         "scope = False\nsc\u043epe = True\nreturn sc\u043epe", TEXT),
    _row("invisible letter in a text", Family.PERSON, "return 'ad\u200bmin' != 'admin'", TEXT),
    _row("line end that only Python sees", Family.PERSON,
         "def attack(world):\n    found = False  # all is well\r    found = True\n    return found", TEXT),
    _row("form feed that resets the indentation", Family.PERSON,
         "def attack(world):\n    if True:\n      \x0c      return True\n    return False", TEXT),
    _row("payload beyond the margin", Family.PERSON,
         "found = False" + " " * 600 + "; found = True\nreturn found", TEXT),
    _row("payload below the fold", Family.PERSON,
         "found = False" + "\n" * 3_000 + "found = True\nreturn found", TEXT),
    _row("separator that a viewer breaks at", Family.PERSON,
         "def attack(world):\n    return len('a\u2028b') == 3", TEXT),
    _row("tag characters", Family.PERSON, "return len('x\U000e0041') == 2", TEXT),
    _row("filler that looks like a space", Family.PERSON, "\u3164 = True\nreturn \u3164", TEXT),
    _row("encoding cookie", Family.PERSON,
         "# -*- coding: latin-1 -*-\ndef attack(world):\n    return True", TEXT),
]  # fmt: skip

ROWS = [*MODULES, *DATA, *SENSES, *EXHAUSTION, *PERSON]
