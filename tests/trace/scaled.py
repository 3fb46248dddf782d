"""A value and a gradient beside Python's, while a global number of the user's changes between calls."""
import numpy as np


def assert_as_python_says(value, gradient, f, scale, numbers, x):
    """At each of these numbers in the list `scale`, which then holds again what it held: the value of f, and its slope
    by differences."""
    before = scale[0]
    try:
        for scale[0] in numbers:
            for at in (x, x[::-1].copy()):
                np.testing.assert_allclose(value(at), f(at), rtol=1e-12)
                slope = [(f(at + h) - f(at - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
                np.testing.assert_allclose(gradient(at), slope, rtol=1e-5, atol=1e-7)
    finally:
        scale[0] = before
