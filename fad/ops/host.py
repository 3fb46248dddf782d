"""Calls of functions that are not traced: Python code that runs on arrays when the program runs.

Transforms and passes see `host`, which holds its function, or `tell`, whose function has no result. Compiled code sees
`call_python` and `tell_python`, which are given the number of the program's functions as an operand (see
backend/running/callbacks.py).
"""
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.op import Op
from ..ir.traits import Traits
from ..ir.types import INT, Type, type_of
from ..util.array import ArrayOrNumber
from ..util.errors import ExtentError
from ..util.lazy import LazyModule
from .kinds import NotDifferentiable, Zero, shape_of

callbacks: Any = LazyModule("fad.kernels.callbacks")


def _run(*args: ArrayOrNumber, function: Callable, like: int) -> ArrayOrNumber:
    model = np.asarray(args[like])
    result = np.asarray(function(*[np.array(a) if isinstance(a, np.ndarray) else a for a in args]))
    if result.shape != model.shape:
        raise ExtentError(f"{getattr(function, '__name__', 'a host function')} returned shape {result.shape} where "
                          f"{model.shape} was promised")
    return result.astype(model.dtype)[()]


def _infer(*args: ArrayOrNumber, function: Callable, like: int) -> Type:
    return Type(type_of(args[like]).dtype, shape_of(args[like]))


host = Op("host", _run, _infer, kind="host", derivative=NotDifferentiable("it calls a function that is not traced"),
          doc="function(*args) on arrays; its result has the shape and dtype of args[like]")


def _run_by_number(number: object, *args: object, place: int) -> Any:
    return callbacks.call_python(place, number, *args)


def _run_next(position: Any, value: ArrayOrNumber) -> Any:
    return np.int64(position + 1)


next_position = Op("next_position", _run_next, lambda position, value: Type(INT, ()), kind="opaque", derivative=Zero(),
                   kernel="next_position", kernel_params=(),
                   doc="position + 1, once the value is there that was drawn at the position")

call_python = Op("call_python", _run_by_number, lambda number, *args, place: _infer(*args, function=len, like=0),
                 kind="opaque", derivative=NotDifferentiable("it calls a function that is not traced"),
                 kernel="call_python", kernel_params=("place",), params_lead=True,
                 doc="The function at a place of those that the number stands for, on arrays; its result has the shape "
                     "and dtype of the first of them")


def _run_telling(*args: object, function: Callable) -> tuple:
    function(*args)
    return ()


tell = Op("tell", _run_telling, lambda *args, function: (), kind="opaque", derivative=Zero(), effect=True,
          creation=True, traits=Traits(tells=True),
          doc="function(*args), which tells people something and has no result: a line of a log")


def _tell_by_number(number: object, *args: object, place: int) -> tuple:
    callbacks.tell_python(place, number, *args)
    return ()


tell_python = Op("tell_python", _tell_by_number, lambda number, *args, place: (), kind="opaque", derivative=Zero(),
                 effect=True, kernel="tell_python", kernel_params=("place",), params_lead=True,
                 traits=Traits(tells=True),
                 doc="The function at a place of those that the number stands for, which has no result")
