"""Methods that Python calls by itself (operators, setters of properties, descriptors) and that ask `is None`: they are
not rewritten.

A variable that may be None is a value on every path of a program (see optional.py), and such a method would never find
None. So a program with such values is refused where the function handles objects with such methods; the tape has
Python's own None. The sources of the trace, its arguments, and the objects that it has opened and made tell which
objects these are.
"""
import dis
from collections.abc import Iterable
from types import CodeType, FunctionType
from typing import Any

from ...ir.build import Builder
from ...util.errors import UnstageableError
from ...util.reach import reached
from ...util.where import is_captured_class, is_library
from ..guards.by_python import called_by_python
from ..guards.snapshot import Snapshot
from ..objects.containers import contents, is_users, may_change, values_of
from .opaque import parts_of

OF_PARAMETERS = {"__exit__", "__get__"}                       # what these are given is None, or not, whatever the data


def refuse_unseen_questions(root: Builder) -> None:
    """An error if values may be None in this program, and code asks for None that it does not see."""
    if not root.trace.has_optional:
        return
    for f, cls in [(f, c) for c in _handled(root) for _, _, f in called_by_python(c)]:
        if _asks(f, cls, set()):
            raise UnstageableError(
                f"{cls.__name__}.{f.__name__} asks whether something is None, and a name is None on some ways",
                why="Python calls it by itself, and the program does not see what it asks",
                do="ask in the function, or in a method that it names",
            )


def _handled(root: Builder) -> dict:
    """The users' classes of all that the function may handle, as far as it is reached from what the trace has met."""
    start = [
        *root.trace.classes,
        *root.trace.opened.values(),
        *root.trace.inside.values(),
        *[x for x, *_ in root.trace.stand_ins],
        *[s.value for s in root.trace.sources],
        root.trace.arguments,
    ]
    found = map(_users_class, reached(start, lambda x: may_change(_next(x))))
    return dict.fromkeys(cls for cls in found if cls is not None)


def _users_class(x: object) -> "type | None":
    """The class of an object, or a class itself, if it is the user's."""
    cls = x if isinstance(x, type) else type(x)
    return cls if is_users(cls) and is_captured_class(cls) else None


def _next(x: object) -> Iterable:
    """The things that x refers to."""
    if isinstance(x, Snapshot):
        return [*x.roots, *x.elements, *x.values]
    cls = _users_class(x)
    if cls is None:
        if isinstance(x, (list, tuple, dict, set, frozenset)):
            return values_of(x)
        return () if type(x) is FunctionType else parts_of(x)
    descriptors = [y for c in cls.__mro__ for y in vars(c).values() if type(y) is not FunctionType]
    return [*descriptors, type(cls), *values_of(contents(x))]


def _asks(f: FunctionType, cls: type, seen: set) -> bool:
    """Whether a function, or another one that it names, asks for None."""
    if f in seen or is_library(f.__code__.co_filename):
        return False
    seen.add(f)
    given = f.__code__.co_varnames[:f.__code__.co_argcount] if f.__name__ in OF_PARAMETERS else ()
    if _has_question(f.__code__, given):
        return True
    named: list[Any] = [f.__globals__.get(name) for name in f.__code__.co_names] + [
        getattr(cls, name, None) for name in f.__code__.co_names
    ]
    return any(
        _asks(g, cls, seen)
        for g in [x.fget if isinstance(x, property) else x for x in named]
        if type(g) is FunctionType
    )


def _has_question(code: CodeType, given: tuple = ()) -> bool:
    """Whether code has `is None` in it, of something else than these parameters, or asks for the class of None."""
    steps = list(dis.get_instructions(code))
    is_none = [step.opname == "LOAD_CONST" and step.argval is None for step in steps]
    asked = [steps[k - 2] for k, step in enumerate(steps) if step.opname == "IS_OP" and is_none[k - 1]]
    asked += [steps[k - 1] for k, step in enumerate(steps) if step.opname.endswith(("_IF_NONE", "_IF_NOT_NONE"))]
    if any(not (step.opname == "LOAD_FAST" and step.argval in given) for step in asked):
        return True
    of_class = (
        any(none and "CALL" in steps[k + 1].opname for k, none in enumerate(is_none[:-1])) and "type" in code.co_names
    )
    return (
        of_class
        or "NoneType" in code.co_names
        or any(_has_question(c) for c in code.co_consts if isinstance(c, CodeType))
    )
