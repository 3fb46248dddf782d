"""A check of an index stays in front of what it guards, whatever is moved."""
import subprocess
import sys

import numpy as np
import pytest

import fad

PROGRAM = """
import numpy as np, fad
from tests.passes.test_checks_in_order import scattered
g = fad.jit(fad.value_and_grad(scattered), compile="now")
x, i = np.linspace(0.0, 1.0, 30), np.arange(5)
g(x, i, i, i, i)
for wrong in (40, 10 ** 9, -31, -10 ** 9):
    for k in range(4):
        given = [i.copy() for _ in range(4)]
        given[k][2] = wrong
        try:
            g(x, *given)
        except IndexError as error:
            print(k, type(error).__name__)
"""


def scattered(theta, a, b, c, d):
    x, y = np.zeros(22), np.zeros(22)
    x[a] = theta[b]
    y[c] = theta[d]
    return np.sum(x * np.sin(y))


@pytest.mark.parametrize("make", [fad.jit, fad.grad, fad.value_and_grad, fad.hessian])
def test_indices_are_checked_before_anything_is_selected(make):
    i = np.array([3, 1, 0, 2, 4])
    f = make(scattered, compile="now")  # the checker looks at the order after each pass
    f(np.linspace(0.0, 1.0, 30), i, i + 1, i, i + 2)


def test_a_wrong_index_raises_before_memory_is_written():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=280)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"{k} IndexRangeError" for _ in range(4) for k in range(4)]
