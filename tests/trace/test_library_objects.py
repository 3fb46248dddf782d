"""Objects of NumPy's and SciPy's whose arrays captured code changes: polynomials, sparse arrays. At each call they are
what they are in Python."""
import numpy as np
import pytest
from numpy.polynomial import Polynomial
from scipy import interpolate, sparse

import fad

from .guards.test_unseen import assert_as_python


def coefficients_in_a_branch():
    p = np.poly1d([1.0, 2.0, 3.0])

    def f(x):
        if x[0] > 0.5:
            p[0] = 5.0
        return x[0] * x[1] * p[0]
    return f


def coefficients_made_inside():
    def f(x):
        p = Polynomial([1.0, 2.0, 3.0])
        for k in range(2):
            if x[k] > 0.5:
                p.coef[k] += 1.0
        return p(x[0]) * x[1]
    return f


def coefficients_that_count():
    p = Polynomial([1.0, 2.0])

    def f(x):
        p.coef[0] += 1.0
        return x[0] * x[1] * p.coef[0]
    return f


def entries_in_a_branch():
    matrix = sparse.csr_array(np.eye(2))

    def f(x):
        if x[0] > 0.5:
            matrix.data[0] = 7.0
        return (matrix @ x)[0] * x[1]
    return f


def entries_of_a_copy():
    matrix = sparse.csr_array(np.eye(2))

    def f(x):
        own = matrix.copy()
        for k in range(2):
            if x[k] > 0.5:
                own.data[k] += 1.0
        return (own @ x).sum() * x[1]
    return f


def rows_in_lists():
    matrix = sparse.lil_array(np.eye(2))

    def f(x):
        if x[0] > 0.5:
            matrix[0, 0] = 7.0
        return x[0] * x[1] * matrix[0, 0]
    return f


@pytest.mark.parametrize("make",
                         [coefficients_in_a_branch, coefficients_made_inside, coefficients_that_count,
                          entries_in_a_branch, entries_of_a_copy,
                                  rows_in_lists], ids=lambda f: f.__name__)
def test_arrays_of_library_objects(make):
    assert_as_python(make)


class Tabulated:
    """Makes its spline when it is first asked."""

    def __init__(self, values):
        self.values, self.spline = values, None

    def __call__(self, x):
        if self.spline is None:
            self.spline = interpolate.CubicSpline(np.arange(5.0), self.values)
        return np.sum(self.spline(x) * x)


@pytest.mark.parametrize("transform", [fad.jit, fad.grad])
def test_a_spline_that_is_kept_is_scipys(transform):
    points, x = np.arange(5.0) ** 2, np.array([0.3, 0.5, 1.1])
    curve, plain = Tabulated(points), Tabulated(points)
    g = transform(curve, fallback=False)
    want = plain(x) if transform is fad.jit else 3.0 * x ** 2
    for _ in range(3):
        np.testing.assert_allclose(g(x), want, rtol=1e-13)
    assert type(curve.spline) is interpolate.CubicSpline
    assert curve(x) == plain(x)


def test_a_spline_through_points_that_change_is_made_anew():
    points, x = np.arange(5.0) ** 2, np.array([0.3, 0.5, 1.1])

    def f(x):
        return np.sum(interpolate.PchipInterpolator(np.arange(5.0), points)(x))
    g = fad.grad(f, fallback=False)
    for _ in range(2):
        np.testing.assert_allclose(g(x), interpolate.PchipInterpolator(np.arange(5.0), points)(x, 1), rtol=1e-13)
        points[1] += 0.5


def test_a_spline_that_is_returned_is_scipys():
    def f(x):
        s = interpolate.make_interp_spline(np.arange(5.0), np.arange(5.0) ** 2, bc_type="natural")
        return interpolate.CubicSpline(np.arange(5.0), np.arange(5.0) ** 2), s(x)
    x = np.array([0.3, 0.5])
    spline, y = fad.jit(f, fallback=False)(x)
    assert type(spline) is interpolate.CubicSpline
    np.testing.assert_allclose(spline(x), x ** 2, rtol=1e-13)
    np.testing.assert_allclose(y, f(x)[1], rtol=1e-13)


WITHOUT_TEXT = """
def f(x):
    s = interpolate.CubicSpline(np.arange(5.0), points)
    return np.sum(s(x) * s.derivative()(x) + interpolate.interp1d(np.arange(5.0), points)(x)) + s.integrate(0.2, 1.3)
"""


def test_splines_in_code_without_text_are_compiled():
    scope = {"np": np, "interpolate": interpolate, "points": np.sin(np.arange(5.0))}
    exec(WITHOUT_TEXT, scope)
    f, x = scope["f"], np.array([0.3, 0.5, 1.1])
    slopes = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(fad.jit(f, fallback=False)(x), f(x), rtol=1e-13)
    np.testing.assert_allclose(fad.grad(f, fallback=False)(x), slopes, rtol=1e-7)


def test_many_points_are_part_of_no_comparison():
    """A spline through them is computed by the program."""
    points, x = np.sin(np.linspace(0.0, 4.0, 20_000)), np.array([0.3, 0.5])

    def f(x):
        return np.sum(interpolate.interp1d(np.arange(20_000.0), points)(x))
    g = fad.grad(f, fallback=False)
    np.testing.assert_allclose(g(x), np.full(2, points[1] - points[0]), rtol=1e-9)
    points[1] += 1.0
    np.testing.assert_allclose(g(x), np.full(2, points[1] - points[0]), rtol=1e-9)
