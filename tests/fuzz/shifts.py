"""Random programs of shifted parts of arrays, whose loops are joined; see fad/backend/schedule/shifted_fusion.py.

`python -m tests.fuzz.shifts [COUNT] [FIRST]` tries COUNT programs from seed FIRST, and prints a shrunk program for each
failure.
"""
import warnings
from unittest import mock

import numpy as np

import fad
from fad.backend.emission import emit_shifted
from fad.backend.schedule import shifted_fusion

from . import judge
from .statement import Blocks, Statement

ARRAYS = "uvw"
SIZES = (60, 4, 5, 6, 7, 8, 9, 11)                               # the first one's program serves all
TERMS = ("0.3 * {0}", "np.sin({0})", "0.2 * {0} * {1}", "{0} - 0.5 * {1}", "0.5 * ({0} + {1}) - 0.1 * {0} * {0}", "{0}",
         "c", "{0} / (2.0 + {1} * {1})", "s * {0}")
WHOLE = ("0.5 * {0}", "{0} + 0.1 * {1}", "np.zeros_like({0})", "np.full(n, 0.2)", "np.cos({0})", "{0}.copy()",
         "0.4 * {0} * {1}", "np.roll({0}, 1)")
JOINED = ("({0}[:1], 0.5 * {0}[1:] * {1}[:-1])", "(0.5 * {0}[1:], {1}[-1:])", "({0}[:2], {1}[2:-1], {0}[-1:])",
          "({0}[1:], {0}[:1])")


class Generator(Blocks):
    """Makes one program from a seed: statements on three arrays, most of them in a loop."""

    def program(self):
        head = ["n = x.size", "u = 0.7 * x", "v = 0.3 * x[::-1]", "w = np.ones(n)", "s = 0.1", "c = 0.3"]
        body = [s for _ in range(self.r.randint(2, 7)) for s in self.statement(0)]
        steps = [Statement("for k in range(2):", body)] if self.r.random() < 0.7 else body
        return [*map(Statement, head), *steps, Statement("return np.sum(u * u) + np.sum(v * w) + s + u[1] * w[-2]")]

    def statement(self, depth):
        kinds = [self.part] * 5 + [self.whole] * 2 + [self.joined, self.place, self.number, self.swap]
        return [Statement(self.r.choice(kinds)())]

    def arrays(self):
        return [self.r.choice(ARRAYS) for _ in range(3)]

    def slices(self, count):
        """Parts of one extent, as far as three elements apart."""
        width = self.r.randint(0, 3)
        starts = [self.r.randint(0, width) for _ in range(count)]
        return [f"{k or ''}:{f'n - {width - k}' if width > k else ''}" for k in starts]

    def part(self):
        a, b, c = self.arrays()
        at, *others = self.slices(3)
        value = self.r.choice(TERMS).format(f"{b}[{others[0]}]", f"{c}[{others[1]}]")
        return f"{a}[{at}] {self.r.choice(['=', '+=', '='])} {value}"

    def whole(self):
        a, b, c = self.arrays()
        return f"{a} = {self.r.choice(WHOLE).format(b, c)}"

    def joined(self):
        a, b, c = self.arrays()
        return f"{a} = np.concatenate({self.r.choice(JOINED).format(b, c)})"

    def place(self):
        a, b, c = self.arrays()
        at, other = self.r.choice("0 1 -1 -2".split()), self.r.choice("0 1 2 -1 -2".split())
        value = self.r.choice(["{0}", "0.3 * {0} + {1}", "s", "{0} * s"])
        return f"{a}[{at}] = {value.format(f'{b}[{other}]', f'{c}[{other}]')}"

    def number(self):
        a, b, _ = self.arrays()
        if self.r.random() < 0.7:
            return f"s = 0.5 * s + 0.1 * {a}[{self.r.choice('0 2 -1'.split())}]"
        return f"c = 0.1 * {b}[0]"

    def swap(self):
        return "u, v = v, u"


def judge_shifts(f, tier):
    """None, or what is wrong with the value and the gradient: beside the loops one by one, and NumPy's value."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        with mock.patch.object(shifted_fusion, "LONG",
                               0), mock.patch.object(emit_shifted, "EMPTY", np.nan), judge.tier(tier, refusals=False):
            joined = fad.value_and_grad(lambda x: f(x))
            found = [joined(_point(n)) for n in SIZES]
        with judge.tier("interpreted", refusals=False):
            apart = fad.value_and_grad(lambda x: f(x))
            for n, (value, gradient) in zip(SIZES, found):
                want, slope = apart(_point(n))
                if not np.all(np.isfinite(slope)):
                    return None
                size = 1.0 + np.abs(slope).max()
                if abs(value - f(_point(n))) > 1e-10 * size * n or abs(value - want) > 1e-10 * size * n:
                    return f"value: {value} instead of {want} for {n} elements"
                if not np.abs(gradient - slope).max() <= 1e-10 * size:
                    return f"gradient: {np.abs(gradient - slope).max()} beside {size} for {n} elements"
    return None


def _point(n):
    return np.random.default_rng(n).uniform(0.1, 0.9, n)


def report(seed, compile=False):
    """None, or the failure of this seed's program with the program shrunk."""
    tier = "compiled" if compile else "text"
    return judge.shrunk(seed, tier, Generator.of(seed), lambda f: judge_shifts(f, tier))


if __name__ == "__main__":
    judge.command(report)
