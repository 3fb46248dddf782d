"""Activity analysis: the variables of a program that a derivative flows through, regions included.

It goes forward through the program. A loop's carries are a fixed point, which takes about as many sweeps over the body
as the loop has carries, at most.
"""

from ..ir.graph import Equation, Func, Var
from ..ir.views import LoopView
from ..ops.kinds import Zero


def spread_activity(func: Func, active: set) -> None:
    """Add to `active` all variables of func that depend, differentiably, on one in it."""
    for eqn in func.equations:
        activate(eqn, active)


def activate(eqn: Equation, active: set) -> None:
    """Add the outputs of one equation that depend on active variables (and what is active in its regions)."""
    if eqn.regions:
        _OF_REGIONS[eqn.op.traits.control](eqn, active)
    elif any(a in active for a in eqn.inputs) and type(eqn.op.derivative) is not Zero:
        active.update(v for v in eqn.outputs if is_continuous(v))


def is_continuous(atom: Var) -> bool:
    """Whether the values are real or complex numbers."""
    return atom.type.dtype.kind in "fc"


def _loop(eqn: Equation, active: set) -> None:
    """The fixed point: a carry is active if it starts so or if an iteration makes it so."""
    loop = LoopView(eqn)
    active.update(c for c, a in zip(loop.carries, loop.init) if a in active and is_continuous(c))
    before = -1
    while before != len(active):
        before = len(active)
        spread_activity(loop.body, active)
        active.update(c for c, a in zip(loop.carries, loop.next) if a in active and is_continuous(c))
    active.update(y for y, c in zip(loop.results, loop.carries) if c in active)


def _cond(eqn: Equation, active: set) -> None:
    for region in eqn.regions:
        spread_activity(region, active)
        active.update(y for y, a in zip(eqn.outputs, region.outputs) if a in active)


def _call(eqn: Equation, active: set) -> None:
    """A call with a derivative of its own depends on every active argument; so may one that is computed again."""
    region = eqn.regions[0]
    active.update(x for x, a in zip(region.inputs, eqn.inputs) if a in active and is_continuous(x))
    spread_activity(region, active)
    through = eqn.op.name == "custom" and any(a in active for a in eqn.inputs)
    active.update(y for y, a in zip(eqn.outputs, region.outputs)
                  if is_continuous(y) and (through or a in active))


_OF_REGIONS = {"for": _loop, "while": _loop, "cond": _cond, "call": _call}
