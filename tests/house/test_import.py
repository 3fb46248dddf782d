"""Importing fad is cheap: it brings NumPy and little else."""

import os
import statistics
import subprocess
import sys

BUDGET = 0.15  # seconds over NumPy's own import
RUNS = 5


def run(code: str) -> str:
    """The output of a Python program run in a fresh process (which may keep its byte code, whatever the surroundings say)."""
    surroundings = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=surroundings).stdout.strip()


def seconds_over_numpy() -> float:
    """One fresh process imports NumPy, then times ``import fad``: the processor's time, which other processes do not lengthen."""
    return float(run("import numpy, time; t = time.process_time(); import fad; print(time.process_time() - t)"))


def test_import_time():
    seconds_over_numpy()  # the first run compiles the byte code
    assert statistics.median(seconds_over_numpy() for _ in range(RUNS)) <= BUDGET


def test_import_brings_neither_numba_nor_scipy():
    code = "import fad, sys; print([m for m in ('numba', 'llvmlite', 'scipy') if m in sys.modules])"
    assert run(code) == "[]"


def test_import_leaves_the_facade_and_the_compiler_to_their_first_use():
    parts = ("fad.eager", "fad.nn", "fad.autograd", "fad.backend.emit", "fad.show", "fad.ops.special.gamma", "fad.ops.linalg", "fad.ops.faces.distributions")
    assert run(f"import fad, sys; print([m for m in sys.modules if m.startswith({parts})])") == "[]"


def test_import_starts_no_threads():
    assert run("import fad, threading; print(threading.active_count())") == "1"
