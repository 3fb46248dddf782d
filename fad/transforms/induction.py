"""Induction variables: every iteration changes them by the same step, so the iteration's number gives them."""
from collections.abc import Iterable
from typing import Any, NamedTuple

from ..ir.graph import Atom, Literal, Var
from ..ir.types import INT
from ..ir.uses import DefUse, defined_in
from ..ir.views import LoopView
from ..ops.choice import cast
from ..util.array import ArrayOrNumber, Extent


class InductionVariable(NamedTuple):
    """A carry of a loop that an iteration changes by `sign` times `step`, a number of the program around the loop."""

    carry: Var
    step: Any
    sign: int

    def at(self, iteration: Any, start: Extent, step: ArrayOrNumber) -> ArrayOrNumber:
        """Its value in an iteration, from the values of its start and of its step."""
        value = start + iteration * step if self.sign > 0 else start - iteration * step
        return value if self.carry.type.weak else cast(value, dtype=INT)


def counters(loop: LoopView) -> "dict[int, InductionVariable]":
    """The counters among the carries of a loop, by place."""
    bound, chains, found = defined_in(loop.body), DefUse.of(loop.body), {}
    for k, (carry, result) in enumerate(zip(loop.carries, loop.next)):
        eqn = chains.definition(result) if carry.type.dtype == INT and not carry.type.shape else None
        if eqn is None or eqn.op.name not in ("add", "sub"):
            continue
        step = _step(eqn.inputs, carry, eqn.op.name == "add", bound)
        if step is not None:
            found[k] = InductionVariable(carry, step, 1 if eqn.op.name == "add" else -1)
    return found


def _step(operands: tuple, carry: Var, either: bool, bound: Iterable) -> "Atom | None":
    """The integer that is added to the carry (or subtracted from it on the right), if no iteration changes it."""
    pairs = [operands, operands[::-1]] if either else [operands]
    fits = [b for a, b in pairs if a is carry and b.type.dtype == INT and (isinstance(b, Literal) or b not in bound)]
    return fits[0] if fits else None
