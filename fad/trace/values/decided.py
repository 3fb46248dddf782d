"""Conditions of branches that are decided while a function is traced.

A condition that follows from arrays from outside (`if kind[i] == 0`) becomes a branch of the program, which then holds
for other arrays of the same shape. Some branches no program can have: one side makes a text and the other None, or each
side chooses another function. A trace that is refused is made once more, and these conditions are decided by what the
arrays hold now. The arrays are guarded: once they change, the function is traced anew.
"""
import threading
from collections.abc import Callable
from typing import TypeVar

from ...ir.build import Value, current
from ...util.array import ArrayOrNumber
from ...util.errors import FadError
from .constants import constant_of, fresh_constant_of

T = TypeVar("T")


class _State(threading.local):
    is_deciding = False
    has_met = False                                           # a condition that may be decided


_state = _State()


def decided(test: ArrayOrNumber) -> ArrayOrNumber:
    """A condition; its truth, where that follows from what the traced function made itself (random numbers of its own
    generator, mostly), or if need be from arrays from outside.
    """
    if not isinstance(test, Value) or test.ndim:
        return test
    value = None
    if _state.is_deciding:
        value = constant_of(test.atom)
    elif current().trace.fresh_constants:
        value = fresh_constant_of(test.atom)
    _state.has_met = True
    return test if value is None else bool(value)


def decided_if_needed(trace: Callable[[], T]) -> T:
    """trace(). If it is refused, it is made again, and decides the conditions that follow from arrays from outside."""
    if _state.is_deciding:
        return trace()
    _state.has_met = False
    try:
        return trace()
    except FadError:
        if not _state.has_met:
            raise
    _state.is_deciding = True
    try:
        return trace()
    finally:
        _state.is_deciding = False
