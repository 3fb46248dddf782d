"""Partial evaluation: a Func is split in two by what is known first, and the residuals cross.

`vjp` and `linearize` use it. The forward sweep depends on the primal inputs alone; the pullback is the rest, and may
run many times. Linear in the program.
"""
from collections.abc import Sequence

from ..ir.graph import Equation, Func, Var, extents_of, free_vars
from ..ir.uses import defined_by, operands, reads


def split(func: Func, later: Sequence[Var], early: int) -> "tuple[Func, Func]":
    """From func, whose inputs `later` come in the second step and whose first `early` outputs need none of them:

    head(the other inputs...) -> (early outputs..., residuals...) and rest(residuals..., later...) -> the other outputs.
    """
    first, second = _divide(func, set(later), _needed(func, func.outputs[:early]))
    known = tuple(v for v in func.inputs if v not in set(later))
    inside = set(known) | set(extents_of(known)) | defined_by(first)
    tail = Func(f"{func.name}_rest", tuple(later), second, func.outputs[early:])
    needed = _crossing(tail, inside)
    head = Func(f"{func.name}_known", known, first, func.outputs[:early] + tuple(needed))
    return head, Func(tail.name, tuple(needed) + tuple(later), second, tail.outputs)


def _needed(func: Func, outputs: Sequence) -> "set[Var]":
    """Variables on which these outputs depend."""
    needed = {a for a in outputs if isinstance(a, Var)} | set(extents_of([a for a in outputs if isinstance(a, Var)]))
    for eqn in reversed(func.equations):
        if not needed.isdisjoint(eqn.outputs):
            needed.update(reads(eqn))
    return needed


def _divide(func: Func, unknown: "set[Var]", early: "set[Var]") -> "tuple[list, list]":
    """The equations of the two halves. A barrier, and so what is computed again from it, is as late as can be."""
    first: list[Equation] = []
    second: list[Equation] = []
    for eqn in func.equations:
        is_late = eqn.op.traits.barrier and early.isdisjoint(eqn.outputs)
        if is_late or not unknown.isdisjoint(operands(eqn)):
            unknown.update(eqn.outputs)
            second.append(eqn)
        else:
            first.append(eqn)
    return first, second


def _crossing(tail: Func, inside: "set[Var]") -> list:
    """Variables of the known half that the rest needs: integers that are extents first, each once."""
    free = [v for v in free_vars(tail) if v in inside]
    extents = [n for n in extents_of(free + list(tail.inputs)) if n in inside]
    return list(dict.fromkeys(extents + free))
