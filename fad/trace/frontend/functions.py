"""Kinds of functions: the user's, those that Numba compiled, and what is merely called like one."""

import dataclasses
import functools
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from ...ops.face import OBJECTS, find
from ...util.where import is_captured, is_library, package_name

FUNCTIONS = (FunctionType, BuiltinFunctionType, np.ufunc, np.vectorize, functools.partial)


def is_user_function(f: Any, packages: "set | tuple" = ()) -> bool:
    """Whether f is a Python function that is captured (see util/where.py); these packages are, too."""
    if not isinstance(f, FunctionType) or is_library(f.__code__.co_filename):
        return False
    return is_captured(f.__code__.co_filename) or package_name(f) in packages or _serves_classes(f)


def _serves_classes(f: FunctionType) -> bool:
    """Whether f is a function of Python's that calls a user's methods: a comparison by functools.total_ordering, or
    dataclasses.replace, which makes an object.
    """
    name = f.__code__.co_name
    return (f.__code__.co_filename == functools.__file__ and "_from_" in name
            or f.__code__.co_filename == dataclasses.__file__ and name in ("replace", "_replace"))


def is_compiled(f: Any) -> bool:
    """Whether f is a function that Numba compiled."""
    return package_name(type(f)) == "numba" and hasattr(f, "py_func")


def function_of_numbers(f: Any) -> "FunctionType | None":
    """The function that numba.vectorize made a ufunc of; None for everything else."""
    is_ufunc = package_name(type(f)) == "numba" and type(f).__name__ == "DUFunc"
    return f._dispatcher.py_func if is_ufunc else None


def is_called(x: Any) -> bool:
    """Whether x is a function, of whatever kind: what is done with it is a call, or it is handed on."""
    if isinstance(x, FUNCTIONS) or is_compiled(x) or function_of_numbers(x) is not None:
        return True
    return not isinstance(x, type) and callable(x) and id(x) not in OBJECTS and find(x) is not None
