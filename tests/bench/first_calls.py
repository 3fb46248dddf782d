"""The time to the first answer, in fad and in other libraries: `python -m tests.bench.first_calls [PART OF A NAME
...]`.

Each figure is the seconds of the first call of a derivative in a process of its own. Imports, the making of the data
and the start of compilers are left out: each library has differentiated x * x before. fad has three columns: as it
comes (interpreted at first, compiled in the background), compiled at once with an empty cache folder, and compiled from
that cache.
"""
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

from . import peers
from .programs import PROGRAMS
from .programs.record import Program

START = Program("start", lambda x: x * x, lambda rng: (np.array(1.5),), (), ())
KINDS = {"fad": ("auto", "now", "from disk")}                 # of the other libraries there is one


def columns(libraries):
    """The (library, kind) of each column."""
    return [(library, kind) for library in libraries for kind in KINDS.get(library, ("",))]


def one(name, library, policy):
    """Print the seconds of the first call in this process."""
    program, module = PROGRAMS[name], peers.module(library)
    more = {"compile": policy} if library == "fad" else {}
    peers.MAKERS[library](START, START.arguments(), module, **({"compile": "now"} if library == "fad" else {}))()
    run = peers.MAKERS[library](program, program.arguments(), module, **more)
    start = time.perf_counter()
    run()
    print(time.perf_counter() - start)


def in_a_process(name, library, kind, folder):
    """The seconds of the first call in a new process with this cache folder."""
    policy = "auto" if kind == "auto" else "now"
    command = [sys.executable, "-m", "tests.bench.first_calls", "--one", name, library, policy]
    done = subprocess.run(command, capture_output=True, text=True,
                          env=os.environ | {"FAD_CACHE_DIR": os.path.join(folder, policy)}, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise RuntimeError(f"{name}, {library}: {done.stderr[-500:]}")
    return float(done.stdout.split()[-1])


def measured(name, libraries):
    """(library, kind) -> seconds, of the libraries that can run the program."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        return {column: in_a_process(name, *column, folder) for column in columns(libraries)
                if column[0] not in PROGRAMS[name].left_out}


def main(parts):
    shown = columns(peers.present())
    print(f"{'seconds':55}" + "".join(f"{' '.join(column):>15}" for column in shown))
    for name in PROGRAMS:
        if not parts or any(part in name for part in parts):
            times = measured(name, peers.present())
            print(f"{name:55}" + "".join(f"{times[c]:15.3f}" if c in times else f"{'-':>15}" for c in shown),
                  flush=True)


if __name__ == "__main__":
    one(*sys.argv[2:]) if sys.argv[1:2] == ["--one"] else main(sys.argv[1:])
