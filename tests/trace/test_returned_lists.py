"""Lists that loops fill and a function returns: one array of the program each, whatever their length, taken apart as
Python would have made them."""
from typing import NamedTuple

import numpy as np
import pytest

import fad

from ..turns import in_tiers

X = np.random.default_rng(3).normal(size=5)


class Pair(NamedTuple):
    first: float
    second: np.ndarray


def numpys_numbers(x):
    out = []
    for i in range(len(x)):
        out.append(x[i] * np.sin(x[i]))
    return out


def pythons_numbers(x):
    out, total = [], 0.0
    for v in x:
        total += float(v) * 2
        out.append(total)
    return out


def other_numbers(x):
    counts, signs, roots, singles, pythons = [], [], [], [], []
    for i in range(len(x)):
        counts.append(i * i)
        signs.append(x[i] > 0)
        roots.append(complex(x[i]) * 1j)
        singles.append(np.float32(x[i]))
        pythons.append(bool(x[i] > 0.5))
    return counts, {"signs": signs, "roots": roots}, singles, pythons


def arrays(x):
    out = [x[:2]]
    for i in range(len(x)):
        out.append(x[:2] * i)
    return out, out[-1]


def records(x):
    out = []
    for i in range(len(x)):
        out.append((i, Pair(float(x[i]), x * x[i])))
    return out


def lists_of_lists(x):
    out = []
    for i in range(len(x)):
        row = []
        for j in range(3):
            row.append(float(x[i]) * j)
        out.append(row)
    return out


def some_of_them(x):
    out = []
    for v in x:
        if v > 0:
            out.append(v)
    return out


def nobody_knows_how_many(x):
    out, v = [], x[0]
    while abs(v) < 100.0:
        v = v * 1.5 + 1.0
        out.append(v)
    return out, len(out)


def none_at_all(x):
    out = []
    for v in x:
        if v > 1e9:
            out.append(v)
    return out


def made_by_a_comprehension(x):
    return [v * i for i, v in enumerate(x)]


def changed_afterwards(x):
    out = []
    for v in x:
        out.append(v)
    out[2] += 1.0
    out.append(7.0)
    out.pop()
    return out


def require_same(ours, pythons):
    """Equal, and of the same types all the way down."""
    assert type(ours) is type(pythons)
    if isinstance(pythons, (list, tuple)):
        assert len(ours) == len(pythons)
        for a, b in zip(ours, pythons):
            require_same(a, b)
    elif isinstance(pythons, dict):
        assert list(ours) == list(pythons)
        require_same(list(ours.values()), list(pythons.values()))
    else:
        np.testing.assert_allclose(ours, pythons, rtol=1e-6 if np.asarray(pythons).dtype == np.float32 else 1e-13)
        assert np.asarray(ours).dtype == np.asarray(pythons).dtype


FUNCTIONS = [numpys_numbers, pythons_numbers, other_numbers, arrays, records, lists_of_lists, some_of_them,
             nobody_knows_how_many, none_at_all,
             made_by_a_comprehension, changed_afterwards]


@pytest.mark.parametrize("f, tier", in_tiers(FUNCTIONS))
def test_a_returned_list_is_as_python_makes_it(f, tier):
    compiled = fad.jit(f, compile=tier, fallback=False)
    for n in (5, 4, 12):
        x = np.random.default_rng(n).normal(size=n)
        require_same(compiled(x), f(x))
        require_same(compiled(x), f(x))                      # once more, on the fast path


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_one_program_serves_lists_of_all_lengths(f):
    compiled = fad.jit(f, compile="never")
    for n in (9, 14, 30):
        compiled(np.ones(n) * 0.3)
    assert compiled.traces == 1


def test_a_long_list_is_one_result_of_the_kernel():
    program, _ = fad.jit(numpys_numbers).program_for(np.ones(1000))
    assert len(program.traced.func.outputs) == 1


def test_arrays_of_a_returned_list_are_arrays_of_their_own():
    first, second, *_ = fad.jit(arrays, compile="now")(X)[0]
    first[:] = 9.0
    np.testing.assert_array_equal(second, X[:2] * 0)
    assert first.flags.owndata


def test_a_jitted_function_that_is_called_by_a_traced_one_returns_a_list():
    inner = fad.jit(numpys_numbers)

    def loss(x):
        values = inner(x)
        values.append(x[0] * 3.0)
        return np.sum(np.array(values) ** 2)
    gradient = fad.grad(loss)(X)
    np.testing.assert_allclose(gradient, 2 * X * np.sin(X) * (np.sin(X) + X * np.cos(X)) + 18 * X[0] * np.eye(5)[0],
                               rtol=1e-12)
    require_same(fad.jit(lambda x: inner(x)[1:3], compile="now")(X), numpys_numbers(X)[1:3])


def test_derivatives_of_lists():
    for j in (fad.jacobian(numpys_numbers)(X), fad.functional.jacobian(numpys_numbers, X)):
        np.testing.assert_allclose(np.stack(j), np.diag(np.sin(X) + X * np.cos(X)), rtol=1e-12)


def test_elements_may_have_parts_without_numbers():
    def f(x):
        found = []
        for v in x:
            if v > 0.5:
                found.append((v, None, ()))
        return found
    x = np.array([0.4, 0.7, 1.3])
    for policy in ("now", "never"):
        assert fad.jit(f, compile=policy, fallback=False)(x) == f(x)
