"""Discrete Fourier transforms along the last axis, in NumPy's normalization "backward"; the overrides scale for the
others.

    fft(x)[k] = sum_j x[j] exp(-2 pi i j k / n)          ifft(x)[k] = 1/n sum_j x[j] exp(2 pi i j k / n)

The matrix of fft is symmetric, so the adjoint of fft is n ifft, and that of ifft is fft / n. rfft is the first half of
fft of a real x; irfft(x, n) is the real signal of n values whose transform begins with x. Each is the other's adjoint,
but for n and for a factor of 2 on the frequencies that stand for two (all but 0 and, for even n, n / 2).
"""
from typing import Any

import numpy as np

from ..ir.op import Op, registry
from ..ir.traits import Traits
from ..ir.types import INT, Type, complex_dtype, real_dtype, type_of
from ..util.array import AnyArray, ArrayOrNumber, DTypeLike, Extent
from . import extents
from .kinds import LinearIn, shape_of


def _batch(op: Op, xs: tuple, batched: tuple, params: dict) -> AnyArray:
    return NotImplemented if any(batched[1:]) else op(*xs, **params)


def _samples(*shapes: tuple, dtype: DTypeLike = complex, operands: tuple = (), **params: object) -> tuple:
    def sample(shape: tuple) -> Any:
        def make(rng: np.random.Generator) -> tuple:
            x = rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if dtype is complex else 0)
            return (x, *operands), params
        return make
    return tuple(sample(shape) for shape in shapes)


# -- complex ---------------------------------------------------------------------------------------


def weighted(x: AnyArray, weight: ArrayOrNumber) -> AnyArray:
    """The product, in x's dtype."""
    y = x * weight
    return y if type_of(y).dtype == type_of(x).dtype else registry["cast"](y, dtype=type_of(x).dtype)


def _infer_same(x: AnyArray) -> Type:
    return Type(type_of(x).dtype, shape_of(x))


def last_extent(x: AnyArray) -> ArrayOrNumber:
    return shape_of(x)[-1]


fft: Op = Op("fft", lambda x: np.fft.fft(x), _infer_same, kind="opaque", batch=_batch,
             derivative=LinearIn(lambda g, xs: weighted(ifft(g), last_extent(g))), kernel="fft.fft", kernel_params=(),
             samples=_samples((4,), (2, 3)), doc="The discrete Fourier transform along the last axis",
             traits=Traits(rowwise=True))
ifft: Op = Op("ifft", lambda x: np.fft.ifft(x), _infer_same, kind="opaque", batch=_batch,
              derivative=LinearIn(lambda g, xs: weighted(fft(g), 1.0 / last_extent(g))), kernel="fft.ifft",
              kernel_params=(), samples=_samples((5,), (2, 1, 4)),
              doc="The inverse Fourier transform along the last axis", traits=Traits(rowwise=True))

# -- real ------------------------------------------------------------------------------------------


def twice_inside(n: Extent, inside: float) -> AnyArray:
    """For the frequencies 0 to n // 2: `inside` for those that stand for two, 1 for the others."""
    k = registry["iota"](n // 2 + 1, dtype=INT)
    alone = registry["bitwise_or"](registry["equal"](k, 0), registry["equal"](k * 2, n))
    return registry["where"](alone, 1.0, inside)


def _infer_rfft(x: AnyArray) -> Type:
    t = type_of(x)
    *stack, n = shape_of(x)
    return Type(complex_dtype(t.dtype), (*stack, n // 2 + 1))


def _rfft_transpose(g: AnyArray, xs: tuple) -> AnyArray:
    n = shape_of(xs[0])[-1]
    return weighted(irfft(weighted(g, twice_inside(n, 0.5)), n), n)


def _infer_irfft(x: AnyArray, n: Extent) -> Type:
    t = type_of(x)
    *stack, half = shape_of(x)
    extents.agree(half, n // 2 + 1, "the extent of a half spectrum and n // 2 + 1")
    return Type(real_dtype(t.dtype), (*stack, n))


def _irfft_transpose(g: AnyArray, xs: tuple) -> AnyArray:
    return weighted(rfft(g), twice_inside(xs[1], 2.0) * (1.0 / xs[1]))


rfft = Op("rfft", lambda x: np.fft.rfft(x), _infer_rfft, kind="opaque", batch=_batch,
          derivative=LinearIn(_rfft_transpose), kernel="fft.rfft", kernel_params=(),
          samples=_samples((4,), (2, 5), (1,), dtype=float),
          doc="The first half, frequencies 0 to n // 2, of the Fourier transform of a real signal along the last axis",
          traits=Traits(rowwise=True))
irfft = Op("irfft", lambda x, n: np.fft.irfft(x, int(n)), _infer_irfft, kind="opaque", batch=_batch,
           derivative=LinearIn(_irfft_transpose, args=(0,)), kernel="fft.irfft", kernel_params=(),
           samples=_samples((3,), (2, 3), operands=(4,)) + _samples((2, 3), operands=(5,))
           + _samples((1,), operands=(1,)), doc="The real signal of n values whose Fourier transform begins with x")
