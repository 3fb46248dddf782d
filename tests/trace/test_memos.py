"""Functions that keep what they computed for the last points, called there again: the derivative is that of the
function without the memo."""
import functools
import warnings

import numpy as np
import pytest

import fad
from fad.ir.live import is_point

X = np.array([0.7, 1.3])


def work(x):
    return np.array([x[0] ** 2 * x[1], np.sin(x[1])])


def plain(x):
    return np.sum(work(x) ** 2)


class Memo:
    """A model that remembers what it made of the last point."""

    def __init__(self):
        self.x, self.made, self.kept = None, None, []

    def __call__(self, x):
        self.update(x)
        return np.sum(self.made ** 2)


class LastPoint(Memo):
    def update(self, x):
        if self.x is None or not np.array_equal(x, self.x):
            self.x, self.made = x.copy(), work(x)


class InPlace(Memo):
    def __init__(self):
        self.x, self.made = np.full(2, np.nan), np.zeros(2)

    def update(self, x):
        if np.any(x != self.x):
            self.x[:], self.made[:] = x, work(x)


class Pair(Memo):
    def update(self, x):
        if self.x is None or np.any(self.x[0] != x):
            self.x = x.copy(), work(x)
        self.made = self.x[1]


class Entry(Memo):
    def update(self, x):
        if self.x is None or not (self.x["x"] == x).all():
            self.x = {"x": x.copy(), "made": work(x)}
        self.made = self.x["made"]


class Numbers(Memo):
    def update(self, x):
        if self.x is None or x[0] != self.x or x[1] != self.y:
            self.x, self.y, self.made = x[0], x[1], work(x)


class Tuple(Memo):
    def update(self, x):
        if self.x != tuple(x):
            self.x, self.made = tuple(x), work(x)


class Listed(Memo):
    def update(self, x):
        if self.x != x.tolist():
            self.x, self.made = x.tolist(), work(x)


class History(Memo):
    def update(self, x):
        for y, made in self.kept:
            if np.array_equal(x, y):
                self.made = made
                return
        self.made = work(x)
        self.kept.append((x.copy(), self.made))


class Invalidated(Memo):
    @property
    def of_x(self):
        if self.made is None:
            self.made = work(self.x)
        return self.made

    def __call__(self, x):
        if self.x is None or not np.array_equal(x, self.x):
            self.x, self.made = x.copy(), None
        return np.sum(self.of_x ** 2)


class Table(Memo):
    def __init__(self):
        self.kept = {}

    def update(self, x):
        key = tuple(x)
        if key not in self.kept:
            self.kept[key] = work(x)
        self.made = self.kept[key]


def closure():
    last = made = None

    def f(x):
        nonlocal last, made
        if last is None or not np.array_equal(last, x):
            last, made = x.copy(), work(x)
        return np.sum(made ** 2)
    return f


def decorated():
    @functools.lru_cache
    def of(a, b):
        return work(np.array([a, b]))
    return lambda x: np.sum(of(x[0], x[1]) ** 2)


MEMOS = [LastPoint, InPlace, Pair, Entry, Numbers, Tuple, Listed, History, Invalidated, Table, closure, decorated]


@pytest.mark.parametrize("make", MEMOS, ids=lambda m: m.__name__)
@pytest.mark.filterwarnings("ignore::fad.util.errors.FallbackWarning")
def test_a_memo_has_the_derivative_of_what_it_keeps(make):
    g = fad.grad(plain)(X)
    f = make()
    assert f(X) == plain(X)
    np.testing.assert_allclose(fad.grad(f)(X), g)
    slope = fad.grad(f := make())
    for _ in range(3):
        np.testing.assert_allclose(slope(X), g)
    value, again = fad.value_and_grad(f)(X)
    np.testing.assert_allclose((value, *again), (plain(X), *g))
    np.testing.assert_allclose(fad.jvp(f, (X,), (np.array([1.0, 2.0]),))[1], g @ [1.0, 2.0])
    f(X)
    np.testing.assert_allclose(fad.hessian(f)(X), fad.hessian(plain)(X))
    assert f(X + 1) == plain(X + 1) and f(X) == plain(X)         # and it remembers numbers


@pytest.mark.parametrize("make", [LastPoint, InPlace, Pair, Entry, Listed, History, Table], ids=lambda m: m.__name__)
@pytest.mark.filterwarnings("ignore::fad.util.errors.FallbackWarning")
def test_a_memo_of_different_whole_numbers_has_the_derivative_of_what_it_keeps(make):
    f, x = make(), np.array([1.0, 2.0])
    f(x)
    np.testing.assert_allclose(fad.grad(f)(x), fad.grad(plain)(x))


@pytest.mark.parametrize("make", [LastPoint, Entry], ids=lambda m: m.__name__)
@pytest.mark.filterwarnings("ignore::fad.util.errors.FallbackWarning")
def test_a_memo_of_a_complex_point_has_the_derivative_of_what_it_keeps(make):
    def size(f):
        return lambda z: np.real(f(z) * np.conj(f(z)))
    f, z = make(), np.array([0.5 + 0.3j, 1.2])
    f(z)
    np.testing.assert_allclose(fad.grad(size(f))(z), fad.grad(size(plain))(z))


def test_a_memo_knows_numbers_by_what_they_are_and_not_by_their_size():
    """Two numbers that are equal now have two derivatives."""
    def f(x):
        kept = {}

        def square(a):
            if a not in kept:
                kept[a] = a ** 2
            return kept[a]
        return 3 * square(x[0]) + 5 * square(x[1]) + square(x[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_allclose(fad.grad(f)(np.ones(2)), [8.0, 10.0])


def test_a_comparison_with_what_nobody_replaces_is_as_it_is():
    knots = np.array([0.7, 2.5])

    def f(x):
        return np.sum(np.where(x == knots, 1.0, (x - 0.7) ** 2 / np.where(x == knots, 1.0, x - knots)))
    np.testing.assert_allclose(fad.value_and_grad(f)(np.array([0.7, 1.5]))[0], f(np.array([0.7, 1.5])))


@pytest.mark.parametrize("x, expected", [
    (0.5, True), (np.float32(-1.5), True), (1.5j, True), ([2.0, 0.25], True), ([np.inf, 0.5], True),
    (3.0, False), (-0.0, False), (np.inf, False), (-np.inf, False), (np.nan, False), (2 - 1j, False),
    ([1.0, np.inf, np.nan], False), ([], False), (np.ones(3), False), (np.arange(3), True), (True, False)])
def test_a_point_is_more_than_one_whole_number_and_infinities(x, expected):
    assert is_point(np.asarray(x)) is is_point(x) is expected


@pytest.mark.filterwarnings("ignore::fad.util.errors.FallbackWarning")
@pytest.mark.parametrize("best", [np.inf, 1.0])
def test_an_infinity_that_a_search_starts_from_is_no_point(best):
    """Compared as a number, in a list and in an array."""
    class Search:
        def __init__(self):
            self.best, self.row, self.array = best, [best], np.array([best])

        def __call__(self, x):
            y = x[0] * x[1]
            first = [self.best == y, self.row == [y], np.array_equal(self.array, y[None])]
            self.best, self.row, self.array = y, [y], y[None].copy()
            return y * 2.0 if any(first) else y * 3.0
    with np.errstate(all="ignore"):
        at = np.array([best, 1.0])
        assert Search()(at) == 2.0 * best
        np.testing.assert_array_equal(fad.grad(Search())(at), [2.0, 2.0 * best])
