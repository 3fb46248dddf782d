"""The judge sees what is wrong, and does not take a kink, a jump or rounding for it."""
import math
import re

import numpy as np
import pytest

import fad
from fad.ops.arithmetic import mul
from fad.ops.kinds import Partials
from fad.ops.transcendental import tanh

from . import shrink
from .differences import slope, spread
from .generate import generate
from .judge import POINT, _problem, compiled_function, judge
from .statement import Statement
from .tracing import is_traced

STRAIGHT = np.eye(POINT.size)[0]


def wrong_rule():
    @fad.custom_jvp
    def doubled(u):
        return 2.0 * u
    doubled.defjvp(lambda xs, dxs: (2.0 * xs[0], 2.1 * dxs[0]))
    return doubled


def test_a_wrong_derivative_is_seen():
    doubled = wrong_rule()
    assert "gradient: " in judge(lambda x: np.sum(doubled(x)), ("interpreted",))
    assert "gradient: " in judge(lambda x: np.sum(doubled(x)), ("interpreted",), second=True)


@pytest.mark.parametrize("seed", [2, 3, 5, 6])
def test_a_rule_that_is_off_by_little_is_seen_in_random_programs(seed, monkeypatch):
    monkeypatch.setattr(tanh, "derivative", Partials(lambda y, x: 1.0001 * (1.0 - y) * (1.0 + y)))
    assert re.search("gradient: |second order: ",
                     judge(compiled_function(generate(seed)), ("interpreted",), second=seed % 2 == 1))


def rounding_error_of(u, large):
    s = u + large
    part = s - u
    return (u - (s - part)) + (large - part)


def test_slopes_of_rounding_errors_are_no_derivatives():
    def f(x):
        return np.sum(np.sin(x)) + 1e4 * rounding_error_of(1e-5 * x[2], -3e9)
    assert judge(f, ("interpreted",)) is None


def test_a_slope_that_rounding_hides_is_no_zero():
    """Of this product nothing is left beside the large number, with more digits neither, as far as differences go."""
    def f(x):
        a, z = x * 1.0, np.conj(x * (0.4 + 0.1j))
        z.real[0] = 0.5
        a[1:] *= 0.8
        return (np.sum(np.tanh(a)) + np.tanh((np.tanh(np.abs(np.prod(z) / 4.0)) + 3e9) - 3e9)
                + np.mean(np.sin(np.diag(x))))
    assert judge(f, ("interpreted",)) is None


def test_beside_rounding_errors_a_wrong_derivative_is_seen():
    doubled = wrong_rule()

    def f(x):
        return doubled(x[0]) + 1e4 * rounding_error_of(1e-5 * x[2], -3e9)
    assert "gradient: " in judge(f, ("interpreted",))


def test_an_infinite_slope_times_zero_is_no_failure_and_other_nans_are():
    def f(x):
        a = np.where(x > 0.5, x, 0.0)
        return np.sum(np.sqrt(a + 0j).imag) + np.sum(a)

    @fad.custom_jvp
    def same(u):
        return 1.0 * u
    same.defjvp(lambda xs, dxs: (1.0 * xs[0], np.nan * dxs[0]))
    assert judge(f, ("interpreted",)) is None
    assert judge(lambda x: same(x[0]), ("interpreted",)) is not None


def test_modes_that_differ_are_seen():
    numbers = {"value": 1.0, "gradient": STRAIGHT, "value of forward mode": 1.0, "forward": 1.0, "reverse": 1.0 + 1e-8}
    assert _problem(lambda x: x[0] / POINT[0], 1.0, None, numbers, None).startswith("reverse: ")


def test_another_value_is_seen():
    def f(x):
        return np.sum(x) + (1e-9 if is_traced() else 0.0)
    assert "value: " in judge(f, ("interpreted",))


def test_a_defect_of_fad_is_seen(monkeypatch):
    def failing(*args):
        raise KeyError("a mistake")
    monkeypatch.setattr(mul, "infer", failing)
    assert judge(lambda x: np.sum(x * x), ("interpreted",)) is not None


@pytest.mark.parametrize("f",
                         [lambda x: np.abs(x[0] - POINT[0]), lambda x: max(x[0], 2.0 * x[0] - POINT[0]),
                          lambda x: np.floor(x[0] - POINT[0]),
                               lambda x: (x[0] + 1e9) - 1e9, lambda x: x[0] if x[0] < POINT[0] + 1e-4 else 1.1 * x[0]])
def test_no_slope_where_a_function_is_not_smooth(f):
    assert slope(f, POINT, STRAIGHT) is None


@pytest.mark.parametrize("f, derivative",
                         [(lambda x: math.sin(5.0 * x[0]), 5.0 * math.cos(5.0 * POINT[0])),
                          (lambda x: x[0] ** 3, 3.0 * POINT[0] ** 2)])
def test_the_slope_of_a_smooth_function(f, derivative):
    found, off = slope(f, POINT, STRAIGHT)
    assert abs(found - derivative) < 1e-9 and off < 1e-6


def test_what_rounding_changes():
    assert spread(lambda x: np.sum(x), POINT) < 1e-13
    assert spread(lambda x: 1.0 if x[0] > POINT[0] else 0.0, POINT) == 1.0


def test_a_smaller_program_that_never_ends_is_none(monkeypatch):
    monkeypatch.setattr(shrink, "ATTEMPT", 0.2)
    body = [Statement("w = 0"), Statement("while w < 4:", [Statement("w += 1")]), Statement("return w")]

    def fails(body):
        text = "def f():\n" + "".join(f"{line}\n" for statement in body for line in statement.lines(1))
        scope = {}
        exec(text, scope)
        return scope["f"]() == 4
    assert shrink.shrink(body, fails) == body
