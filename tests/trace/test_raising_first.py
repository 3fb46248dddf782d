"""Calls that raise, the first one above all, whose program a trace has just made: outside is what Python leaves, or all
is as it was before."""
import contextlib

import numpy as np
import pytest

import fad

from .packages import of_file

HEAD = """
LOG, SEEN, TABLE = [], set(), {"n": 0}

class Told(Exception):
    pass

"""
WRITES = ["SEEN.add(2)", "TABLE['n'] = 'told'", "LOG.append('begun')", "SEEN.add(len(SEEN)); LOG.append('begun')"]


@pytest.mark.parametrize("transform", [fad.jit, fad.value_and_grad])
@pytest.mark.parametrize("error", ["KeyError", "ValueError", "ZeroDivisionError", "Told"])
@pytest.mark.parametrize("write", WRITES)
def test_a_call_that_raises_leaves_what_python_leaves_or_nothing(write, error, transform, tmp_path):
    text = (f"{HEAD}def f(x):\n    {write}\n    if x > 0.5:\n        raise {error}('no')\n    LOG.append('done')\n"
            "    return x * 2.0\n")
    python, traced = of_file(tmp_path, text), of_file(tmp_path, text)

    def state(world):
        return [*world.LOG], set(world.SEEN), dict(world.TABLE)
    f = transform(traced.f, compile="never")
    for x in (np.array(0.7), np.array(0.2), np.array(0.9), np.array(0.1)):
        before = state(traced)
        with contextlib.suppress(Exception):
            python.f(x)
        with contextlib.suppress(Exception):
            f(x)
        assert state(traced) in (state(python), before)
        python.LOG[:], traced.LOG[:] = [], []                 # the next call begins alike
        for world in (python, traced):
            world.SEEN.clear()
            world.TABLE["n"] = 0
