"""The law of the tape: every sample of every override has there the value and the gradient that its program has."""
import numpy as np
import pytest

import fad

from ..turns import in_turn
from .test_overrides import SAMPLES, function_of


def parts(y) -> list:
    return [a for part in y for a in parts(part)] if isinstance(y, (tuple, list)) else [y]


def scalar_of(expression: str):
    """One real number made of all real and complex results, as a function of the arrays."""
    f, xs = function_of(expression)

    def total(*xs):
        sum_ = 0.0
        for k, y in enumerate(parts(f(*xs))):
            y = y if hasattr(y, "dtype") else np.asarray(y)
            if y.dtype.kind in "fc":
                sum_ = sum_ + np.sum(np.real(y) * (1.3 + k)) + (np.sum(np.imag(y)) if y.dtype.kind == "c" else 0.0)
        return sum_
    return total, xs


@pytest.mark.parametrize("expression", in_turn(SAMPLES, count=6))
def test_tape_is_program(expression):
    f, xs = scalar_of(expression)
    with fad.config.using(compile="never"):
        g = fad.value_and_grad(f, argnums=tuple(range(len(xs))), fallback=False)
        value, gradients = g(*xs)
        on_tape, on_tape_gradients = g.on_tape(tuple(xs), {})
    np.testing.assert_allclose(on_tape, value, rtol=1e-10, atol=1e-13)
    for got, want in zip(on_tape_gradients, gradients, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-11)
