"""Rewriting: one walk over a Func and its regions. Every pass that replaces equations is made from it."""
from collections.abc import Callable, Iterable
from typing import Any

from ..ir.graph import Equation, Func, Literal, Var
from ..ir.types import Type


class Scope:
    """The knowledge of a walk at one place: replacements, and producers of variables. An inner scope sees its parent's.
    """

    def __init__(self, parent: "Scope | None" = None):
        self.parent = parent
        self.replaced: dict[Var, Any] = {}
        self.made_by: dict[Var, Equation] = {}
        self.equations: list[Equation] = []
        self.known: dict[Any, Any] = {}                      # the memory of passes about this scope

    def resolve(self, atom: Any) -> Any:
        """The atom that stands for an atom (or extent) now."""
        if not isinstance(atom, Var):
            return atom
        scope: Scope | None = self
        while scope is not None:
            if atom in scope.replaced:
                return self.resolve(scope.replaced[atom])    # renewed for its extents first, it may be replaced itself
            scope = scope.parent
        return atom

    def producer(self, atom: Any) -> "Equation | None":
        """The equation that made a variable; None for inputs and numbers."""
        scope: Scope | None = self
        while scope is not None:
            if atom in scope.made_by:
                return scope.made_by[atom]
            scope = scope.parent
        return None

    def look_up(self, key: Any) -> Any:
        scope: Scope | None = self
        while scope is not None:
            if key in scope.known:
                return scope.known[key]
            scope = scope.parent
        return None

    def add(self, eqn: Equation) -> None:
        self.equations.append(eqn)
        for v in eqn.outputs:
            self.made_by[v] = eqn

    def emit(self, op: Any, inputs: Iterable, type: Type, params: dict, where: Any) -> Var:
        """A further equation with one result, for passes that replace one equation by another."""
        out = Var(type)
        self.add(Equation(op, tuple(inputs), (out,), params, (), where))
        return out


Visit = Callable[[Equation, Scope], Any]


def rewrite(func: Func, visit: Visit, scope: "Scope | None" = None) -> Func:
    """func with each equation as visit leaves it.

    visit(eqn, scope), with eqn's inputs, regions and types already rewritten, answers None to keep it, a sequence of atoms in the
    place of its outputs, or another equation with the same outputs.
    """
    scope = Scope(scope)
    for eqn in func.equations:
        eqn = _renewed(eqn, visit, scope)
        answer = visit(eqn, scope)
        if answer is None:
            scope.add(eqn)
        elif isinstance(answer, Equation):
            scope.add(answer)
        else:
            scope.replaced.update({v: scope.resolve(a) for v, a in zip(eqn.outputs, answer, strict=True)})
    outputs = tuple([as_atom(scope.resolve(a)) for a in func.outputs])
    return Func(func.name, func.inputs, scope.equations, outputs)


def as_atom(x: Any) -> Any:
    return x if isinstance(x, (Var, Literal)) else Literal(x, Type("int64", (), True))


def _renewed(eqn: Equation, visit: Visit, scope: Scope) -> Equation:
    inputs = tuple([as_atom(scope.resolve(a)) for a in eqn.inputs])
    regions = tuple([rewrite(renewed_inputs(r, scope), visit, scope) for r in eqn.regions])
    outputs = tuple([_renewed_var(v, scope) for v in eqn.outputs])
    if regions or outputs != eqn.outputs or any(a is not b for a, b in zip(inputs, eqn.inputs)):
        return Equation(eqn.op, inputs, outputs, eqn.params, regions, eqn.where)
    return eqn


def renewed_inputs(region: Func, scope: Scope) -> Func:
    """The Func with inputs whose types have the extents that stand for the old ones."""
    inputs = tuple([_renewed_var(v, scope) for v in region.inputs])
    return region if inputs == region.inputs else Func(region.name, inputs, region.equations, region.outputs)


def _renewed_var(var: Var, scope: Scope) -> Var:
    """The variable itself; one with new extents where an extent in its type was replaced."""
    shape = var.type.shape
    if not shape:
        return var
    renewed = tuple([_as_extent(scope.resolve(n)) for n in shape])
    if all(a is b for a, b in zip(renewed, shape)):
        return var
    new = Var(Type(var.type.dtype, renewed, var.type.weak), var.name, var.hint)
    scope.replaced[var] = new
    return new


def _as_extent(n: Any) -> Any:
    return int(n.value) if isinstance(n, Literal) else n
