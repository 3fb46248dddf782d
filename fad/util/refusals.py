"""Refusals that other code takes for an answer.

fad raises an error where a trace cannot go on. Code that is not fad's may take it in: Python does so in `__del__` and
in callbacks of weak references, C code where it tries something, a library by its handlers, `return` in `finally`. Then
the trace would go on without what was refused. So each trace knows its refusals. Where one is gone (or the trace ends),
its traceback says who took it: that begins with the frame that handled it.
"""
import weakref
from collections.abc import Callable
from types import CodeType

from .where import is_own

ASKED: set[CodeType] = set()  # methods of values: they handle nothing, so C code does that has called one


class Refusals:
    """The refusals of one trace. taken: of those that other code took for an answer, the message and the place.
    lasting: one that fails the whole trace, whoever handles it.
    """

    def __init__(self) -> None:
        self.alive: weakref.WeakSet = weakref.WeakSet()
        self.taken: list[tuple] = []
        self.lasting: Exception | None = None

    def gone(self, error: object) -> None:
        """Note who has handled an error that is gone."""
        if is_taken(error):
            self.taken.append(_said(error))

    def first(self) -> "tuple | None":
        """The message and the place of the first that was taken for an answer."""
        found = [*self.taken, *[_said(error) for error in list(self.alive) if is_taken(error)]]
        return found[0] if found else None


def _said(error: object) -> tuple:
    return getattr(error, "what", ""), getattr(error, "where", None)


def is_taken(error: object) -> bool:
    """Whether code that is not fad's has handled an error."""
    tb = getattr(error, "__traceback__", None)
    return tb is not None and (not is_own(tb.tb_frame.f_code.co_filename) or tb.tb_frame.f_code in ASKED)


class _Present:
    """The way to the refusals of the present trace, which the builders of programs know (ir/stack.py)."""

    find: Callable = staticmethod(lambda: None)


def tell_present(find: Callable) -> None:
    """Say how they are found."""
    _Present.find = staticmethod(find)


class Remembered:
    """An error by which fad refuses what a function does: the trace remembers it."""

    def __init__(self, *args: object, **kwargs: object):
        super().__init__(*args, **kwargs)
        self._trace: Refusals | None = _Present.find()
        if self._trace is not None:
            self._trace.alive.add(self)

    def __del__(self) -> None:
        trace = self.__dict__.pop("_trace", None)
        if trace is not None:
            trace.gone(self)
