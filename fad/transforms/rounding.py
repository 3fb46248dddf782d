"""Values that may differ when they are computed again.

Compiled code may reorder sums and contract products, so a value that is computed a second time need not have the same
last bit. Sums and products do not mind. But a comparison, a sign or a floor may then decide otherwise than in the
forward sweep: the winner of a maximum is found nowhere, and a branch reverses the other branch. In the reverse sweep
such ops read saved values.

A difference or quotient of two elements of arrays has the same last bit whenever it is computed, if the arrays lie in
memory while the loop runs: no product in a register could be contracted with it.
"""
from collections.abc import Container, Iterable
from typing import NamedTuple

from ..ir.graph import Equation, Literal, Var
from .activity import is_continuous


class Exact(NamedTuple):
    """The value of a variable to the last bit, as saving it keeps it."""

    var: Var


def rounded(equations: Iterable, restored: Container, resting: Container) -> set:
    """The variables whose last bit may differ when the equations compute them again; a restored value is exact.
    resting: arrays that lie in memory while the loop runs.
    """
    found: set[Var] = set()
    firm: set[Var] = set()  # numbers from memory, and their sums, differences and quotients
    for eqn in equations:
        if (_is_read_from_memory(eqn, resting) or _is_rounded_once(eqn)
                and all(isinstance(a, Literal) or a in firm for a in eqn.inputs)):
            firm.update(eqn.outputs)
        elif not _jumps(eqn) and (eqn.op.traits.rounds or not found.isdisjoint(_continuous(eqn.inputs))):
            found.update(v for v in _continuous(eqn.outputs) if v not in restored)
    return found


def _is_rounded_once(eqn: Equation) -> bool:
    """Whether the result is the one number that IEEE 754 names; a quotient of complex numbers is made of several."""
    return eqn.op.name in ("add", "sub") or eqn.op.name == "div" and eqn.outputs[0].type.dtype.kind == "f"


def _is_read_from_memory(eqn: Equation, resting: Container) -> bool:
    """Whether an equation reads a part of an array in memory, not of a small array that may become variables."""
    return eqn.reads_part and eqn.inputs[0] in resting and any(isinstance(n, Var) for n in eqn.inputs[0].type.shape)


def decisive(eqn: Equation) -> set:
    """The variables on whose last bits the equation, or one in its regions, may decide something."""
    if not eqn.regions:
        return set(_continuous(eqn.inputs)) if _jumps(eqn) else set()
    found: set[Var] = set()
    for region in eqn.regions:
        for inner in reversed(region.equations):
            found |= decisive(inner)
            if not _jumps(inner) and not found.isdisjoint(inner.outputs):
                found.update(_continuous(inner.inputs))
        if not found.isdisjoint(region.inputs):
            found.update(_continuous(eqn.inputs))
    return found


def _jumps(eqn: Equation) -> bool:
    return eqn.op.traits.jumps or not _continuous(eqn.outputs)  # an integer or a bool that differs jumps, too


def _continuous(atoms: Iterable) -> list:
    return [a for a in atoms if isinstance(a, Var) and is_continuous(a)]
