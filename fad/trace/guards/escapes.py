"""Objects from outside that are handed to code which is not captured: libraries' functions, comparisons by methods
without a text.

Such code may read any attribute, and nobody notes which. So all that is in the objects, and in their classes, is a
source of the trace. Objects of opaque packages (see util/where.py) may hold what no attribute tells: functions that use
them belong to the tape.
"""
import functools
import operator
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from io import IOBase
from types import BuiltinFunctionType, BuiltinMethodType, FunctionType, ModuleType
from typing import Any

from ...ir.build import Builder, Value
from ...util.errors import UnstageableError
from ...util.foreign import remedy_in
from ...util.profiled import unprofiled
from ...util.where import is_captured_class, is_disguised, is_of_c, opaque_package_of, package_name
from ..objects.containers import CHANGING, NEVER_CHANGE, contents, is_users, may_be_changed
from ..objects.draws import goes_on
from . import python_objects
from .kinds import has_attributes, is_object, is_open
from .led_to import is_rewritten, is_unseen, led_to, walked
from .purity import is_effect
from .reads import begin_reads, refuse_unknown

# Python's own that look at what they are given, or hold it, and change nothing; that also call or write; that keep it
LOOK = {isinstance, issubclass, id, type, callable, print, len, iter, next, zip, enumerate, reversed, list, tuple,
        range, slice, getattr, hasattr, object}
HAND_ON = LOOK | {map, filter, setattr, delattr}
KEEP = (HAND_ON - {iter, map, filter, type}) | {
    dict, set, frozenset, deque, repr, str, hash, bool, vars, type, functools.partial, functools.wraps,
    functools.update_wrapper, operator.is_, operator.is_not, operator.eq, operator.ne, operator.contains,
    operator.countOf, operator.indexOf, operator.getitem, operator.setitem, weakref.ref,
}
CONTAINERS: tuple[type, ...] = (list, tuple, dict, set, frozenset, deque)


def is_compared(x: object) -> bool:
    """Whether a method of Python's, which a dataclass may have got without a text, compares x."""
    cls: Any = type(x)
    plain: Any = object
    return cls.__eq__ is not plain.__eq__ or cls.__lt__ is not plain.__lt__


@unprofiled
def hand_over(root: Builder, values: Iterable, has_traced: Callable, is_read: Callable = lambda x: True,
              is_hidden: bool = False) -> None:
    """Note that code which is not captured is given these values: all that is in objects from outside, if it is read,
    is a source of the trace. has_traced tells whether traced values are among others. is_hidden: whether it is code of
    the user's, which may do anything with what captured functions hold and return.
    """
    given = [x for x in values if type(x) not in NEVER_CHANGE]
    leaves = list(walked(given, lambda x: () if is_object(x) or isinstance(x, type) or (
        is_rewritten(x) and not is_hidden) else led_to(x)))
    modules = [x for x in given if isinstance(x, ModuleType) and is_open(x)]
    found = [x for x in (*modules, *leaves) if (is_object(x) or isinstance(x, ModuleType)) and is_read(x)]
    if is_hidden:
        _hand_over_functions(root, leaves)
    # of these only the methods are from outside
    own = [
        id(x) in root.trace.inside or (has_traced(contents(x).values()) and not _was_changed(root, x)) for x in found
    ]
    classes = dict.fromkeys([type(x) for x, is_own in zip(found, own) if is_own and is_captured_class(type(x))])
    classes.update(dict.fromkeys(x for x in given if isinstance(x, type) and is_captured_class(x)))
    containers = [x for x in leaves if isinstance(x, CONTAINERS) and is_users(x)]            # their methods, too
    classes.update(dict.fromkeys(type(x) for x in containers if is_captured_class(type(x))))
    objects = list(classes) + [x for x, is_own in zip(found, own) if not is_own]
    if objects:
        reads = begin_reads(root)
        reads.add_handed(objects)
        refuse_unknown(reads, "code that a library runs")


def _hand_over_functions(root: Builder, things: list) -> None:
    """Note that code which is not captured may call these functions of the user's, and see what they return."""
    originals = root.trace.frontend.originals
    functions = [originals.get(id(f), f) for f in things if type(f) is FunctionType]
    functions = [f for f in functions if is_unseen(f)]
    if functions:
        reads = begin_reads(root)
        reads.add(*functions)
        refuse_unknown(reads, "code without text")


def _was_changed(root: Builder, x: object) -> bool:
    """Whether x was there before the trace, and traced values stand in it."""
    is_made = id(x) in root.trace.journal.made
    return not is_made and (id(x) in root.trace.lifted_owners or root.trace.journal.is_noted(x))


def refuse_opaque(x: object, asked: Iterable = ()) -> None:
    """An error if x is a function or an object of C code, or of a package with arrays of its own (see util/where.py)
    that was not asked for by itself.
    """
    package = "" if isinstance(x, (Value, ModuleType)) else opaque_package_of(x)
    if package and (package not in asked or is_of_c(x)):
        raise UnstageableError(
            f"{getattr(x, '__name__', type(x).__name__)} of {package} is used",
            why="a program does not see what compiled code reads, or a package with arrays of its own",
            do=f"compute with NumPy's functions in place of {package}'s" if callable(x) and remedy_in(package)
               else f"take the numbers out of it before ({remedy_in(package) or 'as an array of NumPy'}), and pass "
               "them as arguments",
        )


def refuse_hidden(x: object, method: str) -> None:
    """An error if a special method that is not captured reads what x does not show: a mapped file, what a pointer or a
    proxy stands for.
    """
    held = contents(x).values() if has_attributes(x) else ()
    hidden = next((y for y in (x, *held) if _is_hidden(y)), None)
    asks_outside = is_effect(getattr(type(x), method, None))
    if hidden is not None or asks_outside:
        raise UnstageableError(
            f"what a {type(x if asks_outside else hidden).__name__} holds is read",
            why="a program does not see whether that has changed",
            do="take the numbers out of it before, and pass them as arguments",
        )


def _is_hidden(x: object) -> bool:
    """Whether x holds what Python's code does not see. Other guards watch generators and iterators. Locks and fad's
    own values hide nothing.
    """
    is_known = package_name(type(x)) == "fad" or goes_on(x) or type(x) in python_objects.LOCKS
    if is_known or (isinstance(x, Iterator) and not isinstance(x, IOBase)):
        return False
    return is_disguised(x) or python_objects.is_closed_box(x)


def refuse_proxy(x: object) -> None:
    """An error if an object of Python's passes for a container."""
    if may_be_changed(type(x)) and issubclass(x.__class__, CONTAINERS):
        raise UnstageableError(
            f"{type(x).__name__} passes for a {x.__class__.__name__}",
            why="fad looks into containers itself, and a proxy has nothing in it",
            do="use what the proxy stands for",
        )


def only_hands_on(f: object) -> bool:
    """Whether f is a function of Python's own that looks into no object that it is given, or puts it into a container.
    """
    if type(f) is BuiltinMethodType and isinstance(f.__self__, CHANGING):
        return f.__name__ not in ("index", "count", "remove")
    return isinstance(f, (type, BuiltinFunctionType)) and f in HAND_ON


def keeps_functions(f: object) -> bool:
    """Whether f calls no function that it is given: it asks about it, or puts it into a container or a partial."""
    if type(f) is BuiltinMethodType and isinstance(f.__self__, CONTAINERS):
        return f.__name__ != "sort"
    return isinstance(f, (type, BuiltinFunctionType, FunctionType)) and f in KEEP
