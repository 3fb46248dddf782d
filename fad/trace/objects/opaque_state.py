"""State that can change, and holds no traced values: bytes, context variables, arrays that are not of numbers.

So do arrays within objects of NumPy's and SciPy's (the coefficients of a polynomial, the entries of a sparse array),
which only the library's own code reads.
"""
import ctypes
import gc
from array import array
from collections.abc import Iterator
from contextvars import Context, ContextVar
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from ...ir.build import Value
from ...ops.carry import UNDEFINED
from ...util.interrupts import reraise_interrupt
from ...util.own import own_dict
from ...util.where import package_name
from .containers import is_users, may_be_changed

_SEEN = (list, tuple, dict, set, frozenset, type, ModuleType, FunctionType, np.ndarray, Value)
LARGEST = 1 << 20                                             # bytes of an array that is kept
# the last is the base of all numbers of C
BUFFERS: tuple[type, ...] = (bytearray, array, ctypes.Array, ctypes.Structure, *ctypes.c_double.__bases__)


def holds_no_traced(x: object) -> bool:
    """Whether x may change, and what it holds is known to be no traced value."""
    if isinstance(x, np.ndarray):
        return x.dtype.kind not in "biufc"
    return isinstance(x, (bytearray, array, ContextVar)) or any(True for _ in arrays_within(x))


def arrays_within(x: object) -> Iterator[np.ndarray]:
    """The arrays that are attributes of an object of a library's, and can be written to."""
    attributes = own_dict(x)  # numbers, texts and containers, of which there may be many, have none
    if type(attributes) is not dict or isinstance(x, (type, ModuleType, FunctionType, Value, np.ndarray)):
        return
    if is_users(x) or package_name(type(x)) == "fad":
        return
    for part in list(attributes.values()):
        if type(part) is np.ndarray and part.flags.writeable and part.nbytes <= LARGEST:
            yield part


def held_by_c(x: object) -> list:
    """The things that an object holds where Python's code does not see them: in the fields of a class of C's."""
    if all(may_be_changed(c) or c is object for c in type(x).__mro__) or isinstance(x, _SEEN):
        return []
    return [part for part in gc.get_referents(x) if not isinstance(part, (type, ModuleType, FunctionType))]


def held_in(x: object) -> Any:
    """A copy of the contents of such a thing."""
    if isinstance(x, ContextVar):
        return x.get(UNDEFINED)
    if isinstance(x, np.ndarray):
        # the rows of a sparse array in lists
        lists = [(v, v[:]) for v in x.flat if isinstance(v, list)] if x.dtype.kind == "O" else []
        return x.copy(), lists
    return x[:] if isinstance(x, (bytearray, array)) else [(part, held_in(part)) for part in arrays_within(x)]


def is_record(x: object) -> bool:
    """Whether x is a record: NumPy makes it as an array without axes, whose memory its array and others may have.

    >>> is_record(np.zeros(2, [("a", float)])[0]), is_record(np.float64(0.5))
    (True, False)
    """
    return isinstance(x, np.void) and x.dtype.names is not None


def bytes_of(x: np.ndarray) -> bytes:
    """The elements of an array, and its mask. Classes of arrays may refuse `tobytes`, as units do."""
    mask = np.ma.getmaskarray(x).tobytes() if isinstance(x, np.ma.MaskedArray) else b""
    return np.ndarray.tobytes(x) + mask


def is_held_in(x: Any, held: Any) -> bool:
    """Whether x holds what it held."""
    if isinstance(x, ContextVar):
        return x.get(UNDEFINED) is held
    if isinstance(x, np.ndarray):
        return bytes_of(x) == bytes_of(held[0]) and all(v == before for v, before in held[1])
    return x == held if isinstance(x, (bytearray, array)) else all(is_held_in(part, before) for part, before in held)


def _put_in_variable(variable: ContextVar, held: object) -> None:
    """Give a context variable its value; its default where it had none, since none can be taken away."""
    try:
        variable.set(Context().run(variable.get) if held is UNDEFINED else held)
    except LookupError as error:                              # it has no default
        reraise_interrupt(error)


def put_in(x: object, held: Any) -> None:
    """Make x hold again what it held."""
    if isinstance(x, ContextVar):
        if x.get(UNDEFINED) is not held:
            _put_in_variable(x, held)
    elif isinstance(x, np.ndarray):
        if x.flags.writeable and not is_held_in(x, held):
            x[...] = held[0]
            for v, before in held[1]:
                v[:] = before
    elif isinstance(x, (bytearray, array)):
        x[:] = held                                           # type: ignore[assignment]
    else:
        for part, before in held:
            put_in(part, before)
