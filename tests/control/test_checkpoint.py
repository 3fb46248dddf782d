"""What is computed again instead of saved: functions and loops under fad.checkpoint, and derivatives within a memory budget."""
import re

import numpy as np

import fad


def settle(x):
    for _ in range(5):
        x = np.sin(x)
    return x


def repeated(step):
    def f(x):
        for _ in range(40):
            x = step(x) + 0.1
        return x
    return f


def test_a_checkpointed_function_in_a_loop_is_computed_again():
    g = fad.grad(repeated(fad.checkpoint(settle)))
    assert re.search(r"np\.empty\(40\)", fad.source(g, 0.3)) and not re.search(r"np\.empty\(\(40, 5\)\)", fad.source(g, 0.3))
    np.testing.assert_allclose(g(0.3), fad.grad(repeated(settle))(0.3), rtol=1e-14)


def test_a_pullback_computes_checkpoints_again_in_its_second_step():
    value, pull = fad.vjp(repeated(fad.checkpoint(settle)), 0.3)
    np.testing.assert_allclose(pull(1.0)[0], fad.grad(repeated(settle))(0.3), rtol=1e-14)
    np.testing.assert_allclose(value, repeated(settle)(0.3))
