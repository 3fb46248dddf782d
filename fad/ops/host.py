"""Calls of functions that are not traced: Python code that runs on arrays when the program runs."""
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.op import Op
from ..ir.types import Type, type_of
from ..util.errors import ExtentError
from .kinds import NotDifferentiable, shape_of


def _run(*args: Any, function: Callable, like: int) -> Any:
    model = np.asarray(args[like])
    result = np.asarray(function(*[np.array(a) if isinstance(a, np.ndarray) else a for a in args]))
    if result.shape != model.shape:
        raise ExtentError(f"{getattr(function, '__name__', 'a host function')} returned shape {result.shape} where "
                          f"{model.shape} was promised")
    return result.astype(model.dtype)[()]


def _infer(*args: Any, function: Callable, like: int) -> Type:
    return Type(type_of(args[like]).dtype, shape_of(args[like]))


host = Op("host", _run, _infer, kind="host", derivative=NotDifferentiable("it calls a function that is not traced"),
          doc="function(*args) on arrays; its result has the shape and dtype of args[like]")
