"""Arrays that a loop hands from iteration to iteration: long ones change names with a spare one, short ones are copied,
so that LLVM knows that they are apart."""
import numpy as np
import pytest

import fad

from ..fuzz.text import as_text


def turned(x, n):
    y, z = x * 1.0, x * 0.5
    for k in range(n):
        y, z = np.sin(y[::-1] + 0.3 * k) * z, y + z
    return y + z


@pytest.mark.parametrize("size, is_copied", [(12, True), (64, True), (65, False)])
def test_short_arrays_are_copied_and_long_ones_exchanged(size, is_copied):
    x = np.linspace(0.1, 1.0, size)

    def f(n, x=x):
        return turned(x * n, 5)
    text = fad.source(fad.jit(f), 0.7)
    swaps = [line for line in text.splitlines() if line.count(",") == 2 and " = " in line and "[" not in line
             and "(" not in line]
    assert bool(swaps) is not is_copied, text
    np.testing.assert_allclose(fad.jit(f, compile="now")(0.7), f(0.7), rtol=1e-13)


def test_a_short_matrix_is_copied():
    x = np.linspace(0.1, 1.0, 18).reshape(2, 9)

    def f(n):
        y = x * n
        for k in range(4):
            y = np.sin(y[::-1, ::-1] + 0.3 * k)
        return y
    np.testing.assert_allclose(fad.jit(f, compile="now")(0.7), f(0.7), rtol=1e-13)
    np.testing.assert_allclose(fad.jacfwd(f)(0.7), (f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6, rtol=1e-6)


def test_a_spare_array_has_the_extents_of_the_array_it_takes_the_place_of():
    # the loop that shortens b leaves four elements in a name that began with five
    x, v, matrix = np.linspace(0.3, 0.9, 5), np.sin(np.arange(5.0)), np.eye(3) + 0.1

    def f(x):
        b = x * 0.7
        while len(b) > 4:
            b = b[1:] * 0.9
        for _ in range(3):
            for _ in range(4):
                b = np.concatenate([matrix @ b[:1].repeat(3), np.array([0.31, 0.52])])
        return (b * b).sum()
    with as_text():
        forward_over_reverse = fad.jvp(fad.grad(f), (x,), (v,))[1]
        reverse_over_forward = fad.grad(lambda x: fad.jvp(f, (x,), (v,))[1])(x)
    np.testing.assert_allclose(reverse_over_forward, forward_over_reverse, rtol=1e-13)
