"""A kernel that stands apart, as large ones do (see fad/kernels/outlined.py), but takes no time to compile."""

from numba.core import types

from fad.kernels.promotion import inner


@inner(lambda x: types.float64, apart=True)
def half_square(x):
    """x * x / 2."""
    return 0.5 * x * x
