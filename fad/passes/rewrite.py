"""Rewriting: one walk over a Func and its regions. Every pass that replaces equations is made from it."""
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..ir.graph import Atom, Equation, Func, Literal, Var
from ..ir.op import Op, registry
from ..ir.types import Type


class Scope:
    """The knowledge of a walk at one place: replacements, and producers of variables. An inner scope sees its parent's.
    """

    __slots__ = ("parent", "replaced", "made_by", "equations", "known")

    def __init__(self, parent: "Scope | None" = None):
        self.parent = parent
        self.replaced: dict[Var, Any] = {}
        self.made_by: dict[Var, Equation] = {}
        self.equations: list[Equation] = []
        self.known: dict[Any, Any] = {}                      # the memory of passes about this scope

    def resolve(self, atom: Atom) -> Any:
        """The atom that stands for an atom (or extent) now."""
        if not isinstance(atom, Var):
            return atom
        scope: Scope | None = self
        while scope is not None:
            if atom in scope.replaced:
                return self.resolve(scope.replaced[atom])    # renewed for its extents first, it may be replaced itself
            scope = scope.parent
        return atom

    def replaces(self) -> bool:
        """Whether some variable stands for another one here."""
        scope: Scope | None = self
        while scope is not None:
            if scope.replaced:
                return True
            scope = scope.parent
        return False

    def producer(self, atom: Atom) -> "Equation | None":
        """The equation that made a variable; None for inputs and numbers."""
        return next((scope.made_by[atom] for scope in self._outwards() if atom in scope.made_by), None)

    def made_for_one(self, x: Any, uses: Counter) -> "Equation | None":
        """The equation of this level that made x, if x has one reader."""
        return self.made_by.get(x) if uses[x] == 1 else None

    def look_up(self, key: tuple) -> Any:
        """The memory of a pass here, or around."""
        return next((scope.known[key] for scope in self._outwards() if key in scope.known), None)

    def _outwards(self) -> "Iterator[Scope]":
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def add(self, eqn: Equation) -> None:
        self.equations.append(eqn)
        for v in eqn.outputs:
            self.made_by[v] = eqn

    def emit(self, op: Op, inputs: Iterable, type: Type, params: dict, where: object) -> Var:
        """A further equation with one result, for passes that replace one equation by another."""
        out = Var(type)
        self.add(Equation(op, tuple(inputs), (out,), params, (), where))
        return out


def emit(equations: list, name: str, inputs: tuple, type: Type, where: object, **params: object) -> Var:
    """The result of a further equation behind these, for passes that build a list of equations themselves."""
    out = Var(type)
    equations.append(Equation(registry[name], inputs, (out,), params, (), where))
    return out


Visit = Callable[[Equation, Scope], Any]


def rewrite(func: Func, visit: Visit, scope: "Scope | None" = None) -> Func:
    """func with each equation as visit leaves it; func itself, where it leaves all as they are.

    visit(eqn, scope) gets eqn with inputs, regions and types already rewritten. It answers None to keep eqn, a
    sequence of atoms to stand for its outputs, or another equation with the same outputs.
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
            scope.replaced.update({v: scope.resolve(a) for v, a in zip(eqn.outputs, answer, strict=True) if a is not v})
    outputs = tuple([as_atom(scope.resolve(a)) for a in func.outputs]) if scope.replaces() else func.outputs
    return func.replace(equations=scope.equations, outputs=outputs)


def as_atom(x: object) -> Any:
    """An extent as an operand: an int as a Literal."""
    return x if isinstance(x, (Var, Literal)) else Literal(x, Type("int64", (), True))


def as_extent(x: object) -> Any:
    """An operand as an extent: a Literal as an int."""
    return int(x.value) if isinstance(x, Literal) else x


def in_regions(eqn: Equation, run: Callable) -> Equation:
    """The equation with its regions as a pass leaves them."""
    return eqn.replace(regions=tuple(map(run, eqn.regions))) if eqn.regions else eqn


def _renewed(eqn: Equation, visit: Visit, scope: Scope) -> Equation:
    if not scope.replaces():                                  # as in most passes, over most of the program
        return in_regions(eqn, lambda region: rewrite(region, visit, scope)) if eqn.regions else eqn
    inputs = tuple([as_atom(scope.resolve(a)) for a in eqn.inputs])
    regions = tuple([rewrite(renewed_inputs(r, scope), visit, scope) for r in eqn.regions])
    outputs = tuple([_renewed_var(v, scope) for v in eqn.outputs])
    return eqn.replace(inputs=inputs, outputs=outputs, regions=regions)


def renewed_inputs(region: Func, scope: Scope) -> Func:
    """The Func with inputs whose types have the extents that stand for the old ones."""
    inputs = tuple([_renewed_var(v, scope) for v in region.inputs])
    return region if inputs == region.inputs else region.replace(inputs=inputs)


def _renewed_var(var: Var, scope: Scope) -> Var:
    """The variable itself; one with new extents where an extent in its type was replaced."""
    shape = var.type.shape
    if not shape:
        return var
    renewed = tuple([as_extent(scope.resolve(n)) for n in shape])
    if all(a is b for a, b in zip(renewed, shape)):
        return var
    new = Var(Type(var.type.dtype, renewed, var.type.weak), var.name, var.hint)
    scope.replaced[var] = new
    return new


def stands_for(a: Atom, v: Var) -> bool:
    """Whether an atom may stand for a variable: they are of one type, extents and weakness included."""
    return (isinstance(a, (Var, Literal))
            and (a.type.dtype, a.type.shape, a.type.weak) == (v.type.dtype, v.type.shape, v.type.weak))


def given(region: Func, values: dict, scope: Scope) -> Func:
    """The region with values for some of its inputs, which it no longer reads."""
    inner = Scope(scope)
    inner.replaced.update(values)
    return rewrite(region, lambda eqn, scope: None, inner)
