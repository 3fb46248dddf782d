"""Functions that a solver of SciPy's calls, on the tape: they go another way at each point."""
import numpy as np
import pytest
from scipy.integrate import odeint, quad
from scipy.optimize import brentq, fsolve, least_squares, minimize, newton, root

import fad

pytestmark = pytest.mark.filterwarnings("ignore::fad.FallbackWarning")


def of_two_sides(v):
    return v ** 2 if v > 1.0 else v ** 3


def where(v):
    return np.where(v > 1.0, v ** 2, v ** 3)


def negated(v):
    if not 0.0 < v <= 1.0:
        return v ** 2
    return v ** 3


SOLVERS = {
    "quad": lambda f, x: quad(lambda s: f(s * x), 0.0, 1.0)[0],
    "slopes": lambda f, x: quad(lambda s: fad.grad(lambda v: f(v) * 1.0)(s * x), 0.0, 1.0)[0],
    "brentq": lambda f, x: brentq(lambda s: f(s) - x, 0.0, 5.0),
    "newton": lambda f, x: newton(lambda s: f(s) - x, 0.9),
    "fsolve": lambda f, x: fsolve(lambda s: np.array([f(s[0]) - x]), [0.9])[0],
    "root": lambda f, x: root(lambda s: np.array([f(s[0]) - x]), [0.9]).x[0],
    "least_squares": lambda f, x: least_squares(lambda s: np.array([f(s[0]) - x]), [0.9]).x[0],
    "minimize": lambda f, x: minimize(lambda s: (f(s[0]) - x) ** 2, [0.9]).x[0],
    "odeint": lambda f, x: odeint(lambda y, t: np.array([f(y[0]) * x]), [0.8], [0.0, 0.4])[-1, 0],
}


@pytest.mark.parametrize("f", [of_two_sides, where, negated])
@pytest.mark.parametrize("solve", SOLVERS.values(), ids=SOLVERS)
def test_each_point_has_its_way(solve, f):
    def on_tape(x):
        table = {int(x * 3): 1.0}                             # a dict keyed by data: no program has it
        return solve(f, x) * len(table)
    value, slope = fad.value_and_grad(on_tape)(2.0)
    expected = on_tape(2.0), (on_tape(2.0 + 1e-5) - on_tape(2.0 - 1e-5)) / 2e-5
    np.testing.assert_allclose((value, slope), expected, rtol=1e-5)


def none_or_a_text(v):
    mode = None if v > 1.0 else "low"
    return v ** 2 if mode is None else v ** 3


def iterated(v):
    y = 1.0
    while abs(y * y - v) > 1e-10:
        y = 0.5 * (y + v / y)
    return y


@pytest.mark.parametrize("f", [none_or_a_text, iterated])
@pytest.mark.parametrize("name", ["quad", "brentq"])
def test_what_is_no_program_is_refused(name, f):
    def on_tape(x):
        return SOLVERS[name](f, x) * len({int(x * 3): 1.0})
    with pytest.raises(fad.FadError):
        fad.grad(on_tape)(2.0)


@pytest.mark.parametrize("name", ["quad", "brentq"])
def test_no_condition_of_a_callback_is_pinned(name):
    """A program would go one way at all points."""
    with pytest.raises(fad.FadError):
        fad.grad(lambda x: SOLVERS[name](none_or_a_text, x))(2.0)
