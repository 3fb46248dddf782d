"""Values without axes: numbers, or arrays that can be written to.

NumPy hands out a number for an element, a sum or the result of a ufunc, and an array without axes for np.where,
np.asarray and np.zeros(()). `b = a; a += 1` changes b only where a is an array. fad asks NumPy itself which of the two
a function returns (see standin.py). A value may be one or the other, as the program runs: its kind is None.
"""
from typing import Any

import numpy as np

from ...ir.build import Value, current
from ...util.array import AnyArray
from ...util.errors import SideEffectError


def not_an_array(x: Any) -> Exception:
    """The error for a change in place of a number, or of what is a number on one way through the program, and an array
    on another.
    """
    if x.zero_dim is False:
        cls = type(x.dtype.type(0).item()) if x.type.weak else x.dtype.type
        name = cls.__name__ if x.type.weak else f"numpy.{cls.__name__}"
        return TypeError(f"{name!r} object does not support item assignment")
    return SideEffectError("a value is changed in place that is a number or an array without axes",
                           why="Python binds the name of a number anew, and changes an array for all its names",
                           do="write x = x + v, or make it an array everywhere (x = np.array(v))")


def joined(*kinds: Any) -> "bool | None":
    """The kind of a value that is of one of these kinds, as the program runs: an array (True), a number (False), None.
    """
    found = set(kinds) or {False}
    return found.pop() if len(found) == 1 else None


def kind_of(x: object) -> "bool | None":
    """Whether x, which may not be traced, is an array, and no number; None if it is one or the other."""
    if isinstance(x, Value) and not x._var.type.shape:
        return getattr(x, "zero_dim", False)
    return isinstance(x, (Value, np.ndarray))


def as_kind(y: Any, kind: "bool | None") -> AnyArray:
    """A number of y's value; or an array without axes, with no other name; or one or the other, if that is not known.
    """
    own = type(y)(y.builder, y.held)
    own.bound, own.optional, own.zero_dim = y.bound, y.optional, kind
    return own


def of_numbers(y: np.ndarray) -> Any:
    """The value of an array that was made from numbers alone; on the tape integers and truth values stay arrays."""
    value = current().constant(y)
    return value.standing_for(y) if isinstance(value, Value) else value
