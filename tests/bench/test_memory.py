"""Memory: a reverse sweep keeps what must be saved, and no more."""
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

import fad

N, STEPS = 200_000, 20


def chain(x):
    for _ in range(STEPS):
        x = np.sin(x)
    return np.sum(x)


def peak(run):
    run()
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_chain_saves_one_array_a_step():
    x = np.linspace(0.0, 1.0, N)
    unrolled = [f"    x = np.sin(x) * {1 + k / 100}" for k in range(STEPS)]
    scope = {"np": np}
    exec("\n".join(["def f(x):", *unrolled, "    return np.sum(x)"]), scope)
    g = fad.jit(fad.grad(scope["f"]), compile="never")
    assert peak(lambda: g(x)) <= (STEPS + 4) * x.nbytes


def test_the_forward_sweep_alone_saves_nothing():
    x = np.linspace(0.0, 1.0, N)
    f = fad.jit(lambda x: np.sum(np.sin(np.cos(np.tanh(np.sin(np.cos(np.tanh(x))))))), compile="never")
    assert peak(lambda: f(x)) <= 3 * x.nbytes


FAULTS = """
import resource, numpy as np, fad
x = np.linspace(0.0, 1.0, 90_000)
def f(x):
    y, z = np.zeros_like(x), np.zeros_like(x)
    for _ in range(4):
        y[1:-1] += x[:-2] * x[2:]
        z[1:-1] += y[:-2] * y[2:]
    return np.sum(z)
f = fad.jit(f, compile="now")
for _ in range(3):
    f(x)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    f(x)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="what is tested is said to the GNU C library")
def test_arrays_of_a_kernel_need_no_new_pages_in_each_call():
    """Two arrays of 176 pages are made in each of 20 calls."""
    done = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 100


PEAK = '''
import sys, numpy as np, fad
def peak():
    """In bytes. A process inherits ru_maxrss of the one that started it."""
    return next(1024 * int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
def chain(x):
    return np.sum(np.exp(-x * x) * np.sin(x))
def recurrence(x):
    h = s = 0.0
    for i in range(x.size):
        h = np.tanh(0.5 * h + x[i])
        s += h * h
    return s
def variances(x):
    h, s = 1.0, 0.0
    for t in range(1, x.size):
        h = 0.1 + 0.2 * x[t - 1] ** 2 + 0.7 * h
        s += np.log(h) + x[t] ** 2 / h
    return s
with fad.config.using(threads=1, compile="now"):
    g = fad.jit(fad.value_and_grad(globals()[sys.argv[1]]))
    g(np.linspace(0.0, 1.0, 800))
    x = np.linspace(0.0, 1.0, 4_000_000)
    before = peak()
    g(x)
print((peak() - before) / x.nbytes)
'''


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak stands in /proc")
@pytest.mark.parametrize("program, by_hand", [("chain", 1), ("recurrence", 2), ("variances", 2)])
def test_a_compiled_gradient_holds_what_one_written_by_hand_holds(program, by_hand):
    """The gradient, and of each iteration the one number that the reverse sweep reads, in arrays as long as x."""
    done = subprocess.run([sys.executable, "-c", PEAK, program], capture_output=True, text=True, check=True)
    assert 0.9 * by_hand < float(done.stdout) < 1.3 * by_hand
