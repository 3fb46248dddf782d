"""Names bound within tests (:=), also in parts that may not be reached, and patterns of match statements."""
import enum

import numpy as np
import pytest

import fad


def bound_behind_and(x):
    s = 0.0 * x[0]
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            if x[i] < x[j] and (d := x[j] - x[i]) < 1.0:
                s += d * d
    return s


def bound_in_a_while(x):
    i, s = -1, 0.0 * x[0]
    while (i := i + 1) < len(x) and (v := x[i]) < 1.9:
        s += v * i
    return s + i


def bound_in_a_chain(x):
    s = 0.0 * x[0]
    for i in range(len(x)):
        for step in (-1, 1):
            if 0 <= (j := i + step) < len(x):
                s += step * x[i] * x[j] ** 2
    return s


def bound_behind_or(x):
    s = 0.0 * x[0]
    for i in range(1, len(x)):
        if not (x[i] > 1.5 or (p := x[i - 1] * 2.0) > 3.0 and (q := p + 1.0) < 5.0):
            s += x[i]
        elif x[i] > 1.8 or (q := s * 0.5) > 0.5:
            s = s * 1.1 - q if x[i] <= 1.8 else s - x[i]
    return s


def bound_before_jumps(x):
    s = 0.0 * x[0]
    for i in range(1, len(x)):
        if x[i] > 1.0 and (p := x[i - 1]) > 0.5:
            s += p * x[i]
            continue
        if 0.3 < (u := x[i] * 1.5) < 0.9:
            break
        s += u
    return s


XS = [np.array(x) for x in ([0.7, 1.1, 1.6, 0.4, 1.75], [1.95, 0.3, 1.2, 1.85, 0.55], [0.45, 1.3, 2.2, 0.25, 0.9])]


@pytest.mark.parametrize("f",
                         [bound_behind_and, bound_in_a_while, bound_in_a_chain, bound_behind_or, bound_before_jumps],
                         ids=lambda f: f.__name__)
def test_names_bound_in_tests(f):
    jitted, gradient = fad.jit(f, fallback=False), fad.grad(f, fallback=False)
    for x in XS:
        assert np.isclose(jitted(x), f(x))
        np.testing.assert_allclose(gradient(x), [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(5)], atol=1e-8)


def test_what_is_not_reached_binds_nothing():
    def f(x):
        k = 1
        if x[0] > 5.0 and (k := 10):
            return x[1]
        return x[0] * k

    assert fad.jit(f, fallback=False)(XS[0]) == f(XS[0])


class Colour(enum.Enum):
    RED, GREEN = 1, 2


class Shapes:
    class Disc:
        __match_args__ = ("r",)

        def __init__(self, r):
            self.r = r


def matched(x):
    s = 0.0
    for case in (Colour.RED, Colour.GREEN, {Colour.RED: x[0]}, Shapes.Disc(x[1]), [Colour.GREEN, x[2]], 4.0):
        match case:
            case Colour.RED:
                s += x[0]
            case Colour.GREEN:
                s *= x[1]
            case {Colour.RED: v}:
                s += 3.0 * v
            case Shapes.Disc(r):
                s += r * r
            case [Colour.GREEN, v]:
                s -= v
            case float(v):
                s += v
    return s


def test_values_and_classes_in_patterns():
    x = XS[0]
    assert fad.jit(matched, fallback=False)(x) == matched(x)
    np.testing.assert_allclose(fad.grad(matched, fallback=False)(x)[:3], [x[1] + 3.0, x[0] + 2.0 * x[1], -1.0])
