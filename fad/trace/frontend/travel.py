"""Texts of functions that travel. A function of a script or a notebook is pickled by its code, and the process that
gets it has no file with its text. So the text of the whole file (or cell) goes along.

origin.py tells by its code whether a function is from a text. Its file's name may be another one there.
"""
import linecache
import sys
from collections.abc import Iterable
from itertools import islice
from types import FunctionType, ModuleType
from typing import Any

from ...util.own import own_dict
from ...util.reach import reached, referents, wrapped_by
from .origin import codes_in
from .typed import keep

MOST = 1000  # objects that are looked at


def texts_behind(*roots: object) -> tuple[str, ...]:
    """The texts that another process needs to trace these objects."""
    texts: dict[str, str] = {}                                # file -> its text
    for x in islice(reached(roots, _parts), MOST):
        if type(x) is FunctionType and _travels(x) and x.__code__.co_filename not in texts:
            texts[x.__code__.co_filename] = "".join(linecache.getlines(x.__code__.co_filename))
    return tuple(text for text in texts.values() if text)


def keep_texts(texts: tuple[str, ...]) -> None:
    """Make texts of another process known here."""
    for text in texts:
        keep(text)


def _travels(f: "FunctionType | type") -> bool:
    """Whether pickles hold the function or class itself, and not the place where it is found."""
    if f.__module__ == "__main__" or "<locals>" in f.__qualname__:
        return True
    found: Any = sys.modules.get(f.__module__ or "")
    for part in f.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is not f


def _parts(x: object) -> Iterable:
    """The objects behind this one that a pickle would hold, too."""
    wrapped = wrapped_by(x)
    if wrapped is not None:
        return wrapped
    if type(x) is FunctionType:
        return [*referents(x), *_globals_of(x)] if _travels(x) else ()
    if isinstance(x, type):
        return (*x.__bases__, *vars(x).values()) if _travels(x) else ()
    own = own_dict(x) or {}
    for name in ("py_func", "rebuild"):                       # functions of Numba's and of fad's
        if name in own:
            return (own[name],)
    return () if isinstance(x, ModuleType) else (type(x), *referents(x))


def _globals_of(f: FunctionType) -> list:
    names = {name for code in (f.__code__, *codes_in(f.__code__)) for name in code.co_names}
    return [f.__globals__[name] for name in names if name in f.__globals__]
