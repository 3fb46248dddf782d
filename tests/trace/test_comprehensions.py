"""Functions made by comprehensions share the comprehension's variables, as in Python."""
# ruff: noqa: B023  that they see the last item is what is tested
import functools

import numpy as np
import pytest

import fad

from ..turns import in_tiers


def functions_of_a_comprehension(x):
    late = [lambda t: t ** (k + 1) for k in range(3)]
    early = [lambda t, k=k: t ** (k + 1) for k in range(3)]
    return sum([f(x[0]) for f in late]) + sum([f(x[1]) for f in early])


def functions_of_an_array(x):
    fs = [lambda t: t * v for v in x]
    return fs[0](2.0) + fs[1](3.0)


def functions_of_pairs(x):
    fs = [(lambda t: t * v + i, v) for i, v in enumerate(x)]
    return sum([f(v) for f, v in fs])


def functions_of_some(x):
    fs = [lambda t: t * k for k in range(9) if k % 4 == 1]
    return fs[0](x[0]) + fs[1](x[1])


def functions_in_functions(x):
    fs = [[lambda: x[i] * x[j] for j in range(2)] for i in range(3)]
    return fs[0][0]() + fs[1][1]()


def partial_functions(x):
    fs = [functools.partial(lambda a, b: a * b * k, x[k]) for k in range(3)]
    return fs[0](2.0) + fs[1](3.0)


def generators_of_a_comprehension(x):
    gs = [(v * k for v in x) for k in range(3)]
    return sum(gs[0]) + sum(list(gs[1]))


@pytest.mark.parametrize("f",
                         [functions_of_a_comprehension, functions_of_an_array, functions_of_pairs, functions_of_some,
                          functions_in_functions,
                               partial_functions, generators_of_a_comprehension])
def test_functions_made_by_a_comprehension_share_its_variables(f):
    x = np.array([0.7, 1.3, 0.4])
    np.testing.assert_allclose(fad.jit(f)(x), f(x))
    np.testing.assert_allclose(fad.grad(f)(x), [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)], atol=1e-8)


def _three(x):
    return [x[0], x[1] * 2, x[2]]


SELECTED = {
    "sum": lambda x: sum(v for v in _three(x) if v > 1),
    "list": lambda x: [v * x[0] for v in _three(x) if v > 1 and v < 2.9],
    "rows": lambda x: [v for v in [x[:2], x[1:] * 2] if v[0] > 1],
    "zip": lambda x: sum(w * v for w, v in zip((1.0, 2.0, 3.0), _three(x)) if v > 1),
    "enumerate": lambda x: [i for i, v in enumerate(_three(x)) if v > 1],
    "dict": lambda x: sum(v for v in {"a": x[0], "b": x[1]}.values() if v > 1),
    "any": lambda x: (any(v > 1 for v in _three(x)), max(v for v in _three(x) if v > 0.1)),
    "known": lambda x: [v for v in [x[0], None, x[1]] if v is not None],
    "by place": lambda x: [v for k, v in enumerate(_three(x)) if k != 1],
    "mean": lambda x: (np.mean([v for v in _three(x) if v > 1]), len([v for v in _three(x) if v > 1])),
}


@pytest.mark.parametrize("name, policy", in_tiers(SELECTED))
def test_items_of_a_plain_list_are_selected_by_data(name, policy):
    f = SELECTED[name]
    with fad.config.using(compile=policy):
        g = fad.jit(f, fallback=False)
        for x in (np.array([0.5, 1.5, 2.5]), np.array([1.5, 0.2, 0.5])):
            assert repr(g(x)) == repr(f(x))


OUTSIDE = np.array([1.0, 2.0, 3.0])


def after_an_array_of_its_own(x):
    s = x[0] * np.array([1.0, 2.0, 3.0])[1]
    kept = [k for k in range(6) if k not in (0, 1, 3)]
    return s * np.arange(6.0)[kept].sum()


def after_an_array_from_outside(x):
    s = x @ OUTSIDE
    kept = [k for k in range(3) if k != 1]
    return s * x[kept].sum()


def in_a_loop_on_traced_values(x):
    for _ in range(2):
        parts = [x[[i for i, o in enumerate([0, 1, 0]) if o == k]].sum() for k in (0, 1)]
        x = x * parts[0] + OUTSIDE * parts[1]
    return x.sum()


def in_a_branch_on_traced_values(x):
    if x[0] > 0:
        x = x * x[[k for k in range(3) if k % 2]].sum()
    return x @ OUTSIDE


@pytest.mark.parametrize("f", [after_an_array_of_its_own, after_an_array_from_outside, in_a_loop_on_traced_values,
                               in_a_branch_on_traced_values], ids=lambda f: f.__name__)
def test_a_condition_that_no_data_decide_is_plain_pythons(f):
    """Whatever the function computes around it, and in each function that a program has."""
    x = np.array([0.7, 1.3, -0.4])
    step = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(fad.jit(f, fallback=False)(x), f(x), rtol=1e-13)
    np.testing.assert_allclose(fad.grad(f, fallback=False)(x), step, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(fad.jvp(f, (x,), (x,))[1], np.dot(step, x), rtol=1e-7)


def test_the_error_of_a_list_whose_length_data_decide():
    def f(x):
        kept = [k for k in range(3) if x[k] > 0]
        return np.sum(np.arange(3.0)[kept]) * x[0]
    with pytest.raises(fad.util.errors.ConcreteValueError, match="a list of computed length"):
        fad.grad(f, fallback=False)(OUTSIDE)
    with pytest.warns(fad.FallbackWarning):
        assert fad.grad(f)(OUTSIDE)[0] == f(OUTSIDE)


# -- comprehensions that bind names of the function ---------------------------------------------------------------


def in_the_condition(x):
    return sum([y * 2 for v in x if (y := v ** 2) > 0.0]) + y


def in_any(x):
    if any((w := v ** 2) > 1.0 for v in x):
        return w * x[0]
    return w * x[1]


def in_all(x):
    return x[0] * w if all((w := v ** 2) < 1.0 for v in x) else w * x[1]


def in_while(x):
    y = x[0]
    while any((last := y * v) < 2.0 for v in x):
        y = y * 1.5
    return last + y


def in_the_element(x):
    total = 0.0
    return sum(total := total + v for v in x) + total


def nested(x):
    rows = [[(z := v * w) for w in x if (q := w + v) > 0.0] for v in x]
    return sum(map(sum, rows)) + z + q


def in_a_dict(x):
    s = 0.0
    for k in range(3):
        d = {i: (t := v * k) for i, v in enumerate(x)}
        s = s + t + d[1]
    return s


def of_no_items(x):
    [b := v for v in x[3:]]
    try:
        return b * 1.0
    except NameError:
        return x[0] ** 2


def in_a_function_within(x):
    def within(z):
        return max((u := v * 2) for v in z) + u
    return within(x) + sum((p := v) * 2 for v in x) + p


def another_any(x):
    any = sum
    return any((q := v) * 2 for v in x) + q


@pytest.mark.parametrize("f", [in_the_condition, in_any, in_all, in_while, in_the_element, nested, in_a_dict,
                               of_no_items, in_a_function_within, another_any])
def test_comprehensions_that_bind_names_of_the_function(f):
    for x in (np.array([0.3, 0.7, 1.1]), np.array([0.3, 0.7, 0.8])):
        value, slope = fad.value_and_grad(f, fallback=f is another_any)(x)
        np.testing.assert_allclose(value, f(x))
        np.testing.assert_allclose(slope, [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)], atol=1e-6)
