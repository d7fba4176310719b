"""The language itself: walks over objects, names as data, frames, and syntax. The tree check stops all of
these."""

from __future__ import annotations

import textwrap

from tests.redteam.rows import Family, Layer, Row

TREE = frozenset({Layer.TREE})

ROUNDS = "def twin(world):\n    return round(2.6) == 3\n"
CLASSES = """
class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b
    def __add__(self, other):
        return Pair(self.a + other.a, self.b + other.b)
    def __repr__(self):
        return f"Pair({self.a}, {self.b})"

def twin(world):
    return repr(Pair(1, 2) + Pair(3, 4)) == "Pair(4, 6)"
"""
FORMATS = """
def twin(world):
    row = {"name": "Ada", "km": 3.14159}
    return "{name}: {km:.{places}f} km".format(places=1, **row) == f"{row['name']}: {row['km']:.1f} km"
"""
GENERATES = """
def evens(limit):
    for number in range(limit):
        if number % 2 == 0:
            yield number

def twin(world):
    numbers = evens(5)
    return [next(numbers), *numbers] == [0, 2, 4]
"""
CATCHES = """
def twin(world):
    try:
        int("x")
    except ValueError as error:
        return "invalid literal" in str(error) and error.args != ()
    return False
"""
MATCHES = """
from dataclasses import dataclass

@dataclass
class Point:
    x: int
    y: int

def twin(world):
    match Point(1, 2):
        case Point(x=1, y=y):
            return y == 2
        case Point(a, b):
            return False
    return False
"""
DECORATES = """
from functools import wraps

def logged(function):
    @wraps(function)
    def wrapper(*args):
        return function(*args)
    return wrapper

@logged
def double(x):
    return 2 * x

def twin(world):
    return double(4) == 8
"""
LITERALS = "import ast\n\ndef twin(world):\n    return ast.literal_eval('[1, {\"a\": 2}]') == [1, {'a': 2}]\n"


def _row(name: str, family: Family, body: str, honest: str) -> Row:
    body = textwrap.dedent(body).strip()
    source = body if "def attack(" in body else f"def attack(world):\n{textwrap.indent(body, '    ')}"
    return Row(name=name, family=family, attack=source + "\n", twin=honest, stops=TREE)


OBJECTS = [
    _row("subclasses of object", Family.OBJECTS,
         "return len(().__class__.__base__.__subclasses__()) > 50", CLASSES),
    _row("bases through mro()", Family.OBJECTS, "return int.mro()[-1] is int.__base__", CLASSES),
    _row("globals of a function", Family.OBJECTS, "return '__builtins__' in attack.__globals__", DECORATES),
    _row("code of a function", Family.OBJECTS, "return attack.__code__.co_argcount == 1", DECORATES),
    _row("module of a builtin", Family.OBJECTS, "return bool(len.__self__.open)", ROUNDS),
    _row("function of a method", Family.OBJECTS, """
        class A:
            def m(self): return 1
        return '__builtins__' in A().m.__func__.__globals__
    """, CLASSES),
    _row("cell of a closure", Family.OBJECTS, """
        secret = [1]
        def inner(): return secret
        return inner.__closure__[0].cell_contents == [1]
    """, DECORATES),
    _row("reduce_ex", Family.OBJECTS, "return callable((1).__reduce_ex__(2)[0])", CLASSES),
    _row("init_subclass hook", Family.OBJECTS, """
        seen = []
        class Base:
            def __init_subclass__(cls): seen.append(cls)
        class Child(Base): pass
        return seen == [Child]
    """, CLASSES),
    _row("set_name hook", Family.OBJECTS, """
        seen = []
        class D:
            def __set_name__(self, owner, name): seen.append(owner)
        class Owner:
            d = D()
        return seen == [Owner]
    """, CLASSES),
    _row("descriptor get", Family.OBJECTS, """
        class D:
            def __get__(self, instance, owner): return owner
        class Owner:
            d = D()
        return Owner().d is Owner
    """, CLASSES),
    _row("loader of the module", Family.OBJECTS, "return __builtins__ is not None", ROUNDS),
    _row("class by type()", Family.OBJECTS, "return type('X', (), {'a': 1}).a == 1", CLASSES),
    _row("attributes by super()", Family.OBJECTS, """
        class A:
            def __init__(self): self.found = super().__getattribute__('__class__')
        return A().found is A
    """, CLASSES),
    _row("getattribute defined", Family.OBJECTS, """
        class A:
            def __getattribute__(self, name): return name
        return A().anything == 'anything'
    """, CLASSES),
    _row("instance dict", Family.OBJECTS, """
        class A: pass
        a = A()
        a.__dict__['__array_interface__'] = 1
        return '__array_interface__' in a.__dict__
    """, CLASSES),
    _row("pickle hook defined", Family.OBJECTS, """
        import copy
        ran = []
        class A:
            def __reduce__(self): return (ran.append, (1,))
        copy.copy(A())
        return ran == [1]
    """, CLASSES),
    _row("finaliser after the call", Family.OBJECTS, """
        ran = []
        class A:
            def __del__(self): ran.append(1)
        A()
        return ran == [1]
    """, CLASSES),
]  # fmt: skip

NAMES = [
    _row("eval of text", Family.NAMES, "return eval('1 + 1') == 2", LITERALS),
    _row("exec under another name", Family.NAMES, "run = exec\nrun('x = 1')\nreturn True", LITERALS),
    _row("compile in a list", Family.NAMES, "return [compile][0]('1', 'x', 'eval') is not None", LITERALS),
    _row("getattr with a built name", Family.NAMES, "return getattr((), '__cla' + 'ss__') is tuple", CLASSES),
    _row("getattr through map", Family.NAMES,
         "return list(map(getattr, [()], ['__class__'])) == [tuple]", CLASSES),
    _row("getattr through partial", Family.NAMES, """
        from functools import partial
        return partial(getattr, ())('__class__') is tuple
    """, DECORATES),
    _row("import by name", Family.NAMES, "return __import__('o' + 's').getpid() > 0", ROUNDS),
    _row("globals by name", Family.NAMES, "return '__builtins__' in globals()", ROUNDS),
    _row("locals and vars", Family.NAMES, "return 'world' in locals() and 'world' in vars()", ROUNDS),
    _row("attrgetter", Family.NAMES, """
        from operator import attrgetter
        return attrgetter('__class__.__base__')(()) is not None
    """, DECORATES),
    _row("methodcaller", Family.NAMES, """
        import operator
        return operator.methodcaller('__sizeof__')(1) > 0
    """, DECORATES),
    _row("str.format reaches a class", Family.NAMES, "return 'tuple' in '{0.__class__}'.format(())", FORMATS),
    _row("format of a text from elsewhere", Family.NAMES, """
        template = '{0.__cla' + 'ss__}'
        return 'tuple' in template.format(())
    """, FORMATS),
    _row("format handed on", Family.NAMES,
         "show = '{0.__class__}'.format\nreturn 'tuple' in show(())", FORMATS),
    _row("format of str itself", Family.NAMES, "return 'tuple' in str.format('{0.__class__}', ())", FORMATS),
    _row("field inside a field", Family.NAMES, "return 'tuple' in '{0[0].__class__}'.format([()])", FORMATS),
    _row("format_map", Family.NAMES, "return 'tuple' in '{a.__class__}'.format_map({'a': ()})", FORMATS),
    _row("string.Formatter", Family.NAMES, """
        import string
        return 'tuple' in string.Formatter().format('{0.__class__}', ())
    """, FORMATS),
    _row("f-string with a walk", Family.NAMES, "return 'tuple' in f'{().__class__}'", FORMATS),
    _row("enum with any attribute", Family.NAMES, """
        from enum import Enum
        made = Enum('Made', {'A': 1, '__array_interface__': {'data': (0, False)}})
        return made.A.__array_interface__ != {}
    """, MATCHES),
    _row("enum with any attribute, derived", Family.NAMES, """
        from enum import Enum
        class Empty(Enum):
            pass
        made = Empty('Made', {'A': 1, '__array_interface__': {'data': (0, False)}})
        return '__array_interface__' in made.__dict__
    """, MATCHES),
    _row("enum whose only members are ignored", Family.NAMES, """
        from enum import Enum
        class Empty(Enum):
            _ignore_ = ['A']
            A = 1
        made = Empty('Made', {'B': 1, '__array_interface__': {'data': (0, False)}})
        return '__array_interface__' in made.__dict__
    """, MATCHES),
    _row("names copied by wraps", Family.NAMES, """
        from functools import wraps
        class Source: pass
        source = Source()
        source.a = 1
        wrapped = wraps(source, assigned=('a',), updated=())(lambda: 1)
        return wrapped.a == 1
    """, DECORATES),
    _row("fullwidth letters in a name", Family.NAMES, "return ｅval('1') == 1", LITERALS),
    _row("fullwidth letters in an f-string", Family.NAMES, "return f'{().__ｃlass__}' != ''", FORMATS),
    _row("hints that are evaluated", Family.NAMES, """
        import typing
        ran = []
        def f(x: 'ran.append(1) or int'): pass
        typing.get_type_hints(f, {'ran': ran})
        return ran == [1]
    """, MATCHES),
    _row("dispatch that evaluates hints", Family.NAMES, """
        import functools
        ran = []
        globals()['mark'] = lambda: ran.append(1) or int
        @functools.singledispatch
        def f(x): pass
        @f.register
        def g(x: 'mark()'): pass
        return ran == [1]
    """, DECORATES),
]  # fmt: skip

FRAMES = [
    _row("frame of a generator", Family.FRAMES,
         "return (x for x in ()).gi_frame.f_globals is not None", GENERATES),
    _row("code of a generator", Family.FRAMES,
         "return (x for x in ()).gi_code.co_name == '<genexpr>'", GENERATES),
    _row("frame of a coroutine", Family.FRAMES, """
        async def f(): pass
        c = f()
        found = c.cr_frame.f_builtins
        c.close()
        return 'open' in found
    """, GENERATES),
    _row("frame of a traceback", Family.FRAMES, """
        try:
            1 / 0
        except ZeroDivisionError as error:
            return error.__traceback__.tb_frame.f_globals is not None
    """, CATCHES),
    _row("traceback of an exit", Family.FRAMES, """
        class Guard:
            def __enter__(self): return self
            def __exit__(self, kind, error, tb):
                self.found = tb.tb_frame.f_back
                return True
        with Guard() as guard:
            raise ValueError
        return guard.found is not None
    """, CLASSES),
    _row("object of an attribute error", Family.FRAMES, """
        try:
            len.nothing
        except AttributeError as error:
            return error.obj is len
    """, CATCHES),
    _row("context of an exception", Family.FRAMES, """
        try:
            try:
                1 / 0
            finally:
                int('x')
        except ValueError as error:
            return error.__context__ is not None
    """, CATCHES),
    _row("another traceback", Family.FRAMES, "return ValueError().with_traceback(None) is not None", CATCHES),
    _row("exception groups", Family.FRAMES, """
        try:
            raise ExceptionGroup('g', [ValueError()])
        except* ValueError as group:
            found = group.exceptions
        return len(found) == 1
    """, CATCHES),
    _row("frame by sys", Family.FRAMES, "import sys\nreturn sys._getframe(0) is not None", ROUNDS),
]  # fmt: skip

SYNTAX = [
    _row("star import", Family.SYNTAX,
         "from os import *\n\ndef attack(world):\n    return getpid() > 0", ROUNDS),
    _row("relative import", Family.SYNTAX, """
        try:
            exec('from . import x', {'__package__': 'os'})
        except ImportError:
            return True
    """, ROUNDS),
    _row("import inside a function", Family.SYNTAX, "import os\nreturn os.getpid() > 0", ROUNDS),
    _row("async function", Family.SYNTAX, """
        async def f(): return 1
        try:
            f().send(None)
        except StopIteration as stop:
            return stop.value == 1
    """, GENERATES),
    _row("class pattern reads a class", Family.SYNTAX, """
        match 1:
            case int(__class__=kind):
                return kind is int
    """, MATCHES),
    _row("match_args with names of its choice", Family.SYNTAX, """
        class A:
            __match_args__ = ('__class__',)
        match A():
            case A(kind):
                return kind is A
    """, MATCHES),
    _row("attribute as a loop target", Family.SYNTAX, """
        import math

        def attack(world):
            for math.pi in (3,):
                pass
            return math.pi == 3
    """, ROUNDS),
    _row("attribute of a module assigned", Family.SYNTAX, """
        import json

        def attack(world):
            json.dumps = lambda value: 'forged'
            return json.dumps(1) == 'forged'
    """, ROUNDS),
    _row("attribute of a class assigned", Family.SYNTAX, """
        from fractions import Fraction

        def attack(world):
            Fraction.limit_denominator = lambda self: 1
            return Fraction(1, 3).limit_denominator() == 1
    """, CLASSES),
    _row("guard rebound by import", Family.SYNTAX, """
        import math

        def attack(world):
            import os as math
            return math.getpid() > 0
    """, ROUNDS),
    _row("module name rebound by walrus", Family.SYNTAX, """
        import math

        def attack(world):
            if (math := world):
                return math is world
    """, ROUNDS),
    _row("metaclass", Family.SYNTAX, """
        def build(name, bases, space):
            return sorted(space)
        class A(metaclass=build):
            pass
        return '__module__' in A
    """, CLASSES),
    _row("module getattr", Family.SYNTAX, """
        def __getattr__(name):
            return name

        def attack(world):
            return __getattr__('x') == 'x'
    """, ROUNDS),
    _row("decorated tool", Family.SYNTAX, """
        def other(function):
            return lambda world: True

        @other
        def attack(world):
            return False
    """, DECORATES),
    _row("tool defined twice", Family.SYNTAX, """
        def attack(world):
            return False

        attack = lambda world: True
    """, ROUNDS),
    _row("dunder keyword", Family.SYNTAX, "return dict(__class__=1)['__class__'] == 1", CLASSES),
]  # fmt: skip

ROWS = [*OBJECTS, *NAMES, *FRAMES, *SYNTAX]
