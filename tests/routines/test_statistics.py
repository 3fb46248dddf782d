"""Python's statistics of traced numbers: values, types, errors and gradients are those of plain Python."""
import statistics

import numpy as np
import pytest

import fad

from ..transforms.support import differences

X = np.array([0.7, 0.31, 0.92, 0.15, 0.55, 0.48])
EXPRESSIONS = """
mean(x); mean(v ** 2 for v in x); fmean(list(x)); fmean(x, weights=x ** 2); geometric_mean(x); harmonic_mean(x)
harmonic_mean(x, weights=[1, 2, 3, 4, 5, 6]); median(x); median(x[:5]); median_low(x); median_high(x[1:]); variance(x)
variance(x, x[0]); pvariance([v * v for v in x]); stdev(x); pstdev(x); quantiles(x)[2]; quantiles(x, n=9)[0]
quantiles(x, n=9)[7]; quantiles(x, method="inclusive")[1]; covariance(x, x[::-1]); correlation(x, [1, 2, 3, 5, 4, 2])
linear_regression(x, x ** 2)[0]; linear_regression(x, x ** 2).intercept
linear_regression(x, [1, 2, 3, 5, 4, 2], proportional=True).slope * x[0]
""".replace("\n", ";").split(";")


def function_of(expression):
    return eval(f"lambda x: {expression}", vars(statistics) | {})


@pytest.mark.parametrize("expression", [e.strip() for e in EXPRESSIONS if e.strip()])
def test_values_types_and_gradients(expression):
    f = function_of(expression)
    for x in (X, X.astype(np.float32)):
        y, wanted = fad.jit(f, fallback=False)(x), f(x)
        assert np.asarray(y).dtype == np.asarray(wanted).dtype
        np.testing.assert_allclose(y, wanted, rtol=1e-12 if x is X else 1e-6)
    np.testing.assert_allclose(fad.grad(f, fallback=False)(X), differences(f, X), atol=1e-6)


@pytest.mark.parametrize("expression", ["stdev(x[:1])", "mean(x[:0])", "geometric_mean(x - 0.5)",
                                        "correlation(x, 0 * x)", "covariance(x, x[1:])", "quantiles(x, n=0)"])
def test_errors(expression):
    f = function_of(expression)
    with pytest.raises(statistics.StatisticsError):
        f(X)
    with pytest.raises(ValueError):
        fad.grad(f)(X)


def test_numbers_that_are_known_stay_python_s():
    assert fad.jit(lambda x: x * statistics.mean([1, 2, 4, 5]), fallback=False)(2.0) == 6.0
