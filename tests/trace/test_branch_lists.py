"""Lists that branches append to outside the program's loops: in straight code, and in Python's own loops over lists of
known things. They lie in rows then, and their length is a value of the program.
"""
from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
import pytest

import fad

from ..fuzz.differences import slope
from ..turns import in_tiers

NUMBERS = [0.51, 1.5, 2.6, 3.5]
PAIRS = [(1.0, 2.0), (0.2, 0.5), (3.0, -1.0)]
ARRAYS = [np.array([1.0, 2.0]), np.array([0.1, 0.2]), np.array([3.0, 1.0])]


class Holder:
    def __init__(self):
        self.r = []


@dataclass
class Fields:
    r: list = field(default_factory=list)
    parts: dict = field(default_factory=lambda: defaultdict(list))


def straight(x):
    r = [x[0]]
    if x[0] > 1:
        r.append(x[1])
    else:
        r.append(2.0)
        r.append(x[1] * x[1])
    return r[-1] * r[0] + len(r)


def selected(x):
    r = []
    for v in NUMBERS:
        if v * x[0] > 1:
            r.append(v * x[1])
    return np.sum(np.array(r) ** 2) + max(r) + len(r)


def known(x):
    r = []
    for v in NUMBERS:
        if v * x[0] > 1:
            r.append(v)
    return sum(r) * x[1]


def two_lists(x):
    groups = {"low": [], "high": []}
    for v in NUMBERS:
        if v * x[0] > 1:
            groups["high"].append(v * x[1])
        else:
            groups["low"].append(v * x[0])
    return 2 * sum(groups["high"]) + sum(groups["low"])


def pairs(x):
    r = []
    for p, q in PAIRS:
        if p > x[0]:
            continue
        r.append((p, q * x[1]))
    return sum([p * q for p, q in r])


def arrays(x):
    r = []
    for v in ARRAYS:
        if v[0] * x[0] > 1:
            r.append(v * x[1])
    return np.sum(r[0]) + np.sum(np.array(r)[:, 1])


def attribute(x):
    o = Holder()
    for v in NUMBERS:
        for u in (0.5, 1.0):
            if u * v * x[0] > 1:
                o.r.append(u * v * x[1])
                o.r[-1] = o.r[-1] * 2
    return sum(o.r) / len(o.r)


def fields(x):
    o = Fields()
    for v in NUMBERS:
        o.parts["all"].append(v * x[0])
        if v * x[0] > 1:
            o.r.append(v * x[1])
    return sum(o.r) * len(o.r) + sum(o.parts["all"])


def ended_by_length(x):
    r = []
    for v in NUMBERS:
        if v * x[0] > 1:
            r.append(v * x[1])
        elif r:
            r.pop()
        if len(r) >= 2:
            break
    return sum(r) + x[0]


def best_so_far(x):
    best, r = None, []
    for v in NUMBERS:
        y = (v - x[0]) ** 2 * x[1]
        if best is None or y < best:
            best = y
            r.append(y)
    return sum(r) * best


def made_in_rows(x):
    """Each side makes its list in rows, whose arrays Python code sees anew each time that it looks at the list."""
    if x[0] > 1:
        r = [x[0] * k for k in range(len(x) + 1)]
    else:
        r = [x[1] * k for k in range(len(x) + 1)]
    total = x[1]
    for v in r:
        total += v * v
    return total * len(r)


def beside_what_stays(x):
    """The same, in a tuple beside a dict and a list that no side replaces."""
    d, log = {"a": x[0]}, [x[1]]
    if x[0] > 1:
        t = (d, [x[0] * k for k in range(len(x) + 1)], log)
    else:
        t = (d, [x[1] * k for k in range(len(x) + 1)], log)
    total = x[1]
    for v in t[1]:
        total += v * v
    return total * t[0]["a"] + t[2][0]


@pytest.mark.parametrize("f, compile", in_tiers(
    [straight, selected, known, two_lists, pairs, arrays, attribute, fields, ended_by_length, best_so_far,
    made_in_rows, beside_what_stays]))
def test_values_and_derivatives(f, compile):
    g = fad.value_and_grad(f, fallback=False, compile=compile)
    for x in ([1.3, 2.0], [0.45, 0.7], [3.2, -1.0]):
        x, direction = np.array(x), np.array([0.8, -0.6])
        value, gradient = g(x)
        np.testing.assert_allclose(value, f(x))
        np.testing.assert_allclose(gradient @ direction, slope(f, x, direction)[0], rtol=1e-6)
    assert len(g.programs) == 1


def name_of_the_last(x):
    if x[0] > 1:
        r = []
        for k in range(len(x)):
            last = x * k
            r.append(last)
    else:
        r = []
        for k in range(len(x)):
            last = x * (k + 2)
            r.append(last)
    last[0] = 7.0
    return np.sum(r[-1])


def name_from_before(x):
    a = x * 2
    if x[0] > 1:
        r = [a, x * 3]
        for k in range(len(x)):
            r.append(x * k)
    else:
        r = [a, x * 4]
        for k in range(len(x)):
            r.append(x * k)
    a[0] = 5.0
    return np.sum(r[0])


def name_of_an_element(x):
    if x[0] > 1:
        r = [x * k for k in range(len(x))]
        y = r[1]
    else:
        r = [x * (k + 1) for k in range(len(x))]
        y = r[1]
    y[0] = 5.0
    return np.sum(r[1])


def name_of_an_iterations_element(x):
    r, y = [x * 1.0, x * 2.0], x
    for j in range(len(x)):
        r = []
        for k in range(len(x)):
            r.append(x * k * (j + 1))
        y = r[1]
    y[0] = 5.0
    return np.sum(r[1])


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
@pytest.mark.parametrize("f", [name_of_the_last, name_from_before, name_of_an_element, name_of_an_iterations_element])
def test_an_element_with_a_name_is_not_stale_behind_a_region(f):
    for x in (np.array([1.3, 2.0]), np.array([0.45, 0.7])):
        np.testing.assert_allclose(fad.jit(f)(x), f(x))


def test_results_are_lists():
    def f(x):
        r = []
        for v in NUMBERS:
            if v * x > 1:
                r.append(v * x)
        return r
    g = fad.jit(f, fallback=False)
    for x in (1.3, 0.45, 0.1):
        found = g(x)
        assert type(found) is list
        np.testing.assert_allclose(found, f(x))


def test_methods_of_the_class_change_lists_in_rows():
    def f(x):
        r = []
        for v in x:
            r.append(v * v)
        list.append(r, x[0])
        if x[0] > 0.5:
            list.append(r, 7.0)
        return sum(r) * len(r)
    for x in (np.array([0.3, 0.7]), np.array([1.3, 0.7])):
        np.testing.assert_allclose(fad.jit(f)(x), f(x))


@pytest.mark.parametrize("element", [None, "down", ()], ids=repr)
def test_elements_without_numbers(element):
    """How many there are is decided by data: there are no arrays that could hold them."""
    def f(x):
        r = []
        for v in NUMBERS:
            if v * x[0] > 1:
                r.append(element)
        return len(r) * x[1] ** 2
    with pytest.warns(fad.FallbackWarning, match="without numbers .* data decide its length"):
        value, gradient = fad.value_and_grad(f)(np.array([1.0, 2.0]))
    assert value == f(np.array([1.0, 2.0]))
    np.testing.assert_array_equal(gradient, [0.0, 12.0])
