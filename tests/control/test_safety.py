"""What compiled code does where Python would raise: indices out of range, reductions of nothing, assertions, Ctrl-C, integer division."""
import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import fad

PROGRAM = '''
import signal
import fad
signal.signal(signal.SIGINT, signal.default_int_handler)


def endless(x):
    while x < 10.0:
        x = x + 1e-30
    return x


g = fad.jit(endless, compile="now")
print(g(11.0), flush=True)
try:
    g(0.0)
except KeyboardInterrupt:
    print("interrupted", g(12.0), g.compilations)
'''


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_a_compiled_while_loop_heeds_ctrl_c(tmp_path):
    program = tmp_path / "endless.py"
    program.write_text(textwrap.dedent(PROGRAM))
    with subprocess.Popen([sys.executable, str(program)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "11.0\n"
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60)[0] == "interrupted 12.0 1\n"


def least_of_each(x):
    total = 0.0
    for k in range(x.shape[0]):
        total += np.min(x[:k])
    return total


def one_too_many(x):
    total = 0.0
    for k in range(x.shape[0] + 1):
        total += x[k]
    return total


def asserts(x):
    assert np.sum(x) < 3.0, "too large"
    return np.sum(x)


@pytest.mark.parametrize("compile", ["now", "never"])
@pytest.mark.parametrize("f, error, words", [(least_of_each, ValueError, "min of no elements"), (one_too_many, IndexError, "index|axis"),
                                             (asserts, AssertionError, "too large")])
def test_what_raises_in_numpy_raises(f, error, words, compile):
    x = np.arange(4.0)
    with pytest.raises(error):
        f(x)
    for g in (fad.jit(f, compile=compile), fad.grad(f)):
        with pytest.raises(error, match=words):
            g(x)


def test_an_index_error_names_the_line():
    with pytest.raises(IndexError, match=r"total \+= x\[k\]"):
        fad.jit(one_too_many, compile="now")(np.arange(4.0))
