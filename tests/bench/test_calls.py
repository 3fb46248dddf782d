"""What a call costs beside the kernel it leads to."""
import numba
import numpy as np

import fad

from .timing import medians


def test_call_overhead():
    """At most 2 us from g(x) to an empty kernel, over calling such a kernel oneself (both are measured in turn)."""
    @numba.njit
    def empty(x):
        return x[0] * 2.0
    x = np.ones(5)
    g = fad.jit(lambda x: x[0] * 2.0, compile="now")
    g(x)
    assert g.latest is not None
    excess = []
    for _ in range(5):
        ours, theirs = medians([lambda: g(x), lambda: empty(x)], rounds=5, budget=0.1)
        excess.append(ours - theirs)
    assert min(excess) <= 2e-6


def test_numbers_that_are_part_of_the_program_take_the_fast_path():
    g = fad.jit(lambda x, n, scale, name: x[0] * n * scale, compile="now")
    x = np.ones(5)
    assert g(x, 3, 2.0, "a") == 6.0
    fast = g.latest
    assert fast is not None and fast((x, 3, 2.0, "a")) == 6.0
    assert fast((x, 4, 2.0, "a")) is NotImplemented and fast((x, True, 2.0, "a")) is NotImplemented and fast((x, 3, 2.0, "b")) is NotImplemented
    assert g(x, 4, 2.0, "a") == 8.0 and g(x, 5, 3.0, "b") == 15.0 and g(x, 3, 2.0, "a") == 6.0


def test_the_first_gradient_is_interpreted_at_once():
    import subprocess
    import sys
    code = ("import time, numpy as np, fad; t = time.process_time(); fad.grad(lambda x: np.sum(np.exp(x) * x))(np.ones(3)); "
            "print(time.process_time() - t)")
    assert min(float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout) for _ in range(3)) <= 0.1
