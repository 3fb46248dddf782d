"""Dependence of a function's results on its arguments, as far as its program tells."""
from collections.abc import Callable

from ...ir.graph import Equation, Func
from ...ir.uses import operands
from ...ops.kinds import Zero
from .derivative import jitted


def depends(f: Callable, xs: tuple) -> list:
    """For each data leaf of f(*xs), for each x, whether a derivative may flow from it.

    >>> depends(lambda a, b: (a * b, a + 0.0), (1.0, 2.0))
    [[True, True], [True, False]]
    """
    program, _ = jitted(f).program_for(*xs)
    func = program.traced.func
    reached = [_reached(func, k) for k in range(len(xs))]
    return [[a in r for r in reached] for a in func.outputs]


def _reached(func: Func, k: int) -> set:
    active: set = {func.inputs[k]}
    for eqn in func.equations:
        _spread(eqn, active)
    return active


def _spread(eqn: Equation, active: set) -> None:
    if not active.isdisjoint(operands(eqn)) and type(eqn.op.derivative) is not Zero:
        active.update(v for v in eqn.outputs if v.type.dtype.kind in "fc")
