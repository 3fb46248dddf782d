"""SciPy's solvers within functions: derivatives by the implicit function theorem, of every solver, order and
position."""
import numpy as np
import pytest
from scipy import optimize
from scipy.integrate import nquad

import fad

from ..turns import in_tiers

A = np.array([[2.0, 0.5], [0.3, 1.5]])
P = np.array([0.7, 1.3])


def cubic(t, p):
    """One root for p > 0, and no closed form for it."""
    return t ** 3 + t - p * np.exp(-t)


def system(t, p):
    return A @ t + t ** 3 - p


def valley(t, p):
    return 0.5 * t @ A @ A.T @ t + np.sum(t ** 4) - p @ t


def slope_of_valley(t, p):
    return A @ A.T @ t + 4 * t ** 3 - p


def bowl(t, p):
    return (t - p) ** 2 + 0.1 * t ** 4


def misfit(t, p):
    return np.concatenate((system(t, p), 0.1 * t))


ROOTS = {
    **{name: lambda p, name=name: getattr(optimize, name)(lambda t: cubic(t, p), 0.0, 3.0)
       for name in ("brentq", "brenth", "bisect", "ridder", "toms748")},
    "brentq, args": lambda p: optimize.brentq(cubic, 0.0, 3.0, args=(p,)),
    "brentq, a traced bracket": lambda p: optimize.brentq(cubic, 0.0 * p, 3.0 + p, args=p),
    "brentq, options by position": lambda p: optimize.brentq(cubic, 0.0, 3.0, (p,), 1e-13, 1e-14, 200),
    "newton, options by position": lambda p: optimize.newton(cubic, 0.5, None, (p,), 1e-12),
    "fixed_point, by name": lambda p: optimize.fixed_point(func=lambda t: np.cos(t * p), x0=0.5, xtol=1e-13),
    "root_scalar, a bracket": lambda p: optimize.root_scalar(cubic, args=(p,), bracket=(0.0, 3.0)).root,
    "root_scalar, two starts": lambda p: optimize.root_scalar(lambda t: cubic(t, p), x0=0.0, x1=1.0).root,
    "root_scalar, a slope": lambda p: optimize.root_scalar(
        lambda t: (t ** 3 - p, 3 * t * t), x0=1.0, fprime=True).root,
    "newton, secants": lambda p: optimize.newton(lambda t: cubic(t, p), 0.5),
    "newton, a slope": lambda p: optimize.newton(lambda t: cubic(t, p), 0.5, lambda t: 3 * t * t + 1 + p * np.exp(-t)),
    "fixed_point": lambda p: optimize.fixed_point(lambda t: np.cos(t * p), 0.5, xtol=1e-13),
    "minimize_scalar": lambda p: optimize.minimize_scalar(lambda t: bowl(t, p), tol=1e-12).x,
    "minimize_scalar, bounds": lambda p: optimize.minimize_scalar(
        bowl, bounds=(-3.0, 3.0), args=(p,), method="bounded", options={"xatol": 1e-10}).x,
}
SYSTEMS = {
    "fsolve": lambda p: optimize.fsolve(lambda t: system(t, p), np.ones(2)),
    "fsolve, args, a list": lambda p: optimize.fsolve(system, [1.0, 1.0], args=(p,)),
    "fsolve, a Jacobian": lambda p: optimize.fsolve(
        lambda t: system(t, p), np.ones(2), fprime=lambda t: A + np.diag(3 * t * t)),
    "fsolve, a traced start": lambda p: optimize.fsolve(system, p * 0.5, args=(p,)),
    "root": lambda p: optimize.root(lambda t: system(t, p), np.ones(2)).x,
    "root, lm": lambda p: optimize.root(system, np.ones(2), args=(p,), method="lm").x,
    "root, jac=True": lambda p: optimize.root(
        lambda t: (system(t, p), A + np.diag(3 * t * t)), np.ones(2), jac=True).x,
    "root, fun": lambda p: optimize.root(system, np.ones(2), args=(p,)).fun + p,
    "broyden1": lambda p: optimize.broyden1(lambda t: system(t, p), np.ones(2) * 0.5, f_tol=1e-12),
    "broyden2, by name": lambda p: optimize.broyden2(F=lambda t: system(t, p), xin=np.ones(2) * 0.5, f_tol=1e-12),
    "newton_krylov": lambda p: optimize.newton_krylov(lambda t: system(t, p), np.ones(2) * 0.5, f_tol=1e-12),
    "newton of arrays": lambda p: optimize.newton(lambda t: cubic(t, p), np.ones(2)),
    "minimize": lambda p: optimize.minimize(valley, np.ones(2), args=(p,), jac=slope_of_valley, tol=1e-12).x,
    "minimize, jac=True": lambda p: optimize.minimize(
        lambda t: (valley(t, p), slope_of_valley(t, p)), np.ones(2), jac=True, tol=1e-12).x,
    "minimize, fun": lambda p: optimize.minimize(valley, np.ones(2), args=(p,), jac=slope_of_valley).fun * P,
    "minimize, a bound is reached": lambda p: optimize.minimize(
        valley, np.ones(2), args=(p,), jac=slope_of_valley, bounds=[(0.5, 2.0), (None, None)], method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-10}).x,
    "fmin_bfgs": lambda p: optimize.fmin_bfgs(
        lambda t: valley(t, p), np.ones(2), lambda t: slope_of_valley(t, p), gtol=1e-10, disp=False),
    "fmin": lambda p: optimize.fmin(lambda t: valley(t, p), np.ones(2), xtol=1e-10, ftol=1e-14, disp=False),
    "least_squares": lambda p: optimize.least_squares(misfit, np.ones(2), args=(p,), xtol=1e-14, gtol=1e-12).x,
    "least_squares, options by position": lambda p: optimize.least_squares(
        misfit, np.ones(2), "2-point", (-np.inf, np.inf), "trf", 1e-14, 1e-14, 1e-12, args=(p,)).x,
    "least_squares, cost": lambda p: optimize.least_squares(lambda t: misfit(t, p), np.ones(2)).cost * P,
    "least_squares, a bound is reached": lambda p: np.minimum(optimize.least_squares(
        lambda t: misfit(t, p), np.ones(2) * 0.2, bounds=(0.0, 0.3), method="dogbox").x, 10.0),
}


def differences(f, p, h=1e-3):
    """Central differences of fourth order."""
    return (8 * (f(p + h) - f(p - h)) - (f(p + 2 * h) - f(p - 2 * h))) / (12 * h)


@pytest.mark.parametrize("f", ROOTS.values(), ids=ROOTS.keys())
def test_numbers(f):
    p = 0.8
    np.testing.assert_allclose(fad.jit(f)(p), f(p), rtol=1e-8)
    np.testing.assert_allclose(fad.grad(f)(p), differences(f, p), rtol=1e-5)
    np.testing.assert_allclose(fad.grad(f)(p + 0.2), differences(f, p + 0.2), rtol=1e-5)
    np.testing.assert_allclose(fad.jvp(f, (p,), (2.0,))[1], 2 * fad.grad(f)(p), rtol=1e-12)


@pytest.mark.parametrize("f", SYSTEMS.values(), ids=SYSTEMS.keys())
def test_vectors(f):
    found = fad.jacrev(f)(P)
    # fmin compares values: near the minimum they are equal to rounding over a distance of the root of ftol
    np.testing.assert_allclose(fad.jit(f)(P), f(P), rtol=1e-7 if f is SYSTEMS["fmin"] else 1e-10)
    np.testing.assert_allclose(found, np.transpose([differences(lambda s, e=e: f(P + s * e), 0.0) for e in np.eye(2)]),
                               rtol=1e-4, atol=1e-6)
    # compiled or interpreted, a solver ends at points that differ by less than its own tolerance
    np.testing.assert_allclose(fad.jacfwd(f)(P), found, rtol=1e-7, atol=1e-14)


@pytest.mark.parametrize("method, tier", in_tiers(["brentq", "brenth", "bisect", "ridder"]))
@pytest.mark.parametrize("p", [0.3, 0.8, 2.0, 7.0])
def test_bracketed_roots_take_scipys_steps(method, p, tier):
    def found(p):
        result = optimize.root_scalar(cubic, (p,), method, (-0.5 * p, 3), xtol=1e-10)
        return result.root, result.iterations, result.function_calls
    x, iterations, calls = fad.jit(found, compile=tier)(p)
    want = found(p)
    np.testing.assert_allclose(x, want[0], rtol=1e-11)
    assert (iterations, calls) == want[1:] or tier == "now" and abs(iterations - want[1]) <= 1       # fused arithmetic


@pytest.mark.parametrize("ends, options, error, match", [
    ((0.0, 3.0), {"maxiter": 2}, RuntimeError, "converge"),
    ((0.0, 3.0), {"maxiter": 2, "disp": False}, RuntimeError, "converge"),
    ((2.0, 3.0), {}, ValueError, "signs"), ((0.0, 3.0), {"xtol": 0.0}, ValueError, "xtol"),
    ((0.0, 3.0), {"rtol": 1e-20}, ValueError, "rtol"), ((np.nan, 3.0), {}, ValueError, "NaN")])
@pytest.mark.parametrize("method", ["brentq", "ridder"])
def test_brackets_without_a_root_raise(ends, options, error, match, method):
    with pytest.raises(error, match=match):
        fad.grad(lambda p: getattr(optimize, method)(cubic, *ends, args=(p,), **options))(0.8)


def test_a_root_at_an_end_and_a_root_without_a_derivative():
    assert np.isclose(fad.grad(lambda p: optimize.brentq(lambda t: t - p, 1.0, 3.0))(1.0), 1.0)
    assert np.isclose(fad.grad(lambda p: optimize.brentq(lambda t: t - p, 0, 1))(1.0), 1.0)
    with pytest.raises(np.linalg.LinAlgError):
        fad.grad(lambda p: optimize.brentq(lambda t: t ** 3 * p, -1.0, 1.0))(1.0)


def test_second_derivatives():
    f = ROOTS["brentq"]
    np.testing.assert_allclose(fad.hessian(f)(0.8), differences(fad.grad(f), 0.8), rtol=1e-6)
    def loss(p):
        return np.sum(SYSTEMS["fsolve"](p) ** 2)
    want = np.array([differences(lambda s, e=e: fad.grad(loss)(P + s * e), 0.0) for e in np.eye(2)])
    np.testing.assert_allclose(fad.hessian(loss)(P), want, rtol=1e-6)


def test_in_loops_and_branches_and_helpers():
    def level(p, k):
        return optimize.brentq(lambda t: cubic(t, p * (k + 1)), 0.0, 4.0)

    def f(p):
        total = 0.0
        for k in range(4):
            if p > 0.5:
                total = total + level(p, k) ** 2
        return total
    np.testing.assert_allclose(fad.grad(f, fallback=False)(0.8), differences(f, 0.8), rtol=1e-7)


def test_over_a_batch():
    f, p = ROOTS["brentq"], np.array([0.5, 0.8, 1.4])
    np.testing.assert_allclose(fad.vmap(fad.grad(f))(p), [fad.grad(f)(x) for x in p], rtol=1e-12)


def test_a_function_with_branches_of_its_own():
    def f(p):
        return optimize.brentq(lambda t: t ** 3 - p if t > 0.5 else t - 2 * p, -1.0, 3.0)
    for p in (0.1, 1.7):
        np.testing.assert_allclose(fad.grad(f, fallback=False)(p), differences(f, p), rtol=1e-6)


def test_what_it_closes_over_may_change():
    class Model:
        scale = 1.0

        def root(self, p):
            return optimize.brentq(lambda t: cubic(t, p * self.scale * W[0]), 0.0, 4.0)
    W, model = np.array([1.0]), Model()
    g = fad.grad(model.root)
    g(0.8)
    model.scale, W[0] = 2.0, 1.5
    np.testing.assert_allclose(g(0.8), differences(model.root, 0.8), rtol=1e-7)


def test_the_users_counter_of_results():
    found = fad.jit(lambda p: (lambda r: (r.x, r.nfev, r.success))(optimize.root(system, np.ones(2), args=(p,))))(P)
    want = optimize.root(system, np.ones(2), args=(P,))
    assert found[1] == want.nfev and found[2]
    np.testing.assert_allclose(found[0], want.x, rtol=1e-12)


def test_no_solution():
    with pytest.raises(RuntimeError, match="found no solution"):
        fad.grad(lambda p: np.sum(optimize.fsolve(lambda t: t * t + p, np.ones(1))))(1.0)
    with pytest.raises(ValueError, match="sign"):
        fad.grad(lambda p: optimize.brentq(lambda t: t * t + p, 0.0, 1.0))(1.0)
    with pytest.raises(RuntimeError, match="lies at one of them"):
        fad.grad(lambda p: optimize.minimize_scalar(lambda t: p * t + t * t, bounds=(0.0, 1.0),
                                                    method="bounded").x)(1.0)
    with pytest.raises(np.linalg.LinAlgError):
        fad.grad(lambda p: np.sum(optimize.fsolve(lambda t: np.array([t[0] - p, t[0] - p]), np.ones(2))))(1.0)


@pytest.mark.parametrize("call", [
    lambda p: optimize.minimize(valley, np.ones(2), args=(p,), callback=lambda t: None).x,
    lambda p: optimize.fsolve(system, np.ones(2), args=(p,), full_output=True)[0],
    lambda p: optimize.least_squares(misfit, np.ones(2), args=(p,), loss="huber").x,
    lambda p: optimize.minimize(valley, np.ones(2), args=(p,), bounds=[(p[0], 2.0)] * 2).x,
], ids=["callback", "full_output", "loss", "traced bounds"])
def test_what_has_no_derivative_here_is_refused(call):
    with pytest.raises(fad.FadError, match="scipy.optimize"):
        fad.jacobian(call, fallback=False)(P)


# -- curve fits --------------------------------------------------------------------------------------------

TIMES = np.linspace(0, 3, 8)
TIGHT = {"ftol": 1e-14, "xtol": 1e-14}


def decay(t, a, b):
    return a * np.exp(-b * t)


def measured(p):
    return decay(TIMES, *p) + 0.01 * np.cos(7 * TIMES)


FITS = {
    "curve_fit": lambda p: optimize.curve_fit(decay, TIMES, measured(p), p0=[1.0, 1.0], **TIGHT)[0],
    "curve_fit, sigma": lambda p: optimize.curve_fit(decay, TIMES * p[1], measured(p), [1.0, 1.0], 1 + p[0] * TIMES,
                                                     **TIGHT)[0],
    "curve_fit, bounds": lambda p: optimize.curve_fit(decay, TIMES, measured(p), [1.0, 1.0], bounds=(0, [3.0, 3.0]),
                                                      gtol=1e-14, **TIGHT)[0],
    "curve_fit, covariance": lambda p: np.diag(
        optimize.curve_fit(decay, TIMES * p[1], measured(p), [1.0, 1.0], **TIGHT)[1]),
    "curve_fit, absolute_sigma": lambda p: optimize.curve_fit(
        decay, TIMES, measured(p), [1.0, 1.0], p[0] * TIMES + 1, True, **TIGHT)[1][0],
    "leastsq": lambda p: optimize.leastsq(lambda q: decay(TIMES, *q) - measured(p), [1.0, 1.0], **TIGHT)[0],
}


@pytest.mark.parametrize("name", FITS)
def test_fits(name):
    f, found = FITS[name], fad.jacrev(FITS[name])(P)
    staged = fad.jit(f)
    # SciPy's covariance has a Jacobian of differences
    np.testing.assert_allclose(staged(P), f(P), rtol=1e-6)
    np.testing.assert_allclose(found,
                               np.transpose([differences(lambda s, e=e: staged(P + s * e), 0.0) for e in np.eye(2)]),
                               rtol=1e-3, atol=1e-7)
    # at points that differ by less than the tolerance
    np.testing.assert_allclose(fad.jacfwd(f)(P), found, rtol=1e-6, atol=1e-14)


@pytest.mark.parametrize("options, what",
                         [({"p0": None}, "p0"), ({"jac": decay}, "jac"), ({"full_output": True}, "full_output")])
def test_fits_without_a_known_derivative_are_refused(options, what):
    with pytest.raises(fad.FadError, match=what):
        fad.grad(lambda p: optimize.curve_fit(decay, TIMES, measured(p), **{"p0": [1.0, 1.0], **options})[0][0],
                 fallback=False)(P)


def scaled_misfit(t, p, a):
    return a * (np.asarray(t) ** 3 + t - p)


SPREAD = {
    "newton": lambda p: optimize.newton(scaled_misfit, 1.0, args=p),
    "newton, a slope": lambda p: optimize.newton(scaled_misfit, 1.0, lambda t, p, a: a * (3 * t * t + 1), args=p),
    "newton, a vector": lambda p: optimize.newton(scaled_misfit, np.array([1.0, 1.2]), args=p)[1],
    "fixed_point": lambda p: optimize.fixed_point(lambda t, p, a: np.cos(t) * p / 3, 0.5, args=p),
    "least_squares": lambda p: optimize.least_squares(scaled_misfit, np.ones(1), args=p, xtol=1e-14, gtol=1e-14).x[0],
    "fmin_bfgs": lambda p: optimize.fmin_bfgs(lambda t, p, a: a * np.sum((t - p) ** 2), np.ones(1), args=p, disp=0)[0],
    "a constraint": lambda p: optimize.minimize(
        lambda t: np.sum(t ** 2), np.ones(1), method="SLSQP",
        constraints={"type": "ineq", "fun": lambda t, p, a: a * (t[0] - p), "args": p}).x[0],
    "nquad": lambda p: nquad(lambda t, p, a: a * p * t, [(0.0, 1.0)], args=p)[0],
}


@pytest.mark.parametrize("name", SPREAD)
def test_arguments_in_a_list(name):
    """The functions that spread args take any sequence; they gave the list as one argument before."""
    f = SPREAD[name]
    slope = (f((0.7 + 1e-4, 2.0)) - f((0.7 - 1e-4, 2.0))) / 2e-4
    assert fad.jit(lambda p: f([p, 2.0]))(0.7) == pytest.approx(f([0.7, 2.0]), rel=1e-7)
    assert fad.grad(lambda p: f([p, 2.0]))(0.7) == pytest.approx(slope, rel=1e-3)
    with pytest.raises(TypeError):
        fad.jit(f)(0.7)


@pytest.mark.parametrize("f, p", [*((f, 0.8) for f in ROOTS.values()), *((f, P) for f in SYSTEMS.values())],
                         ids=[*ROOTS, *SYSTEMS])
@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
def test_on_the_tape(f, p):
    """SciPy got the traced values themselves there: most solvers refused, the others were differentiated by steps."""
    def taped(p):
        return f(p) if f"{p}" else p
    np.testing.assert_allclose(fad.jacrev(taped)(p), fad.jacrev(f)(p), rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(fad.jacfwd(taped)(p), fad.jacfwd(f)(p), rtol=1e-7, atol=1e-12)


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
def test_a_function_that_is_no_program_is_stepped_through_on_the_tape():
    seen = []

    def f(p):
        return optimize.newton(lambda t: cubic(t, p) if f"{t}" and seen.append(1.0) is None else t, 0.5)
    np.testing.assert_allclose(fad.grad(f)(0.8), differences(f, 0.8), rtol=1e-5)
