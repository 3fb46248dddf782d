"""fad.scipy.optimize: SciPy's answers, with exact derivatives, for structures of arrays."""

import functools
import warnings

import numpy as np
import pytest
from scipy import optimize as scipy

import fad
from fad.scipy import optimize
from fad.util.errors import ArgumentError, NotScalarError


def rosen(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


METHODS = ["Nelder-Mead", "Powell", "CG", "BFGS", "L-BFGS-B", "TNC", "SLSQP", "COBYLA", "Newton-CG", "dogleg",
           "trust-ncg", "trust-exact", "trust-krylov", "trust-constr", None]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_the_minimum_and_gets_only_derivatives_that_it_takes(method):
    def bowl(x, centre):
        return np.sum((x - centre) ** 2) + 0.1 * np.sum((x - centre) ** 4)
    centre = np.array([1.0, -2.0])
    with warnings.catch_warnings():
        # SciPy's word for a derivative that a method does not use
        warnings.simplefilter("error", RuntimeWarning)
        fit = optimize.minimize(bowl, np.array([0.8, -1.7]), (centre,), method)
    assert fit.success and np.allclose(fit.x, centre, atol=1e-2)


@pytest.mark.parametrize("method", ["Newton-CG", "trust-ncg", "trust-krylov", "trust-exact"])
def test_many_parameters(method):
    n = 120
    fit = optimize.minimize(rosen, np.full(n, 0.9), method=method, tol=1e-9)
    assert np.allclose(fit.x, 1.0, atol=1e-3)
    assert fit.nhev > 0


def test_structures_and_their_vector():
    def loss(p, y):
        return np.sum((p["w"] - y) ** 2) + (p["b"][0] - 3.0) ** 2
    fit = optimize.minimize(loss, {"w": np.zeros((2, 2)), "b": [1]}, (np.arange(4.0).reshape(2, 2),))
    assert np.allclose(fit.x["w"], [[0, 1], [2, 3]], atol=1e-5) and np.isclose(fit.x["b"][0], 3.0)
    assert np.array_equal(fit.vector, fad.ravel(fit.x)[0])


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr"])
@pytest.mark.parametrize("form", ["dict", "object"])
def test_constraints_of_structures_get_their_jacobian(method, form):
    def circle(p):
        return p["x"] ** 2 + p["y"] ** 2

    constraint = ({"type": "eq", "fun": lambda p: circle(p) - 2.0}
                  if form == "dict" else scipy.NonlinearConstraint(circle, 2.0, 2.0))
    fit = optimize.minimize(lambda p: p["x"] + p["y"], {"x": -0.5, "y": -1.5}, method=method, constraints=constraint)
    assert np.allclose([fit.x["x"], fit.x["y"]], [-1.0, -1.0], atol=1e-4)


def test_derivatives_of_the_caller_come_first():
    calls = []

    def slope(x):
        calls.append(x)
        return 2 * x
    assert np.allclose(optimize.minimize(lambda x: np.sum(x ** 2), np.ones(2), jac=slope).x, 0.0, atol=1e-6) and calls
    assert np.allclose(optimize.minimize(lambda x: np.sum(x ** 2), np.ones(2), jac=None, bounds=None).x, 0.0, atol=1e-6)


def test_standard_errors_of_a_likelihood_are_those_of_the_formula():
    y = np.random.default_rng(0).normal(3.0, 2.0, 50)

    def loss(p):
        return np.sum(0.5 * ((y - p["mean"]) / np.exp(p["log_sd"])) ** 2 + p["log_sd"])
    fit = optimize.minimize(loss, {"mean": 0.0, "log_sd": 0.0}, method="trust-exact", errors=True)
    assert np.isclose(fit.standard_errors["mean"], y.std() / np.sqrt(50), rtol=1e-5)
    assert np.isclose(fit.standard_errors["log_sd"], 1 / np.sqrt(100), rtol=1e-5)
    assert np.allclose(np.sqrt(np.diag(fit.covariance)), fad.ravel(fit.standard_errors)[0])


def test_no_standard_errors_where_there_is_no_minimum():
    with pytest.raises(ArgumentError, match="positive definite"):
        optimize.minimize(lambda x: (x[0] + x[1]) ** 2, np.ones(2), errors=True)


T = np.linspace(0.0, 4.0, 40)
Y = 2.5 * np.exp(-0.7 * T) + 0.05 * np.cos(40 * T)


def decay(t, a, b):
    return a * np.exp(-b * t)


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm"])
def test_least_squares_and_curve_fit_agree_with_scipy(method):
    p, covariance = scipy.curve_fit(decay, T, Y, [1.0, 1.0])
    fit = optimize.least_squares(lambda p: decay(T, p["a"], p["b"]) - Y, {"a": 1.0, "b": 1.0}, method=method)
    assert np.allclose(fit.vector, p, rtol=1e-5) and np.allclose(fit.covariance, covariance, rtol=1e-4)
    own, own_covariance = optimize.curve_fit(decay, T, Y, method=method)
    assert np.allclose(own, p, rtol=1e-5) and np.allclose(own_covariance, covariance, rtol=1e-4)


def test_curve_fit_takes_weights_and_several_variables():
    xs = np.stack([T, T ** 2])
    sigma = 0.1 + 0.05 * T
    plane = lambda x, a, b: a * x[0] + b * x[1]
    z = 2.0 * xs[0] - 0.3 * xs[1] + 0.01 * np.sin(30 * T)
    ours = optimize.curve_fit(plane, xs, z, sigma=sigma, absolute_sigma=True)
    theirs = scipy.curve_fit(plane, xs, z, sigma=sigma, absolute_sigma=True)
    assert np.allclose(ours[0], theirs[0], rtol=1e-6) and np.allclose(ours[1], theirs[1], rtol=1e-4)


def test_curve_fit_asks_for_a_start_where_it_cannot_count():
    with pytest.raises(ArgumentError, match="how many parameters"):
        optimize.curve_fit(lambda t, *p: p[0] * t, T, Y)
    assert np.isclose(optimize.curve_fit(lambda t, *p: p[0] * t, T, 2 * T, [1.0])[0][0], 2.0)


def test_errors_are_infinite_where_the_data_do_not_determine_the_parameters():
    fit = optimize.least_squares(lambda p: (p[0] + p[1]) * T - Y, np.ones(2))
    assert np.all(np.isinf(fit.standard_errors))


def test_as_many_residuals_as_parameters_leave_no_errors():
    assert "covariance" not in optimize.least_squares(lambda p: p - np.array([1.0, 2.0]), np.zeros(2))


@pytest.mark.parametrize("method", ["hybr", "lm", "krylov", "broyden1"])
def test_roots_of_structures(method):
    solution = optimize.root(lambda p: {"u": p["x"] ** 2 + p["y"] - 3.0, "v": p["x"] - p["y"] + 1.0},
                             {"x": 0.8, "y": 1.8}, method=method)
    assert np.isclose(solution.x["x"], 1.0, atol=1e-4) and np.isclose(solution.x["y"], 2.0, atol=1e-4)


def test_what_cannot_be_optimised_is_refused():
    with pytest.raises(ArgumentError, match="complex"):
        optimize.minimize(lambda z: np.abs(z) ** 2, 1j)
    with pytest.raises(NotScalarError):
        optimize.minimize(lambda x: x, np.ones(2))


def test_hvp_takes_the_arguments_that_hessp_is_given():
    def loss(x, a, b):
        return np.sum((x - a) ** 4 + b * x ** 2)
    fit = scipy.minimize(loss, np.ones(3), args=(2.0, 0.5), jac=fad.grad(loss), hessp=functools.partial(fad.hvp, loss),
                         method="trust-krylov")
    assert fit.success
    np.testing.assert_allclose(fad.hvp(loss, np.ones(3), np.arange(3.0), 2.0, 0.5), 13.0 * np.arange(3.0))
