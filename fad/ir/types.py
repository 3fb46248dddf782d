"""The types of the IR: dtype and rank, with extents that are integers of the program.

A type never holds a size that was merely seen once: an extent is a Python int (a constant of the program) or a Var
(an integer computed by it, or the extent of an input).
"""
from functools import cache
from typing import Any

import numpy as np

from ..util.array import ArrayOrNumber
from ..util.defects import for_user
from ..util.errors import UnsupportedFunctionError

BOOL, INT, FLOAT, COMPLEX = np.dtype(bool), np.dtype(np.int64), np.dtype(np.float64), np.dtype(np.complex128)
_WEAK = {bool: BOOL, int: INT, float: FLOAT, complex: COMPLEX}
_WEAK_SAMPLE = {BOOL: False, INT: 0, FLOAT: 0.0, COMPLEX: 0j}


class Type:
    """dtype, extents and whether the value stands for a Python number (NEP 50: it then follows the other operand)."""

    __slots__ = ("dtype", "shape", "weak")

    def __init__(self, dtype: Any, shape: tuple = (), weak: bool = False):
        self.dtype, self.shape, self.weak = np.dtype(dtype), tuple(shape), weak

    @property
    def rank(self) -> int:
        return len(self.shape)

    def with_shape(self, shape: tuple) -> "Type":
        return Type(self.dtype, shape, False)

    def __repr__(self) -> str:
        return type_text(self)


def dtype_text(dtype: np.dtype) -> str:
    """f64, c128, i64, b1: the name of a dtype in the IR's text."""
    return "bool" if dtype.kind == "b" else f"{dtype.kind}{dtype.itemsize * 8}"


def real_dtype(dtype: np.dtype) -> np.dtype:
    """float64 for complex128, float32 for complex64, a real dtype itself."""
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype


def complex_dtype(dtype: np.dtype) -> np.dtype:
    """complex128 for float64, complex64 for float32, a complex dtype itself."""
    return dtype if dtype.kind == "c" else np.dtype(f"c{dtype.itemsize * 2}")


def type_text(t: Type) -> str:
    extents = ", ".join(n.name if hasattr(n, "name") else str(n) for n in t.shape)
    return dtype_text(t.dtype) + ("~" if t.weak else "") + (f"[{extents}]" if t.shape else "")


LARGEST = 2**62  # of ints that programs are given: a sum of two has 64 bits (passes/overflow.py counts on that)


def is_too_large(x: object) -> bool:
    """Whether x is an int of Python's that programs do not compute with. They take and return it as it is.

    >>> is_too_large(2**62), is_too_large(-(2**62) + 1)
    (True, False)
    """
    return type(x) is int and not -LARGEST < x < LARGEST


def is_number(x: ArrayOrNumber) -> bool:
    """Whether x is a Python number, which promotes weakly (np.float64 is a float, and yet not one of them)."""
    return type(x) in _WEAK


def type_of(x: Any) -> Type:
    """The type of a Python number, a NumPy scalar, an array or a value of the IR.

    >>> type_of(2.0), type_of(np.float32(1)), type_of(np.zeros((2, 3)))
    (f64~, f32, f64[2, 3])
    """
    dtype = _WEAK.get(type(x))
    if dtype is not None:
        return Type(dtype, (), True)
    atom = getattr(x, "atom", None)
    if atom is not None:
        return atom.type
    if not hasattr(x, "dtype") and isinstance(x, (int, float, complex)):  # a user's class derived from one of these
        return Type(_WEAK[next(c for c in type(x).__mro__ if c in _WEAK)], (), True)
    return Type(x.dtype, x.shape)


# NumPy's own, which differ from ndarray only in where their numbers lie and how fields are named
_ALIKE: tuple[type, ...] = (np.memmap, np.recarray)
_APART = {"__new__", "__init__", "__array_finalize__", "__array_priority__", "__reduce__", "__reduce_ex__",
          "__setstate__", "__copy__", "__deepcopy__", "__repr__", "__str__", "__format__", "__doc__", "__hash__",
          "__dir__", "__sizeof__", "__init_subclass__", "__class_getitem__"}
# the facts that decide how an array is computed with
_MEANING = {*dir(np.ndarray), "__array_ufunc__", "__array_function__"} - _APART


@cache
def has_own_arithmetic(cls: type) -> bool:
    """Whether arrays of this class compute unlike NumPy's. Masked arrays skip elements; a matrix's * is a matrix
    product.

    The same holds for each class that redefines a method or property of ndarray, unless it only makes, copies or
    prints arrays.

    >>> has_own_arithmetic(np.ma.MaskedArray), has_own_arithmetic(np.memmap)
    (True, False)
    """
    if not issubclass(cls, np.ndarray):
        return False
    above = cls.__mro__[:cls.__mro__.index(np.ndarray)]
    return any(not _MEANING.isdisjoint(c.__dict__) for c in above if c not in _ALIKE)


def require_plain(x: np.ndarray) -> None:
    """Raise of an array whose numbers alone do not say what is computed with it."""
    cls: Any = type(x)
    if has_own_arithmetic(cls):
        raise UnsupportedFunctionError(f"an array of class {cls.__name__} cannot be part of a traced computation",
                                       why="its class has arithmetic of its own, and fad computes as NumPy does with "
                                           "ndarrays",
                                       do="pass np.asarray(x), and with a mask what is to be left out as a condition: "
                                          "np.sum(x, where=~mask)")


def refuse_objects(x: object) -> None:
    """Raise of an array of objects."""
    if isinstance(x, np.ndarray) and x.dtype.kind == "O":
        raise UnsupportedFunctionError("an array of objects has no derivative, and its arithmetic is Python's",
                                       do="make numbers of it: a.astype(float)")


def _promotion_key(t: Type) -> Any:
    return ("weak", t.dtype) if t.weak else t.dtype


def _sample(key: object) -> Any:
    return _WEAK_SAMPLE[key[1]] if isinstance(key, tuple) else key


@cache
def _promote(keys: tuple) -> np.dtype:
    return np.result_type(*[_sample(k) for k in keys])


def result_dtype(*args: object) -> np.dtype:
    """NumPy's promoted dtype of the arguments, Python numbers weak.

    >>> result_dtype(np.float32(1), 2.0)
    dtype('float32')
    """
    return promoted([type_of(a) for a in args])


def promoted(types: list) -> np.dtype:
    """NumPy's promoted dtype of values of these types."""
    return _promote(tuple([_promotion_key(t) for t in types]))


@cache
@for_user  # NumPy's error about operands that its ufunc does not take is not a defect of fad
def _resolve(ufunc: Any, keys: tuple) -> tuple:
    kinds = tuple(_WEAK_PYTHON[k[1]] if isinstance(k, tuple) else k for k in keys)
    return ufunc.resolve_dtypes(kinds + (None,) * ufunc.nout)


_WEAK_PYTHON = {BOOL: np.dtype(bool), INT: int, FLOAT: float, COMPLEX: complex}


def ufunc_dtypes(ufunc: np.ufunc, *args: object) -> tuple:
    """The dtypes of the loop that NumPy's ufunc runs on these arguments: its inputs', then its outputs'."""
    return loop_dtypes(ufunc, [type_of(a) for a in args])


def loop_dtypes(ufunc: np.ufunc, types: list) -> tuple:
    """The dtypes of the loop that NumPy's ufunc runs on arguments of these types."""
    keys = tuple([_promotion_key(t) for t in types])
    if all(t.weak for t in types):                    # NumPy has no loop of Python numbers alone
        keys = tuple([t.dtype for t in types])
    return _resolve(ufunc, keys)
