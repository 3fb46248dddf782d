"""The checker: a Func is well formed when every variable is bound once, before its use, and types are what ops infer."""
from collections.abc import Sequence
from typing import Any

from ..util.errors import CheckError
from .graph import Func, Literal, Var, extents_of


def check(func: Func, outer: "frozenset[Var] | set" = frozenset(), later: Sequence = ()) -> Func:
    """func itself, if it is well formed; CheckError names the first equation that is not.

    outer: variables that are bound around it; later: inputs that are given in a second step, whose extents may be computed in the first.
    """
    bound = set(outer)
    for v in func.inputs:
        _bind(v, bound, func)
    bound.update(extents_of([v for v in func.inputs if v not in later]))
    for eqn in func.equations:
        for atom in eqn.inputs:
            _use(atom, bound, f"{eqn} in {func.name}")
        for region in eqn.regions:
            check(region, bound)
        for v in eqn.outputs:
            _bind(v, bound, func)
        for n in extents_of(eqn.outputs):
            _use(n, bound, f"the type of {eqn}")
    for atom in func.outputs:
        _use(atom, bound, f"the outputs of {func.name}")
    return func


def _bind(var: Var, bound: set, func: Func) -> None:
    if var in bound:
        raise CheckError(f"{var} is bound twice in {func.name}")
    bound.add(var)


def _use(atom: Any, bound: set, place: str) -> None:
    if not isinstance(atom, Literal) and atom not in bound:
        raise CheckError(f"{atom} is used before it is bound: {place}")
