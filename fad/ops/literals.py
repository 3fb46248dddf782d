"""Array literals: nested lists and tuples of numbers, arrays and traced values become one array; and arrays that are
known."""
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir import stack
from ..ir.build import Value, current
from ..ir.graph import Equation
from ..ir.op import registry
from ..ir.types import BOOL, COMPLEX, FLOAT, INT, is_number, refuse_objects, type_of, ufunc_dtypes
from ..util.array import AnyArray, ArrayOrNumber
from ..util.defects import asked_by_user
from ..util.errors import INTEGER_OVERFLOW, LARGEST_INT, ExtentError
from .kinds import shape_of

SEQUENCES = (list, tuple, deque)                              # what NumPy makes an array of, item by item


def is_value(x: object) -> bool:
    """Whether x is a value of a program or of a tape."""
    return getattr(x, "__fad_level__", 0) > 0


def has_values(x: object) -> bool:
    """Whether a value of a program or of a tape stands in x, at any depth of lists, tuples and deques."""
    if isinstance(x, SEQUENCES):
        return any(has_values(a) for a in x)
    return is_value(x)


def constant(a: AnyArray) -> AnyArray:
    """An array made from numbers of the program alone, as part of the program being built, if any. Arrays of objects
    or texts are not part of it."""
    return current().constant(a) if stack.builders() and not is_value(a) and np.asarray(a).dtype.kind in "biufc" else a


def known(x: ArrayOrNumber) -> Any:
    """The ndarray that x is known to be (an array outside a program, a constant of the program), or None."""
    if isinstance(x, Value):
        return current().trace.fresh_constants.get(x.atom)
    if is_value(x):
        return None
    return None if stack.builders() and not stack.is_live() and isinstance(x, np.ndarray) else np.asarray(x)


def as_array(x: Any) -> Any:
    """x as one array: lists are made into one, arrays, traced values and numbers stay themselves.

    >>> as_array([[1, 2], (3, 4.5)])
    array([[1. , 2. ],
           [3. , 4.5]])
    """
    if not isinstance(x, (*SEQUENCES, range)):
        refuse_objects(x)
        return x if hasattr(x, "dtype") or is_number(x) else np.asarray(x)
    return _joined(x) if has_values(x) or (stack.builders() and has_arrays(x)) else constant(np.asarray(x))


def has_arrays(x: Any) -> bool:
    """Whether an array from outside stands in x: it may change from call to call, and is no constant of the program."""
    return any(has_arrays(a) if isinstance(a, SEQUENCES) else isinstance(a, np.ndarray) and a.dtype.kind in "biufc"
               for a in x)


def _joined(items: Any) -> AnyArray:
    """The array of these items along a new first axis; at least one item holds a traced value."""
    parts = [_part(a) for a in items]
    dtype = np.result_type(*[type_of(a).dtype for a in parts])
    shapes = [shape_of(a) for a in parts]
    if any(len(s) != len(shapes[0]) for s in shapes):
        raise ExtentError(
            f"setting an array element with a sequence: the {len(parts)} items have different numbers of axes")
    if not shapes[0]:
        return registry["pack"](*[_in_dtype(a, dtype) for a in parts])
    rows = [registry["reshape"](_in_dtype(a, dtype), 1, *shape_of(a)) for a in parts]
    return registry["concatenate"](*rows, axis=0)


def _part(a: Any) -> AnyArray:
    """An item: a value, or an ndarray; an array from outside is an input of the program that is being built."""
    if isinstance(a, SEQUENCES):
        return as_array(a)
    if is_value(a):
        return a
    return current().watch(a) if stack.builders() and isinstance(a, np.ndarray) and a.ndim else np.asarray(a)


def _in_dtype(a: Any, dtype: np.dtype) -> AnyArray:
    if not is_value(a):
        return a.astype(dtype)[()]
    t = type_of(a)
    return a if t.dtype == dtype and not t.weak else registry["cast"](a, dtype=dtype)


def produced_by(x: ArrayOrNumber, *names: str) -> "Equation | None":
    """The equation that made x, if its op has one of these names and it is among the last 64 equations; else None."""
    if isinstance(x, Value):
        for eqn in current().equations[:-65:-1]:
            if x.atom in eqn.outputs:
                return eqn if eqn.op.name in names else None
    return None


__all__ = ["as_array", "constant", "known", "has_values", "is_value", "produced_by", "python_complex", "python_float",
           "python_int", "python_number", "require_fitting", "require_room", "see_that_python_takes"]


def python_int(x: ArrayOrNumber) -> Any:
    """The int that Python makes of a scalar that is whole or rounded towards zero."""
    t = type_of(x)
    if t.dtype == INT and t.weak:
        return x
    if t.dtype.kind == "c":
        raise TypeError("int() argument must be a string, a bytes-like object or a real number, not 'complex'")
    if is_value(x) and stack.is_live():
        return asked_by_user(int, current().value(x))
    if is_value(x) and type_of(x).dtype.kind == "f":
        require_room(x, INT)
    y = registry["cast"](x, dtype=INT, weak=True)
    if not isinstance(y, Value):
        return y if is_value(y) else int(y)
    return _as_large(y, x)


def require_room(x: ArrayOrNumber, dtype: np.dtype) -> None:
    """An error of the program where a real scalar is not, or is rounded to, an int of this dtype."""
    check, least, largest = registry["check_that"], int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    t = type_of(x)
    if t.dtype.kind == "f":
        check(x == x, True, what="cannot convert float NaN to integer", error="ValueError")
    if t.dtype.kind == "f" and dtype == INT:
        check(registry["abs"](x) < LARGEST_INT, True, what=INTEGER_OVERFLOW, error="OverflowError")
        return
    what, one = f"Python integer out of bounds for {dtype}", int(t.dtype.kind == "f")
    if one or least > np.iinfo(t.dtype).min:
        check(x > least - one if one else x >= least, True, what=what, error="OverflowError")
    if one or largest < np.iinfo(t.dtype).max:
        check(x < largest + one if one else x <= largest, True, what=what, error="OverflowError")


def require_fitting(op: object, a: ArrayOrNumber, b: ArrayOrNumber) -> None:
    """Make the program raise if a traced Python int is beyond the dtype of small ints that an op computes in."""
    ints = [x for x in (a, b) if isinstance(x, Value) and x.atom.type.weak and x.atom.type.dtype == INT]
    dtype = (type_of(b if ints[0] is a else a).dtype if len(ints) == 1 and hasattr(b if ints[0] is a else a, "dtype")
             else INT)
    ufunc = getattr(op, "facts", {}).get("ufunc") if dtype.kind in "iu" and dtype != INT else None
    if ufunc is not None and ufunc_dtypes(ufunc, a, b)[-1] == dtype:
        require_room(ints[0], dtype)


def see_that_python_takes(call: Callable, *args: ArrayOrNumber) -> None:
    """On a tape: the error that Python's function raises for these Python numbers, if any. NumPy's would be infinite
    or nan."""
    if stack.is_live() and all(is_number(a) or is_value(a) and type_of(a).weak for a in args):
        numbers = [current().known(a) for a in args]
        if all(map(is_number, numbers)):
            asked_by_user(call, *numbers)


def python_float(x: AnyArray) -> AnyArray:
    """The float that Python makes of a real scalar: of 64 bits, and it promotes weakly."""
    return _weak(x, FLOAT)


def python_complex(x: AnyArray) -> AnyArray:
    """The complex number that Python makes of a scalar."""
    return _weak(x, COMPLEX)


def python_number(x: Any) -> AnyArray:
    """A scalar's value as a Python number, for x.item() and for functions that return Python's numbers."""
    t = type_of(x)
    return python_int(x) if t.dtype.kind in "iu" else _weak(x, {"b": BOOL, "f": FLOAT, "c": COMPLEX}[t.dtype.kind])


def _weak(x: ArrayOrNumber, dtype: np.dtype) -> Any:
    t = type_of(x)
    if t.dtype == dtype and t.weak:
        return x
    y = registry["cast"](x, dtype=dtype, weak=True)
    return y if is_value(y) else y.item()


def numpy_number(x: ArrayOrNumber) -> Any:
    """The scalar of NumPy's that its functions return where Python's would be a number, and its arrays hold."""
    if type(x) in (bool, int, float, complex):
        return constant(np.asarray(x))
    return _as_large(registry["cast"](x, dtype=type_of(x).dtype), x) if is_value(x) and type_of(x).weak else x


def _as_large(y: object, x: ArrayOrNumber) -> Any:
    """y, with the bounds that are known of x, where both are integers."""
    if isinstance(x, Value) and isinstance(y, Value) and type_of(x).dtype == type_of(y).dtype == INT:
        current().integers.note_bounds(y.atom, x.atom)
    return y
