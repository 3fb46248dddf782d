"""Rewriting keeps what plain Python means, and the user's lines."""
import functools

import numpy as np
import pytest

import fad
from fad.trace.tracing import trace
from fad.util.errors import SideEffectError


def lines_of(f, x):
    return {e.where.text for e in trace(f, [x]).func.equations if e.where is not None}


def test_equations_carry_the_users_line():
    def f(x):
        if x[0] > 0:
            y = x[1] * 2.5                                    # the line that is wanted
        else:
            y = x[0]
        return y
    regions = [r for e in trace(f, [np.ones(2)]).func.equations for r in e.regions]
    assert any("the line that is wanted" in e.where.text for r in regions for e in r.equations)


def test_lambdas_on_one_line_are_told_apart_by_their_constants():
    fs = [lambda n: 2 ** n[0], lambda n: 2.0 ** n[0], lambda n: [2 * k for k in n][1], lambda n: [3 * k for k in n][1],
          lambda n: n[0] * 0.0, lambda n: n[0] * -0.0]
    for f in fs:
        y, found = f(np.array([3, 4])), fad.jit(f)(np.array([3, 4]))
        assert repr(found) == repr(y)


def test_lambdas_on_one_line_are_told_apart():
    fs = [lambda x: x[0] if x[0] > 0 else -x[0], lambda x: x[0] * 3 if x[1] > 0 else x[1]]
    x = np.array([-2.0, 1.0])
    assert [float(fad.jit(f)(x)) for f in fs] == [2.0, -6.0]


def test_plain_values_keep_plain_meaning():
    seen = []

    def f(x, flag=None):
        for name in ("a", "b"):
            seen.append(name)
        return np.sum(x) if flag is None or flag == "no" else x[0]
    fad.jit(f)(np.ones(3))
    assert seen == ["a", "b"]


def test_decorated_functions_and_methods():
    def twice(f):
        @functools.wraps(f)
        def wrapped(*args):
            return f(*args) * 2
        return wrapped

    class Model:
        def __init__(self, k):
            self.__k = k                                      # a private name, which classes spell in their own way

        @twice
        def loss(self, x):
            s = 0.0
            for v in x:
                if v > self.__k:
                    s += v * v
            return s
    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(fad.grad(Model(1.5).loss)(x), [0.0, 8.0, 12.0])


def test_without_source_a_straight_function_still_traces():
    scope = {"np": np}
    exec("def f(x):\n    return np.sum(np.sin(x) * x)", scope)
    x = np.array([0.3, 0.4])
    np.testing.assert_allclose(fad.grad(scope["f"])(x), np.cos(x) * x + np.sin(x))


def test_an_assertion_on_data_is_checked_when_it_runs():
    def f(x):
        assert x[0] < 2.0, "too large"
        return x[0] ** 2
    g = fad.jit(f)
    assert g(np.ones(1)) == 1.0
    with pytest.raises(AssertionError, match="too large"):
        g(np.full(1, 3.0))


def test_an_argument_lost_to_a_swap_is_refused_where_it_matters():
    def f(u, v):
        for _ in range(3):
            v[0] = u[0] * 2
            u, v = v, u
        return np.sum(u)
    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    with pytest.raises(SideEffectError):
        fad.jit(f, fallback=False)(x, y)
    assert np.isfinite(fad.grad(f)(x, y)).all()
    np.testing.assert_array_equal(x, [1.0, 2.0])


def test_a_dict_is_not_asked_for_a_traced_key():
    weights = {0: 1.0, 1: 5.0}

    def f(x):
        return sum(weights.get(k, 100.0) * x[k] for k in range(2)) + [weights.get(k, 100.0) * x[k] for k in range(2)][0]
    np.testing.assert_allclose(fad.grad(f)(np.ones(2)), [2.0, 5.0])


def test_ints_past_64_bits_are_pythons():
    def f(x):
        a, b, s = 0, 1, 0.0
        for k in range(x.size):
            a, b = b, a + b
            s += x[k] / b
        return s
    for n in (5, 100, 80):
        np.testing.assert_allclose(fad.jit(f)(np.ones(n)), f(np.ones(n)), rtol=1e-14)


@pytest.mark.parametrize("transform", [fad.jit, fad.grad, fad.hessian])
def test_an_error_in_a_derivative_names_the_line_of_the_function(transform):
    def f(x):
        y = x * 2.0
        return np.sum(y @ np.ones((4, 4)))                    # the line that is wanted
    with pytest.raises(ValueError, match="the line that is wanted"):
        transform(f)(np.ones(3))


def doubled(x):
    return 2 * x


def test_a_comment_behind_a_line_is_no_code():
    """Messages of checks quote the line, comment and all."""
    def f(x, k):
        y = doubled(x[k[0]])  # the k-th (don't count from 1): see "lines_of(f)"
        return y + doubled(x[k[1]])  # 'half (a quote
    x = np.array([1.0, 2.0, 3.0])
    assert fad.jit(f, compile="now")(x, np.array([2, 0])) == 8.0
    with pytest.raises(IndexError, match="out of range"):
        fad.jit(f, compile="now")(x, np.array([2, 3]))
