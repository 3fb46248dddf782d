"""Expressions of overrides, traced as a user's function would be, and held against NumPy and against differences."""
import numpy as np
import pytest
import scipy.linalg as la
import scipy.special as sp
from scipy import ndimage, optimize, signal, stats
from scipy.spatial import distance

import fad.ops.table  # noqa: F401  # fills the table
from fad.ir.check import check
from fad.ir.walk import evaluate
from fad.trace.tracing import trace

from ...texts import executed
from ..derivatives import check_function

_rng = np.random.default_rng(0)
VALUES = {"x": _rng.uniform(0.2, 0.9, (3, 4)), "v": _rng.uniform(0.25, 0.85, 4),
          "S": _rng.standard_normal((4, 4)) * 0.3 + 2 * np.eye(4),
          "Z": _rng.standard_normal((4, 4)) * 0.3 + 2 * np.eye(4) + 0.3j * _rng.standard_normal((4, 4)),
          "z": _rng.standard_normal((3, 4)) + 1j * _rng.standard_normal((3, 4)),
          "k": np.array([[3, 1, 2, 2], [5, 0, 4, 1]]), "e": np.zeros((0, 3))}
VALUES["f"] = VALUES["x"].astype(np.float32)
VALUES["n"] = np.where(np.isin(np.arange(12), [1, 6, 7]).reshape(3, 4), np.nan, VALUES["x"])
GIVEN = {"P": ("S", "P = S @ S.T + 4 * np.eye(4)"), "H": ("Z", "H = Z @ np.conj(Z.T) + 4 * np.eye(4)")}


def names(expression, values):
    """The arrays that an expression uses, P and H being made of S and Z."""
    code = compile(expression, "e", "eval")
    used = set(code.co_names) | {n for c in code.co_consts if hasattr(c, "co_names") for n in c.co_names}
    made = [n for n in GIVEN if n in used]
    used |= {GIVEN[n][0] for n in made}
    return [n for n in values if n in used], [GIVEN[n][1] for n in made]


def function_of(expression, scope=None, values=None):
    """The expression as a function of the arrays it names, and those arrays."""
    values = values or VALUES
    args, given = names(expression, values)
    lines = [f"def f({', '.join(args)}):", *[f"    {line}" for line in given], f"    return {expression}"]
    scope = {"np": np, "sp": sp, "la": la, "stats": stats, "signal": signal, "ndimage": ndimage, "distance": distance,
             "optimize": optimize,
             "i": np.array([2, 0, 2]), **(scope or {})}
    executed("\n".join(lines) + "\n", scope)
    return scope["f"], [values[a] for a in args]


def listed(text):
    """Expressions, set apart by semicolons and lines."""
    return [e.strip() for line in text.splitlines() for e in line.split(";") if e.strip()]


def arrays_in(y):
    return [a for part in y for a in arrays_in(part)] if isinstance(y, (tuple, list)) else [np.asarray(y)]


def check_value(expression, exact_dtype=True, rtol=1e-9, **names):
    """The traced program computes what NumPy does, in NumPy's dtype and shape."""
    f, xs = function_of(expression, **names)
    traced = trace(f, xs)
    results = evaluate(check(traced.func), [*xs, *traced.captured])
    for got, want in zip(results, arrays_in(f(*xs)), strict=True):
        close = max(rtol, 1e-6) if want.dtype in (np.float32, np.complex64) else rtol
        np.testing.assert_allclose(got, want, rtol=close, atol=close)
        assert np.shape(got) == want.shape
        assert not exact_dtype or np.asarray(got).dtype == want.dtype, (np.asarray(got).dtype, want.dtype)


def check_derivatives(expression, scope=None, **options):
    """First and second derivatives of the traced expression."""
    f, xs = function_of(expression, scope)
    check_function(f, *xs, **options)


def both_tests(expressions, values_only):
    """The two tests of a table of expressions: values as NumPy's of them all, derivatives of those that have one."""
    @pytest.mark.parametrize("expression", expressions + values_only)
    @pytest.mark.filterwarnings("ignore::RuntimeWarning")
    def test_value(expression):
        check_value(expression)

    @pytest.mark.parametrize("expression", expressions)
    def test_derivatives(expression):
        check_derivatives(expression)
    return test_value, test_derivatives
