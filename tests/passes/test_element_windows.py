"""Elements that iterations share are numbers: the same results, to the last bit, and no waiting for stores."""
import re

import numpy as np
import pytest

import fad
from fad.ir.check import check
from fad.ir.graph import is_counted
from fad.ir.walk import evaluate
from fad.passes.element_windows import rotate_elements
from fad.passes.pipeline import optimise
from fad.trace.tracing import trace
from fad.transforms.vjp import vjp


def tree(v):
    """In place, each element from two: the reverse sweep hands cotangents on to a neighbour."""
    v = v.copy()
    for k in range(v.size - 1, 0, -1):
        for i in range(k):
            v[i] = 0.5 * v[i] + 0.4 * v[i + 1] * v[i]
    return v[0]


def running(v):
    s = np.zeros(v.size + 1)
    for i in range(v.size):
        s[i + 1] = 0.5 * s[i] + v[i] ** 2
    return np.sum(s ** 2)


def downward(v):
    s = v.copy()
    for i in range(v.size - 3, -1, -1):
        s[i] = s[i] * s[i + 1] + s[i + 2]
    return np.sum(s ** 2)


def cheapest_path(v):
    C = np.outer(v, v + 1.0)
    D = C.copy()
    for i in range(1, v.size):
        for j in range(1, v.size):
            D[i, j] += min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    return D[-1, -1]


def upwind(v):
    """Additions under a condition that other arrays decide."""
    u = v - 0.5
    for _ in range(3):
        new = u.copy()
        for i in range(1, u.size - 1):
            if u[i] > 0:
                new[i] = u[i] - 0.1 * u[i] * (u[i] - u[i - 1])
            else:
                new[i] = u[i] - 0.1 * u[i] * (u[i + 1] - u[i])
        u = new
    return np.sum(u ** 2)


def pooled(v):
    """Elements decide what a branch does to their neighbours: a processor guesses that."""
    y = v.copy()
    for i in range(1, y.size):
        if y[i - 1] > y[i]:
            m = 0.5 * (y[i - 1] + y[i])
            y[i - 1] = m
            y[i] = m
    return np.sum(y ** 2)


def independent(v):
    """No iteration waits for another."""
    y = v.copy()
    for i in range(v.size - 1):
        y[i] = y[i + 1] * y[i]
    return np.sum(y)


def by_two_indices(v, k):
    """Elements that other subscripts may touch, too."""
    y = v.copy()
    for i in range(1, v.size):
        y[i] = y[i - 1] * y[k]
    return np.sum(y)


def fluxes(v):
    """Two rows; the reverse sweep only adds to neighbours."""
    u = np.stack((v, v * v))
    f = np.zeros((2, v.size - 1))
    for _ in range(2):
        for i in range(v.size - 1):
            top = max(u[0, i], u[1, i + 1])
            f[0, i] = u[0, i] * u[1, i + 1] - top * (u[0, i + 1] - u[0, i])
            f[1, i] = u[1, i] * u[0, i + 1] - top * (u[1, i + 1] - u[1, i])
        u[:, 1:-1] -= 0.1 * (f[:, 1:] - f[:, :-1])
    return np.sum(u ** 2)


def begun_anew(v):
    """Elements begin with a number that is not zero, get their sums, and are read."""
    s = np.zeros(v.size + 1)
    for i in range(v.size):
        s[i + 1] = 3.0
        s[i + 1] += s[i] * v[i]
        s[i] += 0.5
    return np.sum(s ** 2)


V = np.array([0.3, 0.9, 0.2, 0.7, 0.5, 0.1, 0.8, 0.6])
SIZES = {tree: (1, 2, 3, 8), running: (1, 2, 8), downward: (2, 3, 4, 8), cheapest_path: (2, 3, 8), upwind: (2, 3, 4, 8),
         fluxes: (3, 4, 8), begun_anew: (1, 2, 8)}
CASES = [(f, n) for f in SIZES for n in SIZES[f]]


def _gradient(f, *more):
    return optimise(vjp(trace(f, [V, *more]).func, [0]))


def _carries(func):
    """The numbers of carries of all counted loops."""
    return [n for e in func.equations for r in e.regions
            for n in ([len(e.outputs)] if is_counted(e) else []) + _carries(r)]


@pytest.mark.parametrize("f, n", CASES, ids=[f"{f.__name__}-{n}" for f, n in CASES])
def test_the_numbers_stay(f, n):
    func = _gradient(f)
    rotated = check(rotate_elements(func))
    assert sum(_carries(rotated)) > sum(_carries(func))
    for a, b in zip(evaluate(rotated, [V[:n], 1.0]), evaluate(func, [V[:n], 1.0]), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("f", SIZES, ids=lambda f: f.__name__)
def test_compiled_gradients_stay(f):
    for n in SIZES[f]:
        x = V[:n] + 0.0
        expected = fad.jit(fad.grad(f), compile="never")(x)
        np.testing.assert_allclose(fad.jit(fad.grad(f), compile="now")(x), expected, rtol=1e-13)


def test_a_branch_that_elements_decide_stays():
    func = optimise(trace(pooled, [V]).func)
    assert rotate_elements(func) is func


def test_independent_iterations_stay():
    func = optimise(trace(independent, [V]).func)
    assert rotate_elements(func) is func


def test_elements_that_other_subscripts_may_touch_stay():
    func = optimise(trace(by_two_indices, [V, 3]).func)
    assert rotate_elements(func) is func


def test_an_element_is_stored_as_soon_as_it_has_its_last_value():
    source = fad.source(fad.jit(running, compile="now"), V)
    assert "[i + 1] = " in source and "[i]" not in source.split("return")[0].replace("v[i]", "")


def test_what_is_only_added_to_is_loaded_where_it_is_stored():
    """LLVM compares the addresses of several rows in front of a loop: a load ahead of the stores would meet them."""
    sweep = fad.source(fad.jit(fad.grad(fluxes), compile="now"), V).partition("range(1, -1, -1)")[2]
    loop = sweep.partition("for i_5 in")[2].partition("return")[0]
    assert len(re.findall(r"\[[01], i_5\] \+= ", loop)) == 2 and not re.search(r"(?<!, )[01], i_5 \+ 1\] [+=]", loop)
