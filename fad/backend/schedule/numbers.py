"""Numbers in generated code: literals in their dtype, conversions, and where Numba promotes otherwise than NumPy."""
from typing import Any

import numpy as np

from ...ir.types import BOOL, COMPLEX, FLOAT, INT
from ..text.templates import ATOM, SIGN, ExprText
from .loop_ir import BackendError

_PYTHON = {FLOAT: "float", INT: "int", COMPLEX: "complex", BOOL: "bool"}
_KNOWN = {np.dtype(t) for t in ("f4", "f8", "c8", "c16", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?")}


def dtype_name(dtype: np.dtype) -> str:
    """np.float64 and so on."""
    if dtype not in _KNOWN:
        raise BackendError(f"no compiled code for {dtype}")
    return "np.bool_" if dtype.kind == "b" else f"np.{dtype.name}"


def literal(value: Any, dtype: "np.dtype | None" = None) -> ExprText:
    """A number as it is written in the program, in a dtype.

    >>> literal(2, np.dtype("f8")).source, literal(-0.5, np.dtype("f4")).source
    ('2.0', 'np.float32(-0.5)')
    """
    dtype = np.dtype(dtype if dtype is not None else type(value))
    value = np.asarray(value).astype(dtype).item()            # a negative int among unsigned ones wraps
    if dtype == COMPLEX or dtype == np.complex64:
        text = ExprText(f"complex({_real(value.real)}, {_real(value.imag)})")
    elif dtype.kind == "f":
        text = ExprText(_real(value), SIGN if value < 0 or str(value).startswith("-") else ATOM)
    else:
        text = ExprText(repr(value), SIGN if value < 0 else ATOM)
    return text if dtype in _PYTHON else ExprText(f"{dtype_name(dtype)}({text.source})")


def _real(value: float) -> str:
    if value != value:
        return "np.nan"
    if value in (np.inf, -np.inf):
        return "np.inf" if value > 0 else "-np.inf"
    return repr(value)


def converted(text: ExprText, old: np.dtype, new: np.dtype) -> ExprText:
    """The explicit conversion of a number."""
    if old == new:
        return text
    if old.kind == "c" and new.kind in "fiu":
        text, old = ExprText(f"{text.within(ATOM)}.real"), np.dtype(f"f{old.itemsize // 2}")
        return converted(text, old, new)
    if new == BOOL:
        return ExprText(f"{text.within(5)} != 0", 5)
    if old == BOOL:                                          # Numba has no float(bool)
        return ExprText(f"({literal(1, new).source} if {text.source} else {literal(0, new).source})")
    if new == FLOAT and old.kind in "iu":                    # Numba's float(x) of a float32 is that float32
        return ExprText(f"float({text.source})")
    return ExprText(f"{dtype_name(new)}({text.source})")


def as_operand(text: ExprText, old: np.dtype, new: np.dtype) -> ExprText:
    """A number of dtype `old` where a loop of dtype `new` reads it: converted unless arithmetic does so by itself
    (Numba's uint64 + int64 wraps).
    """
    if (
        old == new
        or (new in (FLOAT, COMPLEX) and old not in (BOOL, np.uint64))
        or (new == INT and old.kind in "iu" and old.itemsize < 8)
    ):
        return text
    return converted(text, old, new)


def wraps(dtype: np.dtype) -> bool:
    """Whether Numba computes in a larger type than NumPy, so that results must be converted back."""
    return dtype.kind in "iu" and dtype.itemsize < 8


def zero(dtype: np.dtype) -> str:
    return literal(0, dtype).source
