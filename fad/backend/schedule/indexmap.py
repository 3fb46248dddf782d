"""Places of elements: subscripts that are sums of loop axes and integers of the program (affine forms).

    Index       an affine form; a symbol is an Axis, an integer Var, or an Elem (a gathered index)
    Elem        one element of an array: the variable and one Index an axis (none for a scalar)
    Position    an Index taken as a number: the value of iota
"""
from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from ...ir.affine import Affine
from ...ir.graph import Var

_ids = count()


class Axis:
    """One axis of an iteration space: it runs from 0 to its extent, an Index."""

    __slots__ = ("extent", "id")

    def __init__(self, extent: Any):
        self.extent, self.id = extent, next(_ids)

    @property
    def order(self) -> tuple:
        """The place among the symbols of an affine form."""
        return 0, self.id

    def __repr__(self) -> str:
        return f"axis{self.id}<{self.extent}"


class Index(Affine):
    """An affine form in axes, integers and elements."""

    __slots__ = ()

    def substitute(self, table: dict) -> "Index":
        """Symbols replaced by what the table holds for them (an Index, or another symbol)."""
        total = Index.constant(self.const)
        for s, c in self.terms:
            new = table.get(s)
            if new is None:
                new = s.substitute(table) if isinstance(s, Elem) else s
            total = total + (new if isinstance(new, Index) else at(new)).scaled(c)
        return total

    def axes(self) -> Iterator[Axis]:
        """Every axis it depends on, through gathered indices too."""
        for s, _ in self.terms:
            if isinstance(s, Axis):
                yield s
            elif isinstance(s, Elem):
                yield from s.axes()

    def moves_only_with(self, axis: Axis) -> bool:
        """Whether the axis enters linearly and nothing else that changes in a loop does: one place for each iteration
        of the axis.
        """
        found = False
        for s, _ in self.terms:
            if s is axis:
                found = True
            elif not isinstance(s, Var):
                return False
        return found


def at(symbol: Any) -> Index:
    """The Index of one symbol or integer."""
    if isinstance(symbol, Index):
        return symbol
    return Index.constant(int(symbol)) if isinstance(symbol, (int, np.integer)) else Index.of(symbol)


class Elem(NamedTuple):
    """An element of an array, or a scalar (at ())."""

    var: Var
    at: tuple = ()

    @property
    def order(self) -> tuple:
        """The place among the symbols of an affine form."""
        return 2, self.var.id

    def substitute(self, table: dict) -> "Elem":
        return Elem(self.var, tuple([i.substitute(table) for i in self.at])) if self.at else self

    def axes(self) -> Iterator[Axis]:
        for i in self.at:
            yield from i.axes()


class Position(NamedTuple):
    """The value of an Index, as a number of a dtype."""

    index: Index  # type: ignore[assignment]  # of a tuple it is a method
    dtype: Any

    def substitute(self, table: dict) -> "Position":
        return Position(self.index.substitute(table), self.dtype)

    def axes(self) -> Iterator[Axis]:
        return self.index.axes()


def elements_in(operand: object) -> Iterator[Elem]:
    """Every element an operand reads: itself and those in its subscripts."""
    if isinstance(operand, Elem):
        yield operand
        for i in operand.at:
            yield from elements_in(i)
    elif isinstance(operand, Position):
        yield from elements_in(operand.index)
    elif isinstance(operand, Index):
        for s, _ in operand.terms:
            if isinstance(s, Var):
                yield Elem(s)
            elif isinstance(s, Elem):
                yield from elements_in(s)


def substitute(operand: object, table: dict) -> Any:
    """An operand in terms of other axes."""
    return operand.substitute(table) if isinstance(operand, (Elem, Position)) else operand
