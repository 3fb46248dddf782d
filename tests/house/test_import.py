"""Importing fad is cheap: it brings NumPy and little else. The least of several runs is what fad needs; the rest is
other processes. Imports of NumPy and Numba are the units, so that a slow machine has more time."""

import os
import subprocess
import sys

BUDGET = 0.4  # imports of NumPy, over NumPy's own
FIRST = 1.0  # imports of Numba, from there to the first derivative of a small function
RUNS = 5


def run(code: str) -> str:
    """The output of a Python program run in a fresh process (which may keep its byte code, whatever the surroundings
    say)."""
    surroundings = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          env=surroundings).stdout.strip()


def seconds(before: str, timed: str) -> float:
    """Processor time of `timed` in a fresh process, after `before`. fad's parts are imported by a thread of their
    own."""
    return float(run(f"{before}\nimport time\nbegun = time.process_time()\n"
                     f"{timed}\nprint(time.process_time() - begun)"))


def least(before: str, timed: str) -> float:
    return min(seconds(before, timed) for _ in range(RUNS))


def test_import_time():
    run("import fad; fad.grad")  # compiles the byte code
    assert least("import numpy", "import fad") <= BUDGET * least("", "import numpy")


def test_time_to_the_first_derivative():
    # its rule has a name in SciPy
    function = "import numpy as np, fad\nf = lambda x: np.sum(np.logaddexp(0.0, x) * x ** 2)"
    run(f"{function}\nfad.grad(f)(np.ones(3))")  # compiles the byte code
    assert least(function, "fad.grad(f)(np.ones(3))") <= FIRST * least("import numpy", "import numba")


def test_import_brings_neither_numba_nor_scipy():
    code = "import fad, sys; fad.grad; print([m for m in ('numba', 'llvmlite', 'scipy') if m in sys.modules])"
    assert run(code) == "[]"


def test_import_leaves_the_facade_and_the_compiler_to_their_first_use():
    parts = ("fad.eager", "fad.nn", "fad.autograd", "fad.backend.emit", "fad.show", "fad.ops.special.gamma",
             "fad.ops.linalg", "fad.ops.numpy_api.distributions")
    assert run(f"import fad, sys; fad.grad; print([m for m in sys.modules if m.startswith({parts})])") == "[]"


def test_import_starts_no_threads():
    assert run("import fad, threading; print(threading.active_count())") == "1"
