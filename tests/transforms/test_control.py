"""Derivatives of the ops with regions, to third order: loops of known and unknown length, nested, triangular, with
branches and growing arrays."""
import numpy as np
import pytest

import fad
from fad.ir.check import check
from fad.ir.op import registry as op
from fad.ir.walk import evaluate
from fad.transforms.jvp import jvp

from .support import along, assert_derivatives

X = np.linspace(0.2, 0.9, 6)


def loop(start, stop, body, *init):
    return op["for"].run_regions([start, stop, 1, *init], (body,))


def at(x, *i):
    return op["index"](x, *i, spec=("i",) * len(i), at=0)


def put(x, v, *i):
    return op["update"](x, v, *i, spec=("i",) * len(i), at=0)


def part(x, start, n):
    return op["slice_axis"](x, 0, start, n)


def total(x):
    return op["sum"](x, axes=(0,))


def sin(x):
    return op["sin"](x)


def cubes(x):
    return loop(0, x.shape[0], lambda i, s: (s + at(x, i) * at(x, i) * at(x, i),), 0)[0]


def sines(x):
    return loop(0, x.shape[0], lambda i, s: (sin(s) * at(x, i) + i,), 1.0)[0]


def recurrence(x):
    h = put(op["full"](0.0, x.shape[0], dtype=np.float64), 1.0, 0)
    h = loop(1, x.shape[0],
             lambda t, h: (put(h, 0.1 + 0.2 * at(x, t - 1) * at(x, t - 1) + 0.7 * sin(at(h, t - 1)), t),), h)[0]
    return total(h * h)


def newton(x):
    a = at(x, 0)
    return op["while"].run_regions([a], (lambda r: op["abs"](r * r - a) > 1e-13, lambda r: (0.5 * (r + a / r),)))[0]


def triangular(x):
    def outer(i, s):
        return loop(0, i + 1, lambda j, s: (s * 0.9 + sin(at(x, i) * at(x, j)) * s,), s)
    return loop(0, x.shape[0], outer, 1.0)[0]


def dynamic_slices(x):
    def body(k, y, a):
        a = sin(total(part(y, 0, k) * part(x, 0, k))) + at(x, k)
        y = op["update"](y, part(y, 0, k) + a * part(x, 0, k) * part(y, 0, k), 0, k, spec=(("s", 1),), at=0)
        return put(y, a, k), a
    y, a = loop(1, x.shape[0], body, put(op["full"](0.0, x.shape[0], dtype=np.float64), at(x, 0), 0), 0.5)
    return total(y * y) + a


def branches(x):
    def body(k, s):
        v = at(x, k)
        small = (lambda: (s,), lambda: (s + v * v * s,))
        return op["cond"].run_regions([v > 0.5],
                                      (lambda: op["cond"].run_regions([v > 0.3], small), lambda: (s * sin(v * s),)))
    return loop(0, x.shape[0], body, 1.0)[0]


def growing(x):
    c = loop(0, 4, lambda k, c: (op["concatenate"](c, sin(part(x, k, 2) * at(c, 0)), axis=0),), x)[0]
    return total(c * c * c)


def extents_of_branches(x):
    y = op["cond"].run_regions([at(x, 0) > 0.1], (lambda: (x,), lambda: (sin(part(x, 0, 3)),)))[0]
    return total(y * y)


PROGRAMS = [cubes, sines, recurrence, newton, triangular, dynamic_slices, branches, growing, extents_of_branches]


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f):
    p = assert_derivatives(f, X)
    dx = np.cos(np.arange(X.size) + 1.0)
    bent = jvp(p.reverse, [0])
    third = check(jvp(bent, [0]))
    args = [X, *p.rest, *p.gs, dx]
    want = along(lambda x: evaluate(bent, [x, *args[1:]])[-1], X, dx)
    np.testing.assert_allclose(evaluate(third, [*args, dx])[-1], want, rtol=1e-3, atol=1e-3)


def test_an_array_that_is_only_written_is_not_saved():
    def fill(x):
        y = op["full"](0.0, x.shape[0], dtype=np.float64)
        return total(loop(0, x.shape[0], lambda k, y: (put(y, 3.0 * at(x, k), k),), y)[0])
    loops = [e for e in assert_derivatives(fill, X).reverse.equations if e.op.name == "for"]
    assert max(len(e.outputs) for e in loops) == 2           # backward: the cotangents of y and of x; forward: y alone
    assert not any(e.op.name == "unwritten" for e in assert_derivatives(fill, X).reverse.equations)


def test_a_recurrence_saves_scalars():
    tapes = [e.outputs[0] for e in assert_derivatives(recurrence, X).reverse.equations if e.op.name == "unwritten"]
    assert tapes and all(v.type.rank == 1 for v in tapes)
    assert sum(v.type.dtype.itemsize for v in tapes) <= 24


def test_what_a_branch_saves_may_broadcast():
    """The largest element of a part whose length depends on data, in a branch: its reverse compares the part with an
    array of extent 1."""
    def f(p, n):
        y, k = np.zeros(20), 0
        for i in range(n):
            if p[0] * i > 0.5:
                y[k] = p[0] * i
                k += 1
        part = y[:k]
        largest = np.max(part) if k > 0 else 0.0
        return largest + np.sum(part ** 2)
    p = np.array([0.7])
    np.testing.assert_allclose(fad.grad(f, fallback=False)(p, 9), 8 + 2 * 0.7 * sum(i * i for i in range(1, 9)))
