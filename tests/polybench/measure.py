"""Times of the kernels' gradients beside their own compiled primals: `python -m tests.polybench.measure [NAME ...]`."""
import sys
import time
import warnings

import fad

from . import KERNELS
from .judge import loss_of


def best(*calls, seconds=0.4):
    """The least time of each call, in seconds; they take iterations."""
    least = [float("inf")] * len(calls)
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        for k, call in enumerate(calls):
            before = time.perf_counter()
            call()
            least[k] = min(least[k], time.perf_counter() - before)
    return least


def first(call):
    before = time.perf_counter()
    call()
    return time.perf_counter() - before


def row(name):
    """name, size, ms of the primal, ms of the gradient, their ratio, seconds to the first gradient."""
    kernel = KERNELS[name]
    loss = loss_of(kernel, kernel.large)
    primal = fad.jit(loss, compile="now")
    gradient = fad.jit(fad.grad(loss, argnums=tuple(range(len(loss.point)))), compile="now")
    first(lambda: primal(*loss.point))
    compiling = first(lambda: gradient(*loss.point))
    p, g = best(lambda: primal(*loss.point), lambda: gradient(*loss.point))
    return f"{name:26}{kernel.large:8}{1e3 * p:10.3f}{1e3 * g:10.3f}{g / p:8.2f}{compiling:10.2f}"


def main(names):
    warnings.filterwarnings("error", message=".*interpreted, not compiled")
    print(f"{'kernel':26}{'n':>8}{'primal ms':>10}{'grad ms':>10}{'ratio':>8}{'first s':>10}")
    for name in names or sorted(n for n, k in KERNELS.items() if k.smooth):
        try:
            print(row(name), flush=True)
        except Exception as error:
            print(f"{name:26}{type(error).__name__}: {str(error)[:300]}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
