"""Calls of what is not captured: libraries' functions, methods of their objects.

An array that such a call makes is a value of the program at once. As a plain array it could be written to where the
program cannot see it: after it was used, in one of two branches, in every iteration of a loop that is traced once.
Random numbers are another thing in each iteration, too: they may be drawn only where the generator was made, not in a
region of its own, which is traced once and run many times or never.
"""
import functools
import sys
import threading
from collections.abc import Callable, Iterator
from io import IOBase
from types import BuiltinMethodType, FunctionType, MethodDescriptorType, WrapperDescriptorType
from typing import Any

import numpy as np

from ...ir import stack
from ...ir.build import current
from ...util import tree
from ...util.array import AnyArray
from ...util.defects import for_user
from ...util.errors import StructureError, UnstageableError
from ...util.own import owner_of
from ...util.where import is_fads, module_name
from ..frontend.nodes import SEES_NAMES
from ..guards.purity import goes_on_unseen
from ..guards.python_objects import LOCKS
from ..heap.journal import journal, was_there
from ..heap.locking import called as called_lock
from ..heap.opaque import noted
from ..heap.operands import is_seeded
from ..heap.percall import recorded, watched_call
from ..lists.distributions import of_traced
from ..lists.rows import RowList
from ..objects.containers import is_users
from ..objects.draws import goes_on, no_draws, note_generator, refuse_draws
from ..regions.handlers import note_listeners
from ..regions.optional import need
from ..values import number_texts
from ..values.iterate import Once
from ..values.zero_dim import of_numbers

FRAMES = {("sys", "_getframe"), ("inspect", "currentframe"), ("inspect", "stack"), ("inspect", "getouterframes"),
          *[("builtins", name) for name in ("globals", *SEES_NAMES)]}


def refuse_frames(f: Callable) -> None:
    """An error if f sees the frame that calls it: the names there are those of the function as fad has rewritten it. Or
    how large objects are, or how often a cache was asked.
    """
    if f is sys.getsizeof:
        raise UnstageableError(
            "sys.getsizeof is called",
            why="what stands for an object while the function is traced is larger or smaller",
            do="ask for the size outside the function",
        )
    if isinstance(getattr(f, "__self__", None), functools._lru_cache_wrapper):
        raise StructureError(                                 # on the tape, too: the trace has asked it before
            f"{f.__name__} of a function with a cache is called",
            why="fad asks the cache, too, when it traces the function and before each call",
            do="call it outside the function",
        )
    if (module_name(f), f.__name__) in FRAMES:
        raise UnstageableError(
            f"{f.__name__} sees the names of the function that calls it",
            why="the function is rewritten when it is traced",
            do="pass what is needed as arguments",
        )


def refuse_threads(f: object) -> None:
    """An error if f starts a thread: a trace, and a tape, belong to the thread that began them."""
    if stack.builders() and f is threading.Thread.start:
        raise UnstageableError(
            "a thread is started",
            why="a program is made by one thread, and other threads do not see its values",
            do="call the function itself, or start the thread outside",
        )


def is_tracing() -> bool:
    """Whether what captured code does goes into a program. If not, it is run as plain Python: on a tape, or by the
    program (see ops/host.py).
    """
    return bool(stack.builders()) and not stack.is_live()


def keep(x: object) -> None:
    """Note that x is asked for what comes next. An error if it goes on from where it is (an iterator, a generator of
    random numbers), and was there before the region that is being traced.
    """
    if not is_tracing():
        return
    builder = current()
    is_iterator = isinstance(x, (Iterator, Once))
    if is_iterator and builder.region.serial and was_there(x, builder.region.serial):
        raise UnstageableError(
            "an iterator goes on in a loop or branch on traced values",
            why="what it yields there is one thing for each iteration",
            do="loop over a list or an array",
        )
    if is_iterator:
        journal().take(x)
    if goes_on(x) and builder.trace.generators.get(id(x), (x, builder))[1] is not builder:
        refuse_draws()


def refuse_from_outside(f: Any) -> None:
    """An error if f is a method of an iterator, or of what goes on in another way, and the function has not made it.
    Files are read anew at each call.
    """
    owner = owner_of(f)
    is_iterator = isinstance(owner, Iterator) and (not isinstance(owner, IOBase) or f.__name__ == "__next__")
    if (is_iterator or goes_on_unseen(owner)) and journal().is_outer(owner):
        raise from_outside(owner)


def from_outside(x: object) -> UnstageableError:
    """The error for an iterator that the function has not made."""
    return UnstageableError(f"a {type(x).__name__} from outside the traced function goes on in it",
                            why="what it yields is another thing at each call",
                            do="make it in the function, or pass what it yields as an argument")


@for_user
def called(f: Callable, *args: object, **kwargs: object) -> Any:
    """f(*args, **kwargs), its arrays as values of the program."""
    if isinstance(f, (MethodDescriptorType, WrapperDescriptorType)) and args and isinstance(args[0], RowList):
        f, args = getattr(args[0], f.__name__), args[1:]      # list.append(c, x): the elements lie in rows
    if type(f) is BuiltinMethodType and type(f.__self__) in LOCKS and is_tracing():
        return called_lock(f.__self__, f.__name__, args, kwargs)
    note_new = noted(f, args, kwargs)
    result = _called(f, *args, **kwargs)
    note_new(result)
    return result


@for_user
def noting(f: object, found: Callable, *args: object, **kwargs: object) -> Any:
    """found(*args, **kwargs), which is called for f, after the journal has noted everything that it may write to."""
    note_new = noted(found, args, kwargs)
    result = number_texts.called(f, found, *args, **kwargs)
    note_new(result)
    return result


def _called(f: Callable, *args: Any, **kwargs: Any) -> Any:
    # code without its text may ask of what lists and tuples hold, and so may an object that it calls
    is_asking = current().trace.has_optional and (
        type(f) is FunctionType or any(callable(x) and is_users(x) for x in args)
    )
    for x in (*args, *kwargs.values()):
        keep(x)
        need(*tree.flatten(x)[0] if is_asking else [x])
    draw = of_traced(f, args, kwargs)
    if draw is not None:
        return draw(f, *args, **kwargs)
    if not is_fads(f) and any(goes_on(x) and not is_seeded(x) for x in (*args, *kwargs.values())):
        return recorded(f, args, kwargs)
    with no_draws():
        results = [watched_call(f, args, kwargs)]
    note_listeners()
    return _taken(results, 0)


def _taken(held: list, k: int, is_held: bool = False) -> Any:
    """The entry of a list or tuple, which a library returned, as captured code sees it. is_held: whether the library,
    or another, has the tuple, too.
    """
    result = held[k]
    if type(result) is np.ndarray and result.dtype.kind in "biufc":
        del result
        return _array(held, k, is_held)
    if isinstance(result, tuple) and any(isinstance(x, np.ndarray) for x in result):
        del result
        is_held = is_held or not is_alone(held, k)
        items = [_taken(held[k], j, is_held) for j in range(len(held[k]))]
        if hasattr(held[k], "_make"):
            return held[k]._make(items)
        return tuple(items) if type(held[k]) is tuple else held[k]
    for x in result if type(result) in (list, tuple) else [result]:
        note_generator(x)
    return result


def _array(held: Any, k: int, is_held: bool) -> AnyArray:
    """A new array is a constant. One that somebody else has, too (a library's cache, a list), is an array from outside,
    and the same one at the next call.
    """
    root = current().root
    if not is_held and is_alone(held, k) and _owns(held[k]):
        return of_numbers(held[k])
    if id(held[k]) not in root.trace.captured:
        root.trace.held.add(id(held[k]))
    return current().capture(held[k])


def _owns(x: np.ndarray) -> bool:
    """Whether an array's memory is nobody else's."""
    if x.base is None:
        return x.flags.owndata
    return type(x.base) is np.ndarray and x.base.flags.owndata and sys.getrefcount(x.base) == ALONE


def is_alone(held: Any, k: Any) -> bool:
    """Whether nobody else refers to an entry of a list or a dict."""
    return sys.getrefcount(held[k]) == ALONE


ALONE = [sys.getrefcount(held[0]) for held in [[np.empty(1)]]][0]
