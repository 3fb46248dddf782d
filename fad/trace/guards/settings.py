"""Functions of libraries that tell how things are set, such as how NumPy treats errors of floating point.

Their values are part of the program. Each call reads them again.
"""
import functools
import gc
import logging
import os
import sys
import threading
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from ...ir.build import Builder
from ...util.collection import is_collecting
from .guard import AnswerGuard

_SETTINGS = {
    np.geterr, np.geterrcall, np.getbufsize, np.get_printoptions, sys.getrecursionlimit, sys.getswitchinterval,
    threading.current_thread, os.getcwd, os.getpid, gc.isenabled,
}
_METHODS = {logging.Logger.isEnabledFor, logging.Logger.getEffectiveLevel, logging.Logger.hasHandlers}


def is_setting(f: object) -> bool:
    """Whether f tells how something is set.

    >>> is_setting(np.geterr), is_setting(np.sin), is_setting(len)
    (True, False, False)
    """
    return (isinstance(f, (FunctionType, BuiltinFunctionType)) and f in _SETTINGS) or (
        type(f) is MethodType and f.__func__ in _METHODS
    )


def answer(root: Builder, ask: Callable, *args: object) -> Any:
    """The answer of such a function, as a source of a trace."""
    ask = is_collecting if ask is gc.isenabled else ask       # tracing pauses the collector
    said = ask(*args)
    root.trace.sources.append(AnswerGuard(functools.partial(ask, *args), said))
    return said
