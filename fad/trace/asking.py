"""Methods that Python calls by itself (operators, setters of properties) and that ask `is None`: they are not rewritten.

What may be None is a value on every way through a program (see optional.py), and such a method would never find None. So a program with such values
is refused where the function handles objects with such methods; the tape has Python's own None.
"""
import dis
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

from ..util.errors import UnstageableError
from ..util.where import is_library

REWRITTEN = {"__init__", "__new__", "__call__"}               # captured as other functions are
OTHERS = {"__exit__", "__get__", "__set_name__", "__repr__", "__str__"}      # ask of errors and of instances, or give texts


def refuse_unseen_questions(root: Any) -> None:
    """An error if values may be None in this program, and code asks for None that it does not see."""
    if not root.has_optional:
        return
    for f, cls in [(f, c) for c in root.classes for f in _called_by_python(c)]:
        if _asks(f, cls, set()):
            raise UnstageableError(f"{cls.__name__}.{f.__name__} asks whether something is None, and a name is None on some ways",
                                   why="Python calls it by itself, and the program does not see what it asks", do="ask in the function, or in a method that it names")


def _called_by_python(cls: type) -> Iterator[FunctionType]:
    """Methods that no call in captured code names: operators and their kin, setters of properties."""
    for name in dir(cls):
        found: Any = next((c.__dict__[name] for c in cls.__mro__ if name in c.__dict__), None)
        f = found.fset if isinstance(found, property) else found
        by_itself = isinstance(found, property) or (name.startswith("__") and name.endswith("__") and name not in REWRITTEN | OTHERS)
        if by_itself and isinstance(f, FunctionType) and not is_library(f.__code__.co_filename):
            yield f


def _asks(f: FunctionType, cls: type, seen: set) -> bool:
    """Whether a function, or another one that it names, has `is None` in it."""
    if f in seen or is_library(f.__code__.co_filename):
        return False
    seen.add(f)
    if _has_question(f.__code__):
        return True
    named: list[Any] = [f.__globals__.get(name) for name in f.__code__.co_names] + [getattr(cls, name, None) for name in f.__code__.co_names]
    return any(_asks(g, cls, seen) for g in [x.fget if isinstance(x, property) else x for x in named] if isinstance(g, FunctionType))


def _has_question(code: CodeType) -> bool:
    steps = list(dis.get_instructions(code))
    of_none = any(step.opname == "IS_OP" and before.opname == "LOAD_CONST" and before.argval is None for before, step in zip(steps, steps[1:]))
    return of_none or any(step.opname.endswith(("_IF_NONE", "_IF_NOT_NONE")) for step in steps) or any(
        _has_question(c) for c in code.co_consts if isinstance(c, CodeType))
