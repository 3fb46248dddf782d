"""hoist_reads: what every turn of a loop reads at one place is read once, before the loop."""
from typing import Any

from ..ir.graph import Equation, Func, Literal
from ..ir.types import Type
from .rewrite import Scope, rewrite
from .turns import if_it_runs, runs


def hoist_reads(func: Func) -> Func:
    """Elements whose place does not depend on the loop are read in front of it, if it has any turn (else there may be no such place).

        for i in range(n): s = s + x[k] * y[i]   ->   a = x[k] if 0 < n else 0.0; for i in range(n): s = s + a * y[i]
    """
    return rewrite(func, _visit)


def _visit(eqn: Equation, scope: Scope) -> Any:
    reads = _invariant(eqn) if eqn.op.name == "for" else []
    if not reads:
        return None
    for before in _before(eqn, reads):
        scope.add(before)
    (region,) = eqn.regions
    kept = [e for e in region.equations if e not in reads]
    return Equation(eqn.op, eqn.inputs, eqn.outputs, eqn.params, (Func(region.name, region.inputs, kept, region.outputs),), eqn.where)


def _invariant(loop: Equation) -> list:
    """The scalars that the loop's body reads from arrays around it, at places of the program around it that it does not check first."""
    (region,) = loop.regions
    inside = {*region.inputs, *(v for e in region.equations for v in e.outputs)}
    checked = any(e.op.name == "check_index" and e.inputs[0] not in inside for e in region.equations)
    found = [e for e in region.equations if e.op.name == "index" and not e.outputs[0].type.shape and inside.isdisjoint(e.inputs)]
    known = isinstance(loop.inputs[2], Literal) and runs(loop) is not False and not checked
    return [e for e in found if known or _is_element(e)]


def _is_element(eqn: Equation) -> bool:
    """Whether the array is known to have the element, be there a turn or not."""
    extents, places = eqn.inputs[0].type.shape, eqn.inputs[1:]
    return all(isinstance(n, int) and isinstance(i, Literal) and 0 <= i.value < n for n, i in zip(extents, places))


def _before(loop: Equation, reads: list) -> list:
    """The equations in front of the loop."""
    safe, others = [e for e in reads if _is_element(e)], [e for e in reads if not _is_element(e)]
    numbers = tuple([Literal(e.outputs[0].type.dtype.type(0), Type(e.outputs[0].type.dtype)) for e in others])
    return safe + (if_it_runs(loop, others, tuple([e.outputs[0] for e in others]), numbers) if others else [])
