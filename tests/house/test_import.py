"""Importing fad is cheap: it brings NumPy and little else. So is the way to the first derivative.

The tests count calls of Python functions and modules, not seconds: these numbers are the same on every machine.
"""

import os
import subprocess
import sys

import pytest

BARE = "import numpy"
# the rule of logaddexp has a name in SciPy
FUNCTION = "import numpy as np, fad\nf = lambda x: np.sum(np.logaddexp(0.0, x) * x ** 2)"
COUNTED = """
import sys
{before}
calls, modules = 0, len(sys.modules)

def count(frame, event, argument):
    global calls
    calls += event == "call"

sys.setprofile(count)
{counted}
sys.setprofile(None)
print(calls, len(sys.modules) - modules)
"""


def run(code: str) -> str:
    """The output of a Python program run in a fresh process (which may keep its byte code, whatever the surroundings
    say)."""
    surroundings = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          env=surroundings).stdout.strip()


@pytest.mark.parametrize("before, counted, most_calls, most_modules", [
    (BARE, "import fad", 12_000, 50),
    (FUNCTION, "fad.grad(f)(np.ones(3))", 15_000, 450)], ids=["import", "first derivative"])
def test_few_calls_and_modules(before, counted, most_calls, most_modules):
    run(f"{before}\n{counted}")  # compiles the byte code
    calls, modules = map(int, run(COUNTED.format(before=before, counted=counted)).split())
    assert calls <= most_calls and modules <= most_modules, (calls, modules)


def test_import_brings_neither_numba_nor_scipy():
    code = "import fad, sys; fad.grad; print([m for m in ('numba', 'llvmlite', 'scipy') if m in sys.modules])"
    assert run(code) == "[]"


def test_import_leaves_the_facade_and_the_compiler_to_their_first_use():
    parts = ("fad.eager", "fad.nn", "fad.autograd", "fad.backend.emission.emit", "fad.show", "fad.ops.special.gamma",
             "fad.ops.linalg", "fad.ops.numpy_api.distributions")
    assert run(f"import fad, sys; fad.grad; print([m for m in sys.modules if m.startswith({parts})])") == "[]"


def test_import_starts_no_threads():
    assert run("import fad, threading; print(threading.active_count())") == "1"
