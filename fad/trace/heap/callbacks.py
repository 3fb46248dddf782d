"""Functions that are handed to NumPy, where an override calls them in its own way: for all elements at once, or more
often, or less.

The result of such a function does not depend on that, unless the function counts, appends or draws. So each call is
watched, on the tape, too.
"""
import functools
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

from ...ir.build import current
from ...routines.vectorized import each, each_part
from ...util.errors import SideEffectError
from ...util.where import here, is_fads, is_library
from ..frontend.functions import is_partial
from ..guards.led_to import have_unseen
from ..objects.containers import is_users
from ..objects.draws import common_generators, put_back_states, states_now
from .journal import note, was_there
from .opaque import note_reach
from .percall import steps_here
from .state import Trial

# overrides that call a function for all elements at once; others call it as NumPy does
OTHERWISE = {"vectorize", "piecewise"}


def steadied(name: str, x: Any, capture: Any) -> Any:
    """An argument of an override of this name, functions in it watched."""
    if name not in OTHERWISE:
        return x
    if isinstance(x, (list, tuple)):
        return [steadied(name, f, capture) for f in x] if any(map(_is_users_code, x)) else x
    return watched(x, capture) if _is_users_code(x) else x


def _is_users_code(f: object) -> bool:
    """Whether this is a function, a method or an object of the user's that can be called."""
    if type(f) is FunctionType:
        return not is_library(f.__code__.co_filename)
    return isinstance(f, (MethodType, functools.partial)) or (callable(f) and is_users(f) and not isinstance(f, type))


def watched(f: Callable, capture: object) -> Callable:
    """f, captured, which may change nothing but what it makes itself, and draw no random numbers. A change that happens
    once (a memo) is allowed.
    """
    captured = _captured(f, capture)

    def call(*args: object, **kwargs: object) -> Any:
        where = here()
        for _ in range(2):
            result, is_steady = watching(lambda: captured(*args, **kwargs), captured)
            if is_steady:
                return result
        raise unsteady(f"{getattr(f, '__name__', 'a function')}, which a library's function calls,", where)
    call.each = lambda *args, **kwargs: capture.swap(each)(f, *args, **kwargs)  # type: ignore[attr-defined]
    call.each_part = lambda *args: capture.swap(each_part)(f, *args)          # type: ignore[attr-defined]
    return call


def _captured(f: Callable, capture: Any) -> Callable:
    if is_partial(f):
        if is_fads(f.func):                                   # of a function with a cache
            return f
        return functools.partial(_captured(f.func, capture), *f.args, **f.keywords)
    return capture.runtime.call(f)


def watching(run: Callable, *calls: object) -> "tuple[object, bool]":
    """run(), which calls these, and whether all that was there before is as it was."""
    steps = len(steps_here())
    made, arrays, states = Trial({}, is_region=False), _arrays_now(), states_now()
    try:
        note(*common_generators())
        if have_unseen(calls):
            note_reach(calls, is_hidden=True)
        result = run()
        written = [t for key, (t, var) in _arrays_now().items()
                   if arrays.get(key, (t, None))[1] is not var and was_there(t, made.serial)]
        drawn = put_back_states(states) or made.mark.has_drawn or len(steps_here()) > steps
        return result, not (written or made.has_changes or made.has_changed_pythons or drawn)
    finally:
        made.end()


def unsteady(what: str, where: Any) -> SideEffectError:
    """The error of code that changes something, and is called as often as it suits the caller."""
    return SideEffectError(f"{what} changes something or draws random numbers", where=where,
                           why="how often it is called, and for what, the program does not know", do="write a loop")


def _arrays_now() -> dict:
    """The arrays that were written to so far, and what they hold."""
    return {key: (t, t._var) for key, (t, _) in current().region.mutated.items() if t.view_of is None}
