"""Methods that Python calls by itself (operators, setters of properties, descriptors) and that ask `is None`: they are
not rewritten.

A variable that may be None is a value on every path of a program (see optional.py), and such a method would never find
None. So a program with such values is refused where the function handles objects with such methods; the tape has
Python's own None. The classes that the trace has met, and those of its arguments and of the objects that it has opened
and made, tell which methods these are. If there are some, the trace is made once more, and observed: methods that have
not run ask nothing (Enum.__dir__, or those that captured code has called in Python's place).
"""
import dis
from types import CodeType, FunctionType, ModuleType
from typing import Any

from ...ir.build import Builder
from ...util.errors import UnstageableError
from ...util.where import is_captured_class, is_library
from ..guards.implicit_calls import called_by_python, classes_within
from ..guards.profiled_calls import observing
from ..objects.containers import is_users

OF_PARAMETERS = {"__exit__", "__get__"}                       # what these are given is None, or not, whatever the data


def refuse_unseen_questions(root: Builder) -> None:
    """An error if values may be None in this program, and code asks for None that it does not see."""
    if not root.trace.has_optional:
        return
    for f, cls in [(f, c) for c in _handled(root) for _, _, f in called_by_python(c)]:
        if _asks(f, cls, set()) and observing.may_have_run(f):
            observing.want()
            raise UnstageableError(
                f"{cls.__name__}.{f.__name__} asks whether something is None, and a name is None on some ways",
                why="Python calls it by itself, and the program does not see what it asks",
                do="ask in the function, or in a method that it names",
            )


def _handled(root: Builder) -> list:
    """The users' classes of all that the function may handle, as far as the trace has met it."""
    state = root.trace
    opened = [x for x in state.opened.values() if not isinstance(x, ModuleType)]
    things = [state.arguments, [*state.classes, *opened, *state.inside.values()]]
    found = dict.fromkeys(c for cls in classes_within(things) for c in (cls, type(cls)))
    return [cls for cls in found if is_users(cls) and is_captured_class(cls)]


def _asks(f: FunctionType, cls: type, seen: set) -> bool:
    """Whether a function, or another one that it names, asks for None."""
    if f in seen or is_library(f.__code__.co_filename):
        return False
    seen.add(f)
    given = f.__code__.co_varnames[:f.__code__.co_argcount] if f.__name__ in OF_PARAMETERS else ()
    if _has_question(f.__code__, given):
        return True
    named: list[Any] = [x for name in f.__code__.co_names for x in (f.__globals__.get(name), getattr(cls, name, None))]
    called = [x.fget if isinstance(x, property) else x for x in named]
    return any(_asks(g, cls, seen) for g in called if type(g) is FunctionType)


def _has_question(code: CodeType, given: tuple = ()) -> bool:
    """Whether code has `is None` in it, of something else than these parameters, or asks for the class of None."""
    steps = list(dis.get_instructions(code))
    is_none = [step.opname == "LOAD_CONST" and step.argval is None for step in steps]
    asked = [steps[k - 2] for k, step in enumerate(steps) if step.opname == "IS_OP" and is_none[k - 1]]
    asked += [steps[k - 1] for k, step in enumerate(steps) if step.opname.endswith(("_IF_NONE", "_IF_NOT_NONE"))]
    if any(not (step.opname == "LOAD_FAST" and step.argval in given) for step in asked):
        return True
    is_given = any(none and "CALL" in steps[k + 1].opname for k, none in enumerate(is_none[:-1]))
    asks_class = "NoneType" in code.co_names or (is_given and "type" in code.co_names)
    return asks_class or any(_has_question(c) for c in code.co_consts if isinstance(c, CodeType))
