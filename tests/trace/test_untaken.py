"""What a branch or a loop would raise if the program got there: tracing goes every way, and only the way that is taken
may raise."""
import contextlib
import math
import warnings

import numpy as np
import pytest

import fad
from fad.util.errors import FallbackWarning, InternalErrorWarning

from ..turns import in_tiers

W = np.ones(6)
TABLE = {"a": 1.0}
X = np.array([0.31, -0.62, 0.83, 0.14, -0.27, 0.55])
TAKEN = X + 2.0


def an_index_of_an_array_of_known_extent(x):
    s = 0.5
    if x[0] > 2.0:
        s += W[29] * x[0]
    return s + x @ x


def an_index_in_a_loop_of_no_iterations(x):
    a, s, k = np.ones(6), 0.5, 0
    while k < len(x) and x[k] > 2.0:
        s += a[29] * x[0]
        k += 1
    return s + x @ x


def an_array_of_indices(x):
    s = 0.5
    if x[0] > 2.0:
        s += np.sum(W[np.array([1, 29])]) * x[0]
    return s + x @ x


def an_assertion(x):
    s = x @ x
    if x[0] > 2.0:
        assert len(W) == 5, "five of them"
        s += x[0]
    return s


def two_extents(x):
    s = x @ x
    if x[0] > 2.0:
        s += np.dot(np.ones(3), np.ones(4)) * x[0]
    return s


def an_extent_that_is_known_later(x):
    return fad.jit(lambda u, v: u @ v + (u[:3] @ v if u[0] > 2.0 else 0.0))(x, x)


def a_reshape(x):
    return x @ x + (np.sum(W.reshape(4, 2)) * x[0] if x[0] > 2.0 else 0.0)


def a_quotient_of_ints(x):
    n = len(W)
    return x @ x + (5 // (n - 6) if x[0] > 2.0 else 0.0)


def a_key(x):
    s = x @ x
    for k in range(3):
        if x[k] > 2.0:
            s += TABLE["b"]
    return s


def a_text_as_a_number(x):
    s = x @ x
    for k in range(3):
        if x[k] > 2.0:
            s += float("abc")
    return s


def raised_in_an_inner_loop(x):
    s, k = x @ x, 0
    while k < len(x) and x[k] > 2.0:
        raise KeyError("large")
    return s


def a_list_that_a_loop_filled(x):
    found = []
    for j in range(len(x)):
        found.append(0.1 * j)
    s = x @ x
    if x[0] > 2.0:
        s += found[20] * x[1]
    return s


def after_changes_of_its_own(x):
    s, seen, y = 0.0, [1.0], x.copy()
    if x[0] > 2.0:
        y[0] = 5.0
        seen.append(2.0)
        extra = x[1]
        s += seen[7] * extra
    else:
        extra = 0.0
    return s + y @ x + len(seen) - 1.0 + extra


def an_operand(x):
    s = x @ x
    if x[0] > 2.0 and x[1] > (7, 8)[len(x)]:
        s += 1.0
    return s


def in_an_iteration(x):
    s = 0.0
    for k in range(len(x)):
        s += x[k] * x[k] if x[k] < 2.0 else (1.0, 2.0)[len(x)]
    return s


def on_every_way_of_a_way(x):
    s = x @ x
    if x[0] > 2.0:
        s += math.sqrt(-1.0) if x[1] > 0.0 else TABLE["c"]
    return s


def fail():
    raise RuntimeError("a helper that only raises")


def what_a_helper_would_return(x):
    s = x @ x
    if x[0] > 2.0:
        s += np.sin(fail()) + fail()[0]
    return s


def the_items_of_what_a_helper_would_return(x):
    s = x @ x
    if x[0] > 2.0:
        for v in fail():
            s += v
    return s if x[1] < 2.0 else fail()


PROGRAMS = [an_index_of_an_array_of_known_extent, an_index_in_a_loop_of_no_iterations, an_array_of_indices,
            an_assertion, two_extents, an_extent_that_is_known_later, a_reshape, a_quotient_of_ints, a_key,
            a_text_as_a_number, raised_in_an_inner_loop, a_list_that_a_loop_filled, after_changes_of_its_own,
            an_operand, in_an_iteration, on_every_way_of_a_way, what_a_helper_would_return,
            the_items_of_what_a_helper_would_return]
STAGED = [an_index_of_an_array_of_known_extent, an_index_in_a_loop_of_no_iterations, an_array_of_indices, an_assertion,
          a_quotient_of_ints, a_key, a_text_as_a_number, a_list_that_a_loop_filled, after_changes_of_its_own,
          an_operand, in_an_iteration, on_every_way_of_a_way,
            what_a_helper_would_return, the_items_of_what_a_helper_would_return]


@contextlib.contextmanager
def refusals():
    """Without a word of what runs on the tape, and with an error for every defect."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        warnings.simplefilter("error", InternalErrorWarning)
        yield


@pytest.mark.parametrize("f, compile", in_tiers(PROGRAMS))
def test_a_way_that_is_not_taken_raises_nothing(f, compile):
    with refusals(), fad.config.using(compile=compile, fallback=f not in STAGED):
        assert np.isclose(fad.jit(f)(X), f(X))
        np.testing.assert_allclose(fad.grad(f)(X), 2 * X)
        np.testing.assert_allclose(fad.hessian(f)(X), 2 * np.eye(6), atol=1e-12)
        np.testing.assert_allclose(fad.jvp(f, (X,), (X,))[1], 2 * X @ X)


@pytest.mark.parametrize("f", [f for f in PROGRAMS if f is not an_extent_that_is_known_later], ids=lambda f: f.__name__)
def test_in_a_batch_each_takes_its_own_way(f):
    with refusals():
        np.testing.assert_allclose(fad.vmap(f)(np.stack([X, 2 * X])), [f(X), f(2 * X)])
        np.testing.assert_allclose(fad.vmap(fad.grad(f))(np.stack([X, 2 * X])), [2 * X, 4 * X])


@pytest.mark.parametrize("make", [fad.jit, fad.grad, fad.hessian])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_a_way_that_is_taken_raises(f, make):
    with pytest.raises(Exception) as expected:
        f(TAKEN)
    kind = next(c for c in type(expected.value).__mro__ if c.__module__ == "builtins")
    with refusals(), pytest.raises(kind):
        make(f)(TAKEN)


def test_the_error_names_the_line():
    with pytest.raises(IndexError, match=r"W\[29\]"):
        fad.grad(an_index_of_an_array_of_known_extent)(TAKEN)
    with refusals(), pytest.raises(ValueError, match=r"np\.ones\(4\)"):
        fad.grad(two_extents)(TAKEN)


# -- handlers --------------------------------------------------------------------------------------

def handled(x):
    try:
        s = W[29] * x[0] if x[0] > 2.0 else x[0] * 3.0
    except IndexError:
        s = 2.0 * x[0]
    return s


def handled_by_all(x):
    s = 0.0
    try:
        for k in range(3):
            if x[k] > 2.0:
                s += TABLE["b"]
            s += x[k]
    except Exception:
        s = 2.0 * x[0]
    return s


def suppressed(x):
    s = x[1]
    with contextlib.suppress(ZeroDivisionError):
        if x[0] > 2.0:
            s += 1 / (len(W) - 6)
        s += x[0]
    return s


class Lenient:
    def __enter__(self):
        return 2.0

    def __exit__(self, *error):
        return True


def swallowed(x):
    s = x[1]
    with Lenient() as k, contextlib.nullcontext():
        if x[0] > 2.0:
            s += TABLE["b"]
        s += x[0] * k
    return s


def suppressed_as_the_program_runs(x):
    s, k = x[1], int(x[0] * 20)
    with contextlib.suppress(IndexError):
        s = x[0]
        s += W[k] * x[0]
    return s


def handled_where_it_is_raised(x):
    s = 0.0
    for k in range(4):
        try:
            s += TABLE["b"]
        except KeyError:
            s += 2.0 * x[k]
    return s


@pytest.mark.parametrize("f",
                         [handled, handled_by_all, suppressed, swallowed, suppressed_as_the_program_runs,
                          handled_where_it_is_raised],
                         ids=lambda f: f.__name__)
def test_handlers_see_what_is_raised_and_not_what_would_be(f):
    for x in (X, TAKEN):
        with refusals():
            assert np.isclose(fad.jit(f)(x), f(x))
            differences = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(6)]
            np.testing.assert_allclose(fad.grad(f)(x), differences, atol=1e-8)


def wrong_in_the_first_iteration_only(x):
    seen, s = {}, 0.0
    for k in range(3):
        if x[k] > 0.0:
            s += seen["last"] * x[k]
        seen["last"] = 2.0
    return s


def test_what_python_raises_before_a_name_is_there_comes_as_pythons_own():
    x = np.array([-0.5, 0.4, 0.3])
    with refusals():
        assert fad.jit(wrong_in_the_first_iteration_only)(x) == pytest.approx(1.4)
        np.testing.assert_allclose(fad.grad(wrong_in_the_first_iteration_only)(x), [0.0, 2.0, 2.0])
        with pytest.raises(KeyError, match="last"):
            fad.grad(wrong_in_the_first_iteration_only)(-x)


def test_a_program_without_the_tape_says_what_python_said():
    with pytest.raises(IndexError, match="list index out of range") as told:
        fad.grad(a_list_that_a_loop_filled, fallback=False)(TAKEN)
    assert "on this way" in str(told.value)


def test_an_error_that_takes_more_than_a_text_is_raised_as_its_kind():
    def f(x):
        if x > 2.0:
            raise UnicodeDecodeError("utf8", b"x", 0, 1, "wrong")
        return x * x
    assert fad.grad(f)(1.0) == 2.0
    with pytest.raises(UnicodeError, match="wrong"):
        fad.grad(f)(3.0)


class Node:
    def __init__(self, value=None, next=None):
        self.value, self.next = value, next


NONE = {
    "an operator": lambda x, p=None: p - x if x > 2.0 else x * x,
    "a comparison": lambda x, p=None: (x if p < x else 0.0) if x > 2.0 else x * x,
    "an item": lambda x, p=None: p[0] * x if x > 2.0 else x * x,
    "a call": lambda x, p=None: p(x) if x > 2.0 else x * x,
    "an attribute": lambda x, p=None: Node(x).next.value * x if x > 2.0 else x * x,
}


@pytest.mark.parametrize("name", NONE)
def test_what_none_cannot_do_stands_on_a_side_that_is_not_taken(name):
    f = NONE[name]
    g = fad.grad(f, fallback=False)
    assert g(1.5) == 3.0
    with pytest.raises((TypeError, AttributeError), match="NoneType"), refusals():
        fad.grad(f)(3.0)


def of_a_column(x):
    u = x[:2].reshape((2, 1))
    n = 0
    while u[0] < 3 and u[1] < 7:
        u, n = u * 1.5, n + 1
    return x.sum() * n if u[0] > 3.2 or abs(u[1]) >= 8 else x[0]


@pytest.mark.parametrize("policy", ["never", "now"])
def test_an_array_of_one_element_decides(policy):
    with fad.config.using(compile=policy):
        g = fad.value_and_grad(of_a_column, fallback=False)
        for x in (np.array([0.5, 1.5, 2.5]), np.array([2.5, 7.5, 2.5])):
            value, slope = g(x)
            assert value == pytest.approx(of_a_column(x))
            want = [(of_a_column(x + e) - of_a_column(x - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
            np.testing.assert_allclose(slope, want, atol=1e-7)


def test_an_array_of_more_or_no_elements_does_not():
    for shape in (2, 0):
        with pytest.raises(ValueError, match="truth value"), refusals():
            fad.jit(lambda x: 1.0 if x > 0.5 else 2.0)(np.ones(shape))
