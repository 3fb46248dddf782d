"""The variables of a program whose values may differ when some inputs do, regions included.

Unlike activity (activity.py), this asks about values, not about derivatives: a comparison, an index found by argmax and
a number of iterations vary, too. It is a forward fixed point as well.
"""

from ..ir.graph import Equation, Func, is_loop
from ..ir.views import BranchView, LoopView


def find_varying(func: Func, varying: set) -> set:
    """Add to `varying`, and return, all variables of func and its regions whose values may depend on those in it."""
    for eqn in func.equations:
        _spread(eqn, varying)
    return varying


def is_decided_by_data(eqn: Equation, varying: set) -> bool:
    """Whether varying values decide how many iterations a loop has, or which branch is taken."""
    if not is_loop(eqn):
        return BranchView(eqn).selector in varying
    loop = LoopView(eqn)
    return any(a in varying for a in (loop.bounds if loop.test is None else loop.test.outputs))


def _spread(eqn: Equation, varying: set) -> None:
    if eqn.regions:
        _OF_REGIONS[eqn.op.traits.control](eqn, varying)
    elif any(a in varying for a in eqn.inputs):
        varying.update(eqn.outputs)


def _loop(eqn: Equation, varying: set) -> None:
    """The fixed point: a carry varies if it starts so, if an iteration makes it so, or if the number of iterations
    does.
    """
    loop = LoopView(eqn)
    varying.update(c for c, a in zip(loop.carries, loop.init) if a in varying)
    before = -1
    while before != len(varying):
        before = len(varying)
        if loop.test is not None:
            varying.update(v for v, c in zip(loop.test.inputs, loop.carries) if c in varying)
            find_varying(loop.test, varying)
        if is_decided_by_data(eqn, varying):
            varying.update(loop.body.inputs)
        find_varying(loop.body, varying)
        varying.update(c for c, a in zip(loop.carries, loop.next) if a in varying)
    varying.update(y for y, c in zip(loop.results, loop.carries) if c in varying)


def _cond(eqn: Equation, varying: set) -> None:
    for region in eqn.regions:
        find_varying(region, varying)
        varying.update(y for y, a in zip(eqn.outputs, region.outputs) if a in varying)
    if is_decided_by_data(eqn, varying):
        varying.update(eqn.outputs)


def _call(eqn: Equation, varying: set) -> None:
    region = eqn.regions[0]
    varying.update(x for x, a in zip(region.inputs, eqn.inputs) if a in varying)
    find_varying(region, varying)
    all_vary = eqn.op.name == "custom" and any(a in varying for a in eqn.inputs)
    varying.update(y for y, a in zip(eqn.outputs, region.outputs) if all_vary or a in varying)


_OF_REGIONS = {"for": _loop, "while": _loop, "cond": _cond, "call": _call}
