"""Conditions of branches that are decided while a function is traced.

A condition that follows from arrays from outside (`if kind[i] == 0`) becomes a branch of the program, which then holds
for other arrays of the same shape. Some branches no program can have: one side makes a text and the other None, or each
side chooses another function. A trace that is refused is made once more, and these conditions are decided by what the
arrays hold now. The arrays are guarded: once they change, the function is traced anew.
"""
from ...ir.build import Value, current
from ...util.array import ArrayOrNumber
from ...util.attempts import Mode
from ...util.errors import FadError
from .constants import constant_of, fresh_constant_of


class Deciding(Mode):
    """Conditions that follow from arrays from outside are decided."""

    refusals = FadError


deciding = Deciding()


def decided(test: ArrayOrNumber) -> ArrayOrNumber:
    """A condition; its truth, where that follows from what the traced function made itself (random numbers of its own
    generator, mostly), or if need be from arrays from outside.
    """
    if not isinstance(test, Value) or test.ndim:
        return test
    value = None
    if deciding.is_on:
        value = constant_of(test.atom)
    elif current().trace.fresh_constants:
        value = fresh_constant_of(test.atom)
    deciding.want()
    return test if value is None else bool(value)
