"""Induction variables: every iteration changes them by the same step, so the iteration's number gives them.

substitute_inductions: induction-variable substitution (R. Allen, K. Kennedy, "Optimizing Compilers for Modern
Architectures", 2001, section 4.5).
"""
from collections.abc import Iterable
from typing import Any, NamedTuple

from ..ir.graph import Atom, Equation, Func, Literal, Var, is_counted
from ..ir.op import registry
from ..ir.types import INT
from ..ir.uses import DefUse, defined_in, reads
from ..ir.views import LoopView
from ..ops.choice import cast
from ..util.array import ArrayOrNumber, Extent
from .rewrite import Scope, emit, given, rewrite


class InductionVariable(NamedTuple):
    """A carry of a loop that an iteration changes by `sign` times `step`, a number of the program around the loop."""

    carry: Var
    step: Any
    sign: int

    @property
    def by(self) -> int:
        """The number that an iteration adds, if the program has it as a literal."""
        return self.sign * int(self.step.value)

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


# -- substitution --------------------------------------------------------------------------------------------------


def substitute_inductions(func: Func) -> Func:
    """In a loop's body a counter is a sum of the loop's index, so that extents and places along it are affine. The
    types of carried arrays go on naming the carry.

        for i, k = 5: y = x[k]; yield k - 1   ->   for i, k = 5: y = x[5 - i]; yield k - 1
    """
    return rewrite(func, lambda eqn, scope: _substituted(eqn, scope) if is_counted(eqn) else None)


def _substituted(eqn: Equation, scope: Scope) -> "Equation | None":
    loop = LoopView(eqn)
    found = {k: c for k, c in counters(loop).items() if isinstance(c.step, Literal) and c.carry.type.weak}
    if loop.step not in (1, -1) or not found:
        return None
    ends = {loop.next[k] for k in found}
    names = ends | {c.carry for c in found.values()}
    if all(names.isdisjoint(reads(e)) for e in loop.body.equations if ends.isdisjoint(e.outputs)):
        return None                                           # nobody else reads them
    equations: list = []
    sums = {c.carry: _sum(loop, k, c, equations) for k, c in found.items()}
    body = given(loop.body, sums, scope)
    after = {k: Var(c.carry.type) for k, c in found.items()}
    steps = [Equation(registry["add"], (c.carry, Literal(c.by, c.carry.type)), (after[k],), {}, (), eqn.where)
             for k, c in found.items()]
    outputs = tuple([after.get(k, a) for k, a in enumerate(body.outputs)])
    return loop.replace(body=body.replace(equations=[*equations, *body.equations, *steps], outputs=outputs))


def _sum(loop: LoopView, k: int, counter: InductionVariable, equations: list) -> Var:
    """The k-th carry, a counter, as a sum of the index."""
    def emitted(name: str, *inputs: Atom) -> Var:
        return emit(equations, name, inputs, loop.carries[k].type, loop.eqn.where)
    number, slope = loop.index, counter.by * loop.bounds[2].value                 # type: ignore[union-attr]
    if not (isinstance(loop.bounds[0], Literal) and loop.bounds[0].value == 0):
        number = emitted("sub", number, loop.bounds[0])
    if abs(slope) != 1:
        number = emitted("mul", number, Literal(abs(slope), loop.carries[k].type))
    return emitted("add" if slope > 0 else "sub", loop.init[k], number)
