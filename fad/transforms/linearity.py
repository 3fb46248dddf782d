"""Whether a rule's tangents are linear in those that it is given: only a linear map has a transpose.

    dy = cos(x) * dx        the reverse sweep needs cos(x)            linear
    dy = dx * dx            the reverse sweep needs dx                no
    dy = cos(x) * dx + x    a term without a tangent                  no

The reverse sweep of a linear map needs no tangent, and no tangent decides how many iterations a loop has or which
branch is taken. Terms without a tangent do not show in that sweep. They are looked for where the program adds or
subtracts: a number other than zero, or something that depends on the primals.
"""
from collections.abc import Sequence

from ..ir.build import building
from ..ir.graph import Atom, Equation, Func, Literal, Var, all_equations
from ..ir.types import Type, type_of
from ..util.errors import NoDerivativeError
from .varying import find_varying
from .vjp import pull_back


def refuse_nonlinear(linear: Func, primals: Sequence, gs: Sequence) -> None:
    """Raise unless a program of tangents is linear in its inputs; gs: cotangents of its results."""
    if _needs_a_tangent(linear, primals, gs):
        _refuse("make each term a product of one tangent with what depends on primals alone")
    if _has_other_terms(linear, primals):
        _refuse("multiply each term by a tangent: one is added that holds none")


def _refuse(remedy: str) -> None:
    raise NoDerivativeError("a jvp rule is not linear in its tangents, and reverse mode was asked of it",
                            why="only a linear map has a transpose", do=remedy)


def _needs_a_tangent(linear: Func, primals: Sequence, gs: Sequence) -> bool:
    with building("transposed", region=True) as builder:
        dxs = [builder.input(Type(type_of(x).dtype, type_of(x).shape), "dx") for x in primals]
        _, pull = pull_back(linear, dxs, range(len(dxs)))
        found = builder.finish(tuple([g for g in pull([g for g, _ in zip(gs, linear.outputs)]) if g is not None]))
    varying = find_varying(found, set(found.inputs))
    return any(a in varying for a in found.outputs)


def _has_other_terms(linear: Func, primals: Sequence) -> bool:
    """Whether something is added to what depends on tangents that does not: a number other than zero, or what depends
    on primals and on no zero. (Tangents that do not move are zeros, and what is computed of them may be zero.)"""
    moves = find_varying(linear, set(linear.inputs))
    fixed = find_varying(linear, {x.atom for x in primals if isinstance(getattr(x, "atom", None), Var)})
    zeros = {v for eqn in all_equations(linear) if any(_is_zero(a, eqn) for a in eqn.inputs) for v in eqn.outputs}
    fixed -= moves | find_varying(linear, zeros)
    return any(one in moves and (_is_number(other) if isinstance(other, Literal) else other in fixed)
               for eqn in all_equations(linear) if eqn.op.name in ("add", "sub")
               for one, other in (eqn.inputs, eqn.inputs[::-1]))


def _is_zero(atom: Atom, eqn: Equation) -> bool:
    """Whether an equation takes this as the number zero, and not as an index."""
    return (isinstance(atom, Literal) and not _is_number(atom)
            and (atom.type.dtype.kind in "fc" or eqn.op.name in ("full", "cast")))


def _is_number(literal: Literal) -> bool:
    """Whether it is another number than zero."""
    return bool(literal.value != 0)
