"""legalise: legalisation. An op that has no kernel is written in ops that have one. One walk over the program."""
from collections.abc import Callable
from typing import Any

from ..ir.build import Builder, building
from ..ir.graph import Atom, Equation, Func, Literal, Var
from ..ir.types import INT, Type
from ..util.config import config
from .rewrite import Scope, Visit, rewrite


def legalise(func: Func) -> Func:
    """An op whose record has the fact `expand`, a function over ops, gives way to the program that the function makes
    of its inputs.

    A barrier has done its work, and goes; so do checks of indices, if the configuration has them off.

        x = lstsq(a, b, rcond)   ->   u, s, vh = svd(a); ...; x = contract(..., b)
    """
    return rewrite(func, _visit)


def _visit(eqn: Equation, scope: Scope) -> Any:
    if eqn.op.traits.barrier:                          # nothing is merged any more
        return eqn.inputs
    if eqn.op.name == "check_index" and not config.check_index:
        return ()
    if "expand" not in eqn.op.facts:
        return None
    return opened(eqn, eqn.op.facts["expand"], scope, _visit)


def opened(eqn: Equation, expand: Callable, scope: Scope, visit: Visit = lambda *_: None) -> tuple:
    """The results of the program that a function over ops makes of an equation's inputs. The scope gets its equations
    as visit leaves them.
    """
    body, given = _written_out(eqn, expand)
    inner = Scope(scope)
    inner.replaced.update(given)
    new = rewrite(body, visit, inner)
    for inner_eqn in new.equations:
        scope.add(inner_eqn)
    return new.outputs


def _written_out(eqn: Equation, expand: Callable) -> "tuple[Func, dict]":
    """The program that stands for an equation, and the meaning of its variables."""
    given: dict[Var, Any] = {}
    with building(eqn.op.name) as builder:
        args = [input_for(builder, atom, given) for atom in eqn.inputs]
        results = expand(*args, **eqn.params)
        func = builder.finish(results if isinstance(results, tuple) else (results,))
    return func.replace(inputs=()), given


def input_for(builder: Builder, atom: Atom, given: dict) -> Any:
    """A value of the new program for an input of the equation; its extents are only known not to be negative."""
    if isinstance(atom, Literal):
        return atom.value
    own = {outer: var for var, outer in given.items()}
    shape = tuple([own.get(n) or _extent(builder, n, given) if isinstance(n, Var) else n for n in atom.type.shape])
    value = builder.input(Type(atom.type.dtype, shape, atom.type.weak))
    given[value.atom] = atom
    return value


def _extent(builder: Builder, n: Var, given: dict) -> Var:
    var = Var(Type(INT, (), True), n.name, n.hint)
    builder.own(var)
    builder.integers.low[var] = 0
    given[var] = n
    return var
