"""Kernels in which a call fails let go of all arrays that they hold, and of none twice."""
import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
from llvmlite import ir
from numba.core import types
from numba.core.registry import cpu_target
from numba.core.typing import signature

import fad
from fad.kernels.error_paths import called

from ..turns import crossed


def straight(a):
    b = a * 2.0
    c = np.sin(b) * 0.0 + a
    return np.sum(np.linalg.solve(c, b) ** 2)


def in_a_loop(a):
    b, s = a * 1.0, 0.0
    for k in range(4):
        c = b + 0.0 * k
        d = np.linalg.inv(c) if k < 2 else c
        b = d @ c if k > 5 else b * 1.0
        s += np.sum(d) + b[0, 0]
    return s


def in_a_branch(a):
    b = np.outer(a[0], a[1])
    if a[0, 0] > 0.5:
        c = b + a
        d = np.linalg.cholesky(c @ c.T - 50.0 * np.eye(a.shape[0])) if a[0, 1] > 0.5 else c
    else:
        d = b
    return np.sum(d * a)


def in_the_second_iteration(a):
    s, kept = 0.0, np.zeros_like(a)
    for k in range(3):
        c = np.eye(a.shape[0]) if k == 0 else a
        kept = kept + np.linalg.inv(c + 0.0 * kept)
        s = s + np.sum(kept)
    return s


def no_root(a):
    b = a * 3.0
    root = scipy.optimize.brentq(lambda t: t * t + a[0, 0], -1.0, 2.0)
    return root * np.sum(b)


def triangular(a):
    b = a * 2.0
    return np.sum(scipy.linalg.solve_triangular(b - 2.0, b) ** 2)


PROGRAMS = [straight, in_a_loop, in_a_branch, in_the_second_iteration, no_root, triangular]
SINGULAR = np.ones((12, 12))


@pytest.mark.parametrize("f, make", crossed(PROGRAMS, [fad.jit, fad.value_and_grad, fad.hessian]))
def test_arrays_are_released_where_a_call_fails(f, make, counted):
    g = fad.jit(make(f), compile="now")

    def call():
        with pytest.raises((np.linalg.LinAlgError, ValueError)):
            g(SINGULAR)
    allocated, freed = counted(call)
    assert allocated == freed


def test_arrays_are_released_where_a_function_of_pythons_raises(counted):
    fails: list = []

    def solver(x, a):
        if fails:
            raise ZeroDivisionError("no")
        return np.sqrt(a)

    def f(a):
        b = a * 2.0
        c = np.outer(b, b)
        x = fad.implicit(solver, root=lambda x, a: x * x - a)(np.ones(a.size), b)
        return np.sum(c @ x)
    g, a = fad.jit(fad.grad(f), compile="now"), np.linspace(1.0, 2.0, 30)
    want = g(a)
    fails.append(True)

    def call():
        with pytest.raises(ZeroDivisionError):
            g(a)
    allocated, freed = counted(call)
    assert allocated == freed
    fails.clear()
    np.testing.assert_array_equal(g(a), want)


def test_the_place_of_a_result_is_not_filled_before_the_call():
    context, sig = cpu_target.target_context, signature(types.UniTuple(types.Array(types.float64, 2, "C"), 9))
    context.refresh()
    module, kind = context.create_module("caller"), context.call_conv.get_function_type(sig.return_type, ())
    builder = ir.IRBuilder(ir.Function(module, kind, "caller").append_basic_block())
    called(context, builder, ir.Function(module, kind, "helper"), sig, ())
    stored = [i.operands[0].type for i in builder.block.instructions if i.opname == "store"]
    assert kind.args[0].pointee not in stored
