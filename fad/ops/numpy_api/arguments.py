"""Reading the arguments that NumPy's functions share: arrays that may be lists, axes, dtype, keepdims, out, where."""
import operator
from typing import Any, Literal

import numpy as np

from ...ir.build import current
from ...ir.op import registry
from ...ir.types import FLOAT, type_of
from ...util.array import AnyArray, ArrayOrNumber, Axes, Extent
from ...util.errors import ConcreteValueError, UnsupportedFunctionError
from ...util.where import here
from .. import extents
from ..kinds import shape_of
from ..literals import as_array
from ..override import METHODS
from ..reduce import put_back

#: NumPy's casting rules.
Casting = Literal["no", "equiv", "safe", "same_kind", "unsafe"]


def is_given(option: object) -> bool:
    """Whether an optional argument was given (NumPy has two ways of saying that it was not)."""
    return option is not None and option is not np._NoValue          # type: ignore[attr-defined]


def rank(x: object) -> int:
    """The number of axes."""
    return len(shape_of(x))


def one_axis(axis: int, ndim: int) -> int:
    """A non-negative axis.

    >>> one_axis(-1, 3)
    2
    """
    k = operator.index(axis)
    if not -ndim <= k < ndim:
        raise np.exceptions.AxisError(k, ndim)
    return k % ndim


def axes_of(axis: Axes, ndim: int) -> tuple:
    """The sorted non-negative axes that NumPy's `axis` means: all of them for None.

    >>> axes_of((-1, 0), 3), axes_of(None, 2), axes_of(1, 2)
    ((0, 2), (0, 1), (1,))
    """
    if not is_given(axis):
        return tuple(range(ndim))
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = tuple(sorted(one_axis(k, ndim) for k in given))
    if len(set(axes)) != len(axes):
        raise ValueError("duplicate value in 'axis'")
    return axes


def check_all(test: ArrayOrNumber, what: str, error: str = "ValueError") -> None:
    """The program raises unless all of a test is true."""
    registry["check_that"](registry["all"](test, axes=tuple(range(rank(test)))), True, what=what, error=error)


def ravel(x: object) -> Any:
    """x in one axis."""
    shape = shape_of(x)
    return x if len(shape) == 1 else registry["reshape"](x, extents.product(shape))


def along(x: ArrayOrNumber, axis: Any) -> "tuple[Any, int]":
    """x and the one axis to work along: for None, x is ravelled first."""
    x = as_array(x)
    if not is_given(axis):
        return ravel(x), 0
    return x, one_axis(axis, rank(x))


def in_dtype(x: Any, dtype: Any) -> Any:
    """x, cast where a dtype is asked for."""
    if not is_given(dtype) or type_of(x).dtype == np.dtype(dtype):
        return x
    return registry["cast"](x, dtype=np.dtype(dtype))


def taken(x: Any, *places: ArrayOrNumber, axis: int = 0) -> AnyArray:
    """x at these places along the axes from `axis` on: a number takes its axis away, an array puts its own there."""
    spec = [":"] * rank(x)
    spec[axis:axis + len(places)] = ["a" if rank(k) else "i" for k in places]
    return registry["index"](x, *places, spec=tuple(spec), at=axis if "a" in spec else 0)


def captured(x: object) -> Any:
    """x as an array; one from outside the program is an input of it, not a constant."""
    x = as_array(x)
    return current().watch(x) if isinstance(x, np.ndarray) and x.ndim else x


def live(x: object) -> Any:
    """x as a floating array; one from outside the program is an input of it."""
    x = captured(x)
    return in_dtype(x, FLOAT) if type_of(x).dtype.kind in "biu" else x


def joint_dtype(parts: list, dtype: Any) -> np.dtype:
    """The dtype that arrays promote to (or the one that is asked for)."""
    return np.dtype(dtype) if is_given(dtype) else np.result_type(*[type_of(a).dtype for a in parts])


def kept(y: AnyArray, x: object, axes: tuple, keepdims: bool) -> AnyArray:
    """The reduced y, with its axes of x back at extent 1 where keepdims asks for them."""
    if not is_given(keepdims) or not keepdims:
        return y
    return put_back(y, x, axes)


def into(out: object, result: ArrayOrNumber) -> Any:
    """The result, written into `out` where that is given."""
    if not is_given(out):
        return result
    return METHODS["ufunc.out"](out, result)


def masked(x: AnyArray, where: object, fill: object) -> AnyArray:
    """x where the mask holds, `fill` (a number, in x's dtype) elsewhere; x itself for the mask True."""
    if where is True or not is_given(where):
        return x
    where = mask_of(where)
    dtype = type_of(x).dtype
    return registry["where"](where, x, dtype.type(fill) if dtype.kind != "b" else bool(fill))


def mask_of(where: Any) -> Any:
    """A mask as an array; one of numbers is refused, as NumPy refuses it."""
    if getattr(where, "shape", ()) and where.dtype.kind != "b":
        raise TypeError(f"Cannot cast array data from dtype('{where.dtype}') to dtype('bool') according to the rule "
                        "'safe'")
    return as_array(where)


def some_of(n: Extent, function: str) -> None:
    """See to it that there is an element along an axis of extent n: by proof, or by a check as the program runs."""
    if isinstance(n, int) and n == 0:
        raise ValueError(f"{function} of no elements has no value")
    if not extents.assume_at_least(n, 1):
        registry["check_that"](n > 0, True, what=f"{function} of no elements has no value", error="ValueError")


def extent_of(x: AnyArray, axes: tuple) -> ArrayOrNumber:
    """The number of elements along these axes."""
    shape = shape_of(x)
    return extents.product(shape[k] for k in axes)


def refuse(function: str, option: str, why: str = "", do: str = "") -> UnsupportedFunctionError:
    """The error for an option that fad does not have."""
    return UnsupportedFunctionError(f"{function} does not take {option} on traced arrays", why=why, do=do)


def fixed(n: Any, what: str) -> int:
    """An extent that decides the structure of the program: the size seen at tracing, which becomes a guard."""
    if isinstance(n, int):
        return n
    seen = current().integers.pin(n.atom, here())
    if seen is not None:
        return seen
    raise ConcreteValueError(f"{what} must be known while the function is traced", do="give it as a constant")


__all__ = ["along", "as_array", "axes_of", "extent_of", "fixed", "in_dtype", "into", "is_given", "kept", "masked",
           "one_axis", "rank", "ravel", "refuse", "some_of"]
