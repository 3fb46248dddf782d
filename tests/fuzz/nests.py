"""Random loop nests, most of whose iterations are independent, which run in lanes; see fad/transforms/vectorise.py.

`python -m tests.fuzz.nests [COUNT] [FIRST]` tries COUNT programs from seed FIRST, and prints a shrunk program for each
failure.
"""
from contextlib import contextmanager
from unittest import mock

import numpy as np

from fad.passes import packing, summed_arrays
from fad.transforms import lane_costs, lane_parts, lanes, vectorise

from . import judge
from .loops import Loops, judge_beside
from .statement import Statement

HEAD = ("n = x.size // 3", "X = x.reshape(n, 3)", "w = X[0] * 0.5", "places = np.arange(n)[::-1] % n",
        "t = np.zeros(3)", "r = np.zeros((2, 3))", "u = np.zeros(n)", "m = np.zeros((n, 3))",
        "k = np.zeros(n, dtype=int)", "s = 0.0", "q = 0.1", "a = 0.2", "b = 0")
RANGES = ("range(n)",) * 6 + ("range(1, n)", "range(2, n - 1)", "range(n - 1)")
INNER = ("range(3)",) * 5 + ("range(1, 3)", "range(2)", "range(2, -1, -1)", "range(i % 3)")
SCALARS = ("X[i, 0]", "X[i, 2]", "X[i - 1, 1]", "x[i]", "X[places[i], 1]", "w[1]", "a", "a", "t[0]", "t[2]", "r[1, 0]",
           "u[i]", "u[i - 1]", "m[i, 1]", "0.1 * i",
           "0.3", "X[k[i], 1]", "X[i, b % 3]", "0.1 * b", "x[(2 * i) % n]", "x[n - 1 - i]")
ELEMENTS = ("X[i, j]", "X[i, j]", "w[j]", "t[j]", "t[j]", "t[j - 1]", "r[0, j]", "m[i, j]", "m[i, j - 1]",
            "X[i - 1, j]", "0.1 * j", "t[k[i]]")
FORMS = ("{0}", "{0} * {1}", "np.sin({0})", "{0} + {1}", "{0} - 0.5 * {1}", "0.5 * {0} * {0}",
         "float(np.where({0} > {1}, {0}, 0.2))", "max({0}, {1})", "abs({0})")


class Generator(Loops):
    """Makes one program from a seed: a loop with inner loops over arrays of few elements."""

    forms = FORMS

    def program(self):
        self.is_clean = self.r.random() < 0.7                # nothing is left over from the iteration before
        body = [Statement("a = 0.2")] if self.is_clean or self.r.random() < 0.5 else []
        body += [Statement("b = 0")] if self.is_clean or self.r.random() < 0.5 else []
        if self.is_clean:
            value = self.value(("X[i, j]", "w[j]", "a", "0.1 * j", "X[places[i], j]"))
            body += [Statement("for j in range(3):", [Statement(f"t[j] = {value}")])]
        for _ in range(self.r.randint(2, 4)):
            body += self.statement()
        body += self.inner()
        ends = (["np.sum(u * u)", "np.sum(m)", "s", "q"] + (["t[1]"] if self.r.random() < 0.1 else [])
                + (["a"] if self.r.random() < 0.05 else []))
        return self.loop(HEAD, RANGES, body, " + ".join(ends))

    def value(self, atoms):
        if self.is_clean:
            atoms = [atom for atom in atoms if not atom.startswith(("r", "u[i - ", "m[i, j -")) and atom != "t[j - 1]"]
        return super().value(atoms)

    def statement(self):
        kind = self.r.random()
        if kind < 0.45:
            return self.inner()
        if kind < 0.55:
            return self.row()
        if kind < 0.7:
            return self.branch(self.scalar, ["n > 4", "n > 400", "X[i, 0] > 0.5", "w[0] > 0.2", "i > 3", "i + 1 < n"])
        return self.scalar()

    def scalar(self):
        target = self.r.choice(["a = {}", "a += {}", "u[i] = {}", "u[i] += {}", "s += {}", "s += {}", "s = s - {}",
                                "t[1] = {}", "m[i, 0] = {}"]
                               + (not self.is_clean) * ["q = 0.5 * q + {}", "u[i] = u[i - 1] + {}", "s = max(s, {})",
                                                        "k[i] = int(3 * abs({})) % 3"])
        return [Statement(target.format(self.value(SCALARS)))]

    def branch(self, make, tests):
        """A branch on what is the same in all iterations, or not; the index of the next point stands behind a test of
        its own."""
        if self.r.random() < 0.2:
            ahead = self.r.choice(["X[i + 1, 0] * w[1]", "np.log(X[i + 1, 2])", "t[i % 3] / X[i + 1, 1]"])
            return [Statement("if i + 1 < n:", [Statement(f"s += {ahead}")])]
        return [Statement(f"if {self.r.choice(tests)}:", make()),
                *([Statement("else:", make())] if self.r.random() < 0.4 else [])]

    def row(self):
        """A statement on whole rows."""
        value = self.r.choice(["X[i] * w", "np.sin(X[i])", "t + X[i]", "t * a", "m[i] + w", "w - X[i - 1]"]
                              if not self.is_clean else ["X[i] * w", "t + X[i]", "t * a"])
        return [Statement(self.r.choice(["t[:] = {}", "m[i] = {}", "m[i] += {}", "s += np.sum({})", "a += w @ ({})",
                                         "t = {}", "s += t @ ({})", "t[1:] = ({})[1:]"]
                                        ).format(value))]

    def inner(self):
        filled = ["t[j] = {}"] if self.r.random() < 0.7 else []
        targets = [*filled,
                   *self.r.choices(["t[j] += {}", "s += {}", "a += {}", "m[i, j] = {}", "m[i, j] += {}", "a = {}",
                                    "b = j", "b += 1", "b = b * 2 + j"]
                                            + (not self.is_clean) * ["r[1, j] = {}", "r[0, j] = {}"],
                                   k=self.r.randint(1, 3))]
        def write(target):
            return Statement(target.format(self.value(ELEMENTS if self.r.random() < 0.7 else SCALARS)))
        body = [*map(write, targets)]
        if self.r.random() < 0.35:
            body += self.branch(lambda: [write(self.r.choice(targets))],
                                ["X[i, j] > 0.5", "t[j] > 0.1", "j > 0", "w[j] > X[i, 0]"])
        over = "range(3)" if filled and self.r.random() < 0.8 else self.r.choice(INNER)
        return [Statement(f"for j in {over}:", body)]


@contextmanager
def in_lanes(count=64, most=None):
    """Every loop that can runs in so many lanes, whether that pays or not, as do the passes that lanes are prepared by;
    most: how much of its work
    must be behind choices for the last block to overlap."""
    with (mock.patch.object(summed_arrays, "LONG", 2), mock.patch.multiple(packing, SHORT=2, TIMES=2),
          mock.patch.object(lane_parts, "LANES", count),
          mock.patch.object(lanes, "LANES", count), mock.patch.object(lane_costs, "WORTH", 0),
          mock.patch.multiple(vectorise, LANES=count, MANY=count, MOST=vectorise.MOST if most is None else most)):
        yield


def judge_lanes(f, count, tier, rows):
    """None, or what is wrong with the value or the gradient in lanes: beside Python, and iterations one by one."""
    x = np.random.default_rng(rows).uniform(0.05, 0.9, 3 * rows)
    return judge_beside(f, x, tier, in_lanes(count, rows % 2), f"in {count} lanes")


def report(seed, compile=False):
    """None, or the failure of this seed's program with the program shrunk."""
    tier = judge.tier_of(seed, compile)
    return judge.shrunk(seed, tier, Generator.of(seed), lambda f: judge_lanes(f, 2 + seed % 4, tier, 7 + seed % 6))


if __name__ == "__main__":
    judge.command(report)
