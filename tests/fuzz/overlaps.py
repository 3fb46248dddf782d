"""Random functions over arrays from outside that lie in one memory: parts, rows, columns and other shapes of one array,
real and imaginary parts, attributes that are views of another attribute, fields of record arrays.

Each is called three times in a transform, and in Python. Values, all arrays and the derivative are the same after each
call, or the call is refused and has changed nothing. `python -m tests.fuzz.overlaps [COUNT] [FIRST]` tries COUNT
functions from seed FIRST, and prints a shrunk one for each failure.
"""
import numpy as np

import fad
from fad.util.errors import FadError

from . import calls, judge
from .calls import attempt, text_of
from .statement import Blocks, Statement
from .states import gradient_of, point

CALLS = 3
WORLD = """
import numpy as np, fad

A = np.arange(12.0) * 0.1 + 0.2
M, HEAD, TAIL, EVEN, BACK, CROSS = A.reshape(3, 4), A[:5], A[3:], A[::2], A[::-1], A[::5]
T, ROW, COL, BLOCK, SAME, THREE = M.T, M[1], M[:, 2], M[1:, 1:3], A.view(), A.reshape(2, 3, 2).transpose(2, 0, 1)
F = np.asfortranarray(np.arange(6.0).reshape(2, 3) * 0.1)
FROW, FCOL, FFLAT = F[0], F[:, 1], F.T.reshape(-1)
C = np.arange(4.0) * 0.2 + 0.1j
RE, IM, CTAIL = C.real, C.imag[1:], C[2:]
N = np.arange(6)
NTAIL, NEVEN = N[2:], N[::2]
ONE, OTHER = np.ones(3) * 0.4, np.ones(3) * 0.6
WINDOWS = [A[k:k + 4] for k in range(0, 9, 3)]
ROWS = {'first': M[0], 'last': M[-1]}

R = np.zeros(4, [('m', float), ('at', float, 2), ('k', int)])
R['m'], R['at'], R['k'] = np.arange(4.0) * 0.2 + 0.1, np.arange(8.0).reshape(4, 2) * 0.1, [1, 0, 2, 1]

class Body:
    def __init__(self):
        self.state = np.arange(6.0) * 0.1 + 0.3
        self.at, self.speed = self.state[:3], self.state[3:]
        self.matrix = self.state.reshape(2, 3)

    def step(self, h):
        self.speed -= h * self.at
        self.at += h * self.speed
        return np.sum(self.state ** 2)

    def energy(self):
        return 0.5 * (self.speed @ self.speed) + self.matrix[0].sum() * 0.1

B = Body()

def shift(a, t):
    a[1:] = a[:-1] * 0.9
    a[0] = t

def square(a):
    return np.sum(a ** 2)
"""
FLAT = ("A", "HEAD", "TAIL", "EVEN", "BACK", "ROW", "COL", "SAME", "M[0]", "M[:, 1]", "T[1]", "WINDOWS[1]",
        "WINDOWS[2]", "ROWS['last']", "B.at", "B.speed", "B.state", "B.matrix[1]", "FROW", "FFLAT", "RE", "IM", "ONE",
        "HEAD[1:4]", "CROSS", "FCOL", "v", "R['m']", "R['at'][1:, 0]", "R[1:]['m']", "Q['m']")
WIDE = ("M", "T", "BLOCK", "F", "B.matrix", "THREE", "M[:, 1:]", "R['at']", "R[::2]['at']")
LIKE = {"v = {0}": ("HEAD", "TAIL", "ONE", "ROW", "COL", "B.at", "RE", "WINDOWS[0]"),
        "v = {0} if {1} else {2}": ("ROW", "COL", "WINDOWS[1]", "ROWS['first']", "M[2]")}
NUMBERS = ("s", "y[0]", "0.3", "np.tanh(s)", "{0}.sum()", "{0}[-1]", "{0}[0] * y[1]", "y[j % n]", "{1}.sum() * 0.3",
           "square({0})", "{1}[0].sum()", "B.energy()", "float(N[1])", "0.1 * NTAIL[0]", "abs(C[1])", "C.imag[2]",
           "np.max({0})", "np.mean({1})", "({0} * {0}[::-1]).sum()", "CTAIL.real.sum()", "0.1 * N.sum()",
           "R[j % 3]['m']", "R[1]['at'][0] * {0}[0]", "sum(one['m'] * one['at'][1] for one in R)",
           "Q[0]['at'].sum()", "0.1 * R['k'][j % 4]")
WRITES = ("{0}[{2}] = {3}", "{0}[0] += {3}", "{0}[...] *= 0.9", "{0}[1:] = {3}", "{0}[:2] *= {3}", "{1}[0] = {3}",
          "{1}[...] *= 0.8", "{1}[-1] += 0.1 * {3}", "np.multiply({0}, 0.7, out={0})", "shift({0}, {3})",
          "{0}[::2] = {3}", "s = s + B.step(0.1)", "s = s + B.step({3} * 0.01)", "C[1] = {3} + 0.3j", "C[:] *= 0.5j",
          "N[2] = 3", "NEVEN[:] += 1", "B.at += 0.1", "B.matrix *= 0.9", "N[NTAIL[0] % 6] = j", "{0}.sort()",
          "{0}[j % 3] = {3}", "{0}.fill({3})", "{0}[{0} > 0.5] = {3}",
          "A[:] = A[::-1] * 0.9", "M[:, 0], M[:, 1] = M[:, 1], M[:, 0] * 0.9", "np.copyto(ROW, COL.mean())",
          "for w in WINDOWS: w *= 0.95", "for w in WINDOWS: s = s + w[0]; w[1] = {3}", "{0}[[0, 1]] += {3}",
          "B.at, B.speed = B.speed, B.at", "w = {0}; w[1] = {3}; s = s + w.sum() * 0.1",
          "R[j % 3]['m'] = {3}", "R[1]['at'] = {3}", "R['at'][:, 0] *= {3}", "R[1:] = R[:-1].copy()", "Q = R[1:]",
          "Q = R.copy()", "Q = R[R['k'] > 0]", "Q['m'] = {3}", "Q[0]['at'][1] += {3}", "R[2] = R[0]",
          "R[0] = ({3}, {3}, 2)", "R['k'][j % 4] += 1", "for one in R: one['m'] *= 0.9", "Q = np.zeros_like(R)",
          "for one in R: s = s + one['m']; one['at'][0] = s * 0.1", "one = R[j % 2]; one['m'] = {3}; one['at'] *= 0.9",
          "s = s + fad.grad(lambda q: (q * HEAD[:len(q)]).sum() * {3})(y)[0]")
ARRAYS = ("A", "F", "C", "N", "ONE", "OTHER")


class Generator(Blocks):
    """Makes one function from a seed."""

    def program(self):
        body = [Statement("n = len(x)"), Statement("y = x * 1.0"), Statement("s = 0.1"), Statement("j = 0"),
                Statement(f"v = {self.r.choice(FLAT[:10])}"),
                Statement(self.r.choice(["Q = R", "Q = R[:3]", "Q = R.copy()"]))]
        body += [s for _ in range(self.r.randint(2, 4)) for s in self.statement(0)]
        ends = [self.number() for _ in range(2)]
        return [Statement("def f(x):", [*body, Statement(f"return s + 0.7 * {ends[0]} + {ends[1]} * y[1]")])]

    def number(self):
        return self.r.choice(NUMBERS).format(self.r.choice(FLAT), self.r.choice(WIDE))

    def write(self, depth):
        text = self.r.choice(WRITES).format(self.r.choice(FLAT), self.r.choice(WIDE), self.r.randint(-2, 2),
                                            self.number())
        if text.startswith("for "):
            head, rest = text.split(": ", 1)
            return [Statement(f"{head}:", [Statement(part) for part in rest.split("; ")])]
        return [Statement(part) for part in text.split("; ")]

    def name(self, depth):
        pattern = self.r.choice(list(LIKE))
        options = LIKE[pattern]
        return [Statement(pattern.format(self.r.choice(options), self.condition(), self.r.choice(options)))]

    def condition(self):
        return self.r.choice(("y[0] > 0.1", "s > 0.31", "y[j % n] < 0.2", "A[2] > 0.35", "j % 2 == 0", "B.at[0] > 0.4"))

    def statement(self, depth):
        nested = [self.loop, self.branch, self.branch] if depth < 2 else []
        return self.r.choice([self.write] * 4 + [self.name, self.add] + nested)(depth)

    def add(self, depth):
        return [Statement(f"s = s + 0.3 * {self.number()}")]

    def loop(self, depth):
        return [Statement(f"for j in {self.r.choice(('range(3)', 'range(n)', 'range(2)'))}:", self.block(3, depth + 1))]

    def branch(self, depth):
        return [Statement(f"if {self.condition()}:", self.block(2, depth + 1),
                          self.block(2, depth + 1) if self.r.random() < 0.5 else [])]


class Run:
    """The function in a world of its own, in Python or in a transform."""

    def __init__(self, definition, number, transform=lambda f: f):
        self.scope = judge.executed(WORLD + f"#{number}", {"__name__": "program"})
        self.f = transform(judge.executed(f"#{number}\n{definition}", self.scope)["f"])

    @property
    def state(self):
        records = [self.scope["R"][name].copy() for name in ("m", "at", "k")]
        arrays = [self.scope[name].copy() for name in ARRAYS]
        return [*records, *arrays, self.scope["B"].state.copy(), self.scope["B"].at.copy()]


def on_the_tape(f):
    """The gradient as the tape makes it."""
    made = fad.value_and_grad(f)
    return lambda *args: made.on_tape(args, {})


def alike(a, b):
    return all(np.allclose(x, y, rtol=1e-11, atol=1e-12, equal_nan=True) for x, y in zip(a, b))


def calls_of(body, seed, tier):
    """None, or what was not right at one of the calls."""
    definition = text_of(body)
    transform = (fad.jit, fad.value_and_grad, fad.value_and_grad, on_the_tape)[seed % 7 % 4]
    plain, staged = Run(definition, 0), Run(definition, 1, transform)
    for number in range(CALLS):
        x, before = point(number), staged.state
        with judge.tier(tier, raising=True), np.errstate(all="ignore"):
            got = attempt(staged.f, x.copy())
            want = attempt(plain.f, x.copy())
        if isinstance(got, Exception) and not alike(before, staged.state) and not (
            isinstance(want, Exception) and alike(plain.state, staged.state)
        ):
            return f"call {number + 1}: state: {got!r:.200}, and changed"
        if isinstance(want, Exception) or isinstance(got, Exception):
            fits = isinstance(got, FadError) or (isinstance(want, Exception) and isinstance(got, type(want)))
            return None if fits else f"call {number + 1}: value: {got!r:.500} instead of {want!r:.500}"
        if not np.isfinite(want) or abs(want) > 1e6:
            return None
        wrong = calls.differs("value", want, got if transform is fad.jit else got[0])
        if not wrong and not alike(plain.state, staged.state):
            wrong = f"state: {staged.state} instead of {plain.state}"
        if not wrong and transform is not fad.jit and number in (0, CALLS - 1):
            wrong = gradient_of(definition, ("",) * (number + 1), got[1], Run)
        if wrong:
            return f"call {number + 1}: {wrong}"
    return None


def report(seed, compile=False):
    """None, or the failure of this seed's function with the function shrunk."""
    tier = "compiled" if compile else ("interpreted", "text")[seed // 4 % 2]
    return calls.shrunk(seed, tier, Generator.of(seed), lambda body, tier: calls_of(body, seed, tier))


if __name__ == "__main__":
    judge.command(report)
