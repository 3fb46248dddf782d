"""Events of solve_ivp with LSODA: times, states and the end, and their derivatives."""
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import fad

from ..turns import in_turn

P = np.array([1.3, 0.8])


def swing(t, y, a, b):
    return [y[1], -a * y[0] - 0.1 * b * y[1]]


def crossing(t, y, a, b):
    return y[0] - 0.2 * b


def turning(t, y, a, b):
    return y[1]


def landing(t, y, a, b):
    return y[0] + 0.3 - 0.01 * t


landing.terminal, landing.direction = True, -1.0


def tight(p, events, **options):
    return solve_ivp(swing, (0.0, 5.0), [p[1], 0.3], method="LSODA", args=tuple(p), events=events, rtol=1e-11,
                     atol=1e-12, **options)


TIMES = np.linspace(0.0, 5.0, 9)
CASES = {
    "times": lambda p: np.sum(tight(p, crossing).t_events[0] ** 2),
    "two events": lambda p: np.sum(tight(p, [crossing, turning]).t_events[1])
                            + tight(p, [crossing, turning]).t_events[0][0],
    "states": lambda p: np.sum(tight(p, (crossing, turning)).y_events[1] ** 2),
    "an end": lambda p: tight(p, landing).t[-1],
    "the state at the end": lambda p: tight(p, [crossing, landing]).y[1, -1],
    "times until the end": lambda p: np.sum(tight(p, landing, t_eval=TIMES).y),
    "an end that is not reached": lambda p: np.sum(tight(p * 0.01 + 0.01, landing, t_eval=TIMES).y),
    "none": lambda p: np.sum(tight(p, lambda t, y, a, b: y[0] - 99.0).t_events[0]) + p[0],
}


@pytest.mark.parametrize("name", in_turn(CASES))
def test_derivatives(name):
    f, h = CASES[name], 1e-3
    np.testing.assert_allclose(fad.jit(f, fallback=False)(P), f(P), rtol=1e-8)
    found = fad.grad(f, fallback=False)(P)
    want = [(8 * (f(P + h * e) - f(P - h * e)) - f(P + 2 * h * e) + f(P - 2 * h * e)) / (12 * h) for e in np.eye(2)]
    np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(fad.jacfwd(f, fallback=False)(P), found, rtol=1e-7, atol=1e-12)


def test_the_result_is_scipys():
    def f(p):
        found = tight(p, [crossing, landing], t_eval=TIMES)
        return found.t, found.y, found.t_events, found.y_events, found.status
    want = f(P)
    t, y, times, states, status = fad.jit(f, fallback=False)(P)
    np.testing.assert_array_equal(t, want[0])
    np.testing.assert_allclose(y, want[1], rtol=1e-8, atol=1e-9)
    for k in range(2):
        np.testing.assert_allclose(times[k], want[2][k], rtol=1e-9)
        np.testing.assert_allclose(states[k], want[3][k], rtol=1e-7, atol=1e-9)
    assert status == want[4] == 1


def test_second_derivatives_compiled():
    f, h = CASES["an end"], 1e-3
    g = fad.grad(f)
    np.testing.assert_allclose(fad.hessian(f, compile="now")(P),
                               [(g(P + h * e) - g(P - h * e)) / (2 * h) for e in np.eye(2)], rtol=1e-4)


def test_refusals():
    with pytest.raises(fad.FadError, match="several terminal"):
        fad.grad(lambda p: tight(p, [landing, landing]).t[-1], fallback=False)(P)
    with pytest.raises(fad.FadError, match="LSODA"):
        fad.grad(lambda p: tight(p, landing, dense_output=True).t[-1], fallback=False)(P)
