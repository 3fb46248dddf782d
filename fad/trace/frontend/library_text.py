"""Functions of Python's own library that are captured by their text, as the user's are: heapq, bisect, cmp_to_key,
dataclasses.replace. They compare, call and copy their arguments by the user's methods.

Many of them are written in C. Their modules have the same functions in Python, too (PEP 399), and import those of C at
the end of their text. Here that import finds nothing.

>>> import heapq
>>> text_of(heapq.heappush).__code__.co_filename == heapq.__file__, text_of(len)
(True, None)
"""
import builtins
import functools
import importlib
import importlib.util
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

_ALL = frozenset(("heapq", "bisect"))
_SOME = {"functools": ("cmp_to_key",), "dataclasses": ("replace", "_replace")}
_MARK = "__fad_text__"                                       # a name in the globals of what is captured


def text_of(f: object) -> "FunctionType | None":
    """The function of Python that is captured in place of one of these; None of any other."""
    if not isinstance(f, (BuiltinFunctionType, FunctionType)) or is_library_text(f):
        return None
    module, name = (f.__module__ or "").removeprefix("_"), f.__name__
    if not (module in _ALL or name in _SOME.get(module, ())):
        return None
    found = getattr(_without_c(module), name, None)
    return found if type(found) is FunctionType else None


def is_library_text(f: Callable) -> bool:
    """Whether f is such a function."""
    if type(f) is not FunctionType or _MARK not in f.__globals__:
        return False
    return f.__module__ in _ALL or f.__name__ in _SOME.get(f.__module__, ())


@functools.cache
def _without_c(name: str) -> "ModuleType | None":
    """The module as its text is, without what it has from C; None where the text is not at hand."""
    return made_anew(name, {_MARK: True})


def made_anew(name: str, names: dict) -> "ModuleType | None":
    """Another module of the text of this one, without what it has from C, with these names in place of its own; None
    where the text is not at hand.
    """
    spec = importlib.util.find_spec(name)
    has_text = spec is not None and spec.origin and spec.loader is not None
    code = spec.loader.get_code(name) if has_text else None   # type: ignore[union-attr]
    if code is None:
        return None

    def imported(wanted: str, *args: Any, **kwargs: Any) -> Any:
        if wanted == "_" + name:
            raise ImportError(wanted)
        return __import__(wanted, *args, **kwargs)
    made = ModuleType(name)
    made.__dict__.update({"__builtins__": {**vars(builtins), "__import__": imported}, **names})
    exec(code, made.__dict__)
    return made
