"""NumPy's elementwise functions that are not ufuncs: choices, parts of complex numbers, tests, interpolation."""
import functools
import math
import operator
from typing import Any

import numpy as np

from ...ir import stack
from ...ir.op import registry
from ...ir.types import BOOL, COMPLEX, FLOAT, result_dtype, type_of
from ...util.array import AnyArray, ArrayLike, ArrayOrNumber
from ...util.errors import NOT_A_NUMBER
from ...util.interrupts import reraise_interrupt
from ..choice import abs as absolute
from ..choice import clip as clip_
from ..choice import isfinite, isnan, stop_gradient
from ..choice import where as where_
from ..complex import angle as angle_
from ..complex import conj, make_complex
from ..complex import imag as imag_
from ..complex import real as real_
from ..extents import agree
from ..kinds import is_complex, shape_of
from ..literals import is_value, python_number, require_room
from ..override import BY_NAME, METHODS, override
from .arguments import as_array, check_all, in_dtype, into, is_given, one_axis, rank

# -- choices ---------------------------------------------------------------------------------------


@override("numpy.where", samples=("np.where(x > 0.5, x, v)", "np.where(x > 0.5, np.log(x), x * x)",
                                  "np.where(x > 0.5, np.log(x - 0.5), 0.0)"))
def where(condition: ArrayLike, x: object = None, y: object = None) -> AnyArray:
    """x where the condition holds, y elsewhere; derivatives ignore the branch not taken. With one argument, nonzero."""
    if x is None and y is None:
        return BY_NAME["numpy.nonzero"].call(condition)
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    choices: tuple[AnyArray, AnyArray] = as_array(x), as_array(y)
    dtype = result_dtype(*choices)
    for a in choices if dtype.kind in "iu" and _refuses_large_ints() else ():
        if type_of(a).weak and type_of(a).dtype.kind != "b":
            require_room(a, dtype) if is_value(a) else dtype.type(a)
    return where_(as_array(condition), *choices)


@functools.cache
def _refuses_large_ints() -> bool:
    """Whether np.where refuses a Python int beyond the dtype of the array beside it, as NumPy does from 2.5 on."""
    try:
        np.where(True, np.uint8(1), 300)
    except OverflowError as error:
        reraise_interrupt(error)
        return True
    return False


@override("numpy.select", samples=("np.select([x < 0.4, x < 0.6], [x, x ** 2], 0.0)",))
def select(condlist: Any, choicelist: Any, default: ArrayLike = 0) -> AnyArray:
    """The first choice whose condition holds."""
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    dtype, conditions = result_dtype(*map(as_array, [*choicelist, default])), [as_array(c) for c in condlist]
    y = in_dtype(as_array(default), dtype)
    for k, c in enumerate(conditions):
        if type_of(c).dtype != BOOL:
            raise TypeError(f"invalid entry {k} in condlist: should be boolean ndarray")
    for c, x in reversed(list(zip(conditions, choicelist))):
        y = where_(c, in_dtype(as_array(x), dtype), y)
    return y


@override("numpy.clip", method="clip",
          samples=("np.clip(x, 0.3, 0.7)", "np.clip(x, 0.5, None)", "np.clip(x, v - 0.3, v)", "x.clip(0.3, 0.6)"))
def clip(a: ArrayLike, a_min: object = np._NoValue, a_max: object = np._NoValue, out: object = None, *,
         min: Any = np._NoValue, max: Any = np._NoValue, dtype: object = None, where: ArrayLike = True) -> AnyArray:
    """a between its bounds; on a bound its slope is 1, as inside."""
    x, low, high = as_array(a), _given(a_min, min), _given(a_max, max)
    if is_given(dtype):
        x, low, high = (None if part is None else in_dtype(part, dtype) for part in (x, low, high))
    y = x if low is None and high is None else _clipped(x, low, high)
    return into(out, y if where is True else registry["where"](as_array(where), y, out if is_given(out) else 0))


def _given(first: object, second: object) -> Any:
    return as_array(first) if is_given(first) else as_array(second) if is_given(second) else None


def _clipped(x: ArrayOrNumber, low: "ArrayOrNumber | None", high: "ArrayOrNumber | None") -> AnyArray:
    kind = result_dtype(x, high if low is None else low).kind
    if kind != "f" and (low is None or high is None):
        return registry["minimum"](x, high) if low is None else registry["maximum"](x, low)
    return clip_(x, -math.inf if low is None else low, math.inf if high is None else high)


@override("numpy.nan_to_num", samples=("np.nan_to_num(x)", "np.nan_to_num(np.where(x > 0.5, x, np.nan), nan=1.0)"))
def nan_to_num(x: ArrayLike, copy: bool = True, nan: ArrayLike = 0.0, posinf: object = None,
               neginf: object = None) -> AnyArray:
    """x with numbers for nan and the infinities."""
    y = _without_nan(as_array(x), nan, posinf, neginf)
    return y if copy or not rank(y) else into(x, y)


def _without_nan(x: AnyArray, nan: object, posinf: object, neginf: object) -> AnyArray:
    if is_complex(x):
        return make_complex(*[_without_nan(part(x), nan, posinf, neginf) for part in (real_, imag_)])
    if type_of(x).dtype.kind != "f":
        return x
    limits = np.finfo(type_of(x).dtype)
    y = x
    for place, number in ((x == math.inf, limits.max if posinf is None else posinf),
                          (x == -math.inf, limits.min if neginf is None else neginf), (isnan(x), nan)):
        y = where_(place, in_dtype(as_array(number), type_of(x).dtype), y)
    return y


# -- complex numbers -------------------------------------------------------------------------------


@override("numpy.real", property="real", samples=("np.real(x)", "np.real((x + 2j) ** 2)", "np.abs(np.exp(1j * x))"))
def real(val: ArrayLike) -> Any:
    """The real part."""
    val = _known_as_real(val)
    return real_(val) if is_complex(val) else val


@override("numpy.imag", property="imag", samples=("np.imag(np.exp(1j * x))",))
def imag(val: ArrayLike) -> AnyArray:
    """The imaginary part; zeros of a real array."""
    val = _known_as_real(val)
    return imag_(val) if is_complex(val) else registry["zeros_like"](val)


def _known_as_real(val: ArrayLike) -> ArrayLike:
    """The value. A program leaves a float of Python's that is nan to the tape: a negative one's power is complex."""
    val = as_array(val)
    t = type_of(val)
    if t.weak and t.dtype.kind == "f" and not t.shape and not stack.is_live():
        registry["check_that"](val == val, True, what=NOT_A_NUMBER, error="ValueError")
    return val


@override("numpy.angle", samples=("np.angle(x + 1j * v)", "np.angle(x + 1j * v, deg=True)"))
def angle(z: ArrayLike, deg: bool = False) -> AnyArray:
    """The angle in the complex plane."""
    y = angle_(as_array(z))
    return y * (180.0 / math.pi) if deg else y


METHODS["conj"] = METHODS["conjugate"] = lambda x: conj(x) if is_complex(x) else _known_as_real(x)   # unlike np.conj


@override("numpy.real_if_close")
def real_if_close(a: ArrayLike, tol: float = 100) -> Any:
    """The real part of a complex array that is close to real. Its values decide, so this runs on the tape."""
    a = as_array(a)
    if not is_complex(a):
        return a
    limit = tol * np.finfo(type_of(a).dtype).eps if tol > 1 else tol
    return real_(a) if (absolute(imag_(a)) < limit).all() else a


# -- rounding, sinc, i0 ----------------------------------------------------------------------------


@override("numpy.round", "numpy.around", method="round", samples=("np.round(x, 2) * x",))
def round(a: ArrayLike, decimals: int = 0, out: object = None) -> AnyArray:
    """Rounded to decimals; piecewise constant."""
    x, decimals = as_array(a), operator.index(decimals)
    if is_complex(x):
        return into(out, make_complex(round(real_(x), decimals), round(imag_(x), decimals)))
    if type_of(x).dtype.kind == "b" and decimals:
        raise TypeError(
            "Cannot cast ufunc 'multiply' output from dtype('float64') to dtype('bool') with casting rule 'same_kind'")
    if type_of(x).dtype.kind in "iu" and decimals >= 0:
        return into(out, x)
    unit = 10.0 ** abs(decimals)
    if decimals == 0:
        return into(out, registry["rint"](x))
    y = registry["rint"](x * unit) / unit if decimals > 0 else registry["rint"](x / unit) * unit
    return into(out, in_dtype(y, type_of(x).dtype))


@override("numpy.fix", samples=("np.fix(3 * x) * x",))
def fix(x: ArrayLike, out: object = None) -> AnyArray:
    """Rounded towards zero."""
    return into(out, registry["trunc"](as_array(x)))


@override("numpy.sinc", samples=("np.sinc(x)", "np.sinc(x - x)"))
def sinc(x: ArrayLike) -> AnyArray:
    """sin(pi x) / (pi x)."""
    x = as_array(x)
    return registry["sinc"](x if type_of(x).dtype.kind in "fc" else in_dtype(x, FLOAT))


@override("numpy.i0", samples=("np.i0(x)",))
def i0(x: ArrayLike) -> AnyArray:
    """The modified Bessel function of order 0."""
    x = as_array(x)
    x = x if type_of(x).dtype.kind in "fc" else in_dtype(x, FLOAT)
    return in_dtype(registry["i0"](x), type_of(x).dtype)


@override("numpy.kaiser", samples=("np.kaiser(5, v[0])", "np.kaiser(1, v[0])"))
def kaiser(M: Any, beta: ArrayLike) -> AnyArray:
    """The Kaiser window I0(beta sqrt(1 - t^2)) / I0(beta), for M places t from -1 to 1."""
    places = np.arange(0, M if isinstance(M, (int, float)) else operator.index(M))
    if M == 1:
        return np.ones(1)
    middle = (M - 1) / 2.0
    return i0(np.sqrt(1 - ((places - middle) / middle) ** 2.0) * beta) / i0(beta)


# -- tests -----------------------------------------------------------------------------------------


@override("numpy.isclose")
def isclose(a: AnyArray, b: ArrayLike, rtol: object = 1e-5, atol: object = 1e-8, equal_nan: bool = False) -> AnyArray:
    """Whether |a - b| <= atol + rtol |b|."""
    a, b = as_array(a), as_array(b)
    if type_of(b).dtype.kind in "biu":                         # whose differences may be none
        b = in_dtype(b, FLOAT)
    close = ((absolute(a - b) <= atol + rtol * absolute(b)) & isfinite(b)) | (a == b)
    return close | (isnan(a) & isnan(b)) if equal_nan else close


@override("numpy.allclose", samples=("np.allclose(x, x[0])",))
def allclose(a: ArrayLike, b: ArrayLike, rtol: object = 1e-5, atol: object = 1e-8, equal_nan: bool = False) -> AnyArray:
    """Whether all elements are close."""
    return python_number(_all(isclose(a, b, rtol, atol, equal_nan)))


@override("numpy.array_equal", samples=("np.array_equal(x, x[0])", "np.array_equal(x, x)"))
def array_equal(a1: ArrayLike, a2: ArrayLike, equal_nan: bool = False) -> ArrayOrNumber:
    """Whether shapes and elements are equal."""
    a, b = as_array(a1), as_array(a2)
    if len(shape_of(a)) != len(shape_of(b)) or not all(m == n for m, n in zip(shape_of(a), shape_of(b))):
        return False
    same = a == b
    return python_number(_all(same | (isnan(a) & isnan(b)) if equal_nan else same))


@override("numpy.array_equiv", samples=("np.array_equiv(x, x[0])",))
def array_equiv(a1: ArrayLike, a2: ArrayLike) -> AnyArray:
    """Whether arrays that broadcast are equal."""
    return python_number(_all(as_array(a1) == as_array(a2)))


def _all(x: AnyArray) -> AnyArray:
    return registry["all"](x, axes=tuple(range(len(shape_of(x)))))


@override("numpy.isposinf")
def isposinf(x: ArrayLike, out: object = None) -> AnyArray:
    """Whether x is +inf."""
    return into(out, _ordered(x) == math.inf)


@override("numpy.isneginf")
def isneginf(x: object, out: object = None) -> Any:
    """Whether x is -inf."""
    return into(out, _ordered(x) == -math.inf)


def _ordered(x: object) -> AnyArray:
    y = as_array(x)
    if is_complex(y):
        raise TypeError("This operation is not supported for complex values because it would be ambiguous.")
    return y


@override("numpy.isreal")
def isreal(x: ArrayLike) -> AnyArray:
    """Whether the imaginary part is zero."""
    return imag(x) == 0


@override("numpy.iscomplex")
def iscomplex(x: object) -> Any:
    """Whether the imaginary part is not zero."""
    return imag(x) != 0


override("numpy.isrealobj")(lambda x: not is_complex(as_array(x)))
override("numpy.iscomplexobj")(lambda x: is_complex(as_array(x)))

# -- interpolation, unwrapping ---------------------------------------------------------------------


@override("numpy.interp", samples=("np.interp(v, [0., 0.5, 1.], [1., 2., 4.])",
                                   "np.interp([0.1, 0.6], [0., 0.5, 1.], v[:3])", "np.interp(0.5, np.sort(v), x[0])",
                                   "np.interp(x, [0., 0.5, 0.8], [1., 2., 4.], right=0.0)",
                                   "np.interp(x, [0.7, 0.1, 0.4], v[:3], period=1.0)"))
def interp(x: AnyArray, xp: AnyArray, fp: AnyArray, left: object = None, right: object = None,
           period: object = None) -> ArrayOrNumber:
    """Piecewise linear interpolation, differentiable in x, xp and fp."""
    x, xp, fp = as_array(x), as_array(xp), as_array(fp)
    if rank(xp) != 1 or rank(fp) != 1:
        raise ValueError("Data points must be 1-D sequences")
    agree(shape_of(xp)[0], shape_of(fp)[0], "lengths of xp and fp")
    if is_complex(x) or is_complex(xp):
        raise TypeError("Cannot cast array data from complex to float64 according to the rule 'safe'")
    x, xp = in_dtype(x, FLOAT), in_dtype(xp, FLOAT)
    fp = in_dtype(fp, COMPLEX if is_complex(fp) else FLOAT)
    if period is not None:
        check_all(registry["not_equal"](period, 0), "period must be a non-zero value")
        x, xp, fp = _one_period(x, xp, fp, period)
        left = right = None
    n = shape_of(xp)[0]
    left, right = fp[0] if left is None else left, fp[-1] if right is None else right
    if n == 1:
        inside: Any = fp[0]
    else:
        k = registry["minimum"](registry["maximum"](BY_NAME["numpy.searchsorted"].call(xp, x, side="right") - 1, 0),
                                n - 2)
        width = xp[k + 1] - xp[k]
        steep = width == 0  # the last two points coincide: the last one counts
        slope = (fp[k + 1] - fp[k]) / where_(steep, 1.0, width)
        inside = where_(steep, fp[k + 1], _first_number(
            slope * (x - xp[k]) + fp[k], slope * (x - xp[k + 1]) + fp[k + 1],
            where_(x == xp[k + 1], fp[k + 1], where_((x == xp[k]) | (fp[k] == fp[k + 1]), fp[k], np.nan))))
    return where_(x > xp[-1], right, where_(x < xp[0], left, inside))


def _first_number(y: AnyArray, *others: AnyArray) -> AnyArray:
    """y. Where that is nan (next to an infinite value), the first of the others that is a number."""
    return where_(y == y, y, _first_number(*others)) if others else y


def _one_period(x: AnyArray, xp: AnyArray, fp: AnyArray, period: Any) -> tuple:
    """x and the sample points in one period, with a neighbour on each side."""
    period = abs(period)
    x, xp = x % period, xp % period
    order = BY_NAME["numpy.argsort"].call(xp)
    xp, fp = xp[order], fp[order]
    join = BY_NAME["numpy.concatenate"].call
    return x, join([xp[-1:] - period, xp, xp[:1] + period]), join([fp[-1:], fp, fp[:1]])


@override("numpy.unwrap", samples=("np.unwrap(x)", "np.unwrap(9 * x, axis=0)", "np.unwrap(9 * x, period=1.5 + v[0])"))
def unwrap(p: AnyArray, discont: object = None, axis: int = -1, *, period: float = 2 * math.pi) -> AnyArray:
    """p without jumps of more than half a period. The correction is a whole number of periods and depends on the
    period alone."""
    p = as_array(p)
    ax = one_axis(axis, len(shape_of(p)))
    steps = BY_NAME["numpy.diff"].call(stop_gradient(p), axis=ax)
    whole = type_of(steps).dtype.kind in "iu" and isinstance(period, (int, np.integer))
    half = period // 2 if whole else period / 2
    wrapped = (steps + half) % period - half
    if not whole or period % 2 == 0:                            # a jump of half a period has two answers
        wrapped = where_((wrapped == -half) & (steps > 0), half, wrapped)
    extra = where_(absolute(steps) < (period / 2 if discont is None else discont), 0, wrapped - steps)
    total = registry["cumsum"](extra, axis=ax)
    before = (slice(None),) * ax
    return registry["concatenate"](p[before + (slice(0, 1),)], p[before + (slice(1, None),)] + total, axis=ax)
