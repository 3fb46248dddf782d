"""Random recurrences over arrays and parts of arrays that grow and shrink, whose tapes are computed again in blocks;
see fad/transforms/blocks.py.

`python -m tests.fuzz.recurrences [COUNT] [FIRST]` tries COUNT programs from seed FIRST, and prints a shrunk program for
each failure.
"""
import warnings
from contextlib import contextmanager
from unittest import mock

import numpy as np

import fad
from fad.transforms import blocks

from . import judge
from .statement import Blocks, Statement

RANGES = ("range(2, n - 3)", "range(1, n)", "range(2, n - 3, 2)", "range(2, n - 3, 3)", "range(n - 3, 2, -1)")
PARTS = ("0:k", "0:k", "0:k + 1", "0:k - 1", "0:k + 2", "0:n - k", "1:k", "k:n", "1:n - 1", ":")
PLACES = ("k", "k", "k - 1", "0", "-1")
VALUES = ("0.1 * {1}[{2}][::-1]", "(-0.1) * {1}[{2}] * np.abs({0}[{2}])",
          "0.05 * c * np.cos({1}[{2}][::-1]) * {1}[{2}]", "0.1 * np.sin({1}[{2}])", "0.1 * c",
          "0.05 * c * {1}[{2}]")
NUMBERS = ("c", "c * x[k]", "0.3 * {0}[k]", "0.1 * s")


class Generator(Blocks):
    """Makes one program from a seed: a loop of one to four statements on one or two arrays."""

    def program(self):
        self.arrays = self.r.choice(["y", "yz"])
        self.part = self.r.choice(PARTS)
        head = ["y = 0.5 * x", "z = 0.3 * np.flip(x)", "s = 0.1"]
        body = [Statement("c = 0.5 * x[k]"), *[s for _ in range(self.r.randint(1, 4)) for s in self.statement(0)]]
        return [*map(Statement, head), Statement(f"for k in {self.r.choice(RANGES)}:", body),
                Statement("return np.sum(y * y) + np.sum(x * z) + s")]

    def statement(self, depth):
        return [Statement(self.r.choice([self.add, self.add, self.add, self.assign, self.place, self.place, self.whole,
                                         self.sum, self.swap])())]

    def pick(self):
        part = self.part if self.r.random() < 0.75 else self.r.choice(PARTS)
        return self.r.choice(self.arrays), self.r.choice(self.arrays), part

    def add(self):
        a, b, part = self.pick()
        return f"{a}[{part}] += {self.r.choice(VALUES).format(a, b, part)}"

    def assign(self):
        a, b, part = self.pick()
        return f"{a}[{part}] = {a}[{part}] + {self.r.choice(VALUES).format(a, b, part)}"

    def place(self):
        a, b, _ = self.pick()
        return f"{a}[{self.r.choice(PLACES)}] = {self.r.choice(NUMBERS).format(b)}"

    def whole(self):
        a, b, _ = self.pick()
        return f"{a} = {a} * (1.0 - 0.05 * {b})"

    def sum(self):
        a, _, part = self.pick()
        return f"s = 0.5 * s + 0.1 * np.sum({a}[{part}])"

    def swap(self):
        return "y, z = z, y"


@contextmanager
def in_blocks(iterations):
    """Every loop that can runs in blocks of so many iterations."""
    with mock.patch.multiple(blocks, LARGE=-1, NARROWEST=0, BLOCK=1, FEWEST=iterations, MOST=iterations, TRIP=1000):
        yield


def judge_blocks(f, iterations, tier, extent=90):
    """None, or what is wrong with the gradient in blocks: beside that of a whole tape, and forward mode."""
    x = np.random.default_rng(iterations).uniform(0.05, 0.3, extent)
    v = np.cos(np.arange(extent))
    with warnings.catch_warnings(), judge.tier(tier, refusals=False):
        warnings.simplefilter("ignore", RuntimeWarning)
        with in_blocks(iterations):
            found = fad.grad(lambda x: f(x))(x)
        whole, (_, slope) = fad.grad(lambda x: f(x))(x), fad.jvp(f, (x,), (v,))
    if not np.isfinite(slope):
        return None
    size = np.abs(whole).max()
    if np.abs(found - whole).max() > 1e-9 * size:
        return f"in blocks of {iterations}: {np.abs(found - whole).max()} beside {size}"
    return None if abs(found @ v - slope) <= 1e-9 * size * extent else f"reverse: {found @ v} instead of {slope}"


def report(seed, compile=False):
    """None, or the failure of this seed's program with the program shrunk."""
    tier = judge.tier_of(seed, compile)
    return judge.shrunk(seed, tier, Generator.of(seed), lambda f: judge_blocks(f, 5 + seed % 36, tier, 84 + seed % 17))


if __name__ == "__main__":
    judge.command(report)
