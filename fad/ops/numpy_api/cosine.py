"""scipy.fft's discrete cosine and sine transforms, types 1 to 4, by the Fourier transform of the same values and as
many zeros.

Every type is a sum of x[n] cos or sin of pi (k + a) (n + b) / m over n, with a and b 0, 1/2 or 1, and m the extent N,
N - 1 or N + 1. Since (k + a) (n + b) = k n + k b + a (n + b), it is the real (or negative imaginary) part of

    exp(-i pi k b / m) fft(x[n] exp(-i pi a (n + b) / m), length 2 m)[k]

Definitions, weights and normalizations are those of SciPy's documentation of dct and dst.
"""
from typing import Any, NamedTuple

import numpy as np

from ...ir.op import registry
from ...ir.types import INT, complex_dtype, type_of
from ...util.array import AnyArray, ArrayLike, ArrayOrNumber, Axes, Extent
from ..fft import fft, weighted
from ..kinds import is_complex, shape_of
from ..override import override
from .arguments import in_dtype, one_axis, rank
from .fft import checked_length, lengths_and_axes, of_length, scaled, signal, swapped_last


class TransformType(NamedTuple):
    """One type of transform: its a and b, m - N, and which entries of x count once where the others count twice."""

    a: float
    b: float
    more: int
    once: tuple = ()


COSINE = {1: TransformType(0.0, 0.0, -1, ("first", "last")), 2: TransformType(0.0, 0.5, 0),
          3: TransformType(0.5, 0.0, 0, ("first",)), 4: TransformType(0.5, 0.5, 0)}
SINE = {1: TransformType(1.0, 1.0, 1), 2: TransformType(1.0, 0.5, 0), 3: TransformType(0.5, 1.0, 0, ("last",)),
        4: TransformType(0.5, 0.5, 0)}
INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}


def _at(place: str, n: Extent) -> AnyArray:
    """The mask of the first or the last of n entries."""
    k = registry["iota"](n, dtype=INT)
    return registry["equal"](k, 0 if place == "first" else n - 1)


def _weighted(x: ArrayOrNumber, places: tuple, weight: float, otherwise: float = 1.0) -> Any:
    """x times a weight at these places (along the last axis), and another elsewhere."""
    if not places and otherwise == 1.0:
        return x
    n, mask = shape_of(x)[-1], None
    for place in places:
        here = _at(place, n)
        mask = here if mask is None else registry["bitwise_or"](mask, here)
    weights = otherwise if mask is None else registry["where"](mask, weight, otherwise)
    return in_dtype(x * weights, type_of(x).dtype)


def _phase(n: Extent, slope: float, offset: float, m: Extent, dtype: np.dtype) -> AnyArray:
    """exp(-i pi slope (j + offset) / m) for j = 0 to n - 1."""
    j = registry["iota"](n, dtype=INT) + offset
    angle = j * (-np.pi * slope) / m
    return registry["cast"](registry["exp"](angle * 1j), dtype=dtype)


def _summed(x: AnyArray, kind: TransformType, sine: bool) -> AnyArray:
    """The sums of real values along the last axis."""
    n = shape_of(x)[-1]
    m, dtype = n + kind.more, complex_dtype(type_of(x).dtype)
    z = _weighted(x, kind.once, 1.0, 2.0) if kind.once else x * 2.0
    z = registry["cast"](z, dtype=dtype)
    if kind.a:
        z = z * _phase(n, kind.a, kind.b, m, dtype)
    y = registry["slice_axis"](fft(of_length(z, 2 * m)), rank(z) - 1, 0, n)
    if kind.b:
        y = y * _phase(n, kind.b, 0.0, m, dtype)
    return -registry["imag"](y) if sine else registry["real"](y)


def _ends(type: int, sine: bool) -> "tuple[tuple, tuple]":
    """The entries of the input and of the result that `orthogonalize` scales, so that the matrix becomes orthogonal."""
    single = ("last",) if sine else ("first",)
    if type == 1:
        return ((), ()) if sine else (("first", "last"), ("first", "last"))
    return ((), single) if type == 2 else (single, ()) if type == 3 else ((), ())


def _transformed(x: AnyArray, type: int, norm: Any, orthogonalize: object, inverse: bool, sine: bool) -> AnyArray:
    type = INVERSE[type] if inverse else type
    orthogonal = norm == "ortho" if orthogonalize is None else orthogonalize
    before, after = _ends(type, sine) if orthogonal else ((), ())
    kind = (SINE if sine else COSINE)[type]
    y = _summed(_weighted(x, before, 2 ** 0.5), kind, sine)
    y = _weighted(y, after, 0.5 ** 0.5)
    length = 2 * (shape_of(x)[-1] + kind.more)
    y = weighted(y, 1.0 / length) if inverse else y
    return scaled(in_dtype(y, type_of(x).dtype), norm, length, inverse)


def along(x: ArrayOrNumber, n: object, ax: int, type: int, norm: object, orthogonalize: object, inverse: bool,
          sine: bool) -> AnyArray:
    """One transform along one axis; of a complex x, that of its parts."""
    if type not in (1, 2, 3, 4):
        raise ValueError(f"Type must be an integer 1, 2, 3 or 4; not {type}")
    x = of_length(swapped_last(x, ax), checked_length(n, shape_of(x)[ax]))
    options = (type, norm, orthogonalize, inverse, sine)
    if is_complex(x):
        y = registry["make_complex"](_transformed(registry["real"](x), *options),
                                     _transformed(registry["imag"](x), *options))
    else:
        y = _transformed(x, *options)
    return swapped_last(y, ax)


def _overrides(name: str, inverse: bool, sine: bool) -> None:
    @override(f"scipy.fft.{name}")
    def one(x: ArrayLike, type: int = 2, n: object = None, axis: int = -1, norm: object = None,
            overwrite_x: bool = False, workers: object = None, orthogonalize: object = None) -> AnyArray:
        x = signal(x)
        return along(x, n, one_axis(axis, rank(x)), type, norm, orthogonalize, inverse, sine)

    @override(f"scipy.fft.{name}n")
    def several(x: ArrayLike, type: int = 2, s: object = None, axes: Axes = None, norm: object = None,
                overwrite_x: bool = False, workers: object = None, *, orthogonalize: object = None) -> AnyArray:
        x = signal(x)
        for n, ax in reversed(lengths_and_axes(x, s, axes)):
            x = along(x, n, ax, type, norm, orthogonalize, inverse, sine)
        return x


for _name, _inverse, _sine in (("dct", False, False), ("idct", True, False), ("dst", False, True),
                               ("idst", True, True)):
    _overrides(_name, _inverse, _sine)

