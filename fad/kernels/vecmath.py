"""The scalar mathematics of generated code: elementary functions that LLVM widens, and NumPy's arithmetic.

    >>> import numba, numpy as np
    >>> @numba.njit(error_model="numpy")
    ... def softplus(x, y):
    ...     for i in range(x.size):
    ...         y[i] = logaddexp(0.0, x[i]) * exp(-x[i])
    >>> y = np.empty(3)
    >>> softplus(np.array([0.0, -1.0, 1.0]), y); y.round(3).tolist()
    [0.693, 0.852, 0.483]
"""
from fad.kernels.arithmetic import *  # noqa: F403
from fad.kernels.arithmetic import __all__ as _arithmetic
from fad.kernels.elementary import *  # noqa: F403
from fad.kernels.elementary import __all__ as _elementary
from fad.kernels.logarithms import *  # noqa: F403
from fad.kernels.logarithms import __all__ as _logarithms
from fad.kernels.widen import FLAVOUR, have_libmvec

__all__ = ["FLAVOUR", "have_libmvec", *_elementary, *_arithmetic, *_logarithms]
