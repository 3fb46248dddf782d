"""Statements that become conditions: match statements of plain values, and choices that are unpacked at once. Match
statements of structures are Python's own."""
import operator
from typing import NamedTuple

import numpy as np
import pytest

import fad

from ..transforms.support import differences
from ..turns import crossed
from .one_program import check_one_program


class Kind:
    low, high = 0, 3


class Pair(NamedTuple):
    a: float
    b: float


def numbers(x):
    s = 0.0
    for k in range(4):
        match k % 3:
            case 0:
                s = s + x[0]
            case 1 | 2 if x[1] > 0:
                s = s * x[1]
            case Kind.high:
                s = 100.0
            case _:
                s = s - x[2]
    return s


def a_traced_int(x):
    match int(x[0] * 10):
        case 3:
            y = x[1]
        case -3:
            y = x[2] * 2
        case other:
            y = x[0] * other
    return y * x[1]


def none(x):
    match None if x[0] > 0 else x[1]:
        case None:
            return x[2]
        case v:
            return v * x[0]


def states(x):
    t, state = 0.0, "go"
    while True:
        match state:
            case "go":
                t = t + x[0]
                if t > 1:
                    state = "slow"
                elif t < -1:
                    state = "end"
            case "slow":
                t = t * x[1] + 2.0
                state = "end"
                continue
            case "end" | "stop":
                break
    return t


def nested(x):
    match int(x[1] > 0):
        case 1:
            match int(x[0] > 1):
                case 0:
                    r = x[0] ** 2
                case _:
                    r = x[2]
        case 0:
            r = x[1]
    return r * x[0]


def one_look(x):
    seen = []

    def subject():
        seen.append(x[1])
        return int(x[0] > 0)
    match subject():
        case 0:
            r = x[1]
        case 1:
            r = x[2] ** 2
    return r * len(seen)


def structures(x):
    s = 0.0
    for item in ((x[0], 2.0), [x[1]], {"u": x[2]}, Pair(x[0], x[1])):
        match item:
            case Pair(a=u):
                s = s + u
            case (u, v):
                s = s + u * v
            case [u]:
                s = s + u**2
            case {"u": u}:
                s = s + 3 * u
    return s


def unpacked(x):
    y, v = [1e-12, -0.5 * x[1]] if x[0] > 0 else x[:2]
    parts = {}
    parts["a"], (b, *c) = (x[0], [x[1], x[2]]) if x[1] > 0 else [1.0, x[1:]] if x[2] > 1 else (x[2], (2.0, x[0]))
    return y + v * parts["a"] + b * c[0]


XS = [np.array(x) for x in ([0.31, 0.5, -0.2], [-0.31, -0.5, 0.7], [1.37, 0.4, 0.1])]


@pytest.mark.parametrize("f, policy", crossed([numbers, a_traced_int, none, states, nested, one_look, structures,
                                               unpacked],
                                              ["now", "never"]))
def test_is_one_program(f, policy):
    check_one_program(f, XS, policy)


def no_case(x):
    match int(x[0] > 1):
        case 1:
            y = x[1]
    return y * x[0]


def a_guard_that_binds(x):
    match x[0]:
        case z if z > 1:
            return z * x[1]
        case _:
            return x[2] ** 2


def test_a_name_that_no_case_binds_is_unbound():
    gradient = fad.grad(no_case)
    np.testing.assert_allclose(gradient(XS[2]), differences(no_case, XS[2]), rtol=1e-6, atol=1e-6)
    with pytest.raises(UnboundLocalError):
        gradient(XS[0])


@pytest.mark.filterwarnings("ignore::fad.util.errors.FallbackWarning")
@pytest.mark.parametrize("f", [a_guard_that_binds], ids=operator.attrgetter("__name__"))
def test_what_asks_python_runs_on_the_tape(f):
    for x in XS:
        np.testing.assert_allclose(fad.grad(f)(x), differences(f, x), rtol=1e-6, atol=1e-6)
