"""Random programs that raise and handle errors, on ways that data decides: what is handled, and what is done by then,
is what it is in Python.

`python -m tests.fuzz.handlers [COUNT] [FIRST]` tries COUNT programs from seed FIRST, and prints a shrunk program for
each failure.
"""

from . import judge
from .statement import Blocks, Statement

KINDS = ("IndexError", "KeyError", "ZeroDivisionError", "ValueError", "(IndexError, KeyError)", "LookupError",
         "ArithmeticError", "Exception", "AssertionError")
FAILING = (
    "s += 0.1 * W[k + 4]", "s += W[29] * t", "y[k + 4] *= 0.9", "s += D['b']", "D['a'] *= D[names[k % 3]]",
    "s += 1 / (n - 6)",
    "t = t * (k % 1 + 5 // (k - 2))", "t += float('none')", "t += (np.ones(3) + np.ones(n - 2)).sum()",
    "s += [0.1, 0.2][k]", "raise ValueError(str(k))",
    "raise KeyError('b')", "assert k < 2, 'late'", "assert t < 0.4", "s += 0.1 * large(t)",
    "s += 0.1 * entry(D, 'b', t)", "y[1:][k + 3] = t",
    "s += W[int(20.0 * abs(t))]", "L.pop().sum()", "v[np.array([0, k + 3, 0])] += 0.1", "t += math.sqrt(k - 1)",
    "t += 0.1 * math.log(abs(t) - 0.2113)", "s += 0.1 * math.log(0.7313 - abs(s))",
    "t = 0.3 * math.exp(2000.0 * (t - 0.4117)) / math.exp(700.0)", "s += 0.1 * y[int(9.0 * abs(t))]",
    "s += 0.1 * np.linalg.cholesky(np.outer(y, y)[:2, :2] + np.diag(x[:2] - 0.413))[1, 0]",
    "t += 0.1 * sum(math.log(abs(u) - 0.0513) for u in v)")
PLAIN = (
    "y[k % n] += 0.3 * t", "v[0] *= 0.9", "v[k % 5] = y[-1] * 0.7", "y[y > 0.513] *= 0.8",
    "s = s + y[k % n] * v[j % 5]", "t = np.tanh(t + y[k % n])",
    "v = y[::-1][1:]", "v = v.copy()", "y[np.array([0, 2, 0])] += 0.2 * x[:3]",
    "np.add.at(y, np.array([1, 1, 3]), 0.1 * v[:3])", "L.append(v)",
    "L[0][0] += 0.1", "k = k + 1", "k = 0", "y, v = v[::-1].repeat(2)[:6], y[1:]", "D['b'] = t * y[0]",
    "D = {'a': y[1]}", "note(y, t)",
    "t = sum(u[0] for u in L) * 0.3")
TESTS = ("y[k % n] > 0.317", "t > 0.2113", "k % 2 == 0", "v.sum() > 0.713", "x[0] > 2.0", "len(L) > 2", "k > 2")


class Generator(Blocks):
    """Makes one program from a seed."""

    def program(self):
        head = ["n = len(x)", "y = x * 1.0", "v = y[1:]", "W = np.arange(6.0) * 0.1", "D = {'a': y[0] * 0.5}",
                "L = [y]", "names = 'abc'", "s = 0.0", "t = 0.3",
                "k = 1", "j = 0"]
        body = [s for _ in range(self.r.randint(2, 4)) for s in self.statement(0)]
        functions = [Statement("def large(u):",
                               [Statement("if u > 0.3517:", [Statement("raise ValueError('large')")]),
                                Statement("return u * 2.0")]),
                     Statement("def entry(d, key, u):",
                               [Statement("try:", [Statement("return d[key]")]),
                                Statement("finally:", [Statement("y[0] += 0.1 * u")])]),
                     Statement("def note(u, w):",
                               [Statement("with suppress(IndexError):",
                                          [Statement("u[0] += 0.1 * w"), Statement("u[5] *= 0.9")])])]
        ends = "s + 0.7 * t + (y * y).sum() + v[0] * v[-1] + D['a'] + sum(u.sum() for u in L) + 0.1 * k"
        return [Statement("from contextlib import suppress"), *map(Statement, head), *functions, *body,
                Statement(f"return {ends}")]

    def statement(self, depth):
        nested = ([self.attempt] * 4
                  + [self.suppressed, self.loop, self.loop, self.iterations, self.branch, self.branch]
                  if depth < 3 else [])
        leave = [self.leave] if self.loops else []
        return self.r.choice([self.plain] * 5 + [self.failing] * (3 if depth else 0) + nested + leave)(depth)

    def plain(self, depth):
        return [Statement(self.r.choice(PLAIN))]

    def failing(self, depth):
        fails = Statement(self.r.choice(FAILING))
        return [Statement(f"if {self.r.choice(TESTS)}:", [fails])] if self.r.random() < 0.6 else [fails]

    def attempt(self, depth):
        made = [Statement("try:", self.block(3, depth + 1)),
                Statement(f"except {self.r.choice(KINDS)}:", self.block(2, depth + 1))]
        if self.r.random() < 0.3:
            made.append(Statement(f"except {self.r.choice(KINDS)} as error:",
                                  [*self.block(1, depth + 1), Statement("s += 0.1 * isinstance(error, LookupError)")]))
        if self.r.random() < 0.3:
            made.append(Statement("else:", self.block(2, depth + 1)))
        if self.r.random() < 0.3:
            made.append(Statement("finally:", self.block(2, depth + 1)))
        return made

    def suppressed(self, depth):
        return [Statement(f"with suppress({self.r.choice(KINDS[:4])}):", self.block(3, depth + 1))]

    def loop(self, depth):
        counts = ("range(4)", "range(n)", "range(n - 6)", "range(k % 3)", "range(3, 0, -1)")
        return [Statement(f"for {'kj'[depth % 2]} in {self.r.choice(counts)}:", self.iteration(3, depth),
                          self.block(1, 3) if self.r.random() < 0.2 else [])]

    def iterations(self, depth):
        w = f"w{depth}"
        return [Statement(f"{w} = 0"),
                Statement(f"while {w} < 4 and not ({self.r.choice(TESTS)}):",
                          [Statement(f"{w} += 1"), *self.iteration(2, depth)],
                                                 self.block(1, 3) if self.r.random() < 0.2 else [])]

    def branch(self, depth):
        return [Statement(f"if {self.r.choice(TESTS)}:", self.block(2, depth + 1),
                          self.block(2, depth + 1) if self.r.random() < 0.5 else [])]

    def leave(self, depth):
        return [Statement(f"if {self.r.choice(TESTS)}:",
                          [Statement(self.r.choice(["break", "continue", "break", "continue",
                                                    "return s + y.sum() * t"]))])]


def report(seed, compile=False):
    """None, or the failure of this seed's program with the program shrunk."""
    return judge.report(seed, compile, Generator.of, raising=True)


if __name__ == "__main__":
    judge.command(report)
