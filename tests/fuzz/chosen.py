"""Random functions that choose objects by data: dataclasses, frozen ones and ordinary objects from outside, read,
compared by `is` and changed under any name.

Each value, and what is left outside, is Python's, at each of several calls between which the objects change. `python -m
tests.fuzz.chosen [COUNT] [FIRST]` tries COUNT functions from seed FIRST, and prints a shrunk one for each failure.
"""

import numpy as np

import fad

from . import judge
from .calls import attempt, shrunk_calls, text_of, within
from .statement import Blocks, Statement

STATE = """
import dataclasses
import numpy as np

class Method:
    def m(self, v):
        return self.w * v + self.r[0]

@dataclasses.dataclass
class D(Method):
    w: float
    r: object = None
    a: object = None

@dataclasses.dataclass(frozen=True)
class F(Method):
    w: float
    r: object = None

class O(Method):
    def __init__(self, w, r):
        self.w, self.r = w, r

A = D(1.0, [3.0, 1.0], np.array([1.0, 2.0]))
B = D(2.0, [4.0, 2.0], np.array([3.0, 4.0]))
C = D(0.5, [0.3, 0.2], np.array([5.0, 6.0]))
P, Q, R = F(1.5, [2.0, 1.0]), F(2.5, [1.0, 3.0]), F(0.7, [0.2, 0.1])
U, V, W = O(1.2, [2.0, 1.0]), O(2.2, [1.0, 3.0]), O(0.6, [0.4, 0.9])
TABLE, ROW = {"x": A, "y": B}, [A, B, C]

def pick(v, a, b):
    if v > 0.5137:
        return a
    return b
"""
OUTER = {"D": "ABC", "F": "PQR", "O": "UVW"}
NEW = {"D": within("D(x[0], [x[1], 1.0], x[:2] * 2.0) | TABLE['x'] | ROW[1] | dataclasses.replace(n, w=x[2])"),
       "F": within("F(x[0], [x[1], 1.0])"), "O": within("O(x[0], [x[1], 1.0])")}
NUMBERS = within("{0}.w | {0}.r[0] | {0}.m(x[1]) | {0}.r[1] * 0.5 | x[0]")
TESTS = within("x[0] > 0.4137 | x[1] > x[2] | s > 1.2171 | x[2] < 0.5193 | n.w > 1.3171 | x[0] * x[1] > 0.3113")
WRITES = {"D": within("{0}.w = {1} | {0}.r[0] = {1} | {0}.w += x[1] | {0}.r = [x[0], 2.0] | {0}.a[0] += x[1] | {0}.a = "
                      "x[:2] * 1.0"), "F": within("{0}.r[0] = {1}"),
          "O": within("{0}.w = {1} | {0}.r[0] = {1} | {0}.w += x[1] | {0}.r = [x[0], 2.0]")}
CHANGES = {"D": within("{0}.w = {1} | {0}.r[0] = {1} | {0}.r = [{1}, 1.0] | {0}.a[0] = {1} | {0}.a = np.array([{1}, "
                       "1.0]) | {0} = {2}"),
           "F": within("{0}.r[0] = {1} | {0}.r[1] = {1} | {0} = F({1}, [1.0, {1}]) | {0} = {2}"),
           "O": within("{0}.w = {1} | {0}.r[1] = {1} | {0}.r = [{1}, 1.0] | {0} = {2}")}
POINTS = [np.array(x) for x in ([0.8, 0.55, 0.3], [0.3, 0.9, 0.7], [0.45, 0.2, 0.61])]


class Generator(Blocks):
    """Makes a function, and changes of what it chooses from."""

    def program(self):
        self.kind = self.r.choice("DDDFFO")
        self.outer = OUTER[self.kind]
        head = [Statement("s = 0.0"), Statement(f"n = {self.r.choice(self.outer)}"),
                Statement(f"m = {self.r.choice(self.outer)}")]
        body = [s for _ in range(self.r.randint(2, 5)) for s in self.statement(0)]
        f = Statement("def f(x):", [*head, *body, Statement(f"return s + {self.number()} + {self.number()} * x[1]")])
        return [f, *[Statement(self.change()) for _ in range(4)]]

    def change(self):
        return self.r.choice(CHANGES[self.kind]).format(self.r.choice(self.outer), f"{self.r.uniform(0.2, 3.0):.3f}",
                                                        self.r.choice(self.outer))

    def any_name(self):
        return self.r.choice(["n", "n", "m", self.r.choice(self.outer)])

    def number(self):
        more = ["{0}.a[0]", "{0}.a.sum()"] if self.kind == "D" else []
        return self.r.choice([*NUMBERS, *more]).format(self.any_name())

    def thing(self):
        return self.r.choice([self.r.choice(self.outer), self.r.choice(self.outer), "n", self.r.choice(NEW[self.kind]),
                              f"pick(x[0], n, {self.r.choice(self.outer)})"])

    def statement(self, depth):
        kind, test = self.r.random(), self.r.choice(TESTS)
        if kind < 0.5:
            return self.choice(test)
        if kind < 0.75:
            return [Statement(f"s = s + {self.number()}")]
        if kind < 0.87:
            question = f"{self.r.choice('nm')} {self.r.choice(['is', 'is not', '=='])} {self.any_name()}"
            return [Statement(f"s = s + (0.5 if {question} else 0.25)")]
        return [Statement(self.r.choice(WRITES[self.kind]).format(self.any_name(), self.number()))]

    def choice(self, test):
        name = self.r.choice("nnm")
        chosen, reading = Statement(f"{name} = {self.thing()}"), Statement(f"s = s + {self.number()} * 0.1")
        return self.r.choice([
            lambda: [Statement(f"{name} = {self.thing()} if {test} else {self.thing()}")],
            lambda: [Statement(f"if {test}:", [chosen])], lambda: [chosen],
            lambda: [Statement(f"if {test}:", [chosen], [Statement(f"{name} = {self.thing()}")])],
            lambda: [Statement("n, m = m, n")],
            lambda: [Statement("for k in range(3):",
                               [Statement(f"if x[k] > 0.{self.r.randint(2, 8)}13:", [chosen]), reading])],
            lambda: [Statement("j = 0.0"),
                     Statement("while j < x[1] * 2.0:",
                               [reading, Statement("j = j + 1.0"), Statement("if s > 1.0137:", [chosen])])]])()


def left(scope):
    """What the objects hold, and which are one."""
    things = [scope[name] for names in OUTER.values() for name in names]
    return [float(v) for x in things for v in (x.w, *x.r, *getattr(x, "a", ()), sum(x is y for y in things))]


def calls_of(body, tier):
    """None, or what was not right at one of the calls."""
    scopes = [judge.executed(STATE, {"__name__": "program"}) for _ in range(2)]
    f, g = [judge.executed(text_of(body[:1]), scope)["f"] for scope in scopes]
    g = fad.jit(g)
    for number, change in enumerate([Statement("pass"), *body[1:]]):
        for scope in scopes:
            if isinstance(attempt(exec, change.head, scope), Exception):
                return None
        x = POINTS[number % 3]
        for _ in range(2):
            want = attempt(f, x.copy())
            if isinstance(want, Exception):
                return None
            with judge.tier(tier, refusals=True, raising=True):
                got = attempt(g, x.copy())
            expected, after = [left(scope) for scope in scopes]
            at = f"call {number}, after {change.head!r}"
            if isinstance(got, Exception):
                return f"{at}: {type(got).__name__}: {got}"
            same = np.allclose(got, want, rtol=1e-10) and len(expected) == len(after)
            if not same or not np.allclose(expected, after, rtol=1e-10):
                return f"{at}: {got} instead of {want}, and {after} instead of {expected}"
    return None


def report(seed, compile=False):
    """None, or the failure of this seed's calls with the function shrunk."""
    return shrunk_calls(seed, judge.tier_of(seed, compile), Generator.of(seed), calls_of,
                        lambda part: bool(part) and part[0].head.startswith("def"), 12)


if __name__ == "__main__":
    judge.command(report)
