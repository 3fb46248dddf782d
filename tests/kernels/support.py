"""Run a kernel inside a compiled loop, as generated code does."""
import numba
import numpy as np


def jit(function):
    return numba.njit(error_model="numpy", fastmath={"reassoc", "contract"})(function)


def looped(kernel, arity):
    """The compiled loop y[i] = kernel(x[i], ...)."""
    if arity == 1:

        def loop(y, a):
            for i in range(y.size):
                y[i] = kernel(a[i])
    elif arity == 2:

        def loop(y, a, b):
            for i in range(y.size):
                y[i] = kernel(a[i], b[i])
    else:

        def loop(y, a, b, c):
            for i in range(y.size):
                y[i] = kernel(a[i], b[i], c[i])

    return jit(loop)


def vectorised(loop) -> bool:
    """Whether the compiled loop calls vector forms."""
    return any("_ZGV" in line and " call " in line for text in loop.inspect_llvm().values()
               for line in text.split("\n"))


def run(kernel, dtype, *args):
    y = np.empty(args[0].shape, dtype)
    looped(kernel, len(args))(y, *args)
    return y
