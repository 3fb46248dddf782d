"""scipy.ndimage's measurements: sums, means, extremes and centres of an array's labelled parts, and its filters of
Fourier transforms."""
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.op import registry
from ...ir.types import type_of
from ...util.array import AnyArray, ArrayLike
from ..kinds import is_complex, shape_of
from ..override import BY_NAME, METHODS, override
from ..precision import as_given, double
from .arguments import as_array, in_dtype, live, one_axis, rank, refuse
from .moments import root

where = registry["where"]


def _masks(x: AnyArray, labels: object, index: object) -> "tuple[list, tuple | None]":
    """The mask of each part, and the shape of the results (None: one number)."""
    if labels is None:
        return [registry["broadcast_to"](True, *shape_of(x))], None
    labels = registry["broadcast_to"](as_array(labels), *shape_of(x))
    if index is None:
        return [registry["greater"](labels, 0)], None
    if not isinstance(index, (int, np.integer, list, tuple, range, np.ndarray)):
        raise refuse("a measurement of scipy.ndimage", "a traced index")
    wanted = np.asarray(index)
    masks = [registry["equal"](labels, int(k)) for k in wanted.ravel()]
    return masks, None if wanted.ndim == 0 else wanted.shape


def _measured(measure: Callable, input: AnyArray, labels: "list | None", index: "list | None") -> AnyArray:
    """The measure of each part."""
    x = live(input)
    x = x if measure is not _total or labels is None else double(x)
    masks, shape = _masks(x, labels, index)
    found = [measure(x, mask) for mask in masks]
    return found[0] if shape is None else registry["reshape"](BY_NAME["numpy.stack"].call(found), *shape)


def _along(x: AnyArray, ax: int, row: AnyArray) -> AnyArray:
    """A vector along an axis of x."""
    return registry["reshape"](row, *[n if k == ax else 1 for k, n in enumerate(shape_of(x))])


def _total(x: AnyArray, mask: AnyArray) -> AnyArray:
    return METHODS["sum"](where(mask, x, 0.0))


def _count(mask: AnyArray) -> AnyArray:
    return METHODS["sum"](where(mask, 1.0, 0.0))


def _mean(x: AnyArray, mask: AnyArray) -> AnyArray:
    return _total(x, mask) / _count(mask)


def _variance(x: AnyArray, mask: AnyArray) -> AnyArray:
    return _mean((x - _mean(x, mask)) ** 2, mask)


def _extreme(name: str, sign: float) -> Callable:
    def measure(x: AnyArray, mask: AnyArray) -> AnyArray:
        found = METHODS[name](where(mask, x, sign * math.inf))
        return where(_count(mask) > 0, found, 0.0)
    return measure


def _median(x: AnyArray, mask: AnyArray) -> AnyArray:
    """The middle of the sorted part; what does not belong to it is sorted to the end."""
    ordered = BY_NAME["numpy.sort"].call(METHODS["ravel"](where(mask, x, math.inf)))
    n = METHODS["sum"](where(mask, 1, 0))
    return 0.5 * (ordered[(n - 1) // 2] + ordered[n // 2])


MEASURES = {"sum_labels": _total, "mean": _mean, "variance": _variance,
            "standard_deviation": lambda x, mask: root(_variance(x, mask)),
            "maximum": _extreme("max", -1.0), "minimum": _extreme("min", 1.0), "median": _median}


KEEP_INTEGERS = ("sum_labels", "maximum", "minimum")


def _add(name: str, measure: Callable) -> None:
    def call(input: AnyArray, labels: "list | None" = None, index: "list | None" = None) -> AnyArray:
        y, dtype = _measured(measure, input, labels, index), type_of(as_array(input)).dtype
        if dtype.kind not in "biu" or name not in KEEP_INTEGERS:
            return y
        if name == "sum_labels":
            return METHODS["sum"](as_array(input)) if labels is None else y
        return in_dtype(y, dtype)
    names = ("scipy.ndimage.sum_labels", "scipy.ndimage.sum") if name == "sum_labels" else (f"scipy.ndimage.{name}",)
    override(*names, samples=(f"ndimage.{name}(x)", f"ndimage.{name}(v, [1, 0, 2, 2], [1, 2])"))(call)


for _name, _measure in MEASURES.items():
    _add(_name, _measure)


@override("scipy.ndimage.center_of_mass",
          samples=("ndimage.center_of_mass(x)", "ndimage.center_of_mass(v, [1, 0, 2, 2], 2)"))
def center_of_mass(input: ArrayLike, labels: object = None, index: object = None) -> Any:
    x = live(input)
    if not rank(x):
        raise ValueError("a number has no centre of mass")
    masks, shape = _masks(x, labels, index)
    places = [_along(x, k, 1.0 * registry["iota"](n, dtype=np.dtype(int))) for k, n in enumerate(shape_of(x))]
    centres = [tuple([_total(x * at, mask) / _total(x, mask) for at in places]) for mask in masks]
    if shape is None:
        return centres[0]
    if len(shape) > 1:
        raise refuse("scipy.ndimage.center_of_mass", "an index of several axes")
    return centres


# -- filters of Fourier transforms -----------------------------------------------------------------


def _frequencies(x: AnyArray, ax: int, n: int) -> AnyArray:
    """The frequency of each place along an axis, in parts of the sampling rate; n: of a half transform, the extent of
    the signal."""
    size = shape_of(x)[ax]
    k = 1.0 * registry["iota"](size, dtype=np.dtype(int))
    if n >= 0:
        return k / n
    return where(k < (size + 1) // 2, k, k - size) / size


def _filtered(input: object, amount: object, n: int, axis: int, output: object, weight: Callable) -> AnyArray:
    """The product of a transform with a function of the frequency and the amount along each axis."""
    if output is not None:
        raise refuse("a Fourier filter of scipy.ndimage", "output", do="assign the result")
    x = live(input)
    ax, amounts = one_axis(axis, rank(x)), amount if isinstance(amount, (list, tuple)) else [amount] * rank(x)
    if len(amounts) != rank(x):
        raise RuntimeError("sequence argument must have length equal to input rank")
    for k in range(rank(x)):
        x = x * _along(x, k, weight(_frequencies(x, k, n if k == ax else -1), amounts[k]))
    return as_given(lambda _: x)(live(input))


@override("scipy.ndimage.fourier_gaussian",
          samples=("ndimage.fourier_gaussian(x, (0.7, 1.2))", "ndimage.fourier_gaussian(x, v[0])"))
def fourier_gaussian(input: ArrayLike, sigma: ArrayLike, n: int = -1, axis: int = -1,
                     output: object = None) -> AnyArray:
    return _filtered(input, sigma, n, axis, output,
                     lambda f, sigma: registry["exp"](-0.5 * (2.0 * math.pi * sigma * f) ** 2))


@override("scipy.ndimage.fourier_uniform", samples=("ndimage.fourier_uniform(x, 2.5, n=6)",))
def fourier_uniform(input: ArrayLike, size: object, n: int = -1, axis: int = -1, output: object = None) -> AnyArray:
    return _filtered(input, size, n, axis, output, lambda f, size: registry["sinc"](size * f))


@override("scipy.ndimage.fourier_shift",
          samples=("ndimage.fourier_shift(x, 0.7)", "ndimage.fourier_shift(x, (v[0], 1.0))"))
def fourier_shift(input: ArrayLike, shift: object, n: int = -1, axis: int = -1, output: object = None) -> AnyArray:
    x = live(input)
    y = _filtered(double(x), shift, n, axis, output, lambda f, shift: registry["exp"](-2j * math.pi * shift * f))
    return in_dtype(y, type_of(x).dtype) if is_complex(x) and output is None else y
