"""Functions made by comprehensions share the comprehension's variables, as in Python."""
# ruff: noqa: B023  that they see the last item is what is tested
import functools

import numpy as np
import pytest

import fad


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
