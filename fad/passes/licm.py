"""licm: loop-invariant code motion. Equations that depend on nothing of the loop are computed in front of it.

Only equations that cannot fail move. One walk over the program.
"""

from ..ir.graph import Equation, Func, extents_of, is_loop
from .rewrite import Scope, in_regions, rewrite

_SAFE_KINDS = {"elementwise", "reduce", "contract", "shape"}


def licm(func: Func) -> Func:
    """Equations of a loop's body that depend on nothing of the loop move in front of it, if they cannot fail.

        for i: c = sin(x); s = s + c   ->   c = sin(x); for i: s = s + c
    """
    return rewrite(func, _visit)


def _visit(eqn: Equation, scope: Scope) -> "Equation | None":
    return in_regions(eqn, lambda region: _lightened(region, scope)) if is_loop(eqn) else None


def _lightened(region: Func, scope: Scope) -> Func:
    inside: set = set(region.inputs)
    kept: list = []
    for eqn in region.equations:
        if _may_move(eqn) and not _uses(eqn, inside):
            scope.add(eqn)
        else:
            kept.append(eqn)
            inside.update(eqn.outputs)
    return region.replace(equations=kept)


def _may_move(eqn: Equation) -> bool:
    """Whether it pays to compute this once: what is made where it is used would only keep memory."""
    return eqn.op.kind in _SAFE_KINDS and not eqn.regions and not eqn.op.traits.rematerialised and not eqn.op.effect


def _uses(eqn: Equation, inside: set) -> bool:
    return (any(a in inside for a in eqn.inputs)
            or any(n in inside for n in extents_of(eqn.outputs)))
