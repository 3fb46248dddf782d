"""Polynomials and their data: polyfit, poly, roots."""
import operator
from typing import Any

import numpy as np

from ...ir.op import registry
from ...ir.types import FLOAT, type_of
from ...util.array import AnyArray, ArrayLike, Extent
from .. import extents
from ..correlate import correlated, flipped, padded
from ..kinds import shape_of
from ..literals import is_value
from ..override import BY_NAME, override
from .arguments import as_array, fixed, in_dtype, rank, refuse, some_of, taken
from .polynomial import vander


@override("numpy.polyfit",
          samples=("np.polyfit(v, v * v, 1)", "np.polyfit(v, x.T, 2)", "np.polyfit(v, np.sin(v), 1, w=v)",
                               "np.polyfit(v, np.sin(3 * v), 1, cov=True)"))
def polyfit(x: ArrayLike, y: ArrayLike, deg: Any, rcond: object = None, full: bool = False, w: Any = None,
            cov: bool = False) -> Any:
    """Least squares on the powers of x, each column scaled to length 1."""
    if full or cov and rcond is not None:
        raise refuse("numpy.polyfit", "full, or cov with rcond", do="use np.linalg.lstsq on np.vander(x, deg + 1)")
    x, y, order = as_array(x), as_array(y), operator.index(deg) + 1
    if order < 1:
        raise ValueError("expected deg >= 0")
    x, y = (in_dtype(a, FLOAT) if type_of(a).dtype.kind in "biu" else a for a in (x, y))
    n = extents.agree(shape_of(x)[0], shape_of(y)[0], "extents of x and y")
    powers = vander(x, order)
    if w is not None:
        w = as_array(w)
        powers = powers * registry["reshape"](w, n, 1)
        y = y * (registry["reshape"](w, n, 1) if rank(y) == 2 else w)
    scale = registry["sqrt"](registry["sum"](powers * powers, axes=(0,)))
    rcond = rcond if rcond is not None else n * float(np.finfo(type_of(powers).dtype).eps)
    scaled = powers / scale
    c = BY_NAME["numpy.linalg.lstsq"].call(scaled, y, rcond)[0]
    found = c / (registry["reshape"](scale, order, 1) if rank(y) == 2 else scale)
    return (found, _covariance(scaled, scale, y, c, n, cov)) if cov else found


def _covariance(scaled: AnyArray, scale: AnyArray, y: object, c: AnyArray, n: Extent, cov: bool) -> AnyArray:
    """The estimated covariance of the coefficients: (v^T v)^-1, times the residuals' variance unless `unscaled`."""
    matmul = BY_NAME["numpy.matmul"].call
    base = BY_NAME["numpy.linalg.inv"].call(matmul(scaled.T, scaled)) / BY_NAME["numpy.outer"].call(scale, scale)
    order = shape_of(scale)[0]
    if cov != "unscaled" and not extents.is_at_least(n, order + 1):
        raise ValueError("the number of data points must exceed order to scale the covariance matrix")
    apart = y - matmul(scaled, c)
    share = 1.0 if isinstance(cov, str) else registry["sum"](apart * apart, axes=(0,)) / (n - order)
    return base[..., None] * share if rank(y) == 2 else base * share


@override("numpy.poly", samples=("np.poly(v)",))
def poly(seq_of_zeros: ArrayLike) -> AnyArray:
    """The product of x - zero over the zeros; of a matrix, over its eigenvalues."""
    zeros = as_array(seq_of_zeros)
    if rank(zeros) == 2 and not any(isinstance(n, int) and n == 0 for n in shape_of(zeros)):
        eigenvalues = BY_NAME["numpy.linalg.eigvals"].call(zeros)
        characteristic = poly(eigenvalues)
        if type_of(zeros).dtype.kind != "c" and type_of(characteristic).dtype.kind == "c":
            return registry["real"](characteristic)
        return characteristic
    if rank(zeros) > 1:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    dtype = np.result_type(type_of(zeros).dtype, FLOAT) if type_of(zeros).dtype.kind in "biu" else type_of(zeros).dtype
    product = registry["full"](1, 1, dtype=dtype)
    for k in range(fixed(shape_of(zeros)[0], "the number of zeros")):
        factor = registry["concatenate"](registry["full"](1, 1, dtype=dtype),
                                         registry["reshape"](in_dtype(-taken(zeros, k), dtype), 1), axis=0)
        product = correlated(padded(product, 1), flipped(factor))
    return product


@override("numpy.roots",
          note="yes, where the zeros are simple; complex, and neither the first nor the last coefficient "
                           "may be a computed zero", samples=("np.roots([v[0], v[1], 0.0])[:1].real",))
def roots(p: Any) -> Any:
    """The eigenvalues of the companion matrix (R. A. Horn and C. R. Johnson, Matrix Analysis, section 3.3)."""
    lead, at_zero = _plain_zeros(p), _plain_zeros(p, -1)
    p = as_array(p[lead:len(p) - at_zero] if lead or at_zero else p)
    n = shape_of(p)[0]
    some_of(n, "the zeros of a polynomial")
    is_zero = registry["logical_or"](taken(p, 0) == 0, taken(p, n - 1) == 0)
    registry["check_equal"](registry["cast"](is_zero, dtype=np.dtype(np.int64)), 0,
                            what="the first and the last coefficient of a polynomial must not be zero: whether one is, "
                                 "and whether it may be,")
    found = _of_companion(p, n - 1)
    if not at_zero:
        return found
    return registry["concatenate"](found, registry["full"](0, at_zero, dtype=np.dtype(complex)), axis=0)


def _plain_zeros(p: object, step: int = 1) -> int:
    """The number of elements of a list that are zeros which nobody has computed, from its start or its end. NumPy
    leaves the first ones out; for each of the last ones, zero is a root.
    """
    if not isinstance(p, (list, tuple)):
        return 0
    return next((k for k, x in enumerate(p[::step]) if is_value(x) or np.ndim(x) or x != 0), 0)


def _of_companion(p: AnyArray, order: Any) -> AnyArray:
    if isinstance(order, int) and order == 0:
        return registry["full"](0, 0, dtype=np.dtype(complex))
    first = registry["slice_axis"](p, 0, 1, order) / -taken(p, 0)
    row, column = (registry["iota"](k, dtype=np.dtype(np.int64)) for k in (order - 1, order))
    below = registry["cast"](registry["reshape"](row, order - 1, 1) == registry["reshape"](column, 1, order),
                             dtype=type_of(first).dtype)
    companion = registry["concatenate"](registry["reshape"](first, 1, order), below, axis=0)
    return BY_NAME["numpy.linalg.eigvals"].call(companion)
