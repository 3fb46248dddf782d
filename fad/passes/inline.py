"""inline: calls that were kept for the sake of their derivatives are opened, once all derivatives are taken."""
from typing import Any

from ..ir.graph import Equation, Func
from .rewrite import Scope, rewrite


def inline(func: Func) -> Func:
    """custom and checkpoint calls are replaced by the programs they hold; stop_gradient(x) by x.

        b = stop_gradient(a); c = sin(b)   ->   c = sin(a)
    """
    return rewrite(func, _visit)


def _visit(eqn: Equation, scope: Scope) -> Any:
    if eqn.op.name == "stop_gradient":
        return eqn.inputs
    if eqn.op.name not in ("custom", "checkpoint"):
        return None
    region = eqn.regions[0]
    inner = Scope(scope)
    inner.replaced.update(zip(region.inputs, eqn.inputs))
    opened = rewrite(region.replace(inputs=()), _visit, inner)
    for inner_eqn in opened.equations:
        scope.add(inner_eqn)
    return opened.outputs
