"""numpy.fft and scipy.fft: transforms of any length along any axes, in NumPy's three normalizations."""
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.op import registry
from ...ir.types import complex_dtype, type_of
from ...util.array import AnyArray, ArrayLike, ArrayOrNumber, Axes, Extent
from .. import extents
from ..fft import fft, ifft, irfft, rfft, weighted
from ..kinds import conjugate, is_complex, same_extent, shape_of
from ..override import override
from .arguments import as_array, axes_of, in_dtype, into, one_axis, rank
from .shape import extents_given

# -- one axis --------------------------------------------------------------------------------------


def signal(a: object) -> AnyArray:
    """a as an array of a floating dtype that has a transform: float64 for integers, float32 for float16."""
    x = as_array(a)
    dtype = type_of(x).dtype
    wanted = {"b": float, "i": float, "u": float}.get(dtype.kind, np.float32 if dtype == np.float16 else dtype)
    return in_dtype(x, wanted)


def as_complex(x: AnyArray) -> AnyArray:
    return x if is_complex(x) else registry["cast"](x, dtype=complex_dtype(type_of(x).dtype))


def swapped_last(x: ArrayOrNumber, ax: int) -> Any:
    """x with an axis and the last one exchanged."""
    last = rank(x) - 1
    if ax == last:
        return x
    order = list(range(rank(x)))
    order[ax], order[last] = last, ax
    return registry["transpose"](x, axes=tuple(order))


def of_length(x: AnyArray, n: Extent) -> AnyArray:
    """x cropped to n values along the last axis, or zeros added behind."""
    have = shape_of(x)[-1]
    if n is None or same_extent(n, have):
        return x
    last = rank(x) - 1
    kept = registry["slice_axis"](x, last, 0, extents.minimum(have, n))
    missing = extents.difference(n, have)
    if isinstance(missing, int) and missing == 0:
        return kept
    zeros = registry["full"](0, *shape_of(x)[:-1], missing, dtype=type_of(x).dtype)
    return registry["concatenate"](kept, zeros, axis=last)


def share_of(norm: Any, inverse: bool) -> int:
    """The factor from NumPy's default transform to a norm, as a power of 1 / root n: none, one or two (inverse:
    negative)."""
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    power = {"ortho": 1, "forward": 2}.get(norm, 0)
    return -power if inverse else power


def scaled(y: AnyArray, norm: "str | None", n: Extent, inverse: bool) -> AnyArray:
    """The result of a transform of n values, normalized."""
    power = share_of(norm, inverse)
    if not power:
        return y
    if abs(power) == 1:
        n = float(n) ** 0.5 if isinstance(n, int) else registry["sqrt"](registry["cast"](n, dtype=np.dtype(float)))
    return in_dtype(y * n if power < 0 else y / n, type_of(y).dtype)


def checked_length(n: object, have: ArrayOrNumber) -> Any:
    n = have if n is None else extents_given(n)[0]
    if isinstance(n, int) and n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
    return n


def complex_transform(x: AnyArray, n: Any, ax: int, norm: Any, inverse: bool) -> AnyArray:
    """fft or ifft along one axis."""
    n = checked_length(n, shape_of(x)[ax])
    x = of_length(swapped_last(as_complex(x), ax), n)
    return swapped_last(scaled(ifft(x) if inverse else fft(x), norm, n, inverse), ax)


def to_half_spectrum(x: AnyArray, n: Any, ax: int, norm: Any, inverse: bool = False) -> AnyArray:
    """rfft along one axis; as an inverse (ihfft), the conjugate and its scale."""
    n = checked_length(n, shape_of(x)[ax])
    if is_complex(x):
        raise TypeError("a transform of real signals was given a complex one")
    y = rfft(of_length(swapped_last(x, ax), n))
    y = weighted(conjugate(y), 1.0 / n) if inverse else y
    return swapped_last(scaled(y, norm, n, inverse), ax)


def from_half_spectrum(x: AnyArray, n: Any, ax: int, norm: Any, inverse: bool = True) -> AnyArray:
    """irfft along one axis; not as an inverse (hfft), of the conjugate and with its scale."""
    n = checked_length(n, (shape_of(x)[ax] - 1) * 2)
    x = of_length(swapped_last(as_complex(x), ax), n // 2 + 1)
    y = irfft(x, n) if inverse else weighted(irfft(conjugate(x), n), n)
    return swapped_last(scaled(y, norm, n, inverse), ax)


def along_one_axis(transform: Callable, **options: object) -> tuple:
    """The override of a transform along one axis, in NumPy's and SciPy's signatures."""
    def numpy_override(a: AnyArray, n: object = None, axis: int = -1, norm: object = None,
                       out: object = None) -> AnyArray:
        x = signal(a)
        return into(out, transform(x, n, one_axis(axis, rank(x)), norm, **options))

    def scipy_override(x: AnyArray, n: object = None, axis: int = -1, norm: object = None,
                       overwrite_x: bool = False) -> AnyArray:
        return numpy_override(x, n, axis, norm)
    return numpy_override, scipy_override


# -- several axes ----------------------------------------------------------------------------------


def lengths_and_axes(x: AnyArray, s: object, axes: Axes) -> list:
    """(length or None, axis) for each axis to transform, in order; the last one's length is that of its real side."""
    s = s if s is None or isinstance(s, (tuple, list)) else (s,)
    if axes is None:
        if s is not None and len(s) > rank(x):
            raise ValueError("shape requires more axes than are present")
        axes = range(rank(x)) if s is None else range(rank(x) - len(s), rank(x))
    axes = [one_axis(k, rank(x)) for k in (axes if isinstance(axes, (tuple, list, range)) else (axes,))]
    s = [None] * len(axes) if s is None else [None if isinstance(n, int) and n == -1 else n for n in s]
    if len(s) != len(axes):
        raise ValueError("Shape and axes have different lengths.")
    return list(zip(s, axes))


def _complex_axes(x: AnyArray, pairs: list, norm: object, inverse: bool) -> AnyArray:
    for n, ax in reversed(pairs):
        x = complex_transform(x, n, ax, norm, inverse)
    return x


def _from_real(x: AnyArray, pairs: list, norm: object, inverse: bool = False) -> AnyArray:
    """rfftn: the last axis from real, then the others (ihfftn: its inverse kin)."""
    n, ax = pairs[-1]
    return _complex_axes(to_half_spectrum(x, n, ax, norm, inverse), pairs[:-1], norm, inverse)


def _to_real(x: AnyArray, pairs: list, norm: object, inverse: bool = True) -> AnyArray:
    """irfftn: the other axes first, the last one to real (hfftn: its forward kin)."""
    n, ax = pairs[-1]
    return from_half_spectrum(_complex_axes(x, pairs[:-1], norm, inverse), n, ax, norm, inverse)


def along_axes(transform: Callable, axes: Axes, **options: object) -> tuple:
    """The override of a transform along several axes, in NumPy's and SciPy's signatures."""
    default = axes

    def numpy_override(a: AnyArray, s: Any = None, axes: Any = default, norm: Any = None, out: Any = None) -> AnyArray:
        x = signal(a)
        pairs = lengths_and_axes(x, s, axes)
        return into(out, transform(x, pairs, norm, **options) if pairs else x)

    def scipy_override(x: AnyArray, s: object = None, axes: object = default, norm: "str | None" = None,
                       overwrite_x: bool = False) -> AnyArray:
        return numpy_override(x, s, axes, norm)
    return numpy_override, scipy_override


ONE_AXIS = {"fft": along_one_axis(complex_transform, inverse=False),
            "ifft": along_one_axis(complex_transform, inverse=True), "rfft": along_one_axis(to_half_spectrum),
            "irfft": along_one_axis(from_half_spectrum), "hfft": along_one_axis(from_half_spectrum, inverse=False),
            "ihfft": along_one_axis(to_half_spectrum, inverse=True)}
SEVERAL = {"fft": (_complex_axes, {"inverse": False}), "ifft": (_complex_axes, {"inverse": True}),
           "rfft": (_from_real, {}), "irfft": (_to_real, {}), "hfft": (_to_real, {"inverse": False}),
           "ihfft": (_from_real, {"inverse": True})}
_SAMPLES = {"fft": ("np.real(np.fft.fft(v))", "np.imag(np.fft.fft(x, 6, axis=0))"),
            "ifft": ("np.real(np.fft.ifft(np.fft.fft(x)))",), "rfft": ("np.abs(np.fft.rfft(x, axis=1))",),
            "irfft": ("np.fft.irfft(np.fft.rfft(v))", "np.fft.irfft(x, 5)"), "hfft": ("np.fft.hfft(v)",),
            "ihfft": ("np.real(np.fft.ihfft(v))",), "fft2": ("np.imag(np.fft.fft2(x))",),
            "ifft2": ("np.real(np.fft.ifft2(x))",), "fftn": ("np.real(np.fft.fftshift(np.fft.fftn(x)))",),
            "ifftn": ("np.real(np.fft.ifftn(x))",), "rfft2": ("np.real(np.fft.rfft2(x))",),
            "irfft2": ("np.fft.irfft2(x)",), "rfftn": ("np.imag(np.fft.rfftn(x))",), "irfftn": ("np.fft.irfftn(x)",)}


def _register(name: str, overrides: tuple) -> None:
    if hasattr(np.fft, name):
        override(f"numpy.fft.{name}", samples=_SAMPLES[name])(overrides[0])
    override(f"scipy.fft.{name}")(overrides[1])


for _name, _overrides in ONE_AXIS.items():
    _register(_name, _overrides)
for _name, (_transform, _options) in SEVERAL.items():
    _register(f"{_name}2", along_axes(_transform, (-2, -1), **_options))
    _register(f"{_name}n", along_axes(_transform, None, **_options))

# -- order and frequencies -------------------------------------------------------------------------


def _rotated(x: object, ax: int, first: Extent) -> AnyArray:
    """x with the entry `first` along an axis in front, and those before it behind."""
    n = shape_of(x)[ax]
    front = registry["slice_axis"](x, ax, first, extents.difference(n, first))
    return registry["concatenate"](front, registry["slice_axis"](x, ax, 0, first), axis=ax)


@override("numpy.fft.fftshift", "scipy.fft.fftshift", samples=("np.fft.fftshift(x)", "np.fft.fftshift(x, axes=1)"))
def fftshift(x: ArrayLike, axes: Axes = None) -> Any:
    x = as_array(x)
    for ax in axes_of(axes, rank(x)):
        n = shape_of(x)[ax]
        x = _rotated(x, ax, n - n // 2)
    return x


@override("numpy.fft.ifftshift", "scipy.fft.ifftshift", samples=("np.fft.ifftshift(x)",))
def ifftshift(x: ArrayLike, axes: Axes = None) -> Any:
    x = as_array(x)
    for ax in axes_of(axes, rank(x)):
        x = _rotated(x, ax, shape_of(x)[ax] // 2)
    return x


def _counted(start: object, n: int) -> AnyArray:
    return registry["iota"](n, dtype=np.dtype(np.int64)) + start


@override("numpy.fft.fftfreq", "scipy.fft.fftfreq", creation=True, samples=("np.fft.fftfreq(4, v[0])",))
def fftfreq(n: AnyArray, d: ArrayLike = 1.0) -> AnyArray:
    """0, 1, ..., then the negative ones, over n d."""
    n, = extents_given(n)
    ahead = n - n // 2
    places = registry["concatenate"](_counted(0, ahead), _counted(-(n // 2), n // 2), axis=0)
    return places * (1.0 / (n * d))


@override("numpy.fft.rfftfreq", "scipy.fft.rfftfreq", creation=True, samples=("np.fft.rfftfreq(4, v[0])",))
def rfftfreq(n: Any, d: ArrayLike = 1.0) -> AnyArray:
    n, = extents_given(n)
    return _counted(0, n // 2 + 1) * (1.0 / (n * d))
