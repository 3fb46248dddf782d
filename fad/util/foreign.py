"""Arrays and tables of other libraries, and other things in place of numbers: how their numbers come out of them."""
from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import date, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np

from .where import package_name

REMEDIES = {  # the package of a class -> text that makes an ndarray of its x
    "torch": "x.detach().numpy()", "pandas": "x.to_numpy()", "polars": "x.to_numpy()", "xarray": "x.to_numpy()",
    "pyarrow": "x.to_numpy()", "jax": "np.asarray(x)", "jaxlib": "np.asarray(x)", "tensorflow": "x.numpy()",
    "cupy": "x.get()", "dask": "x.compute()"}


def package_of(x: object) -> str:
    """The package that the class of x is from."""
    return package_name(type(x))


def remedy_of(x: object) -> str:
    """The call that gives an ndarray of x, an array or table of another library's; empty if it is none.

    >>> remedy_of(1.0)
    ''
    """
    return REMEDIES.get(package_of(x), "") if hasattr(type(x), "__array__") else ""


def remedy_in(module: str) -> str:
    """The same for a value that the code of this module, a library's, computes with."""
    return REMEDIES.get(module.partition(".")[0], "")


_NUMBERS: dict = {  # what stands in place of numbers, by kind of dtype or class -> what to pass
    "V": "a field of it (x['name'])", "M": "its distances in time, in a unit ((x - x[0]) / np.timedelta64(1, 's'))",
    "m": "its numbers in a unit (x / np.timedelta64(1, 's'))",
    Enum: "its number (x.value)", str: "a number (float(x))", bytes: "a number (float(x))",
    Fraction: "a number (float(x))", Decimal: "a number (float(x))", range: "an array (np.array(x, dtype=float))",
    Iterator: "a list of its numbers (list(x))", Set: "a list of its numbers (sorted(x))",
    timedelta: "its seconds (x.total_seconds())", date: "a number, such as the days since another date",
    Mapping: "a dict of its numbers (dict(x))", Sequence: "a list of its numbers (list(x))"}


def numbers_of(x: Any, dtype: Any = None) -> str:
    """The advice for x, which is no real or complex array or number: an argument to pass in its place.

    dtype: that of a number or an array.

    >>> numbers_of("0.5"), numbers_of({1.0, 2.0}), numbers_of(np.arange(3), np.dtype(int))
    ('a number (float(x))', 'a list of its numbers (sorted(x))', 'floats (x.astype(float))')
    """
    if dtype is not None or isinstance(x, np.ndarray):
        kind = (x.dtype if dtype is None else dtype).kind
        return _NUMBERS.get(kind, "floats (x.astype(float))" if getattr(x, "shape", ()) else "a float (float(x))")
    found = next((what for cls, what in _NUMBERS.items() if isinstance(cls, type) and isinstance(x, cls)), "")
    if hasattr(x, "toarray"):
        return "its elements (x.data), and make the matrix inside the function"
    return found or "the numbers in it, in a list, a dict or a dataclass"
