"""Names that are bound on some paths only: read where they have no value, the program raises UnboundLocalError, as
Python does."""
import warnings

import numpy as np
import pytest

import fad

from ..turns import in_tiers


def in_one_branch(x):
    if x[0] > 0:
        y = x * 2
    return y.sum()


def under_the_same_condition(x):
    if x[0] > 0:
        y = x[1]
    if x[0] > 0:
        return y * 2
    return x.sum()


def of_some_iterations(x):
    for v in x:
        if v > 0.5:
            last = v * 2
    return last


def of_a_while(x):
    i = 0
    while x[i] > 0 and i < 2:
        z = x[i] * 3
        i += 1
    return z + i


def behind_a_flag(x):
    found = False
    for i in range(3):
        if x[i] > 0.5:
            best, found = i, True
            break
    if found:
        return x[best] * best
    return -x.sum()


def loop_variable(x):
    for i in range(x.shape[0] - 1):
        t = x[i]
    return t + i


def perhaps_no_iteration(x):
    for i in range(int(x[0] + 1)):
        y = x[1] * i
    return y


def read_in_a_loop(x):
    if x[0] > 0:
        y = x[1]
    elif x[1] > 0:
        y = 3.0
    s = 0.0
    for k in range(3):
        if x[0] > 0 or x[1] > 0:
            s += y * x[k]
    return s


def bound_before_or_in_a_loop(x):
    if x[0] > 0:
        y = x[1]
    z = 0.0
    while z < 3:
        if z > 1:
            y = z
        z += x[2] * x[2] + 0.3
    return y * z


def added_to_in_a_loop(x):
    if x[0] > 0:
        s = 0.0
    for v in x:
        s = s + v
    return s


def written_to(x):
    for i in range(3):
        if x[i] > 0:
            w = x * i
        w[0] = 3.0
    return w.sum()


def times_three(v):
    return v * 3


def a_function(x):
    if x[0] > 0:
        g = times_three
    return g(x[1])


def a_function_behind_a_loop(x):
    for v in x:
        if v > 0.5:
            g = times_three
    return g(x[1])


def none_in_one_branch(x):
    if x[0] > 0:
        limit = None
    return x[1] if limit is None else x[2]


def none_behind_a_loop(x):
    for k in range(int(x[2] + 1)):
        limit = None if k else None
    return x[1] if limit is None else x[2]


def a_text(x):
    if x[0] > 0:
        name = "abc"
    return x[1] * len(f"{name}!")


def a_tuple_with_a_text(x):
    if x[0] > 0:
        pair = (x[1], "a", None)
    return pair[0] * len(pair[1])


def read_in_a_closure(x):
    if x[0] > 0:
        y = x[1]

    def inner(v):
        return y * v
    return inner(x[2])


def read_in_a_generator(x):
    if x[0] > 0:
        y = x[1]

    def inner(v):
        yield y * v
        yield y
    return sum(inner(x[2]))


def read_in_a_class(x):
    if x[0] > 0:
        y = x[1]

    class Holder:
        z = y
    return Holder.z * 2


def deleted(x):
    y = x[1]
    del y
    if x[0] > 0:
        y = x[2]
    return y * 2


def added_to(x):
    if x[0] > 0:
        s = x[1]
    s += 1
    return s


def bound_by_a_function_within(x):
    def inner(v):
        nonlocal y
        if v > 0:
            y = v * v
    if False:
        y = 0
    inner(x[0])
    return y * 2


def taken_in(x):
    if x[0] > 0:
        y = x[1]
    try:
        r = y
    except NameError:
        r = x[2]
    return r * r


PROGRAMS = [in_one_branch, under_the_same_condition, of_some_iterations, of_a_while, behind_a_flag, loop_variable,
            perhaps_no_iteration, read_in_a_loop, bound_before_or_in_a_loop, added_to_in_a_loop, written_to, a_function,
            a_function_behind_a_loop, none_in_one_branch, none_behind_a_loop, a_text, a_tuple_with_a_text,
            read_in_a_closure, read_in_a_generator, read_in_a_class, deleted, added_to, bound_by_a_function_within,
            taken_in]
XS = [np.array(x) for x in ([0.7, 0.2, 0.6], [-0.7, 0.2, 0.6], [-0.7, -0.2, -0.6], [0.1, 0.2, 0.3], [2.1, 1.0, 1.0],
                            [-1.5, 2.0, 0.9])]


def outcome(f, x):
    try:
        return f(x.copy())
    except NameError:
        return None


def left_to_the_function_around(x):
    def inner(v):
        nonlocal y
        if v > 0:
            y = v * v
        return v
    if x is None:
        y = 0
    fad.grad(inner)(x[0])
    return y * 2


def handled_as_it_returns(x):
    for v in x:
        if v > 0.5:
            found = v * v
    try:
        return found
    except NameError:
        return x[1]


def handled_as_it_is_named(x):
    if x[0] > 0.0:
        found = x[0] * x[2]
    try:
        r = found
    except UnboundLocalError:
        r = x[1]
    return 2.0 * r


def asked_for_by_name(x):
    if x[0] > 0.0:
        scale = 3.0
    return x[1] * (scale if "scale" in locals() else 2.0)


def asked_for_in_text(x):
    if x[0] > 0.0:
        scale = 3.0                                           # noqa: F841 - the text reads it
    return x[1] * eval("scale if 'scale' in dir() else 2.0")


@pytest.mark.filterwarnings("ignore::fad.util.errors.FallbackWarning")
@pytest.mark.parametrize("f", [handled_as_it_returns, handled_as_it_is_named, asked_for_by_name, asked_for_in_text],
                         ids=lambda f: f.__name__)
def test_code_that_asks_which_names_have_a_value(f):
    for x in XS:
        assert np.isclose(fad.jit(f)(x), f(x))
        slope = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
        np.testing.assert_allclose(fad.grad(f)(x), slope, rtol=1e-6, atol=1e-6)


@pytest.mark.filterwarnings("ignore::fad.util.errors.FallbackWarning")
@pytest.mark.parametrize("x", XS)
def test_a_variable_that_a_differentiated_function_may_bind(x):
    assert outcome(fad.jit(left_to_the_function_around), x) == outcome(left_to_the_function_around, x)


@pytest.mark.parametrize("f, policy", in_tiers(PROGRAMS))
def test_program(f, policy):
    with fad.config.using(compile=policy):
        compiled, gradient = fad.jit(f, fallback=False), fad.grad(f, fallback=False)
        for x in XS:
            value = outcome(f, x)
            if value is None:
                for g in (compiled, gradient):
                    with pytest.raises(UnboundLocalError, match="before assignment"):
                        g(x)
                continue
            np.testing.assert_allclose(compiled(x), value, rtol=1e-12)
            slope = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
            np.testing.assert_allclose(gradient(x), slope, rtol=1e-6, atol=1e-6)


def an_array_and_then_the_items_of_another(x):
    s, u = 0.0, x[:2]
    for k in range(int(4.0 * x[0])):
        for j in range(k):
            for u in x[1:]:
                s += u * u * (j + 1.0)
    return s + np.sum(u) * x[0]


def test_a_name_that_a_loop_may_bind_to_an_item_where_it_was_an_array_runs_on_the_tape():
    f = an_array_and_then_the_items_of_another
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fad.FallbackWarning)
        for x in (np.array([0.2, 0.5, 0.7]), np.array([0.9, 0.5, 0.7])):
            assert fad.jit(f)(x) == pytest.approx(f(x))
            np.testing.assert_allclose(fad.grad(f)(x), [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)],
                                       rtol=1e-6)


def deleted_at_the_end(x):
    s = 0.0
    for k in range(x.shape[0]):
        u = x[k]
        s += u
        del u
    return s


def a_text_deleted(x):
    u = "c"
    for _ in range(x.shape[0]):
        del u
    return x.sum()


def a_number_deleted(x):
    u = x[0]
    for _ in range(x.shape[0]):
        del u
    return x.sum()


def deleted_by_data(x):
    u = 1.0
    if x[0] > 0.0:
        del u
    if x[1] > 0.0:
        del u
    return x.sum()


@pytest.mark.parametrize("f", [deleted_at_the_end, a_text_deleted, a_number_deleted, deleted_by_data],
                         ids=lambda f: f.__name__)
def test_a_variable_is_deleted_once(f):
    for x in (np.array([1.0, 2.0, 3.0]), np.array([1.0, -2.0]), np.array([-1.0]), np.array([-1.0, 2.0])):
        try:
            expected = f(x)
        except (UnboundLocalError, IndexError) as error:
            with pytest.raises((NameError, IndexError) if isinstance(error, NameError) else IndexError):
                fad.jit(f)(x)
        else:
            assert np.isclose(fad.jit(f)(x), expected)
