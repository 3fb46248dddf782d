"""A jvp rule that is not linear in its tangents has no transpose: reverse mode says so, through loops, branches and on
the tape."""

import numpy as np
import pytest

import fad
from fad.util.errors import FadError

from ..texts import executed

X = np.array([0.3, 0.7, 1.1])
LINEAR = {                                             # what a rule computes of x and dx
    "a loop": "for i in range(3):\n        dy = dy + np.cos(x[i]) * dx[i]",
    "a recurrence": "for i in range(3):\n        dy = dy * x[i] + dx[i]",
    "loops in loops": "for i in range(3):\n        for j in range(i + 1):\n            dy = dy + x[j] * dx[i]",
    "elements written": "z = np.zeros(3)\n    for i in range(3):\n        z[i] = dx[i] * x[i]\n        if x[i] > 0.5:\n"
                        "            z[i] = z[i] * 2.0\n    dy = np.sum(z)",
    "a branch": "if x[0] > 0:\n        dy = np.sum(x * dx)\n    else:\n        dy = np.sum(dx)",
    "iterations that primals decide": "dy = np.sum(dx)\n    k = x[0]\n    while k < 3:\n        dy = dy * x[1]\n"
                                      "        k = k + 1",
    "solves in a loop": "u = dx\n    for k in range(4):\n        u = np.linalg.solve(np.outer(x, x) + np.eye(3), u)\n"
                        "    dy = np.sum(u)",
    "zeros beside": "dy = np.sum(x * dx) + 0.0 * np.sum(x) + np.sum(np.zeros(3))"}
OTHER = {
    "a square": "dy = np.sum(dx * dx)",
    "squares in a loop": "for i in range(3):\n        dy = dy + dx[i] * dx[i]",
    "a product in a loop": "dy = 1.0\n    for i in range(3):\n        dy = dy * dx[i]",
    "a branch on a tangent": "if dx[0] > 0:\n        dy = np.sum(dx)\n    else:\n        dy = np.sum(3 * dx)",
    "iterations that tangents decide": "dy = np.sum(dx)\n    k = 0\n    while dy > 0.1 and k < 9:\n"
                                       "        dy = dy * 0.5\n        k = k + 1",
    "elements that tangents choose": "z = np.zeros(3)\n    for i in range(3):\n        z[i] = dx[i] * x[i]\n"
                                     "        if z[i] > 0.5:\n            z[i] = z[i] * 2.0\n    dy = np.sum(z)",
    "sizes": "dy = np.sum(np.abs(dx))",
    "a number added": "dy = np.sum(dx) + 1.0",
    "a primal added": "dy = np.sum(dx) - x[0] * 2.0",
    "a primal added in a loop": "for i in range(3):\n        dy = dy + dx[i] * x[i] + x[i]"}


def ruled(body):
    text = f"""def rule(primals, tangents):
    x, = primals
    dx, = tangents
    dy = 0.0
    {body}
    return np.sum(np.sin(x)), dy
"""
    f, rule = fad.custom_jvp(lambda x: np.sum(np.sin(x))), executed(text, {"np": np})["rule"]
    f.defjvp(rule)
    return f, lambda dx: rule((X,), (dx,))[1]


def in_a_loop(f):
    def g(x):
        total = 0.0
        for _ in range(2):
            total = total + f(x)
        return total / 2.0
    return g


def on_the_tape(f):
    return lambda x: [f(x), str(x)][0]


WHERE = {"alone": lambda f: f, "in a loop": in_a_loop, "on the tape": on_the_tape}


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
def test_linear_rules_are_transposed(name, where):
    f, rule = ruled(LINEAR[name])
    np.testing.assert_allclose(fad.grad(WHERE[where](f))(X), [rule(e) for e in np.eye(3)])


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("name", OTHER)
@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
def test_other_rules_are_refused(name, where):
    f, _ = ruled(OTHER[name])
    with pytest.raises(FadError) as raised:
        fad.grad(WHERE[where](f))(X)
    assert where == "on the tape" or "not linear in its tangents" in str(raised.value)
