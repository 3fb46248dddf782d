"""Lists and tuples that hold traced numbers are compared, searched and indexed as Python does, in compiled programs."""
import bisect
import operator
from typing import NamedTuple

import numpy as np
import pytest

import fad

X = [0.5, 2.0, 1.5]
NAN = float("nan")


def relations(a, b):
    return a < b, a <= b, a == b, a != b, a > b, a >= b


@pytest.mark.parametrize(("a", "b"), [
    (X, [0.5, 2.0, 1.7]), (X, X[:2]), (X[:2], X), (X, list(X)), (X, [0.5, NAN, 1.0]), ([], X),
    (tuple(X), (0.5, 1.9, 9.0)), ([(0.5, "a"), [2.0]], [(0.5, "b"), [1.0]]), ([X, 2.0], [X, 1.0]),
])
def test_relations_of_sequences(a, b):
    assert fad.jit(relations, fallback=False)(a, b) == relations(a, b)
    assert fad.jit(lambda x, b: relations(a, b), fallback=False)(1.0, b) == relations(a, b)


def test_items_behind_a_known_difference_are_not_compared():
    def f(x):
        return ("a", x) < ("b", "text")
    assert fad.jit(f, fallback=False)(1.0) is True


class Pair(NamedTuple):
    first: float
    second: float


def extremes(x, y):
    return min(Pair(x, y), Pair(y, x)), max([x, y], [y, x]), min((x, y, x), (x, y))[:2]


@pytest.mark.parametrize(("x", "y"), [(1.0, 2.0), (2.0, 1.0), (-1.0, -1.0)])
def test_extremes_of_tuples(x, y):
    assert fad.jit(extremes, fallback=False)(x, y) == extremes(x, y)


def searched(x, y):
    return x.count(y), [2.0, y, 1].count(2.0), (y, 2.0).index(2.0), x.index(y), operator.contains(x, y), y in [x, y]


@pytest.mark.parametrize("y", [0.5, 2.0])
def test_searches(y):
    assert fad.jit(searched, fallback=False)(X, y) == searched(X, y)


def test_a_value_that_is_not_there():
    with pytest.raises(ValueError, match="not in list"):
        fad.jit(lambda x, y: x.index(y), fallback=False)(X, 0.7)


def table(xs, ys, x):
    """A table with linear interpolation."""
    k = bisect.bisect_right(xs, x) - 1
    t = (x - xs[k]) / (xs[k + 1] - xs[k])
    return ys[k] * (1 - t) + ys[k + 1] * t


def halving(xs, x):
    low, high = 0, len(xs) - 1
    while low < high:
        middle = (low + high) // 2
        if xs[middle] < x:
            low = middle + 1
        else:
            high = middle
    return xs[low] * x


@pytest.mark.parametrize("make", [list, tuple])
def test_an_argument_is_indexed_by_a_traced_integer(make):
    xs, ys = make([0.0, 1.0, 3.0, 4.0]), make([2.0, 5.0, 1.0, 0.0])
    got = fad.grad(table, argnums=(1, 2), fallback=False)(xs, ys, 1.5)
    assert got == (make([0.0, 0.75, 0.25, 0.0]), -2.0)
    assert fad.grad(halving, argnums=1, fallback=False)(xs, 1.5) == 3.0
    assert fad.jit(lambda xs, k: xs[-int(k)], fallback=False)(xs, 2.2) == 3.0
    with pytest.raises(IndexError):
        fad.jit(lambda xs, k: xs[int(k)], fallback=False)(xs, 7.0)


def test_a_truth_value_is_an_index():
    """True is 1; an array would take it for a mask."""
    def f(x):
        sums = [0.0, 0.0]
        for v in x:
            sums[v > 1.0] += v
        return sums, [x[0], x[1] * 2.0][x[2] > 1.0], (1.0, 2.0)[x[1] > 2.0]
    assert fad.jit(f, fallback=False)(X) == f(X)


def test_an_array_is_no_index_of_a_list():
    with pytest.raises(TypeError):
        fad.jit(lambda x: [x[0], x[1]][np.argsort(x)])(np.array(X))


def in_order(x):
    found = []
    for v in x:
        bisect.insort(found, v)
    found.insert(int(x[0] * 2) - 3, x[1])                     # from the end, and beyond it
    found.insert(int(x[1] * 9), x[2] ** 2)
    return found


def rows_and_pairs(x):
    rows, pairs = [x[:2], x[1:] * 2], [(x[0], 1)]
    rows.insert(int(x[0] > x[1]), x[:2] ** 2)
    pairs.insert(int(x[2] > 1.0), (x[1], 2))
    return rows, pairs


@pytest.mark.parametrize("f", [in_order, rows_and_pairs], ids=lambda f: f.__name__)
def test_a_list_gets_an_element_where_data_say(f):
    for x in (np.array([0.5, 2.0, 1.5]), np.array([2.5, 0.1, 0.7])):
        for y, wanted in zip(fad.jit(f, fallback=False)(x), f(x), strict=True):
            np.testing.assert_array_equal(y, wanted)
    slopes = fad.jacobian(lambda x: np.array(in_order(x)), fallback=False)(x)
    np.testing.assert_allclose(slopes, [[0, 0, 2 * x[2]], [0, 1, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]], atol=1e-12)


def _left_by(f, make):
    """What a function of operator's returns for two arguments, and what the first one holds then."""
    def run(x):
        a, b = make(x)
        y = f(a, b)
        return y, a
    return run


CHANGING = sorted(name for name in operator.__all__ if name.startswith("i") and hasattr(operator, name[1:]))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", CHANGING)
def test_functions_of_operator_that_change_an_argument(name):
    """Each of them, of lists, arrays, sets and numbers, where Python takes them."""
    f = getattr(operator, name)
    taken = 0
    for make in (lambda x: ([x, 1.0], [x * 2]), lambda x: ([x, 1.0], 2), lambda x: (np.array([x, 2.0]), 2.0),
                 lambda x: (np.array([3, 5]), 2), lambda x: (np.eye(2) * x, np.eye(2)), lambda x: ({3, 5}, {5, 7}),
                 lambda x: (x, 2.0)):
        run = _left_by(f, make)
        try:
            wanted = run(1.5)
        except (TypeError, ValueError):
            continue
        taken += 1
        np.testing.assert_equal(fad.jit(run)(1.5), wanted)
    assert taken
