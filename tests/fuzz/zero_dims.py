"""Random programs of values without axes, which are numbers or arrays: bound, named twice, put into lists, changed in
place, by loops and branches.

`python -m tests.fuzz.zero_dims [COUNT] [FIRST]` tries COUNT programs from seed FIRST, and prints a shrunk program for
each failure.
"""
import functools

from . import judge
from .names import Generator as Names
from .statement import Statement

NAMES = "pqrh"
COUNTERS = "kji"


class Generator(Names):
    """Makes one program from a seed: four names of arrays or numbers, a list of three arrays, a dict of two."""

    def program(self):
        head = ["p = np.asarray(x[0])", "q = p", "r = x[1:2].copy().reshape(())", "h = x[2]", "s = 0.0", "t = 0.3",
                "k = 1", "j = 2", "i = 0", "n = 3",
                "L = [p, r, np.asarray(x[3])]", "D = {'p': q, 'q': np.zeros(())}", "b = x * 1.0"]
        body = [s for _ in range(self.r.randint(2, 6)) for s in self.statement(0)]
        ends = ["s + 0.7 * t", *NAMES, "p * q", "1.3 * L[0] + L[1] * L[-1]", "D['p'] * 0.8 + D['q']", "b.sum()"]
        return [*map(Statement, head), *body, Statement(f"return {' + '.join(ends)}")]

    def statement(self, depth):
        simple = [self.bind] * 4 + [self.change] * 6 + [self.store] * 2 + [self.swap, self.call, self.add]
        nested = [self.loop] * 3 + [self.branch] * 3 if depth < 3 else []
        return self.r.choice([*simple, *nested, *([self.leave] if self.loops else [])])(depth)

    def name(self):
        return self.r.choice(NAMES)

    def array(self):
        return self.pick(*NAMES, *NAMES, f"L[{self.index(3)}]", "D['p']", "D['q']")

    def scalar(self):
        return self.pick("t", "0.5", self.array(), "b[k % 3]", f"np.tanh({self.array()})",
                         f"{self.r.uniform(-1, 1):.3f}", "0.1 * k")

    def condition(self):
        return self.pick(f"{self.array()} > {self.r.uniform(-0.5, 1):.4f}", "k % 2 == 0",
                         f"{self.array()} > {self.array()} + 0.0137", f"t > {self.r.uniform(-0.5, 1):.4f}", "k > j")

    def view(self):
        v, w = self.array(), self.scalar()
        return self.pick(v, v, v, f"np.asarray({v})", f"np.array({v})", f"np.where({self.condition()}, {v}, {w})",
                         f"np.squeeze({v})", f"np.copy({v})", f"{v} + {w}", f"+{v}",
                         f"np.reshape({v}, ())", "b[0, ...]", "b[1]", "b[k % 3, ...]", f"np.maximum({v}, {w} - 0.0173)",
                         "np.zeros(())", "np.sum(b)", f"np.real({v})", f"np.clip({v}, -2.0, 2.0)",
                         f"np.full((), {w})", f"np.zeros_like({v})", "t", f"np.transpose({v})", f"np.ravel({v})[0]")

    def bind(self, depth):
        v, w = self.view(), self.view()
        return [Statement(f"{self.name()} = " + self.pick(v, v, v, f"{v} if {self.condition()} else {w}",
                                                          f"[{v}, {w}][{self.index(2)}]", f"max({v}, {w})"))]

    def change(self, depth):
        v, w = self.array(), self.scalar()
        return [Statement(self.pick(f"{v} += {w}", f"{v} += {w}", f"{v} *= {w}", f"{v} -= 0.3",
                                    f"b[{self.index(3)}] += {w}", f"b[{self.index(3)}, ...] *= 0.7",
                                    f"np.add({v}, {w}, out=np.asarray(D['q']))"))]

    def store(self, depth):
        v = self.view()
        return [Statement(self.pick(f"L[{self.index(3)}] = {v}", f"D['p'] = {v}", "L[0], L[1] = L[1], L[0]",
                                    f"L.append({v})", "L = L[::-1]", f"L = [{v}, p, {self.view()}]", "D['q'] = L[0]"))]

    def swap(self, depth):
        v, w = self.r.sample(NAMES, 2)
        return [Statement(self.pick(f"{v}, {w} = {w}, {v}", f"{v} = {w}", f"{v} = {w} = {self.view()}"))]

    def call(self, depth):
        v, w = self.array(), self.array()
        return [Statement(self.pick(f"{self.name()} = either({v}, {w}, {self.scalar()})", "for u in L: u *= 0.9",
                                    "for u in D.values(): u += 0.1", f"s += kept({v}, L) * 0.01",
                                    f"s += 0.1 * float({v} > 0.2)" if self.r.random() < 0.2 else f"s = s + {v} * {w}"))]

    def add(self, depth):
        return [Statement(self.pick(f"s = s + 0.1 * {self.array()} * {self.scalar()}",
                                    f"t = np.tanh(t + {self.scalar()})",
                                    f"s += 0.1 * {self.array()} * {self.array()}"))]

    def loop(self, depth):
        counts = ("range(3)", "range(2)", "range(n)", "range(k % 3)", "range(3, 0, -1)", "range(j + 1)")
        return [Statement(f"for {COUNTERS[depth % 3]} in {self.pick(*counts)}:", self.iteration(3, depth))]

    def leave(self, depth):
        return [Statement(f"if {self.condition()}:",
                          [Statement(self.pick("break", "continue",
                                               f"return s + {self.array()} * {self.array()} + t"))])]


report = functools.partial(judge.report, generate=Generator.of)

if __name__ == "__main__":
    judge.command(report)
