"""Branches that no program can have are decided by the arrays from outside that they follow from."""
import numpy as np
import pytest

import fad

from ..transforms.support import differences


class Holder:
    pass


def linear(x):
    return x


def squared(x):
    return x ** 2


def cubed(x):
    return x ** 3


def a_function_by_kind(x, kind):
    total = 0.0
    for i in range(len(kind)):
        if kind[i] == 0:
            g = linear
        elif kind[i] == 1:
            g = squared
        else:
            g = cubed
        total += g(x[i])
    return total


def a_key_by_kind(x, kind):
    table, total = {"linear": linear, "squared": squared}, 0.0
    for i in range(len(kind)):
        name = "linear" if kind[i] == 0 else "squared"
        total += table[name](x[i])
    return total


def an_attribute_by_kind(x, kind):
    o = Holder()
    if kind[0] == 0 and kind[1] > 0:
        o.a = x[0] * 2
    else:
        o.b = x[1]
    return o.a * x[1] if hasattr(o, "a") else o.b * 3


def a_text_or_none(x, kind):
    mode = None if kind[0] == 0 or kind[2] == 5 else "fast"
    return x[0] if mode is None else x[1] * len(mode)


CASES = [a_function_by_kind, a_key_by_kind, an_attribute_by_kind, a_text_or_none]


@pytest.mark.parametrize("policy", ["never", "now"])
@pytest.mark.parametrize("f", CASES)
def test_the_side_that_is_taken_is_the_program(f, policy):
    kind, x = np.array([0, 1, 1, 0]), np.array([0.3, 0.5, 0.7, 0.9])
    with fad.config.using(compile=policy):
        gradient = fad.grad(lambda x: f(x, kind), fallback=False)
        for at, value in [(0, 0), (0, 1), (2, 5), (1, 0), (0, 0)]:
            kind[at] = value
            np.testing.assert_allclose(gradient(x), differences(lambda x: f(x, kind), x), rtol=1e-6, atol=1e-8)


def test_a_branch_that_a_program_can_have_is_not_decided():
    kind, traces = np.array([0, 1]), []

    def f(x):
        traces.append(1)
        return x if kind[0] == 0 else x ** 2
    gradient = fad.grad(f)
    assert gradient(3.0) == 1.0
    before = len(traces)
    kind[0] = 1
    assert gradient(3.0) == 6.0
    assert len(traces) == before + 1                          # the call delivers the list, and no trace is made


def test_a_condition_on_the_argument_is_not_decided():
    def f(x):
        g = linear if x > 1 else squared
        return g(x)
    gradient = fad.grad(f, fallback=False)
    assert [gradient(x) for x in (2.0, 0.5, 3.0)] == [1.0, 1.0, 1.0]
