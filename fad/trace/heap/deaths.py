"""Calls that Python makes when objects go: `__del__`, callbacks of weak references.

The journal keeps what a trace makes and what it overwrites. So these objects go when the trace has ended, and what is
called then comes too late.
"""
import weakref
from collections.abc import Callable, Iterable

from ...ir.build import Builder
from ...ir.stack import is_live
from ...util.errors import UnstageableError
from ...util.reach import reached
from ...util.where import is_captured_class
from ..guards.guard import in_class
from ..guards.kinds import MISSING
from ..objects.containers import CHANGING, contents, is_users, values_of
from .journal import CONTAINER

_TELLING: tuple[Callable, ...] = (weakref.ref, weakref.proxy, weakref.finalize, weakref.WeakMethod)


def refuse_callbacks(f: object, given: tuple) -> None:
    """An error if a call of f asks to be told when an object goes."""
    if len(given) > 1 and given[1] is not None and any(f is x for x in _TELLING):
        raise UnstageableError("a function is to be called when an object goes",
                               why="objects that the function makes stay until its trace has ended",
                               do="ask for it outside the function")


def is_told_to_go(cls: type) -> bool:
    """Whether a class of the user's has a method that Python calls when its objects go. On the tape, those of a library
    may come later: they close files and the like.
    """
    return in_class(cls, "__del__") is not MISSING and is_users(cls) and (is_captured_class(cls) or not is_live())


def refuse_gone(root: Builder) -> None:
    """An error if an object with such a method goes, since nothing holds it any more where it stood."""
    changed = [e for e in root.trace.journal.marks[0].entries.values() if e.kind is CONTAINER and e.is_changed]
    held = {id(x) for e in changed for x in values_of(contents(e.cell))}
    gone = [x for e in changed for x in values_of(e.before) if id(x) not in held]

    def parts(x: object) -> Iterable:
        return values_of(contents(x)) if isinstance(x, CHANGING) or is_users(x) else x if type(x) is tuple else ()
    found = next((x for x in reached(gone, parts) if is_told_to_go(type(x))), None)
    if found is not None:
        raise UnstageableError(f"an object of {type(found).__name__}, which has a __del__, may go",
                               why="what the function overwrites stays until its trace has ended",
                               do="keep the object under another name, or let it go outside the function")
