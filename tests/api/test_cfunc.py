"""Derivatives as C functions, called by SciPy; and as Numba functions, called by the user's own."""
import numpy as np
import pytest
from scipy import LowLevelCallable, integrate, ndimage

import fad
from fad.util.errors import ArgumentError, UnstageableError


def decay(x, p):
    return np.exp(-p * x * x)


def quad(c, *args):
    return integrate.quad(LowLevelCallable(c.ctypes), 0.0, 1.0, args=args)[0]


def test_a_function_of_one_number_under_quad():
    assert quad(fad.cfunc(lambda x: 3.0 * x ** 2, 1.0)) == pytest.approx(1.0, rel=1e-14)
    assert (quad(fad.cfunc(fad.grad(lambda x: np.sin(x)), 1.0, signature="double(double, void*)"))
            == pytest.approx(np.sin(1.0), rel=1e-14))


def test_leibniz():
    """The derivative of an integral with respect to a parameter is the integral of the derivative."""
    slope = quad(fad.cfunc(fad.grad(decay, argnums=1), 1.0, 1.0), 2.0)
    primal = fad.cfunc(decay, 1.0, 1.0)
    h = 1e-5
    assert slope == pytest.approx((quad(primal, 2.0 + h) - quad(primal, 2.0 - h)) / (2 * h), rel=1e-8)
    assert quad(primal, 2.0) == pytest.approx(integrate.quad(decay, 0, 1, args=(2.0,))[0], rel=1e-14)


def test_an_array_and_a_loop_under_nquad():
    def f(x):
        total = 0.0
        for k in range(x.shape[0]):
            total += x[k] ** (k + 1)
        return total
    c = fad.cfunc(f, np.ones(2), signature="double(int, double*, void*)")
    assert integrate.nquad(LowLevelCallable(c.ctypes), [(0, 1), (0, 1)])[0] == pytest.approx(1 / 2 + 1 / 3, rel=1e-12)


def test_a_filter_of_images():
    c = fad.cfunc(lambda w: np.sum(w ** 2), np.ones(3), signature="int(double*, intptr_t, double*, void*)")
    x = np.arange(6.0)
    found = ndimage.generic_filter(x, LowLevelCallable(c.ctypes), size=3)
    np.testing.assert_allclose(found, ndimage.generic_filter(x, lambda w: np.sum(w ** 2), size=3))


@pytest.mark.filterwarnings("ignore")
def test_what_raises_is_nan():
    c = fad.cfunc(lambda x: x[2] * 1.0, np.ones(4))
    assert np.isnan(integrate.quad(LowLevelCallable(c.ctypes), 0.0, 1.0, args=(1.0,))[0])


@pytest.mark.parametrize("call",
                         [lambda: fad.cfunc(np.sin), lambda: fad.cfunc(decay, 1.0, 1.0, signature="double(double)"),
                                  lambda: fad.cfunc(decay, 1.0, 1.0, signature="float(float)"),
                          lambda: fad.cfunc(lambda x: (x, x), 1.0),
                                  lambda: fad.cfunc(lambda x: x * 2, np.ones(3)), lambda: fad.cfunc(lambda x: x, 3)])
def test_what_is_no_c_function_says_so(call):
    with pytest.raises(ArgumentError, match="C function|signature|examples|passes one"):
        call()


def test_a_function_with_a_program_for_each_way_has_no_compiled_form():
    """Its C function would give nan for the other way."""
    def f(x):
        mode = None if x > 1.0 else "low"
        return x ** 2 if mode is None else x ** 3
    assert fad.grad(f)(2.0) == 4.0 and fad.grad(f)(0.5) == 0.75
    for compiled in (lambda: fad.cfunc(f, 2.0), lambda: fad.cfunc(fad.grad(f), 2.0), lambda: fad.jit(f).njit(2.0)):
        with pytest.raises(UnstageableError, match="no program has both sides") as error:
            compiled()
        assert "mode = None" in str(error.value)
