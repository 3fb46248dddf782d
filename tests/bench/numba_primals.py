"""Functions compiled by fad beside the same functions compiled by Numba: `python -m tests.bench.numba_primals [PART OF
A NAME ...]`.

The functions are those of plain.py, loops.py and programs/ that Numba compiles as they are. Both run on one core; Numba
with fast mathematics.
"""
import math
import sys

import numba
import numpy as np

import fad

from . import loops, plain
from .programs import PROGRAMS
from .programs.words import retold
from .timing import medians


def cases():
    """Name -> the function and its arguments, which are made when asked for."""
    yield from ((name, (f, lambda args=args: args)) for name, (f, args) in plain.cases().items())
    yield from ((name.replace("_", " "), (f, lambda args=args: args)) for name, (f, args, _) in loops.cases().items())
    yield from ((name, (p.f, p.arguments)) for name, p in PROGRAMS.items() if p.what == "gradient")


def in_numba(f):
    """The function and those that it calls, compiled by Numba."""
    njit = numba.njit(fastmath=True, error_model="numpy")
    return njit(retold(f, np, njit))


def measured(f, args):
    """(seconds in Numba, seconds in fad), or None if Numba does not compile the function, or not to NumPy's numbers: of
    parts of an array that overlap it reads what it has written."""
    theirs = in_numba(f)
    try:
        expected = theirs(*args)
    except (numba.core.errors.NumbaError, NotImplementedError):
        return None
    with fad.config.using(threads=1):
        ours = fad.jit(f, compile="now")
        if not np.allclose(ours(*args), expected, rtol=1e-8, atol=1e-10):
            np.testing.assert_allclose(ours(*args), f(*args), rtol=1e-8, atol=1e-10)
            return None
        return tuple(medians([lambda: theirs(*args), lambda: ours(*args)], budget=0.2))


def ratios(parts=()):
    """(name, fad's time over Numba's) of each function that Numba compiles."""
    for name, (f, arguments) in cases():
        if not parts or any(part in name for part in parts):
            found = measured(f, arguments())
            if found:
                yield name, found[1] / found[0]


def main(parts):
    found = []
    for name, ratio in ratios(parts):
        found.append(ratio)
        print(f"{name:50}{ratio:8.2f}", flush=True)
    mean = math.exp(sum(map(math.log, found)) / len(found))
    print(f"{len(found)} functions, geometric mean {mean:.2f}, worst {max(found):.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
