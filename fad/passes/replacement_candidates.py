"""Candidates for scalar replacement: arrays of few elements, in loops, whose every subscript is a number.

Carries and states of one array form classes (union-find); one use that needs the array keeps the whole class an array.
"""
import math
from collections.abc import Callable

from ..ir.graph import Equation, Func, Literal, Var, free_vars, is_branch, is_loop
from ..ir.spec import operands_of
from ..ir.views import LoopView

SMALL = 16                                  # elements
SHORT = 8                                   # of the last axis: a longer one fills a vector register
PRODUCTS = 64                               # of one contraction


def fixed(n: object) -> "int | None":
    """An extent that is a number of the program."""
    return n if isinstance(n, int) else None


def small_arrays(func: Func, extent: Callable = fixed) -> set:
    """The variables in func's loops that may be scalars; extent(n) returns an extent's number, None if it may be
    anything.
    """
    found = _AliasClasses(extent)
    found.visit(func, False)
    bad = {found.root(v) for v in found.bad}
    return {v for v in found.seen if found.root(v) not in bad}


def is_small(v: object, extent: Callable = fixed) -> bool:
    """Whether v is an array of few numbers."""
    if not isinstance(v, Var) or not v.type.shape or v.type.dtype.kind not in "fcb":
        return False
    extents = [extent(n) for n in v.type.shape]
    return None not in extents and 0 < math.prod(extents) <= SMALL and extents[-1] <= SHORT


class _AliasClasses:
    """Classes of variables that are one array to a loop (carries, versions of an updated array), and the classes that
    stay arrays."""

    def __init__(self, extent: Callable):
        self.extent = extent
        self.parent: dict[Var, Var] = {}
        self.seen: dict[Var, None] = {}
        self.bad: set[Var] = set()

    def root(self, v: Var) -> Var:
        path = []
        while v in self.parent:
            path.append(v)
            v = self.parent[v]
        self.parent.update(dict.fromkeys(path[:-1], v))      # so that the way is short the next time
        return v

    def join(self, a: object, b: object) -> None:
        if isinstance(a, Var) and isinstance(b, Var) and self.root(a) is not self.root(b):
            self.parent[self.root(a)] = self.root(b)

    def note(self, variables: tuple) -> None:
        self.seen.update(dict.fromkeys(v for v in variables if is_small(v, self.extent)))

    def visit(self, func: Func, inside: bool) -> None:
        for eqn in func.equations:
            if eqn.regions:
                self.control(eqn, inside)
            elif inside:
                self.note(eqn.outputs)
                self.equation(eqn)

    def control(self, eqn: Equation, inside: bool) -> None:
        if not is_loop(eqn) and not is_branch(eqn):
            self.bad.update(v for region in eqn.regions for v in (*free_vars(region), *region.inputs))
            self.bad.update(a for a in (*eqn.inputs, *eqn.outputs) if isinstance(a, Var))
            return
        if inside:
            self.note(eqn.outputs)
        if is_loop(eqn):
            self.loop(LoopView(eqn), inside)
        for region in eqn.regions:
            self.note(region.inputs)
            self.visit(region, inside or is_loop(eqn))

    def loop(self, loop: LoopView, inside: bool) -> None:
        for carry, end, out in zip(loop.carries, loop.next, loop.results):
            self.join(carry, end)
            if inside:
                self.join(carry, out)
        for v, carry in zip(loop.test.inputs, loop.carries) if loop.test is not None else ():
            self.join(v, carry)

    def equation(self, eqn: Equation) -> None:
        if eqn.writes_part:
            self.join(eqn.outputs[0], eqn.inputs[0])
        if eqn.op.traits.selects and not is_static(eqn, self.extent):
            self.bad.update(a for a in eqn.inputs[:1] if isinstance(a, Var))
        if not is_expandable(eqn, self.extent):
            self.bad.update(v for v in eqn.outputs)
            self.bad.update(a for a in eqn.inputs if isinstance(a, Var) and a.type.shape)


def is_expandable(eqn: Equation, extent: Callable = fixed) -> bool:
    """Whether an equation on small arrays can be written in scalars."""
    kind, out = eqn.op.kind, eqn.outputs[0] if len(eqn.outputs) == 1 else None
    if out is None or eqn.op.effect:
        return False
    arrays = [a for a in eqn.inputs if isinstance(a, Var) and a.type.shape]
    if eqn.op.traits.selects:
        return is_static(eqn, extent) or _is_part(eqn, extent)
    if kind == "elementwise" or kind == "shape" and eqn.op.traits.copies:
        return is_small(out, extent) and all(is_small(a, extent) for a in arrays)
    if kind == "reduce":
        return (bool(arrays) and is_small(arrays[0], extent) and arrays[0].type.dtype == out.type.dtype
                and out.type.dtype.kind in "fc")
    if kind == "contract":
        return (all(is_small(a, extent) for a in arrays) and out.type.dtype.kind in "fc"
                and _products(eqn, extent) <= PRODUCTS)
    return False


def is_static(eqn: Equation, extent: Callable = fixed) -> bool:
    """Whether a small array is selected from by numbers, and the written part has known extents."""
    known = all(isinstance(a, Literal) or (isinstance(a, Var) and extent(a) is not None) for a in operands_of(eqn))
    written = eqn.inputs[1:2] if not eqn.reads_part else ()
    fits = (is_small(eqn.inputs[0], extent)
            and all(not isinstance(a, Var) or not a.type.shape or is_small(a, extent) for a in written))
    return fits and "a" not in eqn.params["spec"] and known


def _is_part(eqn: Equation, extent: Callable) -> bool:
    """Whether the equation reads or writes a small part of an array, with elements numbered from the part's start."""
    return "a" not in eqn.params["spec"] and is_small(eqn.outputs[0] if eqn.reads_part else eqn.inputs[1], extent)


def _products(eqn: Equation, extent: Callable) -> int:
    extents = {c: extent(n) or 1 for letters, x in zip(eqn.params["labels"], eqn.inputs)
               for c, n in zip(letters, x.type.shape)}
    return math.prod(extents.values())
