"""NumPy's protocols: what a NumPy function means when one of its arguments is traced (or a Tensor)."""
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...ir.types import is_number, type_of
from ...ops.literals import is_value, numpy_number, require_fitting
from ...ops.override import METHODS, find
from ...util.array import ArrayOrNumber
from ...util.errors import UnsupportedFunctionError
from ...util.where import module_name, package_name
from .mutation import call_override


def qualified_name(function: object) -> str:
    module = module_name(function) or ("numpy" if isinstance(function, np.ufunc) else "")
    return f"{module}.{getattr(function, '__name__', function)}".lstrip(".")


def unknown(function: object) -> UnsupportedFunctionError:
    return UnsupportedFunctionError(
        f"{qualified_name(function)} is not supported on traced arrays",
        why="fad has no record of it",
        do="see the table of functions in the documentation, or give it a rule with fad.custom_vjp",
    )


def call_function(function: Any, args: tuple, kwargs: dict) -> Any:
    """numpy.function(*args, **kwargs) by its override."""
    found = find(function)
    if found is None:
        raise unknown(function)
    return in_numpys_terms(function.__name__, call_override(function.__name__, found.call, args, kwargs, function))


def in_numpys_terms(name: str, result: ArrayOrNumber) -> Any:
    """A result as NumPy's function returns it: a NumPy scalar, for Python's floats, too. Ints stay Python's, as
    np.size(x) is.
    """
    # np.real(x) is x.real
    of_numpy = is_value(result) and type_of(result).dtype.kind in "fc" and name not in ("real", "imag")
    return numpy_number(result) if of_numpy else result


def is_overridden(protocol: str, classes: Iterable) -> bool:
    """Whether NumPy would leave a call to the class of one of its arguments, a user's class that is none of arrays: one
    of quantities with units says by NumPy's protocol what a function makes of its objects.
    """
    return any(getattr(cls, protocol, None) is not None and not hasattr(cls, "dtype") and package_name(cls) != "fad"
               for cls in classes)


def call_ufunc(ufunc: np.ufunc, method: str, inputs: tuple, kwargs: dict) -> Any:
    """ufunc(*inputs) or ufunc.method(*inputs) by its override."""
    found = find(ufunc)
    if found is None:
        raise unknown(ufunc)
    if method == "__call__" and all(is_number(x) or is_value(x) and type_of(x).weak for x in inputs):
        inputs = tuple([numpy_number(x) for x in inputs])                # which of them makes no difference
    if method == "__call__" and len(inputs) == 2:
        require_fitting(found.call, *inputs)
    if method != "__call__":
        return METHODS[f"ufunc.{method}"](ufunc, *inputs, **kwargs)
    return METHODS["ufunc.call"](ufunc, found.call, inputs, **kwargs)
