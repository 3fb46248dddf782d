"""Functions typed at a real prompt, or given to `python -c`, are compiled as those of files are."""
import os
import select
import subprocess
import sys
import time

import pytest

pty = pytest.importorskip("pty", reason="a terminal of POSIX systems")
pytest.importorskip("readline", reason="without it the prompt keeps no history")

PROGRAM = """\
import fad, numpy as np, warnings
warnings.simplefilter("error")
def helper(v): return v * v if v > 0.3 else 0.0

def f(x):
    s = 0.0
    for k in range(len(x)):
        if x[k] > 0.9:
            s += np.sum(
x) * 0.0
        else:
            s += helper(x[k])
    return s

@fad.jit
def decorated(x):
    while x > 1.0:
        x = x / 2
    return x

class Model:
    def value(self, x):
        return x[0] if x[1] > 0 else x[0] ** 2

g, h = lambda x: x[0] if x[1] > 0 else x[0] ** 2, lambda x: x[0] if x[1] > 0 else x[0] ** 3
print("first", fad.grad(f)(np.array([0.2, 0.5, 1.0])).round(6))
print("then", fad.grad(decorated)(6.0), *[fad.grad(f)(-np.ones(2)) for f in (Model().value, g, h)])
"""
ANSWERS = ["first [0. 1. 0.]", "then 0.125 [-2.  0.] [-2.  0.] [3. 0.]"]


def typed(lines, home, seconds=200):
    """What a prompt prints when these lines are typed."""
    child, terminal = pty.fork()
    if child == 0:
        os.execve(sys.executable, [sys.executable, "-q"],
                  {**os.environ, "HOME": home, "TERM": "dumb", "PYTHON_BASIC_REPL": "1"})
    out, end = "", time.monotonic() + seconds
    try:
        for line in [*lines, 'print("the " + "end")']:
            os.write(terminal, f"{line}\n".encode())
        while "the end" not in out and time.monotonic() < end and select.select([terminal], [], [], seconds)[0]:
            out += os.read(terminal, 1 << 16).decode(errors="replace")
    finally:
        os.close(terminal)
        os.waitpid(child, 0)
    return out


def test_at_the_prompt(tmp_path):
    out = typed(PROGRAM.splitlines(), str(tmp_path))
    assert all(answer in out for answer in ANSWERS), out


def test_as_a_command(tmp_path):
    out = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, cwd=tmp_path, timeout=300)
    assert all(answer in out.stdout for answer in ANSWERS), out.stderr


def test_a_statement_that_cannot_be_told_runs_as_it_is(tmp_path):
    """Of two lines alike in a row the history keeps one: the text is not the function's."""
    lines = ["import fad", "def f(x):", "    if x > 0.0:", "        x = x * 2", "        x = x * 2", "    return x", "",
             "print('slope', fad.grad(f)(3.0))"]
    out = typed(lines, str(tmp_path))
    assert "slope 4.0" in out and "FallbackWarning" in out, out


def test_what_was_refused_is_nobodys_text(tmp_path):
    """A wrong line defines nothing: the function is the one before."""
    lines = ["import fad", "f = lambda x: x ** 2", "f = lambda x: x ** 3; return", "print('slope', fad.grad(f)(3.0))"]
    out = typed(lines, str(tmp_path))
    assert "slope 6.0" in out, out
