"""eval, locals and vars in captured functions see the variables that they see in Python."""
# ruff: noqa: B007, F841 - variables that only texts read
import numpy as np
import pytest

import fad

from ..transforms.support import differences
from ..turns import in_tiers
from .one_program import check_examples, check_one_program

rate = 2.0
MODEL = "x[0] * np.exp(-x[1] * t)"


def of_a_variable(x):
    y = 2.0 * x
    return eval("np.sum(y ** 2)")


def of_a_parameter(x, model=MODEL):
    t = np.linspace(0.0, 1.0, 5)
    return np.sum(eval(model) ** 2)


def in_a_loop(x):
    s = 0.0
    for i in range(50):
        s += eval("x[0] * i + x[1] ** 2 * rate")
    return s


def with_a_branch(x):
    low = -1.0
    return eval("x[0] ** 2 if x[0] > low * x[1] else 3 * x[2]")


def with_a_loop(x):
    return helper(eval("halved(x)"))


def halved(y):
    s = y[0] * y[1]
    while s > 0.5:
        s = s * 0.5
    return s


def helper(y):
    return y * rate


def one_text_of_several(x):
    total = 0.0
    for kind in ("x[0]", "x[1] ** 2", "helper(x[2])"):
        total += eval(kind)
    return total


def its_variables(x):
    a, b = x[0] * 2, x[1]
    named = locals()
    return named["a"] * named["b"] + vars()["a"]


def of_the_function_around(x):
    scale = x[0]

    def inner(y):
        return scale * eval("y * scale")
    return inner(x[1])


def bound_in_both_branches(x):
    if x[0] > x[1]:
        y = x[0]
    else:
        y = x[2] * 3
    return eval("y ** 2")


def bound_on_one_path(x):
    if len(x) > 2:
        y = x[0]
    return eval("y ** 2")


def of_a_computed_global(x):
    total = 0.0
    for name in ("halved", "helper"):
        total += globals()[name](x)
    return np.sum(total) * globals()["rate"]


CASES = [of_a_computed_global, of_a_variable, of_a_parameter, in_a_loop, with_a_branch, with_a_loop,
         one_text_of_several, its_variables, of_the_function_around, bound_in_both_branches, bound_on_one_path]
POINTS = [np.array([0.8, 0.3, 0.4]), np.array([-0.7, 0.5, 0.2]), np.array([1.6, 0.9, 0.1])]


@pytest.mark.parametrize("f, policy", in_tiers(CASES))
def test_a_text_is_part_of_the_program(f, policy):
    check_one_program(f, POINTS, policy)


@pytest.mark.parametrize("f", [in_a_loop, with_a_branch, bound_in_both_branches])
def test_examples_take_their_own_path_in_a_text(f):
    check_examples(f, POINTS)


def test_a_name_of_the_function_goes_before_a_global_one():
    def f(x):
        rate = 3.0
        return x * eval("rate") + 0 * rate
    assert fad.grad(f, fallback=False)(2.0) == 3.0


def test_global_names_that_a_text_reads_are_guarded(monkeypatch):
    gradient = fad.grad(lambda x: 0 * x + helper(x))
    evaluated = fad.grad(in_a_loop, fallback=False)
    x = np.ones(3)
    for value in (2.0, 5.0, 7.0):
        monkeypatch.setitem(globals(), "rate", value)
        assert gradient(1.0) == value
        np.testing.assert_allclose(evaluated(x), [1225.0, 100 * value, 0.0])


def test_a_text_from_an_object_is_guarded():
    class Model:
        text = "np.sum(x ** 2)"

        def loss(self, x):
            return eval(self.text)
    model, x = Model(), np.array([0.5, 2.0])
    gradient = fad.grad(model.loss, fallback=False)
    np.testing.assert_allclose(gradient(x), 2 * x)
    model.text = "np.sum(x ** 3)"
    np.testing.assert_allclose(gradient(x), 3 * x ** 2)


def bound_by_data(x):
    if x[0] > 0:
        y = x[0]
    return eval("y ** 2")


def in_a_lambda(x):
    return (lambda z: eval("z * 2"))(x[0])


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
def test_a_lambda_with_an_eval_runs_on_the_tape():
    f = in_a_lambda
    np.testing.assert_allclose(fad.grad(f)(POINTS[0]), differences(f, POINTS[0]), rtol=1e-6, atol=1e-8)


def test_a_variable_without_a_value_is_an_error_as_in_python():
    value = fad.jit(bound_by_data)
    assert value(POINTS[0]) == bound_by_data(POINTS[0])
    with pytest.raises(NameError):
        value(POINTS[1])


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
def test_a_comprehension_in_a_text_sees_the_variables_where_python_lets_it():
    def f(x):
        k = 2
        return x * eval("[k for _ in 'a'][0]") + 0 * k
    try:
        f(1.0)
    except NameError:                                         # before Python 3.12
        with pytest.raises((fad.FadError, NameError)):
            fad.grad(f)(1.0)
    else:
        assert fad.grad(f)(1.0) == 2.0


def test_an_eval_of_the_users_own_is_the_users():
    def f(x, eval=lambda text: 4.0):
        return x * eval("x")
    assert fad.grad(f)(1.0) == 4.0


def bound_behind(x):
    known = locals()
    y = known["x"][0] * 2
    return y * eval("y")


def deleted_in_front(x, scale=2.0):
    y = x[0] * scale
    del scale
    return eval("y ** 2")


def bound_within(x):
    total = x[0]

    def add(y):
        nonlocal total
        total = eval("total + y")
    add(x[1])
    return eval("total ** 2") * locals()["total"]


@pytest.mark.parametrize("f", [bound_behind, deleted_in_front, bound_within])
def test_variables_without_a_value_are_left_out(f):
    check_one_program(f, POINTS, "never")


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
def test_names_that_depend_on_data_are_those_of_the_call():
    def f(x):
        if x[0] > 0:
            y = x[0]
        return x[1] * len(locals())
    assert [fad.grad(f)(x)[1] for x in POINTS] == [2, 1, 2]
    with pytest.raises(fad.FadError, match="no value on some paths"):
        fad.grad(f, fallback=False)(POINTS[0])
