"""Extents that the function computes: by divisions, as larger ones, from arrays of sizes. Each of them is 1 at some
calls, where NumPy stretches the axis, and larger at others.
"""
import itertools
import warnings

import numpy as np
import pytest
from scipy import integrate, stats

import fad
from fad.util.errors import ExtentError

from ..texts import executed

EXTENTS = [
    "len(x) // 3", "max(len(x) - 5, 1)", "len(x) - 2", "np.array(x.shape)[0] // 3", "int(np.array([7, x.size])[1]) - 2",
    "(np.array(x.shape) - 2)[0]", "np.array([len(x) // 3, 5]).min()", "int(np.array([3])[0])", "int(np.prod([1, 1]))",
]
USES = [
    "np.ones(n) * x", "x[:n] * np.ones((3, 1))", "np.full((n, 2), x[0]).squeeze()",
    "np.reshape(x[:n], (n, 1)) + np.zeros((1, len(x)))", "np.insert(x, np.arange(1, n + 1), 0.5)",
    "np.delete(x, np.arange(n))", "np.stack([x[:n] + x[:1], x[:n]])",
]
SIZES = (3, 6, 7, 4, 3, 8)


def outcome(f, x):
    try:
        return f(x)
    except (ValueError, IndexError):
        return None


@pytest.mark.parametrize("extent, use", list(itertools.product(EXTENTS, USES)))
def test_extents_that_are_1_at_some_calls(extent, use):
    """Value and gradient are NumPy's at all sizes, in whichever order they come, and a program computes them."""
    f = executed(f"def f(x):\n    n = {extent}\n    return {use}\n", {"np": np})["f"]
    for sizes in (SIZES, SIZES[1:]):
        value, gradient = fad.jit(f), fad.grad(lambda x: np.sum(f(x) ** 2))
        with warnings.catch_warnings():
            warnings.simplefilter("error", fad.FallbackWarning)
            for size in sizes:
                x = np.arange(1.0, size + 1)
                expected, found = outcome(f, x), outcome(value, x)
                assert (expected is None) == (found is None)
                if expected is None:
                    continue
                assert found.shape == expected.shape
                np.testing.assert_allclose(found, expected)
                steps = 1e-6 * np.eye(size)
                slopes = [(np.sum(f(x + e) ** 2) - np.sum(f(x - e) ** 2)) / 2e-6 for e in steps]
                np.testing.assert_allclose(gradient(x), slopes, rtol=1e-6, atol=1e-7)


def test_one_program_serves_all_sizes_that_are_not_1():
    f = fad.jit(lambda x: x[:len(x) // 3] * x[len(x) - len(x) // 3:])
    for size in (6, 7, 9, 12, 31):
        x = np.arange(float(size))
        np.testing.assert_array_equal(f(x), x[:size // 3] * x[size - size // 3:])
    assert f.traces == 1


def test_operands_that_do_not_broadcast_raise_at_any_call():
    f = fad.jit(lambda x: x[:len(x) // 3] * np.ones(2))
    assert f(np.ones(6)).shape == (2,)
    for _ in range(2):
        with pytest.raises(ExtentError, match="extents 3 and 2"):
            f(np.ones(9))
    assert f(np.ones(7)).shape == f(np.ones(4)).shape == (2,)


OF_KEPT = [
    "stats.linregress(np.arange(len(y)), y).slope", "stats.pearsonr(y, np.sin(3 * y))[0]",
    "np.polyfit(np.arange(len(y)), y, 1)[0]", "integrate.simpson(y)", "np.correlate(y, y[:2], 'valid')[0]",
    "np.linalg.lstsq(np.stack([y, y * 0 + 1], 1), y ** 2, rcond=None)[0][0]", "stats.skew(y, bias=False)",
    "stats.linregress(y[:len(y) // 1 * 1], y ** 2).stderr", "np.ptp(np.linspace(0.0, 1.0, len(y)) * y.mean())",
]


@pytest.mark.parametrize("use", OF_KEPT)
def test_functions_of_lengths_that_depend_on_data(use):
    """A function that is written in another way for few elements is compiled for many of them; few of them go to the
    tape."""
    scope = {"np": np, "stats": stats, "integrate": integrate}
    f = executed(f"def f(x):\n    y = x[~np.isnan(x)]\n    return {use} * x[-1]\n", scope)["f"]
    kept = fad.value_and_grad(f)
    whole, part, few = np.array([0.3, 0.9, 0.4, 1.2, 0.7]), np.array([0.3, np.nan, 0.4, 1.2, 0.7]), np.full(5, np.nan)
    few[[1, 4]] = 0.9, 0.4
    with warnings.catch_warnings():
        warnings.simplefilter("error", fad.FallbackWarning)
        for x in (whole, part):
            check_slopes(kept, f, x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_slopes(kept, f, few)
    check_slopes(kept, f, part)


def check_slopes(value_and_grad, f, x):
    value, slope = value_and_grad(x)
    np.testing.assert_allclose(value, f(x), rtol=1e-12)
    slopes = [(f(x + e) - f(x - e)) / 2e-6 if k == k else 0.0 for k, e in zip(x, 1e-6 * np.eye(x.size))]
    np.testing.assert_allclose(slope, slopes, rtol=1e-5, atol=1e-7)
