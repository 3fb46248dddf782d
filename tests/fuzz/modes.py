"""Random programs with names for texts that depend on data: modes, states and messages. Some have no value on some
paths.

A read of a name without a value raises UnboundLocalError, as in Python. `python -m tests.fuzz.modes [COUNT] [FIRST]`
tries COUNT programs from seed FIRST, and prints a shrunk program for each failure.
"""
import numpy as np

import fad

from . import judge
from .statement import Blocks, Statement

HEAD = ("n = len(x)", "y = x * 1.0", "s = 0.0", "t = 0.3", "k = 1", "j = 0", "m = 'a'", "o = Mode('b')",
        "D = {'m': 'c', 'v': 0.2}", "P = ('a', x[0])", "L = ['a', 'b', 'c']")
HELPERS = """
class Mode:
    rest = 'b'

    def __init__(self, at):
        self.at = at

    def step(self, t):
        if t > 0.217:
            self.at = 'a' if self.at == 'b' else 'b'
        return self.at

def kind(t):
    if t > 0.413:
        return 'a'
    return 'b' if t > 0.113 else 'c'
"""
TEXTS = ("'a'", "'b'", "'c'", "''", "m", "o.at", "D['m']", "P[0]", "u", "kind(t)", "kind(y[k % n])", "o.step(t)",
         "L[1]", "L[k % 3]", "'a' if t > 0.3 else 'b'", "m if y[k % n] > 0.2 else 'c'", "Mode.rest", "(m or 'b')")
PLACES = ("m", "m", "m", "u", "u", "o.at", "D['m']", "L[0]", "L[k % 3]", "f")
NUMBERS = ("t", "0.5", "y[k % n]", "np.tanh(s)", "P[1]", "D['v']", "0.1 * k", "y[j % n] * t", "-0.4")
PLAIN = ("y[k % n] += 0.3 * t", "t = np.tanh(t + y[k % n])", "s = s + y[k % n] * t", "y *= 0.9", "k = k + 1",
         "y = y[::-1] * 1.1", "D['v'] = s", "D = {'m': m, 'v': t}", "P = (m, t)", "o = Mode(m)", "L = [m, 'b', 'a']",
         "L.append(m); L.pop(0)", "s = s + 0.1 * sum(1.0 for v in L if v == m)", "t = t * (2.0 if f == 'a' else 0.5)",
         "s = s + 0.1 * len(m)", "s = s + {'a': 0.1, 'b': 0.2}.get(m, 0.3)", "m = m + u", "m = f'{m}'",
         "s += 0.1 * (m < 'b')", "f = len", "u = None", "m, u = u, m", "del u")


class Generator(Blocks):
    """Makes one program from a seed."""

    def program(self):
        head = [h for h in HEAD if not h.startswith("m =") or self.r.random() < 0.8]
        bound = self.r.choice([["u = 'b'"], [], []])
        body = [s for _ in range(self.r.randint(2, 4)) for s in self.statement(0)]
        ends = [f"s + 0.7 * t + (y * y).sum() + D['v'] * {self.r.choice(['1.0', 'y[0]'])}",
                *[f"{self.r.uniform(0.1, 1):.2f} * y[{k}] * ({self.test()})" for k in range(3)]]
        return [*map(Statement, [*head, *bound]), *body, Statement(f"return {' + '.join(ends)}")]

    def pick(self, options):
        return self.r.choice(options)

    def test(self):
        a = self.pick(("m", "m", "u", "o.at", "D['m']", "P[0]", "L[0]", "L[k % 3]"))
        return self.pick((f"{a} == {self.pick(TEXTS)}", f"{a} != {self.pick(TEXTS)}",
                          f"{a} in ('a', {self.pick(TEXTS)})",
                          f"{a} not in ['b', m]", f"bool({a})", f"{a} is None", f"{a} == 'a' or t > 0.1317"))

    def condition(self):
        return self.test() if self.r.random() < 0.5 else self.pick(
            ("y[k % n] > 0.317", "t > 0.2113", "k % 2 == 0", "y.sum() > 0.713", "k > 2",
             f"y[0] > t + 0.01 and {self.test()}"))

    def statement(self, depth):
        nested = [self.loop, self.loop, self.iterations, self.branch, self.branch, self.branch] if depth < 3 else []
        return self.pick([self.assign] * 5 + [self.number] * 3 + nested + ([self.leave] if self.loops else []))(depth)

    def assign(self, depth):
        return [Statement(f"{self.pick(PLACES)} = {self.pick(TEXTS)}")]

    def number(self, depth):
        return [Statement(part) for part in self.pick((*PLAIN, f"s = s + {self.pick(NUMBERS)}",
                                                        f"t = {self.pick(NUMBERS)}")).split("; ")]

    def loop(self, depth):
        counts = ("range(3)", "range(n)", "range(k % 3)", "range(2)")
        return [Statement(f"for {'kji'[depth % 3]} in {self.pick(counts)}:", self.iteration(3, depth))]

    def iterations(self, depth):
        w = f"w{depth}"
        return [Statement(f"{w} = 0"),
                Statement(f"while {w} < 4 and ({self.condition()}):",
                          [Statement(f"{w} += 1"), *self.iteration(2, depth)])]

    def branch(self, depth):
        return [Statement(f"if {self.condition()}:", self.block(2, depth + 1),
                          self.block(2, depth + 1) if self.r.random() < 0.5 else [])]

    def leave(self, depth):
        return [Statement(f"if {self.condition()}:", [Statement(self.pick(["break", "continue", "return s + t"]))])]


SCOPE = judge.executed(HELPERS, {"__name__": "helpers", "np": np, "fad": fad})


def problem_of(f, tier):
    """None, or what is not right. Where Python raises an error, fad raises it, too, or refuses."""
    try:
        f(judge.POINT.copy())
    except (UnboundLocalError, NameError, TypeError, KeyError) as error:
        with judge.tier(tier, raising=True):
            try:
                found = fad.value_and_grad(f)(judge.POINT.copy())
            except Exception:                                 # of several errors a trace may meet another one first
                return None
        return f"result: {found!r:.60} in place of {error!r}"
    return judge.judge(f, (tier,), raising=True)


def report(seed, compile=False):
    """None, or the failure of this seed's program with the program shrunk."""
    tier = judge.tier_of(seed, compile)
    return judge.shrunk(seed, tier, Generator.of(seed), lambda f: problem_of(f, tier), scope=SCOPE)


if __name__ == "__main__":
    judge.command(report)
