"""The language of subscripts: which elements of an array an `index` reads, an `update` writes, an `index_add` adds to.

A spec has one entry for each axis of the array. The equation's inputs are the array, for a write the value, and then
the operands of the entries, in the order of the axes:

    ":"         the whole axis                                     no operand
    ("s", k)    a slice of step k, which is a number               start, extent
    "i"         one element; the axis goes                         an integer
    "a"         elements in any order, some of them twice          an array of integers

The arrays of all "a" have one shape. Its axes stand at position `at` among the axes that the other entries leave.
Indices count from the start and are in range: checks in front of the equation see to that.
"""
from collections.abc import Iterator

from .graph import Equation

OPERANDS = {":": 0, "s": 2, "i": 1, "a": 1}                   # of an entry, by its first letter
WITH_SPEC = {"index": 1, "update": 2, "index_add": 2}         # how many inputs stand before the operands


def walk_spec(spec: tuple, operands: tuple) -> Iterator[tuple]:
    """(axis, entry, the operands of that entry)."""
    k = 0
    for axis, entry in enumerate(spec):
        count = OPERANDS[entry[0]]
        yield axis, entry, operands[k:k + count]
        k += count


def operands_of(eqn: Equation) -> tuple:
    """The operands of the spec of an `index`, `update` or `index_add`."""
    return eqn.inputs[WITH_SPEC[eqn.op.name]:]


def subscripts_of(eqn: Equation) -> list:
    """(entry, its operands) for each axis of the array that an `index`, `update` or `index_add` selects from."""
    return [(entry, given) for _, entry, given in walk_spec(eqn.params["spec"], operands_of(eqn))]
