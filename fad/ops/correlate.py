"""Correlation of two vectors where they overlap fully: y[i] = sum over j of x[i + j] w[j]. All kinds of convolution
reduce to it."""
from typing import Any

import numpy as np

from ..ir.op import Op, registry
from ..ir.types import Type, result_dtype, type_of
from ..util.array import AnyArray, Extent
from . import extents
from .kinds import Multilinear, conjugate, shape_of


def correlated(x: AnyArray, w: AnyArray) -> AnyArray:
    """correlate(x, w) in their common dtype."""
    dtype = result_dtype(x, w)
    return correlate(*[a if type_of(a).dtype == dtype else registry["cast"](a, dtype=dtype) for a in (x, w)])


def _infer(x: AnyArray, w: AnyArray) -> Type:
    return Type(result_dtype(x, w), (extents.difference(shape_of(x)[0], shape_of(w)[0]) + 1,))


def flipped(x: object, axis: int = 0) -> AnyArray:
    """x in the opposite order along an axis."""
    n = shape_of(x)[axis]
    return registry["slice_axis"](x, axis, n - 1, n, -1)


def padded(x: AnyArray, n: Extent) -> AnyArray:
    """A vector with n zeros at each end."""
    zeros = registry["full"](0, n, dtype=type_of(x).dtype)
    return registry["concatenate"](zeros, x, zeros, axis=0)


def _long(g: AnyArray, xs: tuple) -> AnyArray:
    w = conjugate(xs[1])
    return correlated(padded(g, shape_of(w)[0] - 1), flipped(w))


def _short(g: AnyArray, xs: tuple) -> AnyArray:
    return correlated(conjugate(xs[0]), g)


def _sample(n: int, m: int, imaginary: complex = 0) -> Any:
    return lambda rng: (tuple(rng.standard_normal(k) + imaginary * rng.standard_normal(k) for k in (n, m)), {})


correlate = Op("correlate", lambda x, w: np.correlate(x, np.conj(w), "valid"), _infer, kind="opaque",
               kernel="filters.correlate", kernel_params=(), derivative=Multilinear(_long, _short),
               samples=(_sample(7, 3), _sample(4, 4), _sample(5, 1), _sample(6, 2, 1j)),
               doc="The sums of products of a vector with another, not longer one, laid against each part of it")
