"""cse: common subexpression elimination. An equal computation gives way to the earlier one.

One walk with a hash table for each scope (value numbering): a look-up for each equation and enclosing region.
"""
from typing import Any

from ..ir.graph import Atom, Equation, Func, Literal, Var
from .rewrite import Scope, rewrite


def cse(func: Func) -> Func:
    """The second of two equations with the same op, inputs and params gives way to the first, in the same scope or in
    one around it.

        a = sin(x); b = sin(x); return a * b   ->   a = sin(x); return a * a
    """
    return rewrite(func, _visit)


def cse_of_integers(func: Func) -> Func:
    """The same for integers, truths and checks alone, before derivatives are taken: an index is checked once. Numbers
    wait, since a number that is used twice has a cotangent that is a sum.

        check i; x[i]; cond: check i; x[i]   ->   check i; x[i]; cond: x[i]
    """
    return rewrite(func, lambda eqn, scope: None if any(map(_is_real, eqn.outputs)) else _visit(eqn, scope))


def _is_real(v: Var) -> bool:
    return v.type.dtype.kind in "fc"


def _visit(eqn: Equation, scope: Scope) -> Any:
    traits = eqn.op.traits
    if eqn.regions or traits.distinct or traits.tells:       # arrays to be written to are each an array of its own
        return None
    key = (eqn.op, tuple([_atom_key(a) for a in eqn.inputs]),
           tuple(sorted((k, _param_key(v)) for k, v in eqn.params.items())),
           tuple([(v.type.dtype, v.type.weak) for v in eqn.outputs]))
    known = scope.look_up(key)
    if known is None:
        scope.known[key] = eqn.outputs
        return None
    return known


def _atom_key(a: Atom) -> Any:
    if isinstance(a, Literal):
        return ("number", repr(a.value), str(a.type.dtype), a.type.weak)
    return a


def _param_key(value: object) -> str:
    return str(value) if not isinstance(value, (int, str, tuple, Var)) else repr(value)
