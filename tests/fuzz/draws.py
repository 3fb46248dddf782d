"""Random programs that draw: straight lines, loops, branches and calls, from several generators and in several ways.

Calls one after the other give what Python gives, by jit and by value_and_grad, interpreted and compiled, and leave
the generators where Python leaves them. `python -m tests.fuzz.draws [COUNT] [FIRST]` tries COUNT programs from seed
FIRST.
"""
import random
import sys
import warnings

import numpy as np

import fad
from fad.trace.objects.draws import put_state
from fad.util.errors import FadError

from . import judge

X = np.array([0.5, -0.25, 1.5])
CALLS = 3
NUMBERS = """
    RNG.normal() | RNG.random() | OLD.rand() | np.random.randn() | random.random() | PY.gauss(0.0, 1.0) |
    RNG.integers(4) | OLD.randint(3) | PY.randint(0, 2) | RNG.exponential(2.0) | np.random.uniform(0.5, 1.5) |
    helper() | BOX.draw() | PY.choice([0.5, 1.5]) | float(RNG.normal()) | RNG.normal(s, 0.5) | OLD.uniform(0.0,
    2.0)"""
ARRAYS = """
    RNG.normal(size=3) | RNG.normal(size=y.shape) | OLD.randn(3) | np.random.rand(len(y)) | RNG.normal(y, 0.5) |
    RNG.permutation(y) | RNG.choice(y, 3) | y[RNG.integers(0, 3, 3)] | RNG.permutation(3) * 1.0 | RNG.uniform(y,
    y + 2.0) | np.array([RNG.normal() for _ in range(3)]) | (RNG.random(3) < 0.5) * y | BOX.draw(3)"""
STATEMENTS = """
    s = s * 0.5 + {n} | s += {n} * y[0] | y = y * 0.5 + {a} * s | y = np.tanh(y * {a}) | y[{k}] = {n} |
    RNG.shuffle(y) | {n} | {a} | y = y + inner(y) | np.random.seed({k}) | RNG.random({k} + 1) | s = s +
    np.sum({a} * {a}) | z = {a}; y = y + z * {n} | s = s * 0.1 if {n} < 0.5 else s + 1.0 | OLD.shuffle(y)"""
BLOCKS = [
    "for k in range(3):",
    "for k in range(11):",
    "for k in range(len(y)):",
    "for v in y:",
    "for k, v in enumerate(y):",
    "if s > 0.3:",
    "if RNG.random() < 0.5:",
]
STATE = """
import random
import numpy as np
RNG, OLD, PY = np.random.default_rng(1), np.random.RandomState(2), random.Random(3)

class Box:
    def __init__(self):
        self.rng = RNG

    def draw(self, *size):
        return self.rng.normal(size=size) if size else OLD.rand() + self.rng.normal()

BOX = Box()

def helper():
    return RNG.random() * OLD.rand()

def inner(y):
    return y * RNG.normal(size=len(y)) + PY.random()
"""


def parts(text):
    return [" ".join(part.split()) for part in text.split("|")]


NUMBERS, ARRAYS, STATEMENTS = parts(NUMBERS), parts(ARRAYS), parts(STATEMENTS)


def block(rng, depth, indent):
    """The lines of a few statements."""
    lines = []
    for _ in range(rng.randint(1, 3)):
        if depth and rng.random() < 0.35:
            lines += [indent + rng.choice(BLOCKS), *block(rng, depth - 1, indent + "    ")]
        else:
            form = rng.choice(STATEMENTS)
            while "{n}" in form or "{a}" in form:
                form = (
                    form.replace("{n}", rng.choice(NUMBERS), 1)
                    if "{n}" in form
                    else form.replace("{a}", rng.choice(ARRAYS), 1)
                )
            lines.append(indent + form.replace("{k}", str(rng.randrange(3))))
    return lines


def program(seed):
    """The text of a random program."""
    lines = [
        "def f(x):",
        "    y, s = x * 1.0, x[0] * 0.5",
        *block(random.Random(seed), 2, "    "),
        "    return s + np.sum(y)",
    ]
    return STATE + "\n" + "\n".join(lines) + "\n"


def reset(scope):
    put_state(scope["RNG"], np.random.default_rng(1).bit_generator.state)
    scope["OLD"].seed(2)
    scope["PY"].seed(3)
    np.random.seed(4)
    random.seed(5)


def state(scope):
    old = [repr(g.get_state(legacy=False)) for g in (scope["OLD"], np.random.rand.__self__)]
    return [repr(scope["RNG"].bit_generator.state), *old, scope["PY"].getstate(), random.getstate()]


def calls_of(text):
    """What is wrong with the calls of a program; None if nothing is."""
    scope = judge.executed(text, {"__name__": "program"})
    f = scope["f"]
    reset(scope)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected, after = [f(X) for _ in range(CALLS)], state(scope)
        if not np.isfinite(expected).all() or np.max(np.abs(expected)) > 1e8:
            return None
        slopes = {}
        for policy in ("never", "now"):
            with fad.config.using(compile=policy):
                for transform in (fad.jit, fad.value_and_grad):
                    g = transform(lambda x: f(x))
                    reset(scope)
                    try:
                        results = [g(X) for _ in range(CALLS)]
                    except FadError as error:
                        return None if not isinstance(error, fad.InternalErrorWarning) else str(error)
                    values = results if transform is fad.jit else [value for value, _ in results]
                    if not np.allclose(values, expected, rtol=1e-7):
                        return f"{policy} {transform.__name__}: {values} instead of {expected}"
                    if state(scope) != after:
                        return f"{policy} {transform.__name__}: the generators are left otherwise"
                    slopes[policy] = results
        if not np.allclose([s for _, s in slopes["never"]], [s for _, s in slopes["now"]], rtol=1e-6):
            return "slopes differ"
    return None


def main(count, first):
    for seed in range(first, first + count):
        try:
            wrong = calls_of(program(seed))
        except Exception as error:
            wrong = f"{type(error).__name__}: {error}"
        if wrong:
            print(f"-- seed {seed}: {wrong}\n{program(seed)[len(STATE) :]}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
