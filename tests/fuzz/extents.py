"""Random programs whose arrays change their extents: names bound anew to longer and shorter arrays, in branches and in
loops inside loops.

`python -m tests.fuzz.extents [COUNT] [FIRST]` tries COUNT programs from seed FIRST, and prints a shrunk program for
each failure.
"""

from . import judge
from .statement import Blocks, Statement

NAMES, COUNTERS = "abc", "kj"
LARGEST = 7
PARTS = ("{0}[:-1] + 0.5 * np.sin({0}[1:])", "np.concatenate([{0}[1:], {1}[:2] * 0.7])", "{0}[1:] * 1.1",
         "{0}[:-1].copy()", "np.sin({0}) * 0.9", "{0}[::2] * {1}[0]", "{0} + {1}[0]", "np.append({0}, {1}.sum() * 0.1)",
         "{0}[::-1] * 0.8", "np.zeros(len({1})) + {0}[0]", "np.empty_like({0}) * 0.0 + {1}[-1]",
         "np.cumsum({0})[:len({0}) // 2 + 2] * 0.3", "{0}[:3] * {1}[:3]", "np.outer({0}[:2], {1}[:3]).ravel()",
         "np.tanh({0})[min(1, len({1}) - 2):]", "x[:k % 3 + 3] * {0}[0]", "x * {0}[1]",
         "np.where({0} > 0.317, {0}, 0.2)", "np.full(k % 4 + 3, {0}[-1])", "np.sort({0})[1:]",
         "{0}[{1}.argmax():][:1].repeat(4)", "np.hstack([{0}, {1}])[:7]", "np.clip({0}, -3.0, 3.0)", "M[0] * {0}[0]",
         "M.ravel()[:5]", "M @ {0}[:1].repeat(M.shape[1])", "np.array([u * {1}[0] for u in {0}])")
MATRICES = ("np.outer({0}[:3], {1}[1:4])", "M.T * 0.9", "np.vstack([M, M[0] * {0}[0]])", "M[1:]", "M[:, :-1]",
            "np.tanh(M @ M.T)", "M[:k % 2 + 2] + {0}[0]")
COUNTS = ("range(3)", "range(2)", "range(len(a) - 1)", "range(k % 3)", "range(3, 0, -1)", "range(j + 1)",
          "range(len(b))", "steps", "steps")
PLACES = ("0", "-1", "1", "k % 2", ":2")


class Generator(Blocks):
    """Makes one program from a seed. Every array has from 3 to 9 elements, the matrix from 2 to 4 rows and columns,
    wherever one of them is read."""

    def program(self):
        head = ["a = x * 1.0", "b = x[1:] * 0.7", "c = np.sin(x[:4])", "M = np.outer(x[:2], x[1:4])", "t = 0.0",
                "k = 1", "j = 2", "steps = range(len(x))"]
        body = [s for _ in range(self.r.randint(2, 4)) for s in self.statement(0)]
        return [*map(Statement, head), *body,
                Statement("return t + a.sum() + (b * b).sum() + c[0] * c[-1] + np.sin(M).sum()")]

    def statement(self, depth):
        simple = [self.rebind] * 8 + [self.swap, self.add, self.add, self.write, self.write, self.alias, self.matrix,
                                      self.count]
        nested = ([self.loop, self.loop, self.loop, self.branch, self.branch, self.shorten, self.elements]
                  if depth < 3 else [])
        return self.r.choice([*simple, *nested, *([self.leave] if self.loops else [])])(depth)

    def pick(self):
        return self.r.choice(NAMES), self.r.choice(NAMES)

    def rebind(self, depth):
        v, w = self.pick()
        short = Statement(f"if len({v}) < 3:", [Statement(f"{v} = np.array([0.3, {v}[0], 0.6])")])
        return [Statement(f"{v} = {self.r.choice(PARTS).format(v, w)}"),
                self.r.choice([short, Statement(f"{v} = np.concatenate([{v}, np.array([0.31, 0.52])])[:9]")]),
                Statement(f"{v} = {v}[:9]")]

    def matrix(self, depth):
        v, w = self.pick()
        return [Statement(f"M = {self.r.choice(MATRICES).format(v, w)}"),
                Statement("if M.shape[0] < 2 or M.shape[1] < 2:", [Statement("M = np.outer(x[:2], x[1:4])")]),
                Statement("M = M[:4, :4]")]

    def swap(self, depth):
        v, w = self.r.sample(NAMES, 2)
        return [Statement(f"{v}, {w} = {w}, {v}")]

    def alias(self, depth):
        v, w = self.pick()
        return [Statement(f"{v} = {w}")]

    def add(self, depth):
        v, w = self.pick()
        return [Statement(f"t = t + {v}.sum() * {w}[0] * 0.1")]

    def write(self, depth):
        v, w = self.pick()
        return [Statement(f"{v} = {v}.copy()"),
                Statement(f"{v}[{self.r.choice(PLACES)}] {self.r.choice(['=', '+=', '*='])} {w}[0] * 0.5")]

    def count(self, depth):
        k, j = self.r.choice(COUNTERS), self.r.choice(COUNTERS)
        return [Statement(self.r.choice([f"{k} = ({j} + 1) % 4", f"t = t + 0.1 * {k} * a[{j} % 3]"]))]

    def loop(self, depth):
        # one name for the loops of a nest, as often as not
        return [Statement(f"for {self.r.choice(COUNTERS)} in {self.r.choice(COUNTS)}:", self.iteration(3, depth))]

    def branch(self, depth):
        v, w = self.pick()
        test = self.r.choice([f"{v}[0] > 0.413", f"len({v}) > 4", "k % 2 == 0", f"t > {self.r.random():.4f}",
                              f"{v}.sum() > {w}.sum()"])
        return [Statement(f"if {test}:", self.block(2, depth + 1),
                          self.block(2, depth + 1) if self.r.random() < 0.5 else [])]

    def shorten(self, depth):
        v, _ = self.pick()
        test, body = f"len({v}) > {self.r.randint(3, 5)}", [Statement(f"{v} = {v}[1:] * 0.9")]
        if self.r.random() < 0.3:
            return [Statement(f"while {test}:", body)]
        # what else the body does may lengthen the array again, for ever
        return [Statement("m = 0"),
                Statement(f"while {test} and m < 7:", [Statement("m += 1"), *body, *self.block(1, 3)])]

    def elements(self, depth):
        v, w = self.pick()
        items = self.r.choice([f"u in {v}", f"k, u in enumerate({v})", f"u, _ in zip({v}, {w})", f"u in reversed({v})"])
        return [Statement(f"for {items}:",
                          [Statement(f"t = t + 0.1 * u * {self.pick()[0]}[0]"), *self.iteration(2, depth)])]

    def leave(self, depth):
        return [Statement(f"if {self.pick()[0]}[0] > {self.r.uniform(0.3, 1.0):.4f}:",
                          [Statement(self.r.choice(["break", "continue"]))])]


def report(seed, compile=False):
    """None, or the failure of this seed's program with the program shrunk."""
    return judge.report(seed, compile, Generator.of, refusals=False)


if __name__ == "__main__":
    judge.command(report)
