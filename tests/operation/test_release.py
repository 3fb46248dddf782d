"""Kernels of functions that are dropped are freed, with the memory of their machine code."""

import gc
import math
import subprocess
import sys
import weakref

import numba
import numpy as np
import pytest

import fad
from fad.backend.running import compile as kernels

from .programs import cold

X = np.linspace(0.0, 1.0, 7)
PROGRAM = """
import ctypes, gc, sys
import fad
from fad.backend.running import compile as kernels
from tests.operation.test_release import X
from tests.operation.programs import cold

libc = ctypes.CDLL(None)

def resident():
    # Memory of the process's own: pages of libraries that are read again count for the file, not for a function. glibc
    # keeps what is freed, as much as it likes, unless it is asked to return that.
    getattr(libc, "malloc_trim", int)(0)
    with open("/proc/self/statm") as file:
        pages = list(map(int, file.read().split()))
    return (pages[1] - pages[2]) * 4

class Heap(ctypes.Structure):                                # glibc's struct mallinfo2
    names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
    _fields_ = [(name, ctypes.c_size_t) for name in names]

ask = getattr(libc, "mallinfo2", None)
if ask is not None:
    ask.restype = Heap

def allocated():
    return ask().uordblks / 1024 if ask is not None else 0.0

def make_room():
    # Python's table of all interned texts doubles once in ten thousands of texts: a megabyte at once, whichever text it
    # is that comes then. It doubles here, before anything is measured.
    texts, before = [], allocated()
    while len(texts) < 400_000:
        texts += [sys.intern(f"room {len(texts) + k}") for k in range(100)]
        before, last = allocated(), before
        if before - last > 300.0:
            break

fad.config.compile, fad.config.cache_dir, kernels.LAST = "now", None, 4
first, count = map(int, sys.argv[1:])
for k in range(first + count):
    if k == first:
        make_room()
        gc.collect()
        before = resident(), allocated()
    g = fad.grad(cold(k))
    g(X)
    assert g.compilations == 1
del g
gc.collect()
print((resident() - before[0]) / count, (allocated() - before[1]) / count)
"""


def growth(first, count):
    """Kilobytes that the process grows by, and that its heap does, with each function that is made, compiled, called
    and dropped."""
    run = [sys.executable, "-c", PROGRAM, str(first), str(count)]
    return tuple(map(float, subprocess.run(run, check=True, capture_output=True, text=True).stdout.split()))


def test_a_kernel_is_freed_with_its_function():
    with fad.config.using(compile="now", cache_dir=None):
        g = fad.grad(cold(123))
        g(X)
        (kernel,) = [k for k in kernels._kernels.values() if "123.5" in k.source]
        (compiled,) = kernel.call.overloads.values()
        watched = [weakref.ref(thing) for thing in (kernel, kernel.call, compiled.library,
                                                    compiled.library.codegen._engine._ee)]
        del kernel, compiled
        del g
        gc.collect()
        assert all(ref() is not None for ref in watched)     # a function like this one may come again
        for number in range(kernels.LAST):
            kernels.kernel_of(f"def f(x):\n    return x + {number}\n", "f")
        gc.collect()
    assert [ref() for ref in watched] == [None] * 4
    assert not [text for text in kernels._kernels if "123.5" in text]


def test_a_function_that_is_made_again_and_again_is_compiled_once(monkeypatch):
    made = []
    monkeypatch.setattr(kernels.cache, "load", lambda *args, load=kernels.cache.load: made.append(args) or load(*args))
    with fad.config.using(compile="now", cache_dir=None):
        for _ in range(3):
            fad.grad(cold(130))(X)
            gc.collect()
    assert len(made) <= 2                                    # as it is, and once more as a pattern that others share


def test_arrays_outlive_the_kernel_that_made_them():
    with fad.config.using(compile="now", cache_dir=None):
        results = [fad.grad(cold(k))(X) for k in range(124, 128)]
        gc.collect()
        for k, y in zip(range(124, 128), results):
            np.testing.assert_allclose(y, np.cos(X) * (k + 0.5))
            y += 1.0


def stepping(number):
    """Compiled code that alone has the derivative which it calls."""
    slope = fad.grad(cold(number)).njit(X)

    @numba.njit
    def step(x):
        return x - slope(x)

    return step


def test_a_kernel_that_users_compiled_code_calls_is_not_freed():
    with fad.config.using(cache_dir=None):
        step = stepping(129)
        step(X)
        gc.collect()
        np.testing.assert_allclose(step(X), X - np.cos(X) * 129.5)


def test_errors_of_a_kernel_that_users_compiled_code_calls():
    def checked(x, k):
        total = 0.0
        for i in range(3):
            total += x[k[i]] ** 2
        return total

    part = fad.jit(checked).njit(X, np.array([0, 1, 2]))

    @numba.njit
    def twice(x, k):
        return 2.0 * part(x, k)

    assert twice(np.ones(3), np.array([0, 1, 2])) == 6.0
    with pytest.raises(IndexError):
        twice(np.ones(3), np.array([0, 1, 9]))


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_processes_grow_by_little_with_each_function_that_was_dropped():
    # a table of Python's or of LLVM's that doubles meanwhile adds a megabyte, once: the least of three runs has none
    resident = heap = math.inf
    for _ in range(3):
        resident, heap = map(min, growth(45, 20), (resident, heap))
        if resident < 200.0 and heap < 5.5:                  # no need of another run
            break
    # it was 470; the first tens fill tables and the gaps of the heap
    assert resident < 200.0
    # 2 where it was measured, and 8 while LLVM's passes were made anew for each
    assert heap < 5.5


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_two_thousand_functions():
    resident, heap = growth(100, 1900)
    assert resident < 15.0 and heap < 3.0
