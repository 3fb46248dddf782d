"""Random programs that decide by numbers which are all but equal: differences and quotients of multiples of 0.1 beside
0.1 itself.

What a derivative computes anew must come to the same decisions as what the function computed, to the last bit: a
product that is added up without rounding, or a division that becomes a multiplication, goes the other way. The result
is linear in w, so it is the slope along w, too. `python -m tests.fuzz.ties [COUNT] [FIRST]` tries COUNT programs from
seed FIRST, and prints a shrunk program for each failure.
"""
import warnings

import numpy as np

import fad

from . import judge
from .statement import Blocks, Statement, render_block

GRID = ("x[i] * k", "0.1 * k * i", "0.1 * (i + 1) * k + x[i]", "0.1 * (i + 1)", "x[i] + 0.1 * k", "k * 0.3 * (i + 1)")
STEPS = ("0.1", "0.2", "0.30000000000000004")
WEIGHTS = (1.0, 0.3)                                         # the steps of the grid, in those of x


class Generator(Blocks):
    """Makes one program from a seed: two grids, and a nest that adds up what it decides by their elements."""

    def program(self):
        self.indices = ["0", "1"]
        nest = self.loops_around([*self.decisions(), *self.write()])
        head = ["n = x.shape[0]", "g = np.zeros(n)", "h = np.zeros(n)", "s = 0.0"]
        grids = Statement("for i in range(n):", [Statement(f"{a}[i] = {self.r.choice(GRID)}") for a in "gh"])
        return [*map(Statement, head[:3]), grids, Statement(head[3]), *nest, Statement("return s")]

    def loops_around(self, body):
        """The body was made for these indices, which come from the loops around it."""
        for index in reversed(self.indices[2:]):
            over = {"t": "range(3)", "i": "range(n)", "j": self.inner}[index]
            body = [Statement(f"for {index} in {over}:", body)]
        return body

    def decisions(self):
        self.inner = self.r.choice(["range(i)", "range(n)", "range(i + 1)"])
        self.indices += [index for index, often in (("t", 0.5), ("i", 1.0), ("j", 0.6)) if self.r.random() < often]
        return [s for number in range(self.r.randint(1, 3)) for s in self.decision(f"d{number}")]

    def decision(self, d):
        asked, limit = self.r.choice([d, f"{d} - d0",
                                      f"{d} / 0.1"]), self.r.choice([*STEPS, "0.5", "1.0", self.element()])
        taken, other = Statement(f"s += w[1] * {self.element()} * {d}"), Statement(f"s -= w[0] * {self.element()}")
        return [Statement(f"{d} = {self.value()}"), self.r.choice([
            Statement(f"if {asked} >= {limit}:", [taken]),
            Statement(f"if {asked} < {limit}:", [taken], [other]),
            Statement(f"s += np.floor({asked}) * w[1] * {self.element()}"),
            Statement(f"s += np.rint({asked}) * w[0] * np.sin({self.element()})"),
            Statement(f"s += np.maximum({asked}, {limit}) * w[0] * k"),
            Statement(f"s += min({asked}, {limit}) * w[1] * {self.element()}"),
        ])]

    def write(self):
        if self.r.random() >= 0.4:
            return []
        return [Statement(f"{self.r.choice('gh')}[i] {self.r.choice(['+=', '='])} {self.value()} * 0.5")]

    def value(self, depth=0):
        kind = self.r.random()
        if depth > 2 or kind < 0.25:
            return self.element()
        if kind < 0.75:
            return f"({self.value(depth + 1)} {self.r.choice('---+')} {self.value(depth + 1)})"
        if kind < 0.9:
            return f"({self.value(depth + 1)} / {self.r.choice(['0.1', '0.3', 'h[1]', 'g[2]'])})"
        return self.r.choice(STEPS)

    def element(self):
        return f"{self.r.choice('ghx')}[({self.r.choice(self.indices)}{self.r.choice(['', '+1', '-1'])}) % n]"


def text_of(body):
    """The program as a function of its grid, its weights and its step."""
    return "\n".join(["def f(x, w, k):", *render_block(body, 1)]) + "\n"


def judge_decisions(f, tier):
    """None, or what is not the same when interpreted and in this tier."""
    for step in WEIGHTS:
        x, w = 0.1 * np.arange(1, 8), np.array([0.7, 1.3])
        with np.errstate(all="ignore"):
            want = f(x, w, step)
        if not np.isfinite(want):
            continue
        found = {}
        for name in ("interpreted", tier):
            with warnings.catch_warnings(), judge.tier(name, refusals=False):
                warnings.simplefilter("ignore", RuntimeWarning)
                value, found[name] = fad.value_and_grad(lambda x, w, step=step: f(x, w, step), argnums=(0, 1))(x, w)
            if not np.isclose(value, want, rtol=1e-9, atol=1e-9):
                return f"value, {name}: {value} instead of {want}"
            if not np.isclose(found[name][1] @ w, want, rtol=1e-9, atol=1e-9):
                return f"slope along w, {name}: {found[name][1] @ w} instead of {want}"
        if not np.allclose(found["interpreted"][0], found[tier][0], rtol=1e-8, atol=1e-8):
            return f"gradient: {found[tier][0]} instead of {found['interpreted'][0]}"
    return None


def report(seed, compile=False):
    """None, or the failure of this seed's program with the program shrunk."""
    tier = "compiled" if compile or seed % 4 == 0 else "text"
    return judge.shrunk(seed, tier, Generator.of(seed), lambda f: judge_decisions(f, tier), text_of)


if __name__ == "__main__":
    judge.command(report)
