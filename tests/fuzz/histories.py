"""Random programs that keep what they went through in lists: steps that are accepted or tried again, states with
several names, lists that grow and shrink.

`python -m tests.fuzz.histories [COUNT] [FIRST]` tries COUNT programs from seed FIRST, and prints a shrunk program for
each failure.
"""

from . import judge
from .statement import Blocks, Statement

NAMES = ("y", "z", "u")


class Generator(Blocks):
    """Makes one program from a seed. Every array has three elements, the list ys arrays, one at least, and the list ts
    numbers."""

    def __init__(self, seed):
        super().__init__(seed)
        self.count = 0

    def program(self):
        head = ["y = x[:3] * 1.0", self.r.choice(["z = y", "z = y * 0.7", "z = np.sin(x[1:4])"]),
                "u = x[:3][::-1] * 0.9", "t = 0.1", "h = 0.3", "s = 0.0", "k = 0",
                self.r.choice(["ys = [y]", "ys = [y]", "ys = [y.copy()]", "ys = [y, z * 0.5]", "ys = [y, z]"]),
                self.r.choice(["ts = []", "ts = [t]", "ts = [0.0]"])]
        body = [s for _ in range(self.r.randint(1, 3)) for s in [*self.statement(1), *self.loop(0)]]
        ends = ["s + 0.7 * t", "h", "y.sum()", "1.1 * z[0] * z[-1]", "u[1]", "np.sum(np.array(ys) ** 2)",
                "ys[-1][0] * ys[0][1]",
                "0.3 * np.sum(np.array(ts))", "0.1 * len(ys)"]
        return [*map(Statement, head), *body, Statement(f"return {' + '.join(ends)}")]

    def statement(self, depth):
        simple = [self.bind] * 4 + [self.grow] * 5 + [self.write] * 2 + [self.number] * 3 + [self.shrink]
        nested = [self.loop, self.attempts, self.branch, self.branch, self.branch] if depth < 3 else []
        return self.r.choice([*simple, *nested, *([self.leave] if self.loops else [])])(depth)

    def pick(self, *options):
        return self.r.choice(options)

    def name(self):
        return self.r.choice(NAMES)

    def fresh(self):
        self.count += 1
        return self.count

    def condition(self):
        v, w = self.name(), self.name()
        return self.pick(f"{v}[0] > {self.r.uniform(-0.5, 1):.4f}",
                         f"np.abs({v} - {w}).max() < {self.r.uniform(0.01, 0.4):.4f}",
                         f"t < {self.r.uniform(0, 1):.4f}",
                         f"h > {self.r.uniform(0.05, 0.3):.4f}", "k % 2 == 0", "len(ys) > 3", "ys[-1][0] > 0.3117",
                         "len(ts) < 3")

    def value(self):
        """A new array."""
        v, w = self.name(), self.pick(*NAMES, "ys[-1]", "ys[0]")
        return self.pick(f"{v} * (1.0 - h * {w}[0])", f"{v} + h * np.sin({w})", f"{w}.copy()", f"0.5 * ({v} + {w})",
                         f"np.array([{v}[0], t, {w}[1]])", f"{v}[::-1] * 0.9")

    def bind(self, depth):
        v, w = self.r.sample(NAMES, 2)
        return [Statement(self.pick(f"{v} = {w}", f"{v} = {w}", f"{v} = {self.value()}", f"{v} = {self.value()}",
                                    f"{v} = ys[-1]", f"{v} = ys[0]", f"{v}, {w} = {w}, {v}",
                                    f"{v} = {w} if {self.condition()} else {v}", f"{v} = ys[k % len(ys)]"))]

    def grow(self, depth):
        v = self.name()
        return [Statement(self.pick(f"ys.append({v})", f"ys.append({v})", f"ys.append({v}.copy())",
                                    f"ys.append({self.value()})", "ts.append(t)", "ts.append(h)", f"ts.append({v}[1])",
                                    "ys.append(ys[-1] * 0.5)", "ys += [z * 1.1]", "ys.extend([y * 0.3, u + t])"))]

    def shrink(self, depth):
        change = self.pick("ys.pop()", f"{self.name()} = ys.pop()", "ys.pop(0)", "ys[-1] = ys[0] * 0.5",
                           f"ys[0] = {self.name()}")
        return [Statement("if len(ys) > 1:", [Statement(change)])]

    def write(self, depth):
        v = self.name()
        return [Statement(self.pick(f"{v}[0] += 0.1", f"{v}[1] = t", f"{v} *= 0.9", f"{v}[:2] = {self.name()}[1:]",
                                    "ys[0][1] *= 0.9", "ys[-1][0] = t", "ys[-1] += 0.1 * y"))]

    def number(self, depth):
        return [Statement(self.pick("t = t + h", "h = h * 0.5", "h = min(0.4, h * 1.3)", "s = s + ys[-1].sum() * 0.2",
                                    "t = np.tanh(t + y[0])", "k += 1", "s += 0.1 * sum(ts)"))]

    def loop(self, depth):
        if self.r.random() < 0.4:
            return [Statement(f"for {'ij'[depth % 2]} in range({self.pick('3', '2', 'n', 'len(ys)')}):",
                              self.iteration(3, depth))]
        if self.r.random() < 0.15:
            source = self.pick("for t in [0.3, t, 0.7]:", "for k, t in enumerate([t, 0.2, h, 0.9]):",
                               "for k in {0, 1, 2}:", "for h in {0: 0.1, 1: h}.values():",
                               "for t, z in zip([0.6, t, 0.1], [y, u * 0.7, ys[0]]):")
            return [Statement(source, self.iteration(3, depth))]
        w = f"w{self.fresh()}"
        going_on = f"{w} < " + self.pick("4", "3", f"5 and t < {self.r.uniform(0.5, 2):.4f}")
        return [Statement(f"{w} = 0"),
                Statement(f"while {going_on}:", [Statement(f"{w} += 1"), *self.iteration(3, depth)])]

    def attempts(self, depth):
        """A step that is tried again until it is accepted, in one of the ways in which this is written."""
        w, ok, v = f"w{self.fresh()}", f"ok{self.fresh()}", self.name()
        attempt = [Statement(f"{w} += 1"), Statement(f"{v} = {self.value()}"),
                   *(self.iteration(1, depth) if self.r.random() < 0.4 else [])]
        ends, again = f"{w} > 3 or {self.condition()}", Statement("h = h * 0.5")
        if self.r.random() < 0.5:
            last = Statement(f"if {w} > 3:", [Statement("break")])
            return [Statement(f"{w} = 0"),
                    Statement("while True:", [last, *attempt, Statement(f"if {ends}:", [Statement("break")]), again])]
        return [Statement(f"{w} = 0"), Statement(f"{ok} = False"),
                Statement(f"while not {ok} and {w} < 5:",
                          [*attempt, Statement(f"if {ends}:", [Statement(f"{ok} = True")], [again])])]

    def branch(self, depth):
        return [Statement(f"if {self.condition()}:", self.block(2, depth + 1),
                          self.block(2, depth + 1) if self.r.random() < 0.5 else [])]

    def leave(self, depth):
        return [Statement(f"if {self.condition()}:",
                          [Statement(self.pick("break", "continue", f"return s + {self.name()}.sum() + t"))])]


def report(seed, compile=False):
    """None, or the failure of this seed's program with the program shrunk."""
    return judge.report(seed, compile, Generator.of)


if __name__ == "__main__":
    judge.command(report)
