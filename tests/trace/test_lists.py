"""Lists filled in loops: rolled whatever the number of iterations, with the values, derivatives and aliasing that
Python gives them."""
import copy
import functools
import heapq
import operator
from collections import deque
from unittest import mock

import numpy as np
import pytest

import fad
from fad.trace.regions.may_alias import MayAlias, Way

from ..fuzz.text import as_text
from .lists import CASES, COMPILED, IN_WHILE, ON_VECTORS, RNG, ROLLED, P, V, adaptive_steps, trajectory


# for arrays that are changed while they are in a list
@pytest.mark.filterwarnings("ignore::fad.util.errors.FallbackWarning")
@pytest.mark.parametrize(("f", "x", "rest"), [(f, x, rest) for f, x, *rest in CASES])
def test_values_and_derivatives(f, x, rest):
    direction, h = np.random.default_rng(1).normal(size=x.shape), 1e-6
    slope = (f(x + h * direction, *rest) - f(x - h * direction, *rest)) / (2 * h)
    np.testing.assert_allclose(fad.jit(f)(x, *rest), f(x.copy(), *rest), rtol=1e-12)
    gradient = fad.grad(f)(x, *rest)
    np.testing.assert_allclose(np.sum(gradient * direction), slope, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(fad.jvp(lambda x: f(x, *rest), (x,), (direction,))[1], slope, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("f", "x", "rest"), [(f, x, rest) for f, x, *rest in IN_WHILE],
                         ids=lambda f: getattr(f, "__name__", ""))
def test_lists_whose_length_nobody_knows(f, x, rest):
    d, h = np.sin(3 * x), 1e-6

    def slope(f):
        return (f(x + h * d, *rest) - f(x - h * d, *rest)) / (2 * h)
    with as_text():                                           # the text that would be compiled, run by Python
        gradient = fad.grad(f, fallback=False)
        np.testing.assert_allclose(fad.jit(f, fallback=False)(x, *rest), f(x, *rest), rtol=1e-12)
        np.testing.assert_allclose(np.sum(gradient(x, *rest) * d), slope(f), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(fad.jvp(lambda x: gradient(x, *rest), (x,), (d,))[1], slope(gradient), rtol=1e-5,
                                   atol=1e-5)


@pytest.mark.parametrize(("f", "x", "rest"), [(f, x, rest) for f, x, *rest in COMPILED])
def test_compiled(f, x, rest):
    np.testing.assert_allclose(fad.jit(fad.grad(f), compile="now")(x, *rest), fad.grad(f)(x, *rest), rtol=1e-12)


@pytest.mark.parametrize("f", ROLLED)
def test_the_program_does_not_grow_with_the_iterations(f):
    x = V if f in ON_VECTORS else P
    short, long = [len(fad.show(f, x, n).splitlines()) for n in (11, 40)]
    assert long - short <= 4


def test_lists_of_results_are_lists():
    def f(x, n):
        out = []
        for i in range(n):
            out.append(x * i)
        return out
    result = fad.jit(f)(np.ones(2), 12)
    assert type(result) is list
    assert len(result) == 12
    np.testing.assert_array_equal(result[3], 3.0 * np.ones(2))


def test_lists_of_what_is_known_stay_plain():
    def f(x):
        names, places = [], []
        for i in range(0, 12, 2):
            names.append(f"x{i}")
            places.append(i)
        return np.sum(x[places]) + len("".join(names))
    x = RNG.normal(size=12)
    assert fad.jit(f)(x) == pytest.approx(f(x))
    assert len(fad.show(f, x).splitlines()) < 8


def test_the_class_of_a_list_is_list():
    def f(x):
        out = []
        for v in x:
            out.append(2 * v)
        known = type(out) is list and out.__class__ is list and type(out) in (list, tuple) and isinstance(out, list)
        return np.sum(np.array(type(out)(out))) if known else 0.0
    assert fad.jit(f)(V) == pytest.approx(2 * V.sum())
    np.testing.assert_array_equal(fad.grad(f)(V), [2.0, 2.0, 2.0])


def test_second_derivatives():
    h = fad.hessian(trajectory)(P, 10)
    numeric = np.array([(fad.grad(trajectory)(P + e, 10) - fad.grad(trajectory)(P - e, 10)) / 2e-5
                        for e in 1e-5 * np.eye(2)])
    np.testing.assert_allclose(h, numeric, rtol=1e-6, atol=1e-8)


def test_a_deque_is_a_sequence():
    def f(x):
        window, errors = deque([0.0, 0.5], maxlen=2), []
        for v in x:
            window.appendleft(v)
            errors.append(np.array(window) @ np.sin([*window]) + np.sum(window))
        return np.sum(np.array(errors) ** 2) + np.stack(deque([x, 2.0 * x]))[1, 0]
    x = RNG.normal(size=4)
    slope = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(4)]
    np.testing.assert_allclose(fad.jit(f)(x), f(x), rtol=1e-12)
    np.testing.assert_allclose(fad.grad(f)(x), slope, rtol=1e-6)


def test_the_methods_of_lists():
    def f(p, n):
        out, kept = [], [1, 2, 2]
        for i in range(n):
            out.append(p[0] * i)
        out.reverse()
        out.insert(0, p[1])
        out += [p[0]]
        return out[0] * out[1] + out[-1] + kept.count(2) + kept.index(2) + len(out) + out.copy()[2]
    assert fad.jit(f, fallback=False)(P, 6) == pytest.approx(f(P, 6))
    np.testing.assert_allclose(fad.grad(f, fallback=False)(P, 6), [5 * 1.1 + 1.0 + 4.0, 5 * 0.7])


SUMS = [lambda a, b, p: [p[0]] + a, lambda a, b, p: a + [p[0]], lambda a, b, p: a + b,
        lambda a, b, p: [1.0] + a[1:] + [2.0] + b, lambda a, b, p: sum([[p[0]], a, b], []),
        lambda a, b, p: copy.copy(a), lambda a, b, p: copy.deepcopy(b), lambda a, b, p: [len(a), *([0.0] + a)],
        lambda a, b, p: operator.add([p[1]], a),
        lambda a, b, p: heapq.heapify(a) or a, lambda a, b, p: heapq.heapify(a) or heapq.heappush(a, p[0]) or a,
        lambda a, b, p: heapq.heapify(b) or [heapq.heappop(b), heapq.heapreplace(b, p[1] ** 2), *b]]


@pytest.mark.parametrize("joined", SUMS)
def test_sums_and_copies_of_lists(joined):
    """Python's own sum of two lists looks into the second one's memory, past its methods."""
    def f(p):
        filled = []
        for v in p:
            filled.append(2.0 * v)
        return joined(filled, [v * v for v in p], p)
    p = RNG.normal(size=5)
    assert fad.jit(f, fallback=False)(p) == pytest.approx(f(p))
    np.testing.assert_allclose(fad.jvp(lambda p: np.array(f(p)), (p,), (p,))[1],
                               (np.array(f(p + 1e-6 * p)) - np.array(f(p - 1e-6 * p))) / 2e-6, atol=1e-8)


READERS = [lambda a, p: operator.concat([p[0]], a),
           lambda a, p: [p[0] * (a == [2.0 * v for v in p]), p[1] * (a != [2.0 * v for v in p])],
           lambda a, p: [p[0] * (a > [-9.0]), p[0] * ([9.0] < a)]]


@pytest.mark.parametrize("read", READERS)
def test_code_that_looks_into_a_list_is_refused(read):
    """What knows plain lists only is run step by step, where there are such lists."""
    def f(p):
        return read([2.0 * v for v in p], p)
    p = RNG.normal(size=5)
    with pytest.raises(fad.FadError):
        fad.jit(f, fallback=False)(p)
    with pytest.warns(fad.FallbackWarning):
        assert fad.jit(f)(p) == pytest.approx(f(p))


@pytest.mark.parametrize(("f", "x", "rest"), [(trajectory, P, [6]), (adaptive_steps, P, [3])], ids=["for", "while"])
def test_linear_maps_of_loops(f, x, rest):
    """The value does not wait for the tangents, with which it shares a loop."""
    y, push = fad.linearize(lambda x: f(x, *rest), x)
    assert y == pytest.approx(f(x, *rest))
    assert push(x) == pytest.approx(fad.grad(f)(x, *rest) @ x)


def heaviest_pairs(x):
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4) if i + j != 3]
    weights = [x[i] * x[j] for i, j in pairs]
    s = 0.0
    for e in np.argsort(np.array(weights))[2:]:
        i, j = pairs[e]
        s += (i + 2 * j) * weights[e] ** 2
    return s


def test_a_list_over_two_iterables_is_read_by_a_traced_index():
    x = np.array([0.9, 0.4, 1.3, 0.7])
    for y in (x, x[::-1].copy()):
        np.testing.assert_allclose(fad.jit(heaviest_pairs)(y), heaviest_pairs(y), rtol=1e-14)
        g = [(heaviest_pairs(y + d) - heaviest_pairs(y - d)) / 2e-6 for d in 1e-6 * np.eye(4)]
        np.testing.assert_allclose(fad.grad(heaviest_pairs)(y), g, rtol=1e-6)


def test_a_list_and_an_array_add_by_elements_and_extend_where_asked():
    """`+=` is an array, as Python asks the array first; a method of the list, and operator.iconcat, extend it."""
    step = np.array([1.0, 2.0])

    def moved(x):
        place = list(x)
        for _ in range(3):
            place += step
        return np.sum(np.array(place) ** 2)

    def joined(x):
        rows = functools.reduce(operator.iconcat, [x, step, [x[0]]], [])
        rows.extend(x)
        return np.sum(np.array(rows) ** 2 * np.arange(7.0))
    x = np.array([0.3, 0.7])
    for f, slope in ((moved, [6.6, 13.4]), (joined, [2 * 9 * 0.3, 2 * 7 * 0.7])):
        value, gradient = fad.value_and_grad(f, compile="never", fallback=False)(x)
        assert value == pytest.approx(f(x)) and gradient == pytest.approx(slope)


@pytest.mark.parametrize("compile", ["never", "now"])
def test_a_list_is_extended_by_itself(compile):
    """The list gets the two elements that it held before, and no more."""
    def f(x):
        made = [x, 2.0 * x]
        made.extend(made)
        made += made
        operator.iadd(made, made)
        return sum([k * y for k, y in enumerate(made)])

    assert fad.jit(f, compile=compile)(1.5) == f(1.5)
    assert fad.grad(f, compile=compile)(1.5) == pytest.approx(f(1.0))


def test_a_loop_that_takes_from_a_long_list_of_arrays_is_soon_analysed():
    """The loop hands each array on to the place before: the may-alias relation is found in few rounds, not in one for
    each array."""
    fresh = {k: np.zeros(1) for k in range(40)}
    relation = MayAlias()
    relation.begin(fresh)
    ends = {k: (Way(min(k + 1, 39)),) for k in range(40)}
    relation._size = rounds = mock.Mock(side_effect=relation._size)
    assert relation.add(ends)
    assert len(relation.outer[0]) == 40 and len(relation.pairs) == 40 * 39 / 2
    assert rounds.call_count < 12
