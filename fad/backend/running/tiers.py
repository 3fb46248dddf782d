"""Tiers: when a program is compiled, and the thread that compiles it while the interpreter answers.

    interpreter ── load_time ──► look on disk ── there ─────────────────────────► kernel
                                     │ not there
                                     ▼
                   SHARE of compile_time(text) ──► Job, in the background ── over ──► kernel
                   a loop will take longer     ──► Job, for which it waits
"""
import atexit
import functools
import re
import sys
import time
from collections.abc import Callable
from weakref import WeakSet

import numpy as np

from ...util.array import AnyArray
from ...util.elsewhere import Task
from ...util.forks import library_locks
from ...util.interrupts import is_interrupt
from ...util.lazy import LazyModule

SHARE = 0.25            # of the time of a compilation that the interpreter takes before one begins in the background
WAIT = 2 / 3            # of the time of a compilation: who knows that a call takes longer waits for the kernel
LOOK = 0.002            # seconds between two looks of the interpreter whether a kernel is there
# processor seconds, for what BENCHMARK takes REFERENCE seconds
IMPORT, SETUP, KERNEL, LINE, LOOP = 0.25, 0.25, 0.01, 0.004, 0.017
BENCHMARK = "def f(x):\n" + "".join(f"    y{k} = x[{k}] * y{k - 1} + g(x, {k}) if x else None\n" for k in range(1, 60))
REFERENCE = 0.0011

libraries = LazyModule("fad.kernels.libraries")


# -- the time of a compilation ---------------------------------------------------------------------------------------


class _Calibration:
    """The ratio of this process's times of compilation to the formula's: a running mean."""

    ratio: "float | None" = None


@functools.cache
def _speed() -> float:
    """The time of the benchmark on this machine, in terms of the reference. Python's own compiler does what Numba
    does: it walks over trees, and makes many small objects."""
    times = []
    for _ in range(3):
        started = time.perf_counter()
        compile(BENCHMARK, "<benchmark>", "exec")
        times.append(time.perf_counter() - started)
    return min(times) / REFERENCE


def is_loaded() -> bool:
    """Whether Numba's compiler is there already."""
    return "numba.core.compiler" in sys.modules


def is_set_up() -> bool:
    """Whether Numba has compiled something: before that it imports what it can compile."""
    return "numba.np.arraymath" in sys.modules


def load_time(equations: int) -> float:
    """About how many seconds it takes to print the kernel of a program and to load it from disk."""
    return (0.005 if is_loaded() else 0.2) + 0.0005 * equations


def compile_time(text: str) -> float:
    """About how many seconds the compilation of a text takes: a part for Numba's own start, one for each line, and
    one for each loop, of which LLVM makes several.
    """
    ratio = _speed() if _Calibration.ratio is None else _Calibration.ratio
    start = (0.0 if is_loaded() else IMPORT) + (0.0 if is_set_up() else SETUP)
    return start * _speed() + ratio * _formula(text)


def _formula(text: str) -> float:
    return KERNEL + LINE * text.count("\n") + LOOP * len(re.findall(r"^ *(?:for|while) ", text, re.MULTILINE))


def note_time(text: str, seconds: float) -> None:
    """Learn from a compilation, Numba's start not among its seconds."""
    before = _speed() if _Calibration.ratio is None else _Calibration.ratio
    ratio = min(max(seconds / _formula(text), before / 2), before * 2)
    _Calibration.ratio = before + 0.3 * (ratio - before)


# -- compilations in the background ----------------------------------------------------------------------------------

_jobs: "WeakSet[Job]" = WeakSet()


class Job(Task):
    """A compilation in a thread of its own."""

    @classmethod
    def start(cls, work: Callable) -> "Job | None":
        """The job; None where no thread starts, or where it would wait for locks that this thread has."""
        if holds_locks():
            return None
        _end_with_python()
        return super().start(work)

    def __init__(self, work: Callable):
        super().__init__(work)
        _jobs.add(self)

    def needs_lock(self) -> bool:
        """Whether it works with Python's objects: LLVM does not, and leaves Python's lock to others."""
        return self.ident not in libraries.without_lock

    def has_answer(self) -> bool:
        """Whether it has a result, or an error of the work's own: no interrupt."""
        return self.result is not None or (isinstance(self.failed, Exception) and not is_interrupt(self.failed))


def holds_locks() -> bool:
    """Whether this thread has the locks of Numba or LLVM: it compiles, or an interrupt that met it as it compiled has
    left them locked. No other thread compiles until it gives them back.
    """
    return any(lock._is_owned() for lock in library_locks())


@functools.cache
def _end_with_python() -> None:
    atexit.register(_end)


def _end() -> None:
    """Wait for the step that each compilation is at, and begin no other: Python's end takes LLVM away."""
    running = [job for job in list(_jobs) if not job.is_over() and job.ident is not None]
    if running:
        libraries.stop([job.ident for job in running])
        for job in running:
            job.wait()


def example(x: AnyArray) -> AnyArray:
    """A value of the type that a kernel takes, which keeps nothing of x alive."""
    if not isinstance(x, np.ndarray):
        return x
    one = np.zeros((1,) * x.ndim, x.dtype.newbyteorder("="))
    return one if x.ndim else one[()]
