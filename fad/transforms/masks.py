"""Masked variables: those whose cotangent np.where, maximum or clip may make zero at some elements.

There, and only there, a partial derivative may be infinite or nan without harm to the result (log x of a branch not
taken), so products with it are guarded: a zero cotangent stays zero. Other products are plain, and cost what they cost
by hand. Integers have no cotangent, so a choice among them masks nothing.
"""
from typing import Any

from ..ir.graph import Equation, Func, Var
from ..ops.kinds import Zero


def behind_choices(func: Func) -> set:
    """The variables of func (not of its regions) behind a choice."""
    live = {a for a in func.outputs if isinstance(a, Var)}
    masked: set[Var] = set()
    for eqn in reversed(func.equations):
        if not any(v in live and v.type.dtype.kind in "fc" for v in eqn.outputs) or isinstance(eqn.op.derivative, Zero):
            continue
        inputs = {a for a in eqn.inputs if isinstance(a, Var)}
        live |= inputs
        if chooses(eqn) or is_masked(eqn, masked):
            masked |= inputs
    return masked


def chooses(eqn: Equation) -> bool:
    """Whether an equation is a choice, or holds one through which a loop's state may pass."""
    return bool(eqn.op.traits.chooses) or any(
        not behind_choices(r).isdisjoint(r.inputs) for r in eqn.regions)


def is_masked(eqn: Equation, masked: Any) -> bool:
    """Whether the cotangent of a result may be zero by choice."""
    return any(v in masked for v in eqn.outputs)
