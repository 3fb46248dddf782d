"""NumPy's protocols: what a NumPy function means when one of its arguments is traced (or a Tensor)."""
from typing import Any

import numpy as np

from ..ops.face import METHODS, find
from ..util.errors import UnsupportedFunctionError
from .mutation import call_face


def qualified_name(function: Any) -> str:
    module = getattr(function, "__module__", None) or ("numpy" if isinstance(function, np.ufunc) else "")
    return f"{module}.{getattr(function, '__name__', function)}".lstrip(".")


def unknown(function: Any) -> UnsupportedFunctionError:
    return UnsupportedFunctionError(f"{qualified_name(function)} is not supported on traced arrays",
                                    why="fad has no record of it", do="see docs/ops for what there is, or give it a rule with fad.custom_vjp")


def call_function(function: Any, args: tuple, kwargs: dict) -> Any:
    """numpy.function(*args, **kwargs) by its face."""
    found = find(function)
    if found is None:
        raise unknown(function)
    return call_face(function.__name__, found.call, args, kwargs)


def call_ufunc(ufunc: Any, method: str, inputs: tuple, kwargs: dict) -> Any:
    """ufunc(*inputs) or ufunc.method(*inputs) by its face."""
    found = find(ufunc)
    if found is None:
        raise unknown(ufunc)
    if method != "__call__":
        return METHODS[f"ufunc.{method}"](ufunc, *inputs, **kwargs)
    return METHODS["ufunc.call"](ufunc, found.call, inputs, **kwargs)
