"""Every kernel: values and effects as plain NumPy; reverse, forward and second derivatives; the generated text; loops
rolled."""
import warnings
from contextlib import contextmanager

import numpy as np
import pytest

import fad

from ..fuzz.text import as_text
from ..turns import TURN, in_turn, left_out
from . import KERNELS
from .judge import copied, directions, effect, loss_of, moved, product, slope

ALL = sorted(KERNELS)
SMOOTH = [name for name in ALL if KERNELS[name].smooth]
TWICE = ["adi", "cavity_flow", "cholesky", "contour_integral", "deriche", "durbin", "gramschmidt", "lu", "mlp",
         "nbody_by_pair", "seidel_by_item", "spmv", "vadv",
         "durbin_by_item", "lu_by_item", "softmax_by_item", "trmm_by_item"]
SIZED = ["adi", "cholesky", "deriche", "durbin", "fdtd_2d", "floyd_by_item", "gramschmidt", "lu", "ludcmp",
         "nbody_by_pair", "nussinov", "seidel_2d", "spmv", "symm", "syrk", "trisolv", "adi_by_item", "cholesky_by_item",
         "deriche_by_item", "durbin_by_item", "gemver_by_item", "nbody_by_item"]
COMPILED = ["cholesky", "durbin", "jacobi_2d", "nussinov", "seidel_by_item", "spmv_by_entry", "trmm_by_item"]


@contextmanager
def tier(name):
    """Interpreted; as generated text that Python runs; compiled. A program that fad cannot generate is an error."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*interpreted, not compiled")
        compile = "now" if name == "compiled" else "never"
        with as_text() if name == "text" else fad.config.using(compile=compile):
            yield


def gradient(loss):
    return fad.grad(loss, argnums=tuple(range(len(loss.point))))


def cases(names, count=1):
    """One kernel in `count` as text, some compiled; of the interpreter, which runs the same programs, each fourth."""
    of = {"interpreted": 4, "text": count, "compiled": 1}
    return [left_out((name, t), (k + TURN) % of[t] != 0)
            for k, name in enumerate(names) for t in of if t != "compiled" or name in COMPILED]


@pytest.mark.parametrize("name, where", cases(ALL))
def test_value_and_effect(name, where):
    kernel = KERNELS[name]
    arguments = kernel.arguments()
    with tier(where):
        found = effect(fad.jit(kernel.run), arguments)
    for got, want in zip(found, effect(kernel.run, arguments), strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name, where", cases(SMOOTH, 2))
def test_reverse_and_forward(name, where):
    loss = loss_of(KERNELS[name])
    before = copied(loss.point)
    direction = directions(loss.point)
    with tier(where):
        along = fad.jvp(loss, loss.point, direction)[1]
        got = product(gradient(loss)(*loss.point), direction)
    np.testing.assert_allclose(got, slope(loss, loss.point, direction), rtol=2e-7, atol=1e-8)
    np.testing.assert_allclose(along, got, rtol=1e-9, atol=1e-10)
    for a, b in zip(loss.point, before):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", in_turn(TWICE))
def test_second_order(name):
    loss = loss_of(KERNELS[name])
    direction = directions(loss.point)
    g = gradient(loss)
    with tier("text"):
        turned = fad.jvp(g, loss.point, direction)[1]
    step = 1e-5
    for got, up, down in zip(turned, g(*moved(loss.point, step, direction)), g(*moved(loss.point, -step, direction))):
        want = (up - down) / (2 * step)
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6 * (1 + np.max(np.abs(want))))


@pytest.mark.parametrize("name", SIZED)
def test_the_program_does_not_grow_with_the_problem(name):
    kernel = KERNELS[name]
    # the first number is a constant of its program, the next ones are inputs
    _, small, large = [len(fad.show(fad.jit(kernel.run), *kernel.arguments(n))) for n in (6, 7, 70)]
    assert large < 1.02 * small
