"""The cost model: the bytes of values and the iterations of loops, while a program is traced.

A program serves all sizes, so its sizes are estimated, not known.
"""
from collections.abc import Iterable
from typing import Any

from ..ir.affine import Affine
from ..ir.build import current
from ..ir.graph import Equation, Literal, Var, is_counted
from ..ir.views import LoopView
from ..ops.selection import selected_shape

USUAL_EXTENT = 100                                           # the estimate of an unknown extent
BOUNDS = 3                                                   # of bounds, one after the other, that it goes by


def bytes_of(v: Var) -> int:
    """The bytes of a variable that is saved once an iteration."""
    return _bytes(v, v.type.shape)


def bytes_written(eqn: Equation) -> int:
    """The bytes of the part of an array that an update writes to."""
    x, operands = eqn.inputs[0], tuple([a.type if a.type.shape else a for a in eqn.inputs[2:]])
    return _bytes(x, selected_shape(x.type.shape, operands, eqn.params["spec"], eqn.params["at"]))


def _bytes(v: Var, shape: tuple) -> int:
    total = max(v.type.dtype.itemsize, 1)
    for n in shape:
        total *= max(extent_guess(n), 1)
    return min(total, 1 << 40)


def iterations_guess(eqn: Equation) -> int:
    """The estimated number of a loop's iterations."""
    if not is_counted(eqn):
        return USUAL_EXTENT
    loop = LoopView(eqn)
    if loop.iterations is not None:
        return len(loop.iterations)
    start, stop, _ = loop.bounds
    return max(extent_guess(stop if isinstance(start, Literal) else start), 1)


def extent_guess(n: object) -> int:
    """A size that stands for an extent in the cost model. The traced size counts for little: inputs count as large,
    and an extent bounded by another one as half as large.
    """
    if isinstance(n, (int, Literal)):
        return n if isinstance(n, int) else int(n.value)
    facts = current().integers
    form = facts.form(n)
    return max(form.const + sum(c * _variable_guess(v, facts, BOUNDS) for v, c in form.terms), 1)


def _variable_guess(v: Var, facts: Any, depth: int) -> int:
    if v in facts.dims:
        return max(v.hint or 0, USUAL_EXTENT)
    bound = facts.high.get(v)
    if bound is None or depth == 0:
        return USUAL_EXTENT // 2
    return max((bound.const + sum(c * _variable_guess(w, facts, depth - 1) for w, c in bound.terms)) // 2, 1)


def hold_small(extents: Iterable, bound: int) -> None:
    """Prepare the program for input extents (and extents made of them or bounded by them) up to the bound, or twice
    the traced ones."""
    facts, pending, seen = current().integers, [getattr(n, "atom", n) for n in extents], set()
    while pending:
        n = pending.pop()
        if not isinstance(n, Var) or n in seen:
            continue
        seen.add(n)
        if n in facts.dims:
            facts.assume_nonnegative(Affine.of(n).scaled(-1).shifted(max(bound, 2 * (n.hint or 0))))
        pending += [v for v, _ in facts.form(n).terms]
        pending += [v for v, _ in facts.high[n].terms] if n in facts.high else []
