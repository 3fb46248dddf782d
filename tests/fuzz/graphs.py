"""Random graphs of objects: a function reads some paths through one, something in the graph is changed, and the next
call must see it.

The function stands in a file, is made by exec, is a lambda beside another one, or belongs to an installed package.
`python -m tests.fuzz.graphs [COUNT] [FIRST]` tries COUNT graphs from seed FIRST.
"""
import random
import re
import tempfile
import warnings
from pathlib import Path

import numpy as np

import fad

from ..trace.packages import executed, installed, of_file
from . import judge

STATE = """
import dataclasses, types, weakref
from collections import ChainMap, OrderedDict, UserDict, deque, namedtuple
import numpy as np

KEPT, BEHIND = [], {}

def kept(x):
    KEPT.append(x)
    return x

def viewed(d):
    BEHIND[id(d)] = d
    return kept(d.values())

def behind(view):
    return next(d for d in BEHIND.values() if all(x is y for x, y in zip(d.values(), view)) and len(d) == len(view))

class Plain:
    shared = 0.5
    def __init__(self, a, b):
        self.a, self.b = a, b

class Slots:
    __slots__ = ("a", "b")
    shared = 0.25
    def __init__(self, a, b):
        self.a, self.b = a, b

class Derived(Plain):
    @property
    def both(self):
        return self.shared

@dataclasses.dataclass
class Data:
    a: object
    b: object

class Text(str):
    shared = 0.15

def text(a, b):
    made = Text("text")
    made.a, made.b = a, b
    return made

class Above(Plain):
    @property
    def both(self):
        return super().shared * 0.5

Pair = namedtuple("Pair", "a b")
"""
MAKERS = {"list": ("[{0}, {1}]", ("[0]", "[1]")), "tuple": ("({0}, {1})", ("[0]", "[1]")),
          "dict": ("{{'a': {0}, 'b': {1}}}", ("['a']", "['b']")),
          "OrderedDict": ("OrderedDict(a={0}, b={1})", ("['a']", "['b']")),
          "deque": ("deque([{0}, {1}])", ("[0]", "[1]")), "Pair": ("Pair({0}, {1})", (".a", ".b")),
          **{name: (f"{name}({{0}}, {{1}})", (".a", ".b"))
             for name in ("Plain", "Slots", "Derived", "Data", "types.SimpleNamespace")}}
MAKERS["types.SimpleNamespace"] = ("types.SimpleNamespace(a={0}, b={1})", (".a", ".b"))
MAKERS |= {
    "UserDict": ("UserDict(a={0}, b={1})", ("['a']", "['b']")),
    "ChainMap": ("ChainMap({{'a': {0}}}, {{'b': {1}}})", ("['a']", ".maps[1]['b']")),
    "a dict's method": ("{{'a': {0}, 'b': {1}}}.get", (".__self__['a']", ".__self__['b']")),
    "a view": ("viewed({{'a': {0}, 'b': {1}}})", ("behind(@)['a']", "behind(@)['b']")),
    "a weak reference": ("weakref.ref(kept(Plain({0}, {1})))", ("().a", "().b")),
    "an exception": ("ValueError({0}, {1})", (".args", ".args")),
    "Above": ("Above({0}, {1})", (".a", ".b")),
    "Text": ("text({0}, {1})", (".a", ".b")),
}
FIXED = ("tuple", "Pair", "an exception")
LEAVES = ("{0:.3f}", "{0:.3f}", "np.array([{0:.3f}, 0.5, 0.25])", "{1}", "True", "-0.0")


class Graph:
    """Names of nodes, what makes them, and the paths that lead to numbers."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.kinds, self.lines, self.leaves = [], [], []
        for k in range(self.r.randint(2, 7)):
            kind = self.r.choice(list(MAKERS))
            self.kinds.append(kind)
            self.lines.append(f"N{k} = {MAKERS[kind][0].format(self.part(k, 0), self.part(k, 1))}")
        for _ in range(self.r.randint(0, 2)):                 # edges back: cycles
            k = self.r.randrange(len(self.kinds))
            if self.kinds[k] not in FIXED:
                side = self.r.randrange(2)
                self.leaves = [x for x in self.leaves if x[:2] != (k, side)]
                self.lines.append(f"{self.place(k, side)} = N{self.r.randrange(len(self.kinds))}")
        self.count = len(self.kinds)

    def place(self, k, side):
        step = MAKERS[self.kinds[k]][1][side]
        return step.replace("@", f"N{k}") if "@" in step else f"N{k}{step}"

    def leaf(self):
        return self.r.choice(LEAVES).format(self.r.uniform(0.1, 1.0), self.r.randint(1, 5))

    def part(self, k, side):
        if k and self.r.random() < 0.6:
            return f"N{self.r.randrange(k)}"
        self.leaves.append((k, side))
        return self.leaf()

    def reading(self):
        """A sum over some paths, each of which begins anywhere."""
        terms = []
        for _ in range(self.r.randint(1, 4)):
            path = f"N{self.r.randrange(self.count)}"
            for _ in range(self.r.randint(1, 6)):
                path = f"at({path}, {self.r.randrange(2)})"
            terms.append(f"number({path}) * x[{self.r.randrange(3)}]")
        return " + ".join(terms)

    def change(self):
        k, side = (self.r.choice(self.leaves) if self.leaves and self.r.random() < 0.7
                   else (self.r.randrange(self.count), self.r.randrange(2)))
        place = self.place(k, side)
        if self.kinds[k] == "an exception" and self.r.random() < 0.5:
            return f"N{k}.args = ({self.leaf()}, {self.leaf()})"
        if self.kinds[k] in FIXED:
            return f"N{k} = {MAKERS[self.kinds[k]][0].format(self.leaf(), self.leaf())}"
        changes = [f"{place} = {self.leaf()}", f"{place} = N{self.r.randrange(self.count)}",
                   f"{place} = N{self.r.randrange(self.count)}"]
        if self.kinds[k] in ("list", "deque"):
            changes += [f"N{k}.reverse()", f"N{k}.append({self.leaf()})"]
        if self.kinds[k] in ("dict", "OrderedDict"):
            changes += [f"N{k}['a'] = N{k}.pop('a')", f"N{k}['c'] = {self.leaf()}"]
        if self.kinds[k] in ("Plain", "Derived", "Above"):
            number = LEAVES[0].format(self.r.uniform(0.1, 1.0))
            changes += [f"Plain.shared = property(lambda self: {number})", f"Derived.shared = {number}"]
            changes += [f"Plain.shared = {self.leaf()}", f"N{k}.shared = {self.leaf()}",
                        f"N{k}.__dict__ = dict(a=0.3, b=0.7)", f"N{k}.__class__ = Derived"]
        return self.r.choice([*changes, "Slots.shared = 0.9",
                              f"N{k} = {MAKERS[self.kinds[k]][0].format(self.leaf(), self.leaf())}"])


HELPERS = """
def at(node, side):
    if isinstance(node, weakref.ref):
        return at(node(), side)
    if isinstance(node, BaseException):
        return node.args[side]
    if type(node) is type({}.values()):
        return list(node)[side]
    if isinstance(node, (UserDict, ChainMap)):
        return node["ab"[side]]
    if callable(node):
        return node("ab"[side])
    if isinstance(node, (list, tuple, deque)) and not hasattr(node, "_fields"):
        return node[side] if len(node) > side else 0.1
    if isinstance(node, dict):
        return list(node.values())[side]
    name = "ab"[side]
    return getattr(node, name) if hasattr(node, name) else node

def number(node):
    if isinstance(node, np.ndarray):
        return node[1] + node[0]
    if isinstance(node, (bool, int, float)):
        return np.copysign(0.3, node) + node
    if isinstance(node, (list, tuple, dict, deque)):
        return 0.01 * len(node)
    return getattr(node, "both", 0.7) + getattr(node, "shared", 0.2) + (0.1 if type(node) is Derived else 0.0)
"""
WAYS = ("of_file", "executed", "installed", "lambda")


def program(seed):
    graph = Graph(seed)
    reading = graph.reading()
    return "\n".join(graph.lines), reading, [graph.change() for _ in range(4)]


def module_of(way, lines, reading, folder):
    text = f"{STATE}{HELPERS}\n{lines}\n"
    if way == "lambda":
        module = executed(folder, text)
        module.f = eval(f"[lambda x: 0.0, lambda x: {reading}]", vars(module))[1]
        return module
    return {"of_file": of_file, "executed": executed,
            "installed": installed}[way](folder, f"{text}def f(x):\n    return {reading}\n")


def attempt(f, *args):
    try:
        return f(*args)
    except Exception as error:                               # whatever it is: it is what is compared
        return error


def problem_of(seed, tier, way, folder):
    """None, or what was not right at one of the calls."""
    lines, reading, changes = program(seed)
    module = module_of(way, lines, reading, folder)
    kept = fad.jit(module.f), fad.grad(module.f)
    x = np.array([0.3, 0.7, 1.1])
    with judge.tier(tier, raising=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", fad.InternalErrorWarning)
        for k, change in enumerate(["pass", *changes]):
            if isinstance(attempt(exec, change, vars(module)), Exception):
                continue
            want = attempt(module.f, x)
            value, slope = attempt(kept[0], x), attempt(kept[1], x)
            if isinstance(want, Exception):
                if not isinstance(value, Exception):
                    return f"call {k}, after {change!r}: {value!r} instead of {want!r}"
                continue
            if np.ndim(want):                                 # an array stands where a number did
                continue
            expected = np.array([module.f(d) for d in np.eye(3)])               # it is linear in x
            if (isinstance(value, Exception) or not np.isclose(value, want)
                    or isinstance(slope, Exception) or not np.allclose(slope, expected)):
                return f"call {k}, after {change!r}: {value!r}, {slope!r} instead of {want!r}, {expected!r}"
    return None


def report(seed, compile=False):
    """None, or the failure of this seed's graph."""
    tier = "compiled" if compile else "interpreted"
    way = WAYS[seed % len(WAYS)]
    with tempfile.TemporaryDirectory() as folder:
        problem = problem_of(seed, tier, way, Path(folder))
    if problem is None:
        return None
    lines, reading, changes = program(seed)
    problem = re.sub(r"at 0x[0-9a-f]+", "", problem)
    return "\n".join([f"seed {seed}, {way}, {problem}", lines, f"f(x) = {reading}", *changes, ""])


if __name__ == "__main__":
    judge.command(report)
