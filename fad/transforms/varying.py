"""The variables of a program whose values may differ when some inputs do, regions included.

Unlike activity (activity.py), this asks about values, not about derivatives: a comparison, an index found by argmax and
a number of iterations vary, too. It is a forward fixed point as well.
"""
from typing import Any

from ..ir.graph import Equation, Func, Var


def find_varying(func: Func, varying: set) -> set:
    """Add to `varying`, and return, all variables of func and its regions whose values may depend on those in it."""
    for eqn in func.equations:
        _spread(eqn, varying)
    return varying


def varies(atom: Any, varying: set) -> bool:
    return isinstance(atom, Var) and atom in varying


def is_decided_by_data(eqn: Equation, varying: set) -> bool:
    """Whether varying values decide how many iterations a loop has, or which branch is taken."""
    if eqn.op.name == "for":
        return any(varies(a, varying) for a in eqn.inputs[:3])
    if eqn.op.name == "while":
        return varies(eqn.regions[0].outputs[0], varying)
    return varies(eqn.inputs[0], varying)


def _spread(eqn: Equation, varying: set) -> None:
    if eqn.regions:
        _OF_REGIONS[eqn.op.name](eqn, varying)
    elif any(varies(a, varying) for a in eqn.inputs):
        varying.update(eqn.outputs)


def _loop(eqn: Equation, varying: set) -> None:
    """The fixed point: a carry varies if it starts so, if an iteration makes it so, or if the number of iterations
    does.
    """
    body, count = eqn.regions[-1], len(eqn.outputs)
    carries, init = body.inputs[len(body.inputs) - count:], eqn.inputs[len(eqn.inputs) - count:]
    varying.update(c for c, a in zip(carries, init) if varies(a, varying))
    before = -1
    while before != len(varying):
        before = len(varying)
        if eqn.op.name == "while":
            varying.update(v for v, c in zip(eqn.regions[0].inputs, carries) if c in varying)
            find_varying(eqn.regions[0], varying)
        if is_decided_by_data(eqn, varying):
            varying.update(body.inputs)
        find_varying(body, varying)
        varying.update(c for c, a in zip(carries, body.outputs) if varies(a, varying))
    varying.update(y for y, c in zip(eqn.outputs, carries) if c in varying)


def _cond(eqn: Equation, varying: set) -> None:
    for region in eqn.regions:
        find_varying(region, varying)
        varying.update(y for y, a in zip(eqn.outputs, region.outputs) if varies(a, varying))
    if is_decided_by_data(eqn, varying):
        varying.update(eqn.outputs)


def _call(eqn: Equation, varying: set) -> None:
    region = eqn.regions[0]
    varying.update(x for x, a in zip(region.inputs, eqn.inputs) if varies(a, varying))
    find_varying(region, varying)
    all_vary = eqn.op.name == "custom" and any(varies(a, varying) for a in eqn.inputs)
    varying.update(y for y, a in zip(eqn.outputs, region.outputs) if all_vary or varies(a, varying))


_OF_REGIONS = {"for": _loop, "while": _loop, "cond": _cond, "custom": _call, "checkpoint": _call}
