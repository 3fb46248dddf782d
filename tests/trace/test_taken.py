"""Loops, branches and `try` that take from an iterator which was there before: each item is there once."""
import itertools
import warnings

import numpy as np
import pytest

import fad

SOURCES = {
    "map": lambda x: map(abs, [0.4, -0.3, 0.2]), "map of traced": lambda x: map(abs, [0.4, -0.3, x[2]]),
    "list": lambda x: iter([0.4, -0.3, 0.2]), "zip": lambda x: zip([1.0, 2.0], [3.0, 4.0]),
    "filter": lambda x: filter(None, [1.0, 2.0]), "chain": lambda x: itertools.chain([1.0], [2.0]),
    "islice": lambda x: itertools.islice([1.0, 2.0], 2), "generator": lambda x: (v for v in [1.0, 2.0]),
    "enumerate": lambda x: enumerate([1.0, 2.0]), "reversed": lambda x: reversed([1.0, 2.0]),
    "accumulate": lambda x: itertools.accumulate([1.0, 2.0]), "range": lambda x: iter(range(3)),
    "dict": lambda x: iter({1: 2, 3: 4}), "zip of traced": lambda x: zip([1.0, 2.0], x), "array": lambda x: iter(x),
    "enumerate of traced": lambda x: enumerate(x), "repeat": lambda x: itertools.repeat(1.0, 2),
    "product": lambda x: itertools.product([1.0, 2.0]), "set": lambda x: iter({1, 2}),
    "items": lambda x: iter({1: x[0]}.items()), "tee": lambda x: itertools.tee([1.0, 2.0])[0],
    "groups": lambda x: itertools.groupby([1.0, 1.0, 2.0]),
}


def counted(it):
    k = 0
    for _ in it:
        k += 1
    return k


def unpacked(it):
    *items, = it
    return len(items)


def filled(way):
    def count(it):
        items = []
        way(items, it)
        return len(items)
    return count


def added(items, it):
    items += it


def replaced(items, it):
    items[:] = it


USES = {
    "a display": lambda it: len([*it]), "list": lambda it: len(list(it)), "tuple": lambda it: len(tuple(it)),
    "sum": lambda it: sum(1 for _ in it), "a loop": counted, "next": lambda it: 0.0 if next(it, None) is None else 1.0,
    "a call": lambda it: (lambda *items: len(items))(*it), "a set": lambda it: len({*it}),
    "a comprehension": lambda it: len([v is it for v in it]), "a dict": lambda it: len(dict.fromkeys(it)),
    "*": unpacked,
    "in": lambda it: 1.0 * (99 in it), "any": lambda it: 1.0 * any(v is None for v in it),
    "zip": lambda it: len(list(zip(it, [1, 2]))), "sorted": lambda it: len(sorted(it, key=str)),
    "extend": filled(list.extend), "+=": filled(added), "a slice": filled(replaced),
    "max": lambda it: len(max(map(str, it), default="")), "join": lambda it: len("".join(map(str, it))),
    "accumulate": lambda it: len(list(itertools.accumulate(it, lambda a, b: a))),
}


def in_loop(use, it, x):
    s = x[0]
    for _ in range(3):
        s += use(it) * x[1]
    return s


def in_branch(use, it, x):
    s = x[0]
    if x[0] > 0.1:
        s += use(it) * x[1]
    return s + use(it) * x[2]


def in_loop_that_data_end(use, it, x):
    s = x[0]
    for _ in range(3):
        s += use(it) * x[1]
        if s > 0.7:
            break
    return s + use(it) * x[2]


def in_try(use, it, x):
    try:
        s = use(it) * x[1] + 1.0 / float(x[0])
    except ZeroDivisionError:
        s = x[2]
    return s + use(it) * x[2]


PLACES = [in_loop, in_branch, in_loop_that_data_end, in_try]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("source", SOURCES)
def test_each_item_is_there_once(source, place):
    """Each place meets half of the uses: another half for the next source, so that all pairs of two are met."""
    half = (list(SOURCES).index(source) + PLACES.index(place)) % 2
    for use in list(USES)[half::2]:
        def f(x, use=use):
            return place(USES[use], SOURCES[source](x), x)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fad.FallbackWarning)
            g = fad.value_and_grad(f, compile="never")
            for x in (np.array([0.3, 0.23, 0.5]), np.array([0.05, 0.23, 0.5])):
                np.testing.assert_allclose(g(x)[0], f(x), err_msg=use)


class Counter:
    def __init__(self):
        self.k = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.k += 1
        if self.k > 2:
            raise StopIteration
        return self.k


def test_next_of_a_users_iterator_has_a_default():
    def f(x):
        it = Counter()
        return x * sum(next(it, 5) for _ in range(4))
    assert fad.value_and_grad(f)(0.5) == (6.5, 13.0)
