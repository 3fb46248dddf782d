"""What a call costs beside the kernel it leads to."""
import subprocess
import sys

import numba
import numpy as np
import pytest

import fad

from .calls import ROWS
from .timing import medians, minima, yardstick


def test_call_overhead():
    """At most 2 us from g(x) to an empty kernel, over calling such a kernel oneself (both are measured in turn, beside
    plain Python)."""
    @numba.njit
    def empty(x):
        return x[0] * 2.0
    x = np.ones(5)
    g = fad.jit(lambda x: x[0] * 2.0, compile="now")
    g(x)
    assert g.latest is not None
    excess = []
    for _ in range(5):
        ours, theirs, microsecond = minima([lambda: g(x), lambda: empty(x), yardstick])
        excess.append((ours - theirs) / microsecond)
    assert min(excess) <= 2.0


def test_numbers_that_are_part_of_the_program_take_the_fast_path():
    g = fad.jit(lambda x, n, scale, name: x[0] * n * scale, compile="now")
    x = np.ones(5)
    assert g(x, 3, 2.0, "a") == 6.0
    fast = g.latest
    assert fast is not None and fast((x, 3, 2.0, "a"), {}) == 6.0
    for others in [(x, 4, 2.0, "a"), (x, True, 2.0, "a"), (x, 3, 2.0, "b")]:
        assert fast(others, {}) is NotImplemented
    assert g(x, 4, 2.0, "a") == 8.0 and g(x, 5, 3.0, "b") == 15.0 and g(x, 3, 2.0, "a") == 6.0


def test_the_first_gradient_is_interpreted_at_once():
    code = ("import time, numpy as np, fad; from tests.bench.timing import pace; fad.grad; t = time.process_time(); "
            "fad.grad(lambda x: np.sum(np.exp(x) * x))(np.ones(3)); print((time.process_time() - t) / pace())")
    took = (float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
            for _ in range(10))
    assert any(seconds <= 0.1 for seconds in took)


@pytest.mark.parametrize("name", ROWS)
def test_calls_of_each_kind(name):
    """At most twice the microseconds of the table."""
    expected, f, args, kwargs = ROWS[name]
    g = fad.jit(fad.value_and_grad(f) if args else fad.jit(f), compile="now")
    ratios = []
    for _ in range(5):
        ours, theirs = medians([lambda: g(*args, **kwargs), yardstick], rounds=5, budget=0.05)
        ratios.append(ours / theirs)
    assert min(ratios) <= 2.0 * expected
