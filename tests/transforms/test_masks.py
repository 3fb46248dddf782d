"""Products with a cotangent are guarded behind a choice, where a zero cotangent may meet an infinite derivative, and
nowhere else."""
import numpy as np
import pytest

import fad

X = np.linspace(0.5, 1.5, 30)


def window(x):
    """Which part is read follows from a choice between integers: nothing is chosen of the numbers."""
    s = 0.0
    for i in range(len(x)):
        w = np.exp(x[max(0, i - 3):i + 1])
        s += np.sum(w * w[-1]) * x[i]
    return s


def of_numbers(x):
    s = 0.0
    for i in range(len(x)):
        w = np.sqrt(x[max(0, i - 3):i + 1] - 0.5)
        s += np.sum(np.where(w > 0.1, w, 0.0)) * x[i]
    return s


@pytest.mark.parametrize("f, is_guarded", [(window, False), (of_numbers, True)])
def test_products_are_guarded_behind_a_choice_of_numbers_only(f, is_guarded):
    g = fad.grad(f)
    x = X + 0.01 * (f is window)
    np.testing.assert_allclose(g(x)[1:], [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(30)[1:]], rtol=1e-6)
    assert np.isfinite(g(x)).all()
    assert ("== 0" in fad.source(g, x)) is is_guarded
