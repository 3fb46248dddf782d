"""Importing fad is cheap: it brings NumPy and little else."""

import os
import statistics
import subprocess
import sys

BUDGET = 0.15  # seconds over NumPy's own import
FIRST = 0.1  # seconds from there to the first derivative of a small function
RUNS = 5


def run(code: str) -> str:
    """The output of a Python program run in a fresh process (which may keep its byte code, whatever the surroundings say)."""
    surroundings = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=surroundings).stdout.strip()


def seconds_over_numpy() -> float:
    """One fresh process imports NumPy, then times ``import fad``: the thread's time, which neither other processes nor the threads of NumPy's BLAS lengthen."""
    return float(run("import numpy, time; t = time.thread_time(); import fad; print(time.thread_time() - t)"))


def test_import_time():
    seconds_over_numpy()  # the first run compiles the byte code
    assert statistics.median(seconds_over_numpy() for _ in range(RUNS)) <= BUDGET


def seconds_to_the_first_derivative() -> float:
    """One fresh process imports fad, then times the derivative of a function whose rule has a name in SciPy."""
    function = "f = lambda x: np.sum(np.logaddexp(0.0, x) * x ** 2)"
    return float(run(f"import numpy as np, fad, time; {function}; t = time.thread_time(); fad.grad(f)(np.ones(3)); print(time.thread_time() - t)"))


def test_time_to_the_first_derivative():
    assert statistics.median(seconds_to_the_first_derivative() for _ in range(RUNS)) <= FIRST


def test_import_brings_neither_numba_nor_scipy():
    code = "import fad, sys; print([m for m in ('numba', 'llvmlite', 'scipy') if m in sys.modules])"
    assert run(code) == "[]"


def test_import_leaves_the_facade_and_the_compiler_to_their_first_use():
    parts = ("fad.eager", "fad.nn", "fad.autograd", "fad.backend.emit", "fad.show", "fad.ops.special.gamma", "fad.ops.linalg", "fad.ops.numpy_api.distributions")
    assert run(f"import fad, sys; print([m for m in sys.modules if m.startswith({parts})])") == "[]"


def test_import_starts_no_threads():
    assert run("import fad, threading; print(threading.active_count())") == "1"
