"""The passes change no value: not the sign of a zero, not an infinity, not a nan; in both tiers."""
import numpy as np
import pytest

import fad
from fad.ir.walk import evaluate
from fad.passes.pipeline import optimise
from fad.passes.preparation import prepared
from fad.trace.tracing import trace

REAL = np.array([-0.0, 0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1.7e308])
COMPLEX = np.array([complex(a, b) for a in (-0.0, 0.0, 1.0, np.inf, np.nan) for b in (-0.0, 0.0, -2.0, np.inf)])


def _written(x):
    y = np.zeros(x.shape, x.dtype)
    y[:] += x
    return y


def _summed(x):
    y = np.zeros(x.shape, x.dtype)
    for k in range(x.shape[0]):
        y[k] = y[k] + x[k]
    return y


def _added_to_one(x):
    y = np.zeros(1, x.dtype)
    y[0] = -0.0
    for k in range(1):
        y[0] += x[k]
    return y


def _kept(x):
    y = x * 1
    y[1:3] += np.zeros(2)
    return y


EXPRESSIONS = {
    "x * 1": lambda x: x * 1, "1.0 * x": lambda x: 1.0 * x, "x / 1": lambda x: x / 1, "x ** 1": lambda x: x ** 1,
    "x ** 0": lambda x: x ** 0, "x - 0": lambda x: x - 0, "x - -0.0": lambda x: x - -0.0, "0 - x": lambda x: 0 - x,
    "x + 0": lambda x: x + 0, "0.0 + x": lambda x: 0.0 + x, "x + -0.0": lambda x: x + -0.0, "x * 0": lambda x: x * 0,
    "x / x": lambda x: x / x, "x - x": lambda x: x - x, "-(-x)": lambda x: -(1 * -x), "+x": lambda x: +x,
    "-x": lambda x: -x, "where": lambda x: np.where(x == 1, x, x), "abs": lambda x: np.abs(np.abs(x)),
    "conj": lambda x: np.conj(np.conj(x)), "sqrt": lambda x: np.sqrt(x) ** 2, "log": lambda x: np.exp(np.log(x)),
    "zeros": lambda x: np.zeros(x.shape) + x, "minus zeros": lambda x: x - np.zeros(x.shape),
    "ones": lambda x: np.ones(x.shape) * x, "full": lambda x: x + np.full(x.shape, -0.0),
    "folded": lambda x: x + (np.ones(x.shape) - 1), "twice": lambda x: (x + 0.0) + 0.0,
    "arctan2": lambda x: np.arctan2(np.real(x) + 0.0, -1.0), "real": lambda x: np.real(x), "imag": lambda x: np.imag(x),
    "written": _written, "summed": _summed, "added to one": _added_to_one, "kept": _kept, "cumsum": np.cumsum,
    "cumprod": np.cumprod, "square": lambda x: x ** 2, "cube": lambda x: x ** 3, "inverse": lambda x: x ** -1,
    "half": lambda x: x ** 0.5, "sum of one": lambda x: np.sum(x.reshape(-1, 1), axis=1),
    "one of": lambda x: x.reshape(-1, 1)[:, 0],
}


def _bits(y):
    """What tells values apart: nan is one, and its sign no matter."""
    y = np.asarray(y)
    parts = np.stack([y.real, y.imag]) if y.dtype.kind == "c" else y
    return np.where(np.isnan(parts), np.nan, parts), np.where(np.isnan(parts), False, np.signbit(parts))


def _same(got, want):
    for a, b in zip(_bits(got), _bits(want)):
        np.testing.assert_array_equal(a, b)


CASES = {f"{name}-{x.dtype}": (f, x) for name, f in EXPRESSIONS.items() for x in (REAL, COMPLEX)}
# NumPy's ** of complex arrays is reciprocal and sqrt, its np.power is not
for _power in ("inverse", "half"):
    del CASES[f"{_power}-complex128"]


@pytest.mark.parametrize("f, x", CASES.values(), ids=CASES)
def test_the_value_is_numpys_to_the_bit(f, x):
    with np.errstate(all="ignore"):
        want, traced = f(x.copy()), trace(f, [x])
        for func in (traced.func, optimise(traced.func), prepared(optimise(traced.func))):
            _same(evaluate(func, [x.copy(), *traced.captured])[0], want)


def test_compiled_values_are_numpys_to_the_bit():
    """All expressions of real numbers in one program; but for the rounding of powers, and for sums of one -0.0, of
    which derivatives have many."""
    chosen = [f for name, f in EXPRESSIONS.items() if name not in ("half", "log", "cube", "sum of one")]

    def all_of_them(x):
        return tuple(f(x) for f in chosen)
    with fad.config.using(compile="now"), np.errstate(all="ignore"):
        for got, want in zip(fad.jit(all_of_them)(REAL.copy()), all_of_them(REAL.copy()), strict=True):
            _same(got, want)
