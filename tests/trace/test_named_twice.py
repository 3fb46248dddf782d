"""What is known by two names is one thing: changed under one name, it is changed under the other, or the function runs
on the tape."""
import warnings

import numpy as np
import pytest

import fad

from ..transforms.support import differences
from .named_twice import P, X


@pytest.mark.parametrize("f", P, ids=[f.__name__ for f in P])
def test_program(f):
    with warnings.catch_warnings(), fad.config.using(compile="never"):
        warnings.simplefilter("ignore", fad.FallbackWarning)
        value, g = fad.value_and_grad(f)(X)
        np.testing.assert_allclose([value, fad.jit(f)(X.copy())], f(X.copy()), rtol=1e-12)
    np.testing.assert_allclose(g, differences(lambda x: f(x.copy()), X), rtol=2e-5, atol=1e-7)


def one_object_throughout(x):
    pair, total = ([x[0]], x[1]), 0.0
    first = pair[0]
    for i in range(len(x)):
        pair = (pair[0], pair[1] * x[i])                      # another tuple, with the very list in it
        pair[0][0] = pair[0][0] + x[i]
        total += first[0]
    first[0] *= 2.0
    return pair[0][0] * total


def either_is_only_read(x):
    a, b = [x[0], x[1]], [x[2], x[3]]
    c = a if x[4] > 0.2 else b
    return c[0] * a[1] + b[0]


def another_in_every_iteration(x):
    state = [0.0, 1.0]
    for i in range(len(x)):
        state = [state[0] + x[i], state[1] * x[i]]
    state[0] += 1.0                                           # there was an iteration: it is none from before the loop
    return state[0] * state[1]


def one_in_both_branches(x):
    a = [x[0]]
    if x[1] > 0.2:
        c, s = a, x[2]
    else:
        c, s = a, x[3]
    c.append(s)
    return sum(a)


class Body:
    def __init__(self, q, p):
        self.q, self.p, self.time = q, p, 0.0


def arrays_of_an_object_with_other_names(x):
    q, p = x[:3] * 1.0, x[3:] * 1.0
    body = Body(q, p)
    for k in range(3):
        for j in range(3):
            body.time = body.time + 0.1
            body.q[j] += body.p[k] * body.time
        body.p = body.p * 0.9
        q[k] *= 0.5
    return body.q @ q + body.p @ p


@pytest.mark.parametrize("f",
                         [one_object_throughout, arrays_of_an_object_with_other_names, either_is_only_read,
                          another_in_every_iteration, one_in_both_branches])
def test_what_is_not_in_doubt_is_staged(f):
    with fad.config.using(compile="never"):
        value, g = fad.value_and_grad(f, fallback=False)(X)
    np.testing.assert_allclose(value, f(X), rtol=1e-12)
    np.testing.assert_allclose(g, differences(f, X), rtol=2e-5, atol=1e-7)


def test_the_error_names_the_line_that_leaves_it_open():
    def f(x):
        a, b = [x[0]], [x[1]]
        c = a if x[2] > 0.2 else b
        c[0] = x[3]
        return a[0] + b[0]
    with pytest.raises(fad.FadError, match="(?s)known by two names.*where.*c = a if"):
        fad.grad(f, fallback=False)(X)
