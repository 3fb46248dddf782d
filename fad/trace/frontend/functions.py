"""Kinds of functions: the user's, those that Numba compiled, and what is merely called like one."""

import functools
import inspect
from types import BuiltinFunctionType, FunctionType
from typing import TypeGuard

import numpy as np

from ...ops.override import OBJECTS, find
from ...util.where import is_captured, is_library, is_of_c, package_name
from .library_text import is_library_text
from .numba_forms import is_of_numba

FUNCTIONS = (FunctionType, BuiltinFunctionType, np.ufunc, np.vectorize, functools.partial, functools._lru_cache_wrapper)


def is_user_function(f: object, packages: set) -> bool:
    """Whether f is a Python function that is captured (see util/where.py); these packages are, too."""
    if type(f) is not FunctionType or is_library(f.__code__.co_filename):
        return False
    is_users = is_captured(f.__code__.co_filename) or package_name(f) in packages
    return is_users or _is_of_order(f) or is_library_text(f)


def _is_of_order(f: FunctionType) -> bool:
    """Whether functools.total_ordering has put f into a class: it asks the class's own comparisons."""
    return f.__code__.co_filename == functools.__file__ and "_from_" in f.__code__.co_name


def is_partial(f: object) -> "TypeGuard[functools.partial]":
    """Whether a call of f is a call of f.func: a subclass may define its own __call__."""
    return isinstance(f, functools.partial) and type(f).__call__ is functools.partial.__call__


def is_called(x: object) -> bool:
    """Whether x is a function, of whatever kind: what is done with it is a call, or it is handed on."""
    if isinstance(x, FUNCTIONS) or is_of_numba(x) or is_of_cython(x):
        return True
    return not isinstance(x, type) and callable(x) and id(x) not in OBJECTS and find(x) is not None


def is_of_cython(x: object) -> bool:
    """Whether x is a function in C of a class that an extension module has made for its functions."""
    return inspect.ismethoddescriptor(x) and is_of_c(x)
