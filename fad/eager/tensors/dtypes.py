"""Dtypes: NumPy's, under PyTorch's names; the default dtype. Devices: there is the CPU, and another is an error."""
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...util.array import AnyArray, DTypeLike
from .errors import c_name, refuse_if
from .promotion import default, default_complex, promoted_type
from .tensor import raw


class device(str):
    """The place of memory: the CPU, here.

    >>> import fad
    >>> fad.device("cpu").type
    'cpu'
    """

    def __new__(cls, name: object = "cpu", index: "int | None" = None) -> "device":
        if str(name).partition(":")[0] != "cpu":
            raise RuntimeError(f"there is no device {str(name)!r} here: tensors are in the memory of the CPU")
        return str.__new__(cls, name)

    @property
    def type(self) -> str:
        """The kind of device."""
        return str.__str__(self).partition(":")[0]

    @property
    def index(self) -> "int | None":                                                            # type: ignore[override]
        """Its number, where one was given."""
        return int(self.partition(":")[2]) if ":" in self else None

    def __repr__(self) -> str:
        return f"device(type='{self.type}')"


CPU = device("cpu")


def on_cpu(create: Callable) -> Callable:
    """create(...) with the options that have one answer each: `device` (the CPU), `layout` (strided), memory."""
    @functools.wraps(create)
    def created(*args: object, device: "device | None" = None, layout: object = None, pin_memory: bool = False,
                memory_format: object = None, **options: object) -> AnyArray:
        required(device)
        if layout is not None and not str(layout).endswith("strided"):
            raise RuntimeError(f"there are no tensors of layout {layout} here: they are strided")
        return create(*args, **options)
    return created


def required(name: object) -> device:
    """The device of this name (None: the CPU); RuntimeError if it is not here."""
    return CPU if name is None else device(name)


_ALIASES = {"double": "float64", "float": "float32", "half": "float16", "cdouble": "complex128", "cfloat": "complex64",
            "long": "int64", "int": "int32", "short": "int16"}
DTYPES: dict[str, np.dtype] = {name: np.dtype(_ALIASES.get(name, name)) for name in (
    *_ALIASES, *_ALIASES.values(), "int8", "uint8", "uint16", "uint32", "uint64", "bool")}


def get_default_dtype() -> np.dtype:
    """Return the dtype of new tensors of real numbers.

    Returns
    -------
    dtype
        float64, unless `set_default_dtype` says otherwise.

    Examples
    --------
    >>> import fad
    >>> fad.get_default_dtype()
    dtype('float64')
    """
    return default.dtype


def set_default_dtype(dtype: np.dtype) -> None:
    """Set the dtype of new tensors of real numbers.

    Parameters
    ----------
    dtype : dtype
        ``fad.float32`` or ``fad.float64``.

    Examples
    --------
    >>> import fad
    >>> fad.set_default_dtype(fad.float32)
    >>> fad.tensor([1.0]).dtype
    dtype('float32')
    >>> fad.set_default_dtype(fad.float64)
    """
    dtype = as_dtype(dtype)
    refuse_if(dtype.kind != "f", "only floating-point types are supported as the default type", TypeError)
    default.dtype = dtype


def as_dtype(dtype: DTypeLike) -> np.dtype:
    """A dtype from what names one: a dtype, a NumPy type, PyTorch's name for it, a Python type."""
    if isinstance(dtype, str) and dtype in DTYPES:
        return DTYPES[dtype]
    return np.dtype(dtype)


def as_data(data: object, dtype: object = None) -> np.ndarray:
    """Numbers and nested lists (of tensors too) as an array in the dtype PyTorch would give it.

    >>> as_data([1, 2.5]).dtype
    dtype('float64')
    """
    if isinstance(data, np.ndarray) or hasattr(data, "_a") or isinstance(data, np.generic):
        a = _native(np.asarray(raw(data)))
        return a if dtype is None else a.astype(as_dtype(dtype), copy=False)
    if isinstance(data, (list, tuple)):
        data = _plain(data)
    try:
        a = np.asarray(data)
    except ValueError:
        raise ValueError("these lists are no array: some have another length than their neighbours") from None
    if a.dtype.kind not in "biufc" or a.dtype == np.uint64 and not _of_numpy(data):
        _not_numbers(data, a)
    if dtype is not None:
        return converted(a, as_dtype(dtype))
    if a.dtype.kind in "fc":
        kinds = _kinds(data) if _of_numpy(data) else set()
        return a.astype(np.result_type(*kinds) if kinds else default.dtype if a.dtype.kind == "f"
                        else default_complex(), copy=False)
    return a


def _native(a: np.ndarray) -> np.ndarray:
    if a.dtype.kind not in "biufc":
        raise TypeError(f"can't convert np.ndarray of type {a.dtype.type.__module__}.{a.dtype.type.__name__}. The only "
                        "supported types are: float64, float32, float16, "
                        "complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, uint8, and bool.")
    refuse_if(not a.dtype.isnative, "given numpy array has byte order different from the native byte order. Conversion "
              "between byte orders is currently not supported.", ValueError)
    return a


def _of_numpy(data: object) -> bool:
    """Whether nested lists hold NumPy's numbers, which have a dtype of their own."""
    return (any(_of_numpy(d) for d in data) if isinstance(data, (list, tuple))
            else isinstance(data, (np.ndarray, np.generic)))


def _kinds(data: object) -> set:
    """The dtypes of the inexact numbers in nested lists."""
    if isinstance(data, (list, tuple)):
        return set().union(*[_kinds(d) for d in data])
    dtype = (data.dtype if isinstance(data, (np.ndarray, np.generic)) else default.dtype if isinstance(data, float)
             else default_complex())
    return {dtype} if dtype.kind in "fc" and not isinstance(data, int) else set()


def _not_numbers(data: object, a: np.ndarray) -> None:
    """Raise for data that is not made of numbers, or of too large ones."""
    first = True
    while isinstance(data, (list, tuple)):
        k = next((k for k, d in enumerate(data) if isinstance(d, (list, tuple)) or not _is_number(d)), 0)
        first, data = first and not k, data[k]
    if isinstance(data, str):
        raise ValueError("too many dimensions 'str'") if a.ndim and first else TypeError("new(): invalid data type "
                                                                                         "'str'")
    refuse_if(isinstance(data, int), "Overflow when unpacking long long", ValueError)
    raise RuntimeError(f"Could not infer dtype of {type(data).__name__}")


def _is_number(x: object) -> bool:
    return isinstance(x, (bool, float, complex)) or isinstance(x, int) and -2 ** 63 <= x < 2 ** 63


def converted(a: np.ndarray, dtype: np.dtype, name: str = "") -> np.ndarray:
    """Python's numbers in a dtype that can hold them (an unsigned one: negative ones, too); name: for messages."""
    if a.dtype.kind == "c" and dtype.kind in "fiu":
        refuse_if(name, f"value cannot be converted to type {name} without overflow")
        raise TypeError("must be real number, not complex")
    if a.dtype.kind in "iuO" and dtype.kind in "iu" and a.size:
        largest = int(np.iinfo(dtype).max)
        if a.max() > largest or a.min() < (int(np.iinfo(dtype).min) if dtype.kind == "i" else -largest):
            raise RuntimeError(f"value cannot be converted to type {name or dtype} without overflow")
    with np.errstate(invalid="ignore", over="ignore"):
        return a.astype(dtype, copy=False)


def fitting(x: object, dtype: np.dtype) -> Any:
    """A number that is written among elements of a dtype, as one of these; a tensor or traced value as it is."""
    if getattr(x, "__fad_level__", 0) or dtype.kind == "c":
        return x
    name = f"{dtype}_t" if dtype.itemsize < 4 and dtype.kind in "iu" else c_name(dtype)
    return converted(np.asarray(x), dtype, name)[()]


def _plain(data: object) -> Any:
    """Nested lists without tensors."""
    if isinstance(data, (list, tuple)):
        return [_plain(d) for d in data]
    return raw(data).tolist() if hasattr(data, "_a") else data


def is_floating_point(x: object) -> bool:
    """Whether a tensor (or dtype) holds real floating-point numbers."""
    return _dtype(x).kind == "f"


def is_complex(x: object) -> bool:
    """Whether a tensor (or dtype) holds complex numbers."""
    return _dtype(x).kind == "c"


def _dtype(x: object) -> np.dtype:
    return x.dtype if hasattr(x, "shape") and hasattr(x, "dtype") else np.dtype(x)


def promote_types(a: np.dtype, b: np.dtype) -> np.dtype:
    """The dtype of results of both: of an integer and a floating-point (or complex) dtype it is the latter.

    >>> promote_types("int64", "float32")
    dtype('float32')
    """
    return promoted_type(as_dtype(a), as_dtype(b))
