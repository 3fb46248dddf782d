"""Random recurrences of numbers with sums beside them, which get loops of their own; see
fad/passes/loop_distribution.py.

`python -m tests.fuzz.distributed [COUNT] [FIRST]` tries COUNT programs from seed FIRST, and prints a shrunk program for
each failure.
"""
from contextlib import contextmanager
from unittest import mock

import numpy as np

import fad
from fad.passes import loop_distribution

from . import judge
from .loops import Loops, judge_beside
from .statement import Statement

HEAD = ("n = x.size", "y = np.zeros(n)", "h = x[0]", "g = 0.2", "s = 0.1", "r = 0.5", "m = 1")
RANGES = ("range(n)", "range(1, n)", "range(2, n - 1)", "range(n - 1)", "range(n - 1, -1, -1)")
ATOMS = ("h", "h", "g", "x[i]", "x[i]", "x[i - 1]", "0.3", "y[i]", "y[i - 1]", "x[m]", "0.1 * i", "a", "a")
FORMS = ("{0} * {1}", "np.sin({0})", "np.exp(-{0} * {0})", "np.log(1.5 + {0} * {0})", "{0} - 0.5 * {1}",
         "np.where({0} > {1}, {0}, 0.2)", "max({0}, {1})", "abs({0})", "np.tanh({0}) * {1}", "{0} / (1.5 + {1} * {1})")


class Generator(Loops):
    """Makes one program from a seed: a loop over two states, two sums, an array and a counter."""

    forms = FORMS

    def program(self):
        body = [Statement("a = 0.4 * x[i]"), *[s for _ in range(self.r.randint(2, 5)) for s in self.statement()],
                Statement(f"s += {self.value()}")]
        self.r.shuffle(body[1:])
        return self.loop(HEAD, RANGES, body, "s + np.sin(r) + h * g + np.sum(y)")

    def value(self):
        return super().value(ATOMS)

    def statement(self):
        targets = ["h = 0.5 * h + 0.1 * ({})", "g = 0.3 * g - 0.2 * ({})", "h = np.cos(h) + 0.1 * ({})", "s += {}",
                   "s -= {}", "r = r + {}", "y[i] = {}", "a = {}", "m = (m + i) % 3", "a += {}"]
        made = [Statement(self.r.choice(targets).format(self.value()))]
        if self.r.random() < 0.15:
            return [Statement(f"if {self.r.choice(['x[i] > 0.5', 'h > 0.1', 'i > 3'])}:", made)]
        return made


@contextmanager
def in_strips(count):
    """Every loop that can is distributed, in strips of so many iterations."""
    with mock.patch.multiple(loop_distribution, STRIP=count, FEWEST=0):
        yield


def judge_strips(f, count, tier, extent):
    """None, or what is wrong with the value or the gradient: beside Python, and the interpreter, which has one loop."""
    x = np.random.default_rng(extent).uniform(0.05, 0.9, extent)
    return judge_beside(f, x, tier, in_strips(count), f"in strips of {count}",
                        lambda: fad.config.using(compile="never"))


def report(seed, compile=False):
    """None, or the failure of this seed's program with the program shrunk."""
    tier = "compiled" if compile else "text"
    return judge.shrunk(seed, tier, Generator.of(seed), lambda f: judge_strips(f, 2 + seed % 4, tier, 7 + seed % 6))


if __name__ == "__main__":
    judge.command(report)
