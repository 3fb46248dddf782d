"""Composition of subscripts: a part of a part of an array, as a part of the array."""
from typing import Any

from ..ir.graph import Atom, Equation, Literal
from ..ir.op import registry
from ..ir.spec import walk_spec
from ..ir.types import INT, Type
from .rewrite import as_atom, emit
from .zeros import is_number


class IntegerArithmetic:
    """Sums, products and bounds of integers, as equations of a line of the user's; known integers are numbers."""

    def __init__(self, where: object):
        self.where = where
        self.equations: list[Equation] = []

    def sum(self, a: Any, b: Any) -> Any:
        if is_number(a, 0) or is_number(b, 0):
            return b if is_number(a, 0) else a
        return self._made("add", a, b)

    def product(self, a: Atom, b: Atom) -> Atom:
        if is_number(a, 1) or is_number(b, 1):
            return b if is_number(a, 1) else a
        return as_atom(0) if is_number(a, 0) or is_number(b, 0) else self._made("mul", a, b)

    def smaller(self, a: Literal, b: Atom) -> Any:
        return self._made("minimum", a, b)

    def larger(self, a: Atom, b: Literal) -> Any:
        return self._made("maximum", a, b)

    def _made(self, name: str, a: Atom, b: Atom) -> Atom:
        if isinstance(a, Literal) and isinstance(b, Literal):
            return as_atom(int(registry[name].run(a.value, b.value)))
        return emit(self.equations, name, (a, b), Type(INT, (), True), self.where)


def part_of_part(outer: tuple, inner: tuple, integers: IntegerArithmetic) -> "tuple | None":
    """The selection (operands, spec) that is the second selection applied to the first; None if either gathers.

        x[a:a + n:2], of it [b]   ->   x[a + 2 * b]
    """
    if "a" in outer[1] or "a" in inner[1]:
        return None
    rest = iter(list(walk_spec(inner[1], inner[0])))
    operands: list = []
    spec: list = []
    for _, entry, given in walk_spec(outer[1], outer[0]):
        chosen, place = entry, given
        if entry != "i":
            _, chosen, place = next(rest)
            if entry != ":":
                chosen, place = _within(entry, given, chosen, place, integers)
        operands += place
        spec.append(chosen)
    return tuple(operands), tuple(spec)


def _within(entry: tuple, given: tuple, chosen: Any, place: tuple, integers: IntegerArithmetic) -> tuple:
    """An entry within a slice, and its operands."""
    if chosen == ":":
        return entry, given
    start = integers.sum(given[0], integers.product(place[0], as_atom(entry[1])))
    return (chosen, (start,)) if chosen == "i" else (("s", entry[1] * chosen[1]), (start, place[1]))


def flat_part(shape: tuple, chosen: tuple, integers: IntegerArithmetic) -> "tuple | None":
    """The selection (operands, spec) of a vector that equals a selection of an element or a row from the vector in
    these extents; None for others.

        x.reshape(m, n)[i]   ->   x[i * n:i * n + n]
    """
    operands, spec = chosen
    count, rank = len(operands), len(shape)
    if spec != ("i",) * count + (":",) * (rank - count) or rank - count > 1:
        return None
    start: Any = as_atom(0)
    for i, n in zip((*operands, as_atom(0)), shape):
        start = integers.sum(integers.product(start, as_atom(n)), i)
    return ((start,), ("i",)) if count == rank else ((start, as_atom(shape[-1])), (("s", 1),))
