"""Loops of which some iterations are traced by themselves: they end where they should, and the items are there for the
next loop, or gone if they were an iterator's."""
import warnings
from collections import deque

import numpy as np
import pytest

import fad

FACTORS = {0: 1.0, 1: 2.0, 2: 3.0}
XS = [np.array(x) for x in ([0.5, 0.6, 0.7], [-0.5, 0.6, 0.7], [0.5, -0.6, 0.7], [0.5, 0.6, -0.7], [-0.5, -0.6, -0.7])]


def after_a_first_iteration_of_its_own(x):
    s = 0.0
    for k in range(3):
        if x[k] < 0:
            break
        s = s + FACTORS[k] * x[k] + 1.0
    return s


def by_else(x):
    s = 0.0
    for k in range(3):
        if x[k] < 0:
            break
        s = s + FACTORS[k] * x[k] + 1.0
    else:
        s = s * 2.0
    return s


def by_return(x):
    for k in range(3):
        if x[k] < 0:
            return x[2] * FACTORS[k]
    return x[0] * x[1]


def while_with_an_iterator(x):
    s, k, items = 0.0, 0, iter([1.0, 2.0, 3.0])
    while k < 2:
        s = s + next(items) * x[k]
        k += 1
        if x[k] < 0:
            break
    return s


def while_names_are_left(x):
    s, k, names = 0.0, 0, ["a", "b"]
    while names:
        s = s + {"a": 1.0, "b": 2.0}[names.pop()] * x[k]
        k += 1
        if x[k] < 0:
            break
    return s


def a_range_of_two_loops(x):
    items, a, s = range(len(x)), None, 0.0
    for k in items:
        a = x * k if a is None else a + 1.0
    for k in items:
        s = s + x[k] * k + x[k]
    return s + np.sum(a)


def an_iterator_that_is_used_up(x):
    s, items = 0.0, enumerate(x)
    pairs = zip(items, x)
    for (k, u), v in pairs:
        s = s + v * k + u * v
    for k, _ in items:
        s = s + 9.0 * k
    return s


def an_iterator_that_goes_on(x):
    s, items = 0.0, enumerate(x)
    for _, v in items:
        s = s + v * v
        if v < 0:
            break
    for k, v in items:
        s = s + k * v
    return s


def an_iterator_from_outside(x):
    s, items = 0.0, enumerate(x)
    for i in range(3):
        for k, v in items:
            s = s + k * v * v + i
    return s


def over_pairs_with_names(x):
    s, total = {"a": 0.0, "b": 0.0, "c": 0.0}, 0.0
    for v, (name, factor) in zip([x[0], x[1], x[2]], {"a": 1.0, "b": 2.0, "c": 3.0}.items()):
        total = total + v
        if total < 0.3:
            s[name] = s[name] + factor * v
            break
    return s["a"] + s["b"] * x[0] + s["c"] * x[1] + total


def over_numbered_names_backwards(x):
    s = 0.0
    for k, name in reversed(list(enumerate("abc"))):
        if x[k] < 0.0:
            break
        s = s + x[k] * ord(name)
    else:
        s = s * x[0]
    return s


def pairs_that_go_on(x):
    s, pairs = 0.0, zip([x[0], x[1], x[2]], "abc")
    for v, name in pairs:
        s = s + v * ord(name)
        if v < 0.0:
            break
    for v, _ in pairs:
        s = s + 9.0 * v
    return s


def pairs_that_another_iterator_has_taken(x):
    s, pairs = 0.0, zip([1.0, 2.0, 3.0], "abc")
    for k, (v, name) in enumerate(pairs):
        s = s + v * x[k] * ord(name)
        if x[k] < 0.0:
            break
    return s + sum([9.0 * v * x[0] for v, _ in pairs])


def while_of_numbers_that_data_end(x):
    times, k = [0.1], 0
    while True:
        if k > 3:
            break
        k += 1
        times.append(0.1)
        if x[0] < 0.0:
            break
    return x[0] + 0.3 * np.sum(np.array(times)) * k


STAGED = [over_pairs_with_names, over_numbered_names_backwards, after_a_first_iteration_of_its_own, by_else, by_return,
          a_range_of_two_loops]
ON_THE_TAPE = [while_of_numbers_that_data_end, while_with_an_iterator, while_names_are_left,
               an_iterator_that_is_used_up, an_iterator_that_goes_on,
               an_iterator_from_outside,
               pairs_that_go_on, pairs_that_another_iterator_has_taken]


@pytest.mark.parametrize("f", [*STAGED, *ON_THE_TAPE], ids=lambda f: f.__name__)
def test_loops(f):
    with warnings.catch_warnings():
        warnings.simplefilter("error" if f in STAGED else "ignore", fad.FallbackWarning)
        compiled, gradient = fad.jit(f), fad.grad(f)
        for x in XS:
            np.testing.assert_allclose(compiled(x), f(x), rtol=1e-12)
            slope = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
            np.testing.assert_allclose(gradient(x), slope, rtol=1e-6, atol=1e-6)


SOURCES = {
    "list": lambda x: [0.5, x[0], 0.7],
    "dict": lambda x: {0.5: 1, 0.6: 2, 0.7: 3},
    "values": lambda x: {"a": 0.5, "b": x[0], "c": 0.7}.values(),
    "set": lambda x: {0.5},
    "deque": lambda x: deque([0.5, 0.6, x[1]]),
    "objects": lambda x: np.array([0.5, 0.6, 0.7], object),
    "text": lambda x: "abc",
    "range": lambda x: range(3),
    "array": lambda x: x[:3],
    "zip": lambda x: zip([0.5, x[0], 0.7], "abc"),
    "enumerate": lambda x: enumerate([0.5, x[0], 0.7], 2),
    "reversed": lambda x: reversed([0.5, x[0], 0.7]),
    "enumerate of zip": lambda x: enumerate(zip((0.5, 0.6, 0.7), [x[0], x[1], 0.7])),
    "iterator": lambda x: iter([0.5, x[0], 0.7]),
    "generator": lambda x: (2.0 * v for v in [0.5, x[0], 0.7]),
}


@pytest.mark.parametrize("source", SOURCES)
def test_a_loop_whose_iterations_are_tried_more_than_once_takes_each_item(source):
    items = SOURCES[source]

    def f(x):
        rows, count = [x * 1.0], 0.0
        for item in items(x):
            v = item if isinstance(item, (float, np.floating)) else 0.3
            rows.append(x * v)
            rows[-1][0] = v + x[1]
            count += 1.0
            if rows[-1][1] > 0.41:
                break
        return np.sum(np.array(rows) ** 2) * count
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fad.FallbackWarning)
        for x in XS[:3]:
            value, gradient = fad.value_and_grad(f)(x)
            np.testing.assert_allclose(value, f(x), rtol=1e-12)
            slope = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
            np.testing.assert_allclose(gradient, slope, rtol=1e-6, atol=1e-6)


def changing(x):
    sizes, rows = {0: 1.0, 1: 2.0}, [x * 1.0]
    for k in sizes:
        rows.append(x * k)
        sizes[k + 9] = 1.0
        if x[0] > 0.0:
            break
    return np.sum(np.array(rows))


def test_a_dict_that_changes_under_its_loop_is_pythons_error():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fad.FallbackWarning)
        assert fad.jit(changing)(XS[0]) == changing(XS[0])
        with pytest.raises(RuntimeError, match="changed size"):
            fad.jit(changing)(XS[1])
