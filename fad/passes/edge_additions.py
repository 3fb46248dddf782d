"""add_edges: an array that is zero but for its edges is added edge by edge.

    gu = stencil's terms; g[1:-1] = 0; gu + g        ->        gu[:1] += g[:1]; gu[-1:] += g[-1:]

Such is the derivative of `new = u.copy(); new[1:-1] = ...`: two passes over the array fewer.
"""
from ..ir.graph import Atom, Equation, Func
from ..ir.op import registry
from ..ir.spec import subscripts_of
from ..ir.types import Type
from ..ir.uses import use_counts
from .dependence_test import Places
from .rewrite import Scope, as_atom, as_extent, rewrite
from .subscripts import IntegerArithmetic
from .zeros import is_number

WIDEST = 4                                                   # rows or columns of an edge


def add_edges(func: Func) -> Func:
    """A sum of an array that was added to and of one with zeros in a box is that array with the edges added to it.

        x = index_add(…); z = update(g, 0, 1:n - 1); x + z   ->   index_add(index_add(x, g[:1], :1), g[n - 1:], n - 1:)
    """
    uses = use_counts(func)
    places: list[Places] = []

    def visit(eqn: Equation, scope: Scope) -> "tuple | None":
        for x, z in (eqn.inputs, eqn.inputs[::-1]) if eqn.op.name == "add" else ():
            made, zeroed = scope.producer(x), scope.producer(z)
            if (made is None or zeroed is None or not made.adds_part or not zeroed.replaces_part
                    or not is_number(zeroed.inputs[1], 0) or uses[x] > 1 or uses[z] > 1
                    or (x.type.dtype, x.type.shape) != (z.type.dtype, z.type.shape)):
                continue
            if not places:
                places.append(Places(func))
            integers = IntegerArithmetic(eqn.where)
            strips = _strips(zeroed, places[0], integers)
            for e in integers.equations if strips else ():
                scope.add(e)
            return (_added(x, zeroed.inputs[0], strips, eqn, scope),) if strips else None
        return None
    return rewrite(func, visit)


def _strips(zeroed: Equation, places: Places, integers: IntegerArithmetic) -> list:
    """The selections that the box of zeros leaves, two along an axis; none if one may be wide."""
    ranges, shape = places.ranges, zeroed.inputs[0].type.shape
    found: list[list] = []
    inner: list[tuple] = []                                  # the box, along the axes before this one
    for k, (entry, given) in enumerate(subscripts_of(zeroed)):
        rest = [(":", ())] * (len(shape) - k - 1)
        if entry != ":":
            forms = [ranges.exact(as_atom(a), frozenset(ranges.loops)) for a in (*given, shape[k])]
            start, extent, n = forms if entry == ("s", 1) else (None, None, None)
            if start is None or extent is None or n is None:
                return []
            wide = [start, n - start - extent]
            if not all(form.is_constant and 0 <= form.const <= WIDEST for form in wide):
                return []
            for begin, form in zip((as_atom(0), integers.sum(*given)), wide):
                if form.const:
                    found.append([*inner, (entry, (begin, as_atom(form.const))), *rest])
        inner.append((entry, given))
    return found


def _added(x: Atom, g: Atom, strips: list, eqn: Equation, scope: Scope) -> Atom:
    """x with these parts of g added to it."""
    for strip in strips:
        operands, params = [a for _, given in strip for a in given], {"spec": tuple([e for e, _ in strip]), "at": 0}
        shape = [n if entry == ":" else as_extent(given[1]) for n, (entry, given) in zip(g.type.shape, strip)]
        part = scope.emit(registry["index"], (g, *operands), Type(g.type.dtype, tuple(shape)), params, eqn.where)
        x = scope.emit(registry["index_add"], (x, part, *operands), x.type, params, eqn.where)
    return x
