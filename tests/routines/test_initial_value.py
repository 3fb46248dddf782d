"""scipy.integrate.solve_ivp in captured code: SciPy's own steps, compiled, and their derivatives."""
import warnings
from functools import partial

import numpy as np
import pytest
import scipy.integrate
from scipy.integrate import solve_ivp

import fad

P = np.array([1.3, 0.7])
TIMES = np.linspace(0, 3, 7)


def hunting(t, y, a, b):
    return [a * y[0] - y[0] * y[1], b * y[0] * y[1] - y[1]]


class Oscillator:
    def __init__(self, stiffness):
        self.stiffness = stiffness

    def slope(self, t, y):
        return np.array([y[1], -self.stiffness * y[0] - 0.1 * y[1]])

    __call__ = slope


def last_of(sol):
    return sol.y[0][-1] * sol["t"][-1] + sol.nfev if sol.success else 0.0


def seen_from_a_loop(p):
    s = 0.0
    for k in range(3):
        def slope(t, y):
            return [-p[0] * y[0] * k]                         # noqa: B023  # read while k is this
        s = s + solve_ivp(slope, (0, 1), [p[1]], t_eval=[1.0]).y[0, -1]
    return s


def early(t, y, a, b):
    return y[0] - 1.0


def falls(t, y, a, b):
    return y[0] - 1.0 + 0 * t


def ends(t, y, a, b):
    return y[0] - a - 0.1


def twice(t, y, a, b):
    return y[0] - 1.0


falls.direction, ends.terminal, twice.terminal = -1, True, 2


def events_of(p, **options):
    return solve_ivp(hunting, (0, 9), [p[1], 0.5], args=(p[0], p[1]), rtol=1e-7, atol=1e-9, **options)


def sum_of_events(sol):
    return np.sum(sol.t_events[0] ** 2) + np.sum(sol.y_events[0][:, 1])


def last_of_events(sol):
    return last_of(sol) + sol.t_events[1][0]


def sum_of_dense(sol, p):
    return np.sum(sol(TIMES) ** 2) + sol(p[0])[1]


def sum_of_places(sol, p):
    s = 0.0
    for k in range(20):
        s = s + sol(0.1 * k)[0] * sol(0.1 * k * p[0])[1]
    return s


CASES = {
    "steps": lambda p: np.sum(solve_ivp(hunting, (0, 3), [p[1], 0.5], args=(p[0], p[1])).y ** 2),
    "times": lambda p: np.sum(solve_ivp(hunting, (0, 3), [p[1], 0.5], args=(p[0], p[1]), t_eval=TIMES,
                                        rtol=1e-6).y ** 2),
    "RK23": lambda p: np.sum(solve_ivp(hunting, (0, 3), [p[1], 0.5], "RK23", args=(p[0], p[1])).y[:, -1]),
    "DOP853": lambda p: np.sum(solve_ivp(Oscillator(p[0]).slope, (0, 3), [1.0, p[1]], method="DOP853", t_eval=TIMES,
                                         rtol=1e-8, atol=1e-10).y ** 2),
    "DOP853, steps": lambda p: np.sum(solve_ivp(Oscillator(p[0]).slope, (0, 3), [1.0, p[1]],
                                                method=scipy.integrate.DOP853).y[:, -1]),
    "an object that is called": lambda p: solve_ivp(Oscillator(p[0]), (0, 3), [1.0, 0.5]).y[0, -1],
    "end": lambda p: solve_ivp(lambda t, y: -p[0] * y + np.sin(t), (0, p[1] + 1), [1.0, 2.0]).y[0, -1],
    "backwards": lambda p: np.sum(scipy.integrate.solve_ivp(lambda t, y: -p[0] * y + np.sin(t), (2, 0), p,
                                                            t_eval=np.linspace(1.5, 0.1, 4)).y),
    "complex": lambda p: np.sum(np.abs(solve_ivp(lambda t, y: 1j * p[0] * y, (0, 3), np.array([1.0 + 0j, p[1]]),
                                                 rtol=1e-6).y[:, -1] - 0.3) ** 2),
    "in a loop": lambda p: sum([solve_ivp(lambda t, y, k: [-p[0] * y[0] * k], (0, 1), [p[1]], args=(k,)).y[0, -1]
                                for k in range(3)]),
    "seen from a loop": lambda p: seen_from_a_loop(p),
    "options": lambda p: np.sum(solve_ivp(lambda t, y: -p[0] * y, (0, 1), [1.0, 2.0], max_step=0.1, first_step=0.01,
                                          atol=np.array([1e-5, 1e-7])).y),
    "at rest": lambda p: np.sum(solve_ivp(lambda t, y: 0 * y, (0, 1), p * 1.0).y),
    "fields": lambda p: last_of(solve_ivp(hunting, (0, 3), [p[1], 0.5], args=tuple(p))),
    "events": lambda p: sum_of_events(events_of(p, events=early)),
    "events in one direction": lambda p: np.sum(events_of(p, events=[falls, early]).t_events[0]) * p[0],
    "an event that ends": lambda p: last_of_events(events_of(p, events=[early, ends])),
    "events and times": lambda p: np.sum(events_of(p, events=(ends,), t_eval=np.linspace(0, 9, 20)).y ** 2),
    "the second event ends": lambda p: events_of(p, events=twice).t[-1] * p[1],
    "an event, DOP853": lambda p: events_of(p, events=ends, method="DOP853").y[1, -1],
    "dense_output": lambda p: sum_of_dense(events_of(p, dense_output=True).sol, p),
    "dense_output, DOP853, events": lambda p: np.sum(
        events_of(p, dense_output=True, events=ends, method="DOP853").sol(TIMES / 3)),
    "dense_output, backwards": lambda p: np.sum(solve_ivp(lambda t, y: -p[0] * y + t, (2, 0), p, dense_output=True,
                                                          t_eval=[1.0]).sol(TIMES / 2)),
    "dense_output in a loop": lambda p: sum_of_places(events_of(p, dense_output=True).sol, p),
    "nothing traced": lambda p: p[0] * np.sum(solve_ivp(lambda t, y: -2 * y, (0, 1), [1.0, 2.0], method="LSODA").y),
}


THOROUGH = {"in a loop", "fields", "steps", "events", "DOP853, steps", "dense_output, DOP853, events",
            "events in one direction", "events and times",
            "the second event ends", "an event, DOP853", "dense_output, backwards", "dense_output in a loop"}


@pytest.mark.parametrize("name",
                         [pytest.param(name, marks=[pytest.mark.slow] if name in THOROUGH else []) for name in CASES])
def test_the_steps_are_scipys_and_derivatives_are_those_of_the_steps(name):
    f = CASES[name]
    # its estimates of errors are small differences of large numbers
    step = 1e-4 if "DOP853" in name else 1e-6
    slope = [(f(P + step * e) - f(P - step * e)) / (2 * step) for e in np.eye(2)]
    value, gradient = fad.value_and_grad(f, fallback=False)(P)
    assert np.isclose(value, f(P), rtol=1e-13)
    assert np.allclose(gradient, slope, rtol=3e-6, atol=1e-7)
    assert np.allclose(fad.jacfwd(f, fallback=False)(P), gradient, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", ["times", "DOP853", "seen from a loop"])
def test_second_derivatives(name):
    gradient = fad.grad(CASES[name], fallback=False)
    differences = [(gradient(P + 1e-4 * e) - gradient(P - 1e-4 * e)) / 2e-4 for e in np.eye(2)]
    assert np.allclose(fad.hessian(CASES[name], fallback=False)(P), differences, rtol=1e-5, atol=1e-6)


def test_many_at_once():
    rows = np.array([[1.0, 2.0], [2.0, 1.0], [0.3, 0.2]])
    assert np.allclose(fad.vmap(CASES["steps"])(rows), [CASES["steps"](p) for p in rows], rtol=1e-13)


def test_the_number_of_calls_is_scipys():
    def calls(p):
        return [1.0 * solve_ivp(hunting, (0, 3), [p[1], 0.5], method, args=tuple(p), t_eval=at).nfev
                for method in ("RK23", "RK45", "DOP853") for at in (None, TIMES)]
    assert np.array_equal(fad.jit(calls, fallback=False)(P), calls(P))


def test_on_the_tape():
    def f(p):
        return np.sum(solve_ivp(hunting, (0, 1), [p[1], 0.5], args=tuple(p), t_eval=[0.5, 1.0]).y)
    found = fad.grad(f).on_tape((P,), {})
    assert np.allclose(found, [(f(P + 1e-6 * e) - f(P - 1e-6 * e)) / 2e-6 for e in np.eye(2)], rtol=1e-6)


@pytest.mark.parametrize("options, what",
                         [({"method": "LSODA", "dense_output": True}, "LSODA"),
                          ({"method": "LSODA", "lband": 1, "uband": 1}, "bands")])
def test_what_has_no_derivative_is_refused_and_left_to_scipy_where_none_is_asked_for(options, what):
    def f(p):
        return np.sum(solve_ivp(hunting, (0, 1), [p[1], 0.5], args=tuple(p), **options).y)
    with pytest.raises(fad.FadError, match=f"no derivative with .*{what}(.|\n)*{__file__}"):
        fad.grad(f, fallback=False)(P)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fad.FallbackWarning)
        assert fad.jit(f)(P) == f(P)
        with pytest.raises(fad.FadError):
            fad.grad(f)(P)


@pytest.mark.parametrize("options, error, text", [
    ({"t_eval": [0.0, 7.0]}, ValueError, "not within"), ({"t_eval": [0.5, 0.2]}, ValueError, "not properly sorted"),
    ({"t_eval": [[0.5]]}, ValueError, "1-dimensional"),
    ({"y0": 1.0}, ValueError, "1-dimensional"), ({"jac": None}, TypeError, "no option jac"),
    ({"max_step": 0.0}, ValueError, "positive"), ({"atol": -1.0}, ValueError, "positive"),
    ({"first_step": 0.0}, ValueError, "positive"),
    ({"first_step": 7.0}, ValueError, "exceeds bounds"),
    ({"t_span": (0, 5)}, RuntimeError, "step size is less than spacing")])
def test_errors_are_scipys(options, error, text):
    def f(p):
        return np.sum(solve_ivp(lambda t, y: p[0] * y ** 2, **{"t_span": (0, 0.5), "y0": [1.0], **options}).y)
    for compiled in (fad.jit(f, fallback=False), fad.grad(f, fallback=False)):
        with pytest.raises(error, match=text):
            compiled(P)


@pytest.mark.parametrize("slope", [lambda t, y, a: a * y * np.nan, lambda t, y, a: a * np.log(0.05 - t + 0 * y)])
def test_a_slope_that_is_not_a_number_ends_the_run(slope):
    with pytest.raises(RuntimeError,
                       match="step size is less than spacing"), np.errstate(invalid="ignore", divide="ignore"):
        fad.jit(lambda p: solve_ivp(slope, (0, 1), p, args=(p[0],)).y[0, -1], fallback=False)(P)


class Model:
    def __init__(self, rates):
        self.oscillator, self.rates = Oscillator(rates["stiffness"]), rates

    def slope(self, t, y):
        return self.oscillator.slope(t, y) * self.rates["speed"]


@pytest.mark.parametrize("slope",
                         [lambda p: Model({"stiffness": p[0], "speed": 1.0}).slope,
                          lambda p: Model({"stiffness": 1.0, "speed": p[0]}).slope,
                                   lambda p: partial(hunting, a=p[0], b=1.0),
                          lambda p: lambda t, y, rates={"a": p[0]}: -rates["a"] * y])
def test_what_is_traced_may_be_anywhere_that_the_slope_sees(slope):
    def f(p):
        return solve_ivp(slope(p), (0, 1), [1.0, 0.5], t_eval=[1.0]).y[0, 0]
    assert fad.jit(f, fallback=False)(P) == pytest.approx(f(P), rel=1e-13)
    assert fad.grad(f, fallback=False)(P)[0] == pytest.approx((f(P + [1e-6, 0]) - f(P - [1e-6, 0])) / 2e-6, rel=1e-6)


def test_the_shape_of_a_solution_at_given_times_does_not_depend_on_data():
    """Jacobians by forward mode stack it; without events no step ends the integration early."""
    times = np.linspace(0.0, 1.0, 5)

    def solved(p):
        return solve_ivp(lambda t, u: -p * u, (0.0, 1.0), np.ones(2), t_eval=times, rtol=1e-8, atol=1e-10).y
    p = np.array([0.5, 1.5])
    expected = np.zeros((2, 5, 2))
    expected[[0, 1], :, [0, 1]] = -times * np.exp(-p[:, None] * times)
    np.testing.assert_allclose(fad.jacfwd(solved)(p), expected, atol=1e-6)
