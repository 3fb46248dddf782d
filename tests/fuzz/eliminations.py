"""Random eliminations: nests that read some rows and write to others, which are found by searches and chosen by
conditions; see fad/transforms/last_write.py.

`python -m tests.fuzz.eliminations [COUNT] [FIRST]` tries COUNT programs from seed FIRST, and prints a shrunk program
for each failure.
"""
import warnings
from unittest import mock

import numpy as np

import fad
from fad.transforms import last_write, loop_vjp

from . import judge
from .statement import Blocks, Statement

OUTER = ("range(n)", "range(n)", "range(n - 1)", "range(1, n)", "range(n - 1, -1, -1)", "range(0, n, 2)")
INNER = ("range(n)", "range(n)", "range(k + 1, n)", "range(k + 1, n)", "range(k)", "range(k, n)", "range(n - 1, k, -1)",
         "range(p, n)", "range(p + 1, n)")
COLUMNS = (":", ":", "k:", "k + 1:", ":k")
ROWS = ("k", "k", "k", "p", "p", "i", "last", "k - 1", "-1", "(k + 1) % n", "max(k, p)", "min(i, k)", "order[k]")
FOUND = ("k + np.argmax(np.abs(A[k:, k]))", "k + np.argmax(np.abs(A[k:, k]))", "np.argmax(np.abs(A[:, k]))",
         "np.argmin(A[:k + 1, k])", "k", "n - 1 - k", "(3 * k + 1) % n", "k - np.argmax(A[:k + 1, 0])",
         "k + np.argmin(A[k:, 0]) - 1", "last", "order[k]", "np.argsort(A[0])[k]", "max(k, last)",
         "k if A[k, 0] > 0.4 else n - 1", "k + 1 if k + 1 < n and A[k, 0] > 0.4 else k")
CONDITIONS = ("i != k", "i != k", "i != p", "not i == k", "i > k", "k < i", "i >= k", "i <= k",
              "i != k and A[i, 0] < 2.5", "i != k or A[i, 0] < 0.5", "i - k != 1", "i == k", "i != last", "i != 0")
SWAPS = ("A[[k, p]] = A[[p, k]]", "A[k], A[p] = A[p].copy(), A[k].copy()", "A[[k, p], k:] = A[[p, k], k:]",
         "A[k], A[p] = A[p] * 1.1, A[k] * 0.9")
MAKES = ("A[k] = A[k] / (2.0 + np.abs(A[k, k]))", "A[p] *= 0.9", "A[:, k] *= 0.95",
         "A[k, k:] += 0.1 * np.sin(A[p, k:])", "A[i, 0] += 0.1 * A[k, 0]")


class Generator(Blocks):
    """Makes one program from a seed: a matrix, and a nest that changes it."""

    def program(self):
        head = ["A = np.outer(np.sin(3.0 * x), np.cos(2.0 * x)) + 0.3 * np.eye(n)", "order = np.argsort(x)", "last = 0",
                "p = 0", "i = 0"]
        body = [*self.search(), *self.statements(self.make, 2), *self.loop(), *self.statements(self.make, 1),
                *self.statements(self.keep, 1)]
        around = self.r.random() < 0.2
        nest = [Statement(f"for k in {self.r.choice(OUTER)}:", body)]
        return [*map(Statement, head), *([Statement("for iteration in range(2):", nest)] if around else nest),
                Statement("return np.sum(np.sin(A) * A)")]

    def statements(self, make, most):
        return [make() for _ in range(self.r.randint(0, most))]

    def search(self):
        if self.r.random() < 0.3:
            test = Statement("if abs(A[m, k]) > big:",
                             [Statement("big = abs(A[m, k])"),
                              Statement(f"p = {self.r.choice(['m', 'm', 'm - 1', 'n - m'])}")])
            start = self.r.choice(["p = k", "p = k", "p = 0", "p = last"])
            return [Statement(start), Statement("big = 0.1"),
                    Statement(f"for m in {self.r.choice(['range(k + 1, n)', 'range(k, n)', 'range(n)'])}:", [test])]
        return [Statement(f"p = {self.r.choice(FOUND)}")]

    def make(self):
        found = Statement(self.r.choice(SWAPS + MAKES))
        return (Statement(f"if {self.r.choice(['p != k', 'p > k', 'A[k, 0] > 0.4'])}:", [found])
                if self.r.random() < 0.3 else found)

    def keep(self):
        return Statement(self.r.choice(["last = k", "last = p", "last = i", "order[k] = p"]))

    def loop(self):
        body = [*self.statements(self.make, 1), *[s for _ in range(self.r.randint(1, 2)) for s in self.step()],
                *self.statements(self.keep, 1)]
        if self.r.random() < 0.5:
            test = f"if {self.r.choice(CONDITIONS)}:"
            body = ([Statement(test, body)]
                    if self.r.random() < 0.6 else [Statement(test, [Statement("continue")]), *body])
        return [Statement(f"for i in {self.r.choice(INNER)}:", body)]

    def step(self):
        target, source, columns = self.r.choice(("i", "i", "i", "i", "p")), self.r.choice(ROWS), self.r.choice(COLUMNS)
        if self.r.random() < 0.3:
            body = [Statement(f"A[{target}, j] -= 0.1 * A[i, k] * A[{source}, j]")]
            return [Statement(f"for j in {self.r.choice(['range(n)', 'range(k, n)', 'range(k + 1, n)'])}:", body)]
        if self.r.random() < 0.2:
            return [Statement(f"A[{target}, {columns}] = 0.3 * A[{source}, {columns}] + np.sin(A[i, {columns}])")]
        return [Statement(f"A[{target}, {columns}] -= 0.1 * A[i, k] * A[{source}, {columns}]")]


def judge_final(f, tier, extent=6):
    """None, or what is wrong with the gradient where all that may be is read from the array in the end: beside one that
    saves it, and forward mode."""
    x = np.random.default_rng(extent).permutation(np.linspace(0.2, 1.4, extent))
    v = np.cos(np.arange(extent))
    with warnings.catch_warnings(), judge.tier(tier, refusals=True):
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            f(x)
        except (LookupError, ValueError):
            return None
        with mock.patch.object(last_write, "_are_many", lambda *_: True):
            found = fad.grad(lambda x: f(x))(x)
        with mock.patch.object(loop_vjp, "final_reads", lambda *_: {}):
            saved = fad.grad(lambda x: f(x))(x)
        slope = fad.jvp(f, (x,), (v,))[1]
    size = 1.0 + np.abs(saved).max()
    if np.abs(found - saved).max() > 1e-10 * size:
        return f"final: {np.abs(found - saved).max()} beside {size}"
    return None if abs(found @ v - slope) <= 1e-9 * size * extent else f"reverse: {found @ v} instead of {slope}"


def report(seed, compile=False):
    """None, or the failure of this seed's program with the program shrunk."""
    tier = judge.tier_of(seed, compile)
    return judge.shrunk(seed, tier, Generator.of(seed), lambda f: judge_final(f, tier, 4 + seed % 4))


if __name__ == "__main__":
    judge.command(report)
