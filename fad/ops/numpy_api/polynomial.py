"""Convolution, correlation and polynomials: convolve, correlate, polyval, vander, polymul, polydiv, polyder, polyint.
"""
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.op import registry
from ...ir.types import INT, result_dtype, type_of
from ...util.array import AnyArray, ArrayLike, ArrayOrNumber, Extent
from .. import extents
from ..correlate import correlated, flipped, padded
from ..dynamic import cut_off
from ..kinds import conjugate, shape_of
from ..override import BY_NAME, override
from ..subscript import read_subscript
from .arguments import as_array, fixed, in_dtype, rank, some_of, taken
from .join import strong

_MODES = {0: "valid", 1: "same", 2: "full", "v": "valid", "s": "same", "f": "full"}


def _mode(mode: str) -> str:
    name = _MODES.get(mode if isinstance(mode, int) else str(mode)[:1].lower())
    if name is None:
        raise ValueError(f"mode {mode!r} is none of 'valid', 'same', 'full'")
    return name


def _vectors(*xs: object) -> list:
    out = []
    for x in xs:
        x = as_array(x)
        if rank(x) > 1:
            raise ValueError("object too deep for desired array")
        x = x if rank(x) else registry["reshape"](x, 1)
        if isinstance(x.shape[0], int) and x.shape[0] == 0:
            raise ValueError("an array of a convolution cannot be empty")
        out.append(x)
    return out


def sliding(x: AnyArray, w: AnyArray, mode: str, odd: bool) -> AnyArray:
    """The sums of x[i + j] w[j] over j, for the i of a mode. `odd`: of an even overlap, which half "same" leaves out.
    """
    n, m = shape_of(x)[0], shape_of(w)[0]
    if mode == "valid" and extents.assume_at_least(n, m):
        return correlated(x, w)
    whole = correlated(padded(x, m - 1), w)
    if mode == "full":
        return whole
    short, long = extents.minimum(n, m), extents.maximum(n, m)
    if mode == "valid":
        return registry["slice_axis"](whole, 0, short - 1, long - short + 1)
    return registry["slice_axis"](whole, 0, short // 2 if odd and not extents.is_at_least(n, m)
                                  else (short - 1) // 2, long)


@override("numpy.convolve", samples=("np.convolve(v, v[:3])", 'np.convolve(v, v, mode="same")',
                                     'np.convolve(v[:2], v, mode="valid")'))
def convolve(a: ArrayLike, v: ArrayLike, mode: str = "full") -> AnyArray:
    return _in_own_dtype(lambda a, v: sliding(a, flipped(v), _mode(mode), False), *_vectors(a, v))


@override("numpy.correlate", samples=('np.correlate(v, v[:2], mode="full")', "np.correlate(v, v)",
                                      'np.correlate(v[:2], v, "same")'))
def correlate(a: ArrayLike, v: ArrayLike, mode: str = "valid") -> AnyArray:
    return _in_own_dtype(lambda a, v: sliding(a, conjugate(v), _mode(mode), True), *_vectors(a, v))


def _in_own_dtype(f: Callable, a: AnyArray, v: AnyArray) -> AnyArray:
    """f(a, v), which of bools is whether any product is True."""
    if result_dtype(a, v).kind != "b":
        return f(a, v)
    return f(in_dtype(a, INT), in_dtype(v, INT)) > 0


# -- polynomials: coefficients from the highest power down -----------------------------------------

CLOSE_TO_ZERO = 1e-8   # np.allclose(r, 0)
UNROLLED = 32          # coefficients up to which Horner's rule is written out


@override("numpy.polyval", samples=("np.polyval(v, x)", "np.polyval(v, 0.5)"))
def polyval(p: ArrayLike, x: ArrayLike) -> AnyArray:
    x, p = strong(as_array(x)), p.coeffs if isinstance(p, np.poly1d) else p
    if isinstance(p, (list, tuple)):                       # each coefficient may be an array of its own
        coefficients = [strong(as_array(c)) for c in p]
        dtype = result_dtype(*coefficients) if p else None
        return _horner([in_dtype(c, dtype) for c in coefficients], x)
    p = as_array(p)
    count = shape_of(p)[0]
    seen = extents.hint(count)
    if rank(p) > 1 or (seen is not None and seen <= UNROLLED):
        return _horner([taken(p, k) for k in range(fixed(count, "the number of coefficients"))], x)
    return _long_horner(p, x)


def _horner(coefficients: list, x: AnyArray) -> AnyArray:
    if not coefficients:
        return registry["zeros_like"](x)
    y = coefficients[0] + registry["zeros_like"](x) if len(coefficients) == 1 else coefficients[0]
    for c in coefficients[1:]:
        y = y * x + c
    return y


def _long_horner(p: object, x: AnyArray) -> AnyArray:
    """Horner's rule is a linear recurrence in which each factor is x."""
    some_of(shape_of(p)[0], "a polynomial")
    shape = (shape_of(p)[0], *shape_of(x))
    factors = registry["broadcast_to"](x, *shape)
    terms = registry["broadcast_to"](registry["reshape"](p, shape[0], *[1] * rank(x)), *shape)
    steps = registry["linear_scan"](factors, terms, axis=0, reverse=False)
    return taken(steps, shape[0] - 1)


@override("numpy.vander", samples=("np.vander(v, 3)", "np.vander(v, increasing=True)"))
def vander(x: ArrayLike, N: object = None, increasing: bool = False) -> AnyArray:
    x = as_array(x)
    if rank(x) != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    n = shape_of(x)[0]
    count = n if N is None else N
    dtype = np.promote_types(type_of(x).dtype, int)
    first = registry["equal"](registry["iota"](count, dtype=np.dtype(int)), 0)
    factors = in_dtype(registry["where"](first, 1, registry["reshape"](x, n, 1)), dtype)
    powers = registry["cumprod"](factors, axis=1, reverse=False)
    return powers if increasing else flipped(powers, 1)


def _first_of(mask: AnyArray) -> AnyArray:
    """The place where a vector of truth values is first true; its last place, if nowhere."""
    n = shape_of(mask)[0]
    last = registry["equal"](registry["iota"](n, dtype=INT), extents.difference(n, 1))
    return registry["argmax"](in_dtype(registry["logical_or"](mask, last), INT), axis=0)


def trimmed(p: AnyArray) -> AnyArray:
    """p without the zeros at its beginning; the last coefficient stays. The extent depends on the values."""
    return _without(p, _first_of(registry["not_equal"](p, 0)), None)


def trimmed_behind(c: AnyArray) -> AnyArray:
    """c without the zeros at its end; the first coefficient stays."""
    return _without(c, 0, shape_of(c)[0] - _first_of(flipped(registry["not_equal"](c, 0))))


def _without(p: AnyArray, start: ArrayOrNumber, stop: object, always: object = None) -> AnyArray:
    """p[start:stop]; those that are `always` zero are not missed."""
    y = read_subscript(p, slice(start, stop)).read(p)
    place = registry["iota"](shape_of(p)[0], dtype=INT)
    dropped = registry["less"](place, start) if stop is None else registry["greater_equal"](place, stop)
    dropped = dropped if always is None else registry["logical_and"](dropped, registry["logical_not"](always))
    return cut_off(y, p, dropped) if type_of(p).dtype.kind in "fc" else y


@override("numpy.polymul", samples=("np.polymul(v, v)",))
def polymul(a1: ArrayLike, a2: ArrayLike) -> AnyArray:
    return convolve(*[trimmed(p) for p in _vectors(a1, a2)])


@override("numpy.polydiv", samples=("np.polydiv(v, v[:2])", "np.polydiv(v, v[2:] * 1.5)[0]", "np.polydiv(v[:2], v)",
                                    "np.polydiv(v, v[:1])[0]"), precision="given")
def polydiv(u: ArrayLike, v: ArrayLike) -> tuple:
    """Quotient and remainder. Long division is the recursive filter whose coefficients are the divisor's."""
    u, v = (x + 0.0 for x in _vectors(u, v))
    m, n = (fixed(shape_of(x)[0], "the number of coefficients") for x in (u, v))
    count = m - n + 1
    if count < 1:
        return registry["full"](0, 1, dtype=result_dtype(u, v)), _remainder(in_dtype(u, result_dtype(u, v)))
    q = BY_NAME["scipy.signal.lfilter"].call([1.0], v, registry["slice_axis"](u, 0, 0, count))
    rest = u - convolve(q, v)
    return q, _remainder(rest, count)


def _remainder(r: AnyArray, count: int = 0) -> AnyArray:
    """Drop the leading coefficients that NumPy takes for zero. The quotient cancels the first ones, so those are zero
    if they are numbers."""
    taken = registry["logical_and"](registry["less"](registry["iota"](shape_of(r)[0], dtype=INT), count),
                                    registry["isfinite"](r))
    small = registry["logical_or"](taken, registry["less_equal"](registry["abs"](r), CLOSE_TO_ZERO))
    return _without(r, _first_of(registry["logical_not"](small)), None, taken)


@override("numpy.polyadd", samples=("np.polyadd(v, v[:2])",))
def polyadd(a1: ArrayLike, a2: ArrayLike) -> AnyArray:
    a, b = _same_length(*_vectors(a1, a2))
    return a + b


@override("numpy.polysub", samples=("np.polysub(v[:2], v)",))
def polysub(a1: ArrayLike, a2: ArrayLike) -> AnyArray:
    a, b = _same_length(*_vectors(a1, a2))
    return a - b


def _same_length(a: AnyArray, b: AnyArray) -> tuple:
    n = extents.maximum(shape_of(a)[0], shape_of(b)[0])
    return tuple(_lengthened(p, n) for p in (a, b))


def _lengthened(p: AnyArray, n: Extent) -> AnyArray:
    missing = extents.difference(n, shape_of(p)[0])
    if isinstance(missing, int) and missing == 0:
        return p
    return registry["concatenate"](registry["full"](0, missing, dtype=type_of(p).dtype), p, axis=0)


@override("numpy.polyder", samples=("np.polyder(v)", "np.polyder(v, 2)"))
def polyder(p: ArrayLike, m: int = 1) -> Any:
    p, = _vectors(p)
    for _ in range(m):
        n = shape_of(p)[0]
        rest = extents.difference(n, 1)
        powers = flipped(registry["iota"](rest, dtype=np.dtype(np.int64))) + 1
        p = registry["slice_axis"](p, 0, 0, rest) * powers
    return p


@override("numpy.polyint", samples=("np.polyint(v)", "np.polyint(v, 2, [1.0, 2.0])", "np.polyint(v, k=v[0])"))
def polyint(p: ArrayLike, m: int = 1, k: Any = None) -> Any:
    p, = _vectors(p)
    constants = [0.0] * m if k is None else [k] * m if not isinstance(k, list) and not rank(as_array(k)) else list(k)
    if len(constants) == 1 and m > 1:
        constants = constants * m
    if len(constants) != m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    for c in constants:
        powers = flipped(registry["iota"](shape_of(p)[0], dtype=np.dtype(np.int64))) + 1
        last = registry["full"](c, 1, dtype=result_dtype(p, c)) if not shape_of(c) else c
        p = registry["concatenate"](p / powers, last, axis=0)
    return p
