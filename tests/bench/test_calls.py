"""What a call costs beside the kernel it leads to."""
from collections import namedtuple
from dataclasses import dataclass

import numba
import numpy as np
import pytest

import fad

from .timing import medians, minima, yardstick


def test_call_overhead():
    """At most 2 us from g(x) to an empty kernel, over calling such a kernel oneself (both are measured in turn, beside plain Python)."""
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
    import subprocess
    import sys
    code = ("import time, numpy as np, fad; fad.grad; t = time.process_time(); fad.grad(lambda x: np.sum(np.exp(x) * x))(np.ones(3)); "
            "print(time.process_time() - t)")
    assert min(float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout) for _ in range(3)) <= 0.1


def squares(x):
    return np.sum(x * x)


def polynomial(x):
    return x * x * 3.0 + x


def line(p):
    return np.sum((p["a"] * 2.0 + p["b"]) ** 2)


def listed(p):
    s = 0.0
    for q in p:
        s = s + np.sum(q * q)
    return s


def nested(p):
    return sum(np.sum((layer["w"] + layer["b"]) ** 2) for layer in p["layers"])


def power(x, n=3):
    return np.sum(x ** n)


def layer(p):
    return np.sum(p.w * p.b)


@dataclass
class Layer:
    w: np.ndarray
    b: np.ndarray


Pair = namedtuple("Pair", "w b")
ROWS = {                    # microseconds on a quiet machine; each has a function of its own, as equal functions share programs
    "float": (0.5, polynomial, (1.3,), {}),
    "np.float64": (0.6, lambda x: x * x * 2.0 + x, (np.float64(1.3),), {}),
    "array of no axes": (1.0, lambda x: x * x + x, (np.array(1.3),), {}),
    "array of 3": (1.0, squares, (np.ones(3),), {}),
    "strided array of 3": (1.4, lambda x: np.sum(x * x), (np.ones(6)[::2],), {}),
    "dict of 2": (1.4, line, ({"a": np.ones(3), "b": np.ones(3)},), {}),
    "dataclass": (2.5, layer, (Layer(np.ones(3), np.ones(3)),), {}),
    "named tuple": (2.0, lambda p: np.sum(p.w * p.b), (Pair(np.ones(3), np.ones(3)),), {}),
    "list of 20": (5.4, listed, ([np.ones(3) for _ in range(20)],), {}),
    "nested dict of 20": (8.2, nested, ({"layers": [{"w": np.ones(3), "b": np.ones(3)} for _ in range(10)]},), {}),
    "keyword int": (1.3, power, (np.ones(3),), {"n": 3}),
    "keyword array": (1.3, lambda x: np.sum(x ** 2), (), {"x": np.ones(3)}),
}


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
