"""Functions of libraries that tell how things are set, such as how NumPy treats errors of floating point.

What they say is part of the program, and they are asked again before each call.
"""
import gc
import os
import sys
import threading
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from .guard import Answer

_SETTINGS = {np.geterr, np.geterrcall, np.getbufsize, np.get_printoptions, sys.getrecursionlimit, sys.getswitchinterval, gc.isenabled, threading.current_thread,
             os.getcwd, os.getpid}


def is_setting(f: Any) -> bool:
    """Whether f tells how something is set.

    >>> is_setting(np.geterr), is_setting(np.sin), is_setting(len)
    (True, False, False)
    """
    return isinstance(f, (FunctionType, BuiltinFunctionType)) and f in _SETTINGS


def answer(root: Any, ask: Callable) -> Any:
    """What such a function says, as a source of a trace."""
    said = ask()
    root.sources.append(Answer(ask, said))
    return said
