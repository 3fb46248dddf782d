"""Names that are of two dtypes after a branch or a loop: what follows computes what plain Python does, or the function
runs on the tape."""
import numpy as np
import pytest

import fad
from fad.util.errors import FallbackWarning, UnstageableError

from ..turns import in_tiers

X32 = np.array([0.1, 0.7], np.float32)


def asks_for_the_class(c):
    t = 1 if c > 0 else 2.5
    return 3.0 if isinstance(t, int) else 4.0


def asks_for_the_type(c):
    t = 0 if c > 0 else 0.0
    return 3.0 if type(t) is int else 4.0


def indexes(c):
    t = 1 if c > 0 else 2
    u = t if c > 0 else 1.5
    return np.arange(3.0)[u if c > 0 else 1]


def root_of_a_negative_number(c):
    return np.sqrt(-1.0 if c > 0 else 1j)


def single_digits(c):
    if c > 0:
        t = np.float32(0.1)
    else:
        t = np.float64(0.2)
    return t + 0.1


def wraps_around(c):
    t = np.int8(100)
    if c < 0:
        t = np.int64(1000)
    return t + np.int8(100)


def beside_single_numbers(c):
    t = np.float64(1) if c > 0 else 2.5
    return X32 * t


def rounds_what_is_assigned(c):
    t = np.array([1, 2]) if c > 0 else np.array([1.5, 2.0])
    t[0] = 0.7
    return t


def floor_of_a_quotient(c):
    t, u = (7, 2) if c > 0 else (7.5, 2)
    return (t // u) / 3 + (4 if isinstance(t // u, float) else 0)


def truth_values_add(c):
    t = np.bool_(c > 2) if c > 0 else 3
    return t + t + np.True_


def in_a_helper(c):
    def helper(c):
        return 1 if c > 0 else 1.5
    return helper(c) * 2.0 if isinstance(helper(c), float) else c


def an_iteration_later(c):
    t, s = 0.0, 0.0
    for _ in range(3):
        s += 5.0 if isinstance(t, int) else 1.0
        t = 1 if c > s else 2.5
    return s


def behind_a_loop_without_iterations(c):
    t = 1
    while c > t:
        t = t * 2.5
    return 3.0 if isinstance(t, int) else 4.0


def digits_of_a_python_number(c):
    t = 0.1 if c > 0 else X32[0]
    return t * 3.0


def a_mask_that_no_iteration_replaces(c):
    m, y = X32 > 0.5, X32 * 1.0
    for _ in range(3):
        if c < 0:
            m = np.array([1, 1])
    y[m] = 0.0
    return y


def max_of_two_kinds(c):
    return max(np.arange(3.0)[1] * c, 0.3) * X32


def chosen_by_cond(c):
    t = fad.cond(c > 0, lambda: 1, lambda: 2.5)
    return 3.0 if isinstance(t, int) else 4.0


MINDS = [asks_for_the_class, asks_for_the_type, indexes, root_of_a_negative_number, single_digits, wraps_around,
         beside_single_numbers, rounds_what_is_assigned, floor_of_a_quotient, truth_values_add, in_a_helper,
         an_iteration_later, behind_a_loop_without_iterations, digits_of_a_python_number,
         a_mask_that_no_iteration_replaces, max_of_two_kinds]


@pytest.mark.parametrize("f, compile", in_tiers(MINDS))
def test_what_follows_depends_on_the_dtype(f, compile):
    g = fad.jit(f, compile=compile)
    with pytest.warns(FallbackWarning, match="on one way and"):
        with np.errstate(all="ignore"):
            g(3.0)
    for c in (3.0, -1.0):
        with np.errstate(all="ignore"):
            y, expected = g(c), f(c)
        assert np.asarray(y).dtype == np.asarray(expected).dtype
        np.testing.assert_array_equal(y, expected)


def test_what_cond_returns_is_of_two_kinds():
    with pytest.raises(UnstageableError, match="on one way and"):
        fad.jit(chosen_by_cond, fallback=False)(1.0)


def test_the_refusal_names_the_line_and_the_dtypes():
    with pytest.raises(UnstageableError, match=r"t is f32 on one way and f64 on another") as error:
        fad.jit(single_digits, fallback=False)(1.0)
    assert error.value.where.text == "if c > 0:"


def test_an_error_that_only_one_dtype_has():
    def f(c):
        t = np.array([1, 2]) if c > 0 else np.array([1.5, 2.0])
        t += 0.5
        return t
    g = fad.jit(f)
    with pytest.warns(FallbackWarning):
        np.testing.assert_array_equal(g(-1.0), [2.0, 2.5])
    with pytest.raises(TypeError, match="Cannot cast ufunc 'add'"):
        g(1.0)


def test_an_array_from_outside_is_an_input_once():
    """It is read anew in the trace that supposes another kind."""
    def f(x):
        counts, b = np.arange(3, 3 + x.shape[0], dtype=np.int32), False
        if x[1] > 0.3:
            b = complex(x[2])
        np.add.at(counts, [0, 0], 1)
        return x > 0.3, b
    m, b = fad.jit(f, compile="now")(np.array([0.1, 0.2, 0.7, 0.9]))
    assert m.tolist() == [False, False, True, True] and b == 0


def test_a_number_that_has_no_room_where_it_is_not_written():
    def f(x):
        levels = np.array([250, 3], np.uint8)
        for _ in x:
            if x.sum() > 10.0:
                levels[0] = 300
        return levels
    np.testing.assert_array_equal(fad.jit(f)(np.ones(2)), [250, 3])
    with pytest.raises(OverflowError, match="out of bounds for uint8"):
        fad.jit(f)(np.full(2, 9.0))


def starts_as_an_int(x):
    s = 0
    if x[0] > 0:
        s = x[0] * 2
    return (s + x[1]) / 2 * s


def the_size_is_asked_for_behind_it(x):
    return x[1] + (x[2] if x[0] > 0 else 0) + any(v > 0.6 for v in [u * u for u in x])


def a_truth_value_or_a_number(x):
    s = 0.0
    for v in x:
        s += (v > 0.3 and v) or 0.1 * v
    return s


def zero_where_negative(x):
    total = 0
    for v in x:
        total += v * v if v > 0 else 0
    return total


def first_int_then_float(x):
    best, at = -1, 0
    for k in range(len(x)):
        if x[k] > best:
            best, at = x[k], k
    return best * 2.0 + at


def no_iterations(x):
    s = 0
    while x[0] > s:
        s = s + 0.5
    return s * x[1] + s ** 2 - np.exp(s)


def an_early_return(x):
    if x[0] > 0:
        return 0
    return x[1] * 3


def a_truth_value(x):
    found = False
    for v in x:
        if v > 1:
            found = v > 2
    return x[0] if found else x[1]


def from_python_or_numpy(x):
    t = 0.5 if x[0] > 0 else x[1]
    return np.sin(t) * t


def a_length_as_a_condition(x):
    if x[0] > 0 and len(x):
        return x[1]
    return x[2] if not (x[1] > 1 or x.size) else x[0] * x[1]


def a_counter_as_a_condition(x):
    left, total = 5, 0.0
    while left and total < 9 or total < 0:
        total, left = total + np.abs(x[0]), left - 1
    return total


def flags_as_conditions(x):
    alive, when = [1, 0, 1], [1.0, 2.0, 2.0]
    return sum([v for v, a, t in zip(x, alive, when) if v > -2 and t == 2.0 and a])


def an_assertion(x):
    assert x[0] > 9 or x.size, "nothing"
    return x[0] * x[1]


@pytest.mark.parametrize("f",
                         [starts_as_an_int, the_size_is_asked_for_behind_it, a_truth_value_or_a_number,
                          zero_where_negative, first_int_then_float, no_iterations, an_early_return,
                          a_truth_value, from_python_or_numpy, a_length_as_a_condition, a_counter_as_a_condition,
                          flags_as_conditions, an_assertion],
                         ids=lambda f: f.__name__)
def test_what_follows_is_the_same_in_each_dtype(f):
    for x in (np.array([1.7, 2.5, -1.0]), np.array([-0.3, 0.8, 2.2])):
        assert fad.jit(f, fallback=False)(x) == pytest.approx(f(x), rel=1e-14)
        if f is not an_early_return:
            step = np.array([(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)])
            np.testing.assert_allclose(fad.grad(f, fallback=False)(x), step, atol=1e-7)


def test_the_operands_of_and_and_or_are_what_they_are_outside_of_tests():
    def f(x):
        kept = x[0] > 0 and len(x)
        return kept * 1.0 if isinstance(kept, int) else -1.0
    x = np.array([1.0, 2.0])
    with pytest.warns(FallbackWarning, match="depends on it"):
        assert fad.jit(f)(x) == f(x) == 2.0
    with pytest.warns(FallbackWarning, match="depends on it"):
        assert fad.jit(f)(-x) == f(-x) == -1.0


def test_truth_is_asked_once():
    asked = []

    class Ready:
        def __bool__(self):
            asked.append(1)
            return True

    def f(x):
        if x.size and Ready() and x.ndim:
            return np.sum(x)
        return 0.0
    assert fad.jit(f, fallback=False)(np.ones(2)) == f(np.ones(2)) == 2.0
    assert len(asked) == 2


def test_a_gradient_through_a_dtype_that_matters():
    def f(x, c):
        t = 1 if c > 0 else 2.5
        return x * x * (3 if isinstance(t, int) else 5)
    with pytest.warns(FallbackWarning, match="on one way and"):
        assert [fad.grad(f)(2.0, c) for c in (1.0, -1.0)] == [12.0, 20.0]


def test_what_is_written_to_is_written_once():
    def f(x, c):
        t = 0
        if c > 0:
            t = x[0]
        x += t
        return np.sum(x) * t
    x = np.array([1.0, 2.0])
    assert fad.jit(f, fallback=False)(x, 1.0) == 5.0
    np.testing.assert_array_equal(x, [2.0, 3.0])
