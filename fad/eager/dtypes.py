"""Dtypes: NumPy's, under PyTorch's names; the default dtype."""
from typing import Any

import numpy as np

from .promotion import default, default_complex, promoted_type
from .tensor import raw

DTYPES: dict[str, np.dtype] = {
    "float64": np.dtype(np.float64), "double": np.dtype(np.float64), "float32": np.dtype(np.float32), "float": np.dtype(np.float32),
    "float16": np.dtype(np.float16), "half": np.dtype(np.float16), "complex128": np.dtype(np.complex128), "cdouble": np.dtype(np.complex128),
    "complex64": np.dtype(np.complex64), "cfloat": np.dtype(np.complex64), "int64": np.dtype(np.int64), "long": np.dtype(np.int64),
    "int32": np.dtype(np.int32), "int": np.dtype(np.int32), "int16": np.dtype(np.int16), "short": np.dtype(np.int16), "int8": np.dtype(np.int8),
    "uint8": np.dtype(np.uint8), "uint16": np.dtype(np.uint16), "uint32": np.dtype(np.uint32), "uint64": np.dtype(np.uint64), "bool": np.dtype(bool)}
_OF_PYTHON = {float: None, int: np.dtype(np.int64), bool: np.dtype(bool), complex: None}


def get_default_dtype() -> np.dtype:
    """The dtype of new tensors of real numbers: float64 unless set otherwise.

    >>> get_default_dtype()
    dtype('float64')
    """
    return default.dtype


def set_default_dtype(dtype: Any) -> None:
    """Make new tensors of real numbers have this dtype."""
    dtype = as_dtype(dtype)
    if dtype.kind != "f":
        raise TypeError("only floating-point types are supported as the default type")
    default.dtype = dtype


def as_dtype(dtype: Any) -> np.dtype:
    """A dtype from what names one: a dtype, a NumPy type, PyTorch's name for it, a Python type."""
    if isinstance(dtype, str) and dtype in DTYPES:
        return DTYPES[dtype]
    return np.dtype(dtype)


def as_data(data: Any, dtype: Any = None) -> np.ndarray:
    """Numbers and nested lists (of tensors too) as an array in the dtype PyTorch would give it."""
    if isinstance(data, (list, tuple)):
        data = _plain(data)
    try:
        a = np.asarray(raw(data))
    except ValueError:
        raise ValueError(_ragged(data, np.shape(_first(data)))) from None
    if a.dtype.kind not in "biufc":
        raise _no_number(data)
    if dtype is not None:
        return a.astype(as_dtype(dtype), copy=False)
    if isinstance(data, np.ndarray) or hasattr(data, "_a") or isinstance(data, np.generic):
        return a
    if a.dtype.kind == "f":
        return a.astype(default.dtype, copy=False)
    return a.astype(default_complex(), copy=False) if a.dtype.kind == "c" else a


def _first(data: Any) -> Any:
    """Zeros in the shape that the first elements of nested lists have."""
    return [_first(data[0])] * len(data) if isinstance(data, list) and data else [] if isinstance(data, list) else 0


def _ragged(data: Any, shape: tuple, depth: int = 0) -> str:
    """What is wrong with nested lists that are no array."""
    if not isinstance(data, list):
        return f"expected sequence of length {shape[depth]} at dim {depth} (got {type(data).__name__})" if depth < len(shape) else ""
    if depth == len(shape):
        return "only one element tensors can be converted to Python scalars"
    if len(data) != shape[depth]:
        return f"expected sequence of length {shape[depth]} at dim {depth} (got {len(data)})"
    return next((told for d in data if (told := _ragged(d, shape, depth + 1))), "")


def _no_number(data: Any) -> Exception:
    """What to raise for data that are no numbers."""
    while isinstance(data, (list, tuple)):
        data = next((d for d in data if isinstance(d, (list, tuple)) or not isinstance(d, (bool, float, complex)) and not (isinstance(d, int) and abs(d) < 2 ** 63)), 0)
    if isinstance(data, str):
        return TypeError(f"new(): invalid data type '{type(data).__name__}'")
    if isinstance(data, int):
        return ValueError("Overflow when unpacking long long")
    return RuntimeError(f"Could not infer dtype of {type(data).__name__}")


def _plain(data: Any) -> Any:
    if isinstance(data, (list, tuple)):
        return [_plain(d) for d in data]
    a = raw(data)
    return a.tolist() if a is not data else data


def is_floating_point(x: Any) -> bool:
    """Whether a tensor (or dtype) holds real floating-point numbers."""
    return _dtype(x).kind == "f"


def is_complex(x: Any) -> bool:
    """Whether a tensor (or dtype) holds complex numbers."""
    return _dtype(x).kind == "c"


def _dtype(x: Any) -> np.dtype:
    return x.dtype if hasattr(x, "shape") and hasattr(x, "dtype") else np.dtype(x)


def promote_types(a: Any, b: Any) -> np.dtype:
    """The dtype of results of both: of an integer and a floating-point (or complex) dtype it is the latter.

    >>> promote_types("int64", "float32")
    dtype('float32')
    """
    return promoted_type(as_dtype(a), as_dtype(b))


def dtype_name(dtype: np.dtype) -> str:
    return f"torch.{dtype}".replace("torch.", "")
