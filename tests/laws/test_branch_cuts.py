"""A law of every elementwise op of one complex argument: on its branch cuts, the derivative along the cut is that of
the side it is on.

The sign of a zero says which side that is.
"""
import warnings

import numpy as np
import pytest

import fad
from fad.trace.tracing import trace
from fad.util.errors import FadError

from .cases import OPS
from .programs import Program

# both sides of the real and of the imaginary axis, beyond the points where cuts begin and within
POINTS = np.array([complex(sign * size, zero) for size in (0.4, 2.3) for sign in (1, -1) for zero in (0.0, -0.0)]
                  + [complex(zero, sign * size) for size in (0.4, 2.3) for sign in (1, -1) for zero in (0.0, -0.0)])
ALONG = np.where(POINTS.real == 0, 1j, 1.0)


def values(op, x):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return np.asarray(op.run(x))


def moved(x, h):
    """The points moved along their axes; the other part keeps the sign of its zero."""
    y = x.copy()
    y.real = np.where(ALONG.imag == 0, x.real + h, x.real)
    y.imag = np.where(ALONG.imag == 1, x.imag + h, x.imag)
    return y


def is_of_complex(op):
    facts = op.facts
    if op.kind != "elementwise" or facts.get("arity") != 1 or op.name == "stop_gradient":
        return False
    try:
        return values(op, POINTS).dtype.kind == "c" and bool(trace(lambda x: op(x), [POINTS]))
    except (TypeError, FadError):
        return False


COMPLEX = [name for name, op in OPS.items() if is_of_complex(op)]


def test_some_ops_are_of_complex_numbers():
    assert {"arcsin", "arccosh", "log", "sqrt", "spence"} <= set(COMPLEX)


def test_compiled_values_are_numpys():
    """All ops in one program, to compile once."""
    names = [name for name in COMPLEX if OPS[name].facts.get("ufunc") is not None]

    def all_of_them(x):
        return [OPS[name].facts["ufunc"](x) for name in names if isinstance(OPS[name].facts["ufunc"], np.ufunc)]
    with np.errstate(all="ignore"), fad.config.using(compile="now"):
        got, want = fad.jit(all_of_them)(POINTS), all_of_them(POINTS)
    for name, a, b in zip(names, got, want, strict=False):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("name", COMPLEX)
def test_derivative_on_the_cut(name):
    op, h = OPS[name], 1e-6
    up, down, up_2, down_2 = (values(op, moved(POINTS, s)) for s in (h, -h, 2 * h, -2 * h))
    want, coarse = (up - down) / (2 * h), (up_2 - down_2) / (4 * h)
    found = trace(lambda x: op(x), [POINTS])
    try:
        got, = Program(found.func, 1, list(found.captured), (0,)).forward((POINTS,), (ALONG,))
    except FadError:
        return
    settled = np.isfinite(want) & (abs(want - coarse) < 1e-4 * (1 + abs(want))) & np.isfinite(got)
    np.testing.assert_allclose(got[settled], want[settled], rtol=1e-4, atol=1e-6)
