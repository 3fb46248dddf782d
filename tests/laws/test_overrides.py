"""The laws, over the overrides: every sample expression of every NumPy, SciPy and math function, differentiated to
second order."""
import cmath
import functools
import math

import numpy as np
import pytest
import scipy.linalg as la
import scipy.special as sp
from scipy import fftpack, integrate, interpolate, ndimage, optimize, signal, stats
from scipy.spatial import distance

from fad.ops import table
from fad.ops.override import BY_NAME
from fad.trace.tracing import trace

from ..texts import executed
from ..turns import in_turn
from .cases import disagreement, rng_for
from .programs import Program, floating, inner

assert table
_rng = np.random.default_rng(0)
VALUES = {
    "x": _rng.uniform(0.2, 0.9, (3, 4)),
    "v": _rng.uniform(0.25, 0.85, 4),
    "S": _rng.standard_normal((4, 4)) * 0.3 + 2 * np.eye(4),
}
SCOPE = {"np": np, "sp": sp, "la": la, "stats": stats, "signal": signal, "ndimage": ndimage, "distance": distance,
         "optimize": optimize, "fftpack": fftpack,
         "integrate": integrate, "interpolate": interpolate, "math": math, "cmath": cmath, "i": np.array([2, 0, 2])}
SAMPLES = sorted({sample for override in BY_NAME.values() for sample in override.samples})


def names_in(expression: str) -> list:
    """Which of x, v, S an expression is a function of; P is made of S."""
    code = compile(expression, "expression", "eval")
    used = set(code.co_names) | {n for c in code.co_consts if hasattr(c, "co_names")
                                 for n in (*c.co_names, *c.co_freevars)}
    return [n for n in VALUES if n in used or (n == "S" and "P" in used)]


def function_of(expression: str) -> tuple:
    """The function of its arrays, as a user would write it, and the arrays."""
    names = names_in(expression)
    scope = dict(SCOPE)
    setting = "    P = S @ S.T + 4 * np.eye(4)\n" if "S" in names and "P" in expression else ""
    executed(f"def f({', '.join(names)}):\n{setting}    return {expression}\n", scope)
    return scope["f"], tuple([VALUES[n] for n in names])


@functools.lru_cache(None)
def traced(expression: str) -> tuple:
    """The function, its arrays, and its program, whose derivatives serve both orders."""
    f, xs = function_of(expression)
    found = trace(f, list(xs))
    count = len(xs)
    assert not [c for c in found.captured if not isinstance(c, np.ndarray)]
    for y, want in zip(found.func.outputs, each_of(f(*xs))):
        is_numpys = isinstance(want, (np.ndarray, np.generic))
        assert y.type.dtype.kind in "fc" or y.type.weak != is_numpys, "a number of Python's, or one of NumPy's"
    return f, xs, Program(found.func, count, list(found.captured), tuple(range(count)))


def each_of(y) -> list:
    return [a for part in y for a in each_of(part)] if isinstance(y, (tuple, list)) else [y]


def listed(y) -> list:
    """Results as a list of arrays."""
    if isinstance(y, (tuple, list)):
        return [a for part in y for a in listed(part)]
    return [np.asarray(y)]


@pytest.mark.parametrize("expression", SAMPLES)
def test_value_and_derivatives(expression):
    f, xs, program = traced(expression)
    before = [x.copy() for x in xs]
    for got, want in zip(program.value(*xs), listed(f(*xs)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-13)
        assert np.asarray(got).dtype == want.dtype
    rng = rng_for(expression)
    dxs = tuple([rng.standard_normal(x.shape) for x in xs])
    dys = program.forward(xs, dxs)
    said = disagreement(dys, lambda *xs: listed(f(*xs)), xs, dxs)
    assert not said, said
    gs = tuple([np.asarray(rng.standard_normal(dy.shape), dy.dtype) for dy in floating(dys)])
    np.testing.assert_allclose(inner(gs, dys), inner(program.reverse(xs, gs), dxs), rtol=1e-9, atol=1e-9)
    for x, old in zip(xs, before):
        np.testing.assert_array_equal(x, old)


@pytest.mark.parametrize("expression", in_turn(SAMPLES, count=4))
def test_second_order(expression):
    _, xs, program = traced(expression)
    rng = rng_for(expression)
    gs = tuple([np.asarray(rng.standard_normal(y.shape), y.dtype) for y in floating(program.value(*xs))])
    first = program.pullback()
    dxs = (*[rng.standard_normal(x.shape) for x in xs], *[np.zeros_like(g) for g in gs])
    got = first.forward((*xs, *gs), dxs)
    said = disagreement(got, first.value, (*xs, *gs), dxs)
    assert not said, said
