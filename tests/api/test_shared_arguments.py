"""Arguments that are parts of one array, and are written to: changed as NumPy changes them, or refused."""
import warnings

import numpy as np
import pytest

import fad
from fad.util.errors import FallbackWarning, SideEffectError


def in_one_array(a, b):
    np.add(a, b, out=a)
    np.multiply(a[1:], 2.0, out=b[:-1])
    a.sort()
    return a[0] * b[1] + b.sum()


def itself():
    x = np.array([0.3, -0.6, 0.8, 0.1])
    return x, x


def backwards():
    x = np.array([0.3, -0.6, 0.8, 0.1])
    return x, x[::-1]


def shifted():
    x = np.array([0.3, -0.6, 0.8, 0.1])
    return x[1:], x[:-1]


@pytest.mark.parametrize("tier", ["never", "now"])
@pytest.mark.parametrize("make", [itself, backwards, shifted])
def test_what_is_written_to_one_is_seen_in_the_other(make, tier):
    f, plain, given = fad.jit(in_one_array), make(), make()
    with fad.config.using(compile=tier):
        with pytest.warns(FallbackWarning, match="shares its memory"):
            got = f(*given)
        np.testing.assert_allclose(got, in_one_array(*plain))
        np.testing.assert_array_equal(given, plain)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            plain, given = [[u.copy() for u in make()] for _ in range(2)]
            assert f(*given) == in_one_array(*plain)          # of separate arrays, which the program is for
        np.testing.assert_array_equal(given, plain)


def test_columns_of_one_array_are_separate():
    def f(a, b):
        a += b
        return a.sum()
    Z = np.arange(8.0).reshape(4, 2)
    assert fad.jit(f, fallback=False)(Z[:, 0], Z[:, 1]) == 28.0
    np.testing.assert_array_equal(Z[:, 0], [1.0, 5.0, 9.0, 13.0])


def test_an_argument_that_the_function_also_closes_over():
    x = np.arange(3.0)

    def f(a):
        a[0] = 5.0
        return x.sum()
    with pytest.raises(SideEffectError, match="shares its memory"):
        fad.jit(f, fallback=False)(x)
    assert fad.jit(f, fallback=False)(x.copy()) == 3.0


def test_what_is_only_read_may_be_shared():
    x = np.arange(3.0)
    assert fad.jit(lambda a, b: a @ b, fallback=False)(x, x) == 5.0
