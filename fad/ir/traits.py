"""Traits: facts of an op that hold for all operands. Passes, transforms and the backend ask them, and know few ops by
name.

A missing trait is the careful answer: expensive, never moved, never merged, exact in no other dtype.
tests/laws/test_traits.py holds each trait against the op's `run`.
"""
import sys
from collections.abc import Callable
from enum import Flag, IntEnum, auto
from typing import Any, Literal, NamedTuple

import numpy as np

ALL = sys.maxsize


class Cost(IntEnum):
    """The cost of an element of the result."""

    FLOP = 0                  # one instruction: done again rather than kept even for a moment
    CHEAP = 1                 # less than a trip to memory: computed anew rather than saved
    DEAR = 2


class Widening(Flag):
    """The change of a dtype into a wider one."""

    SMALL_INT = auto()        # a truth or an int of less than 64 bits to any other number
    INT_TO_FLOAT = auto()
    INT_TO_COMPLEX = auto()
    REAL_TO_COMPLEX = auto()
    MORE_DIGITS = auto()      # float32 to float64
    COMPLEX_DIGITS = auto()   # complex64 to complex128


FLOP, CHEAP = Cost.FLOP, Cost.CHEAP
NO_WIDENING = Widening(0)
# of ops that depend on the order of numbers
ORDER_KEPT = Widening.SMALL_INT | Widening.INT_TO_FLOAT | Widening.MORE_DIGITS | Widening.COMPLEX_DIGITS
TO_COMPLEX = Widening.INT_TO_COMPLEX | Widening.REAL_TO_COMPLEX
ANY_WIDENING = ORDER_KEPT | TO_COMPLEX | Widening.COMPLEX_DIGITS
SUMS_KEPT = Widening.INT_TO_FLOAT | TO_COMPLEX
PRODUCTS_KEPT = Widening.INT_TO_FLOAT | Widening.INT_TO_COMPLEX  # a real infinity times a complex number gives nan
DIGITS_KEPT = Widening.INT_TO_FLOAT | Widening.MORE_DIGITS
SIGNS_KEPT = DIGITS_KEPT | TO_COMPLEX  # a bool has no negative; the least int has none among ints


class Comparison(NamedTuple):
    """x ? y for two numbers. On integers, an order holds if sign * (x - y) + or_equal >= 1; an equality has sign 0."""

    sign: int
    or_equal: bool
    negation: str             # the op that holds where this one does not (but for nan)

    @property
    def is_order(self) -> bool:
        return self.sign != 0


class Reduction(NamedTuple):
    """The elements along axes joined by a binary op, which is associative and commutative.

    by          the binary op
    identity    dtype -> what any element is joined with and stays what it is; None where the dtype has none
    is_total    whether the identity is the result of no elements; NumPy raises, else
    """

    by: str
    identity: Callable[[np.dtype], Any]
    is_total: bool = True

    @property
    def is_extreme(self) -> bool:
        """Whether the result is one of the elements."""
        return not self.is_total


def nought(dtype: np.dtype) -> int:
    """The identity of a sum."""
    return 0


def least(dtype: np.dtype) -> Any:
    """The identity of a maximum: no number of this dtype is less. Complex numbers have no order."""
    if dtype.kind in "iu":
        return np.iinfo(dtype.str).min
    return {"f": -np.inf, "b": False}.get(dtype.kind)


def greatest(dtype: np.dtype) -> Any:
    """The identity of a minimum."""
    if dtype.kind in "iu":
        return np.iinfo(dtype.str).max
    return {"f": np.inf, "b": True}.get(dtype.kind)


class OperandGuard(NamedTuple):
    """A condition on the second of two Python ints, against 0. Where it fails Python raises `error` with the text
    `what`."""

    relation: str
    what: str
    error: str


class Traits(NamedTuple):
    """The facts of an op, grouped by who asks.

    Cost and rounding
    cost            of one element (see Cost)
    rematerialised  made where it is used at no cost, so that an array of it would be wasted
    affine          of numbers, affine in each operand: sums, differences, negatives, products
    rounds          may have another last bit when compiled code computes it again: sums are reordered, products
                    contracted
    jumps           of floats, a float that jumps: another last bit of an operand may make a wholly different result
    widens          the widenings of the operands that commute with the op: op(wide(x)) == wide(op(x))
    widens_by       ... of ints to floats, where this holds of a literal on the right

    Numbers
    comparison, reduction   what kind of comparison or reduction it is
    chooses         a choice among operands, that may leave out some: the cotangent of an operand may be zero by choice
    chosen_from     each element of the result is one of the operands' from this operand on
    places          the result holds places along an axis, from 0 to the extent - 1 + places
    grows           repeated on ints, results grow without bound: "steps" where a literal operand makes a known step or
                    factor of it,
                    "powers" where the operation by itself makes a large int of small ones
    on_ints         what Python makes of its own ints; guard: where it raises
    counts          on truths, Python's operator computes with 0 and 1, and NumPy's function does not
    raises          where Python's function raises and NumPy's does not: "domain" (ValueError where the result is
                    infinite or nan of other operands), "range" (OverflowError where it is infinite of finite operands),
                    "divisor" (ZeroDivisionError where the divisor is 0), "several" (more than one of them)

    Elements and memory copies          the first so many operands are copied, element by element, to places in the
    result (ALL: all operands); any
                    operands behind them are the result's extents, of ops of kind "shape"
    selects         the place of the first operand of the selection, for ops that read or write a selected part; 0 for
                    others
    in_place        the result may take over the array of the first operand, with part of it changed
    adds            what is written is added to what was there
    view            what NumPy gives is a view of the first operand in most cases: "write" where one may write to it,
                    "read" where not
    may_alias       the compiled result may be read from the operands, and have no array of its own
    order           in which order NumPy lays out the result: "C", as the "first" operand where that is in C order, or
                    as "common" to all
    rowwise         each row along the last axis is computed from the same row of the only operand
    distinct        each call makes an array of its own, to be written to: two calls are never one
    barrier         the identity, and never to be seen through
    tells           people see that it runs: once each time that the program gets there, never again for fad's own ends

    Regions
    control         "for", "while", "cond", or "call" for an op that runs its one region once

    Text
    stem            what its result is called in generated code
    bool_text       its template where all operands are truths; complex_text: where they are complex
    """

    cost: Cost = Cost.DEAR
    rematerialised: bool = False
    affine: bool = False
    rounds: bool = False
    jumps: bool = False
    widens: Widening = NO_WIDENING
    widens_by: "Callable[[Any], bool] | None" = None
    comparison: "Comparison | None" = None
    reduction: "Reduction | None" = None
    chooses: bool = False
    chosen_from: "int | None" = None
    places: "int | None" = None
    grows: Literal["", "steps", "powers"] = ""
    on_ints: "Callable[..., Any] | None" = None
    guard: "OperandGuard | None" = None
    counts: bool = False
    raises: str = ""
    copies: int = 0
    selects: int = 0
    in_place: bool = False
    adds: bool = False
    view: Literal["", "read", "write"] = ""
    may_alias: bool = False
    order: Literal["", "C", "first", "common"] = ""
    rowwise: bool = False
    distinct: bool = False
    barrier: bool = False
    tells: bool = False
    control: Literal["", "for", "while", "cond", "call"] = ""
    stem: str = "t"
    bool_text: "str | None" = None
    complex_text: "str | None" = None

    @property
    def is_cheap(self) -> bool:
        return self.cost <= Cost.CHEAP


NO_TRAITS = Traits()
