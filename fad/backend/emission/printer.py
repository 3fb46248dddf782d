"""The state of a function that is being printed, and what all who print its steps need: lines, names and places.

The steps are printed by emit_nest.py and the other emit modules, which are functions of a Printer.
"""
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np

from ...ir.graph import Var
from ...util.where import Where
from ..schedule.array_contraction import Home, kept_index
from ..schedule.fuse import Scheduler
from ..schedule.indexmap import Axis, Elem, Index, at
from ..schedule.loop_ir import Loop, Step
from ..schedule.lowering import Lowering
from ..schedule.shifted_loop import Rotated
from ..schedule.simd_blocking import LANES
from ..text.names import Names
from ..text.templates import ExprText
from .emit_expr import Expressions

T = TypeVar("T")


class Added(NamedTuple):
    """A line that adds a value to a target: the number of lines up to it, its indent, the step, and the user's line
    mentioned last before it.
    """

    line: int
    indent: str
    target: str
    value: ExprText
    step: Step
    place: "tuple | None"


class Registers(NamedTuple):
    """The registers that hold elements of an array: that of this iteration, and those of the ones before it."""

    axis: Axis
    array: Rotated
    names: list

    def of(self, place: tuple) -> "str | None":
        """The register that holds the element at this place; None if it is not said in terms of the iteration."""
        rest = place[0] - Index.of(self.axis)
        return self.names[self.array.first - rest.const] if not rest.terms else None


class Terms(NamedTuple):
    """The name of the array of terms, and the axis outside of the sum."""

    name: str
    outer: Axis


class LoopIndex(NamedTuple):
    """The index of a counted loop, and its least and its largest value."""

    var: Var
    low: Index
    high: Index

    def most(self, extent: Index) -> Index:
        """The largest that an extent is in any iteration."""
        c = extent.coefficient(self.var)
        return extent.substitute({self.var: self.high if c > 0 else self.low}) if c else extent


class PrintedRegion(NamedTuple):
    """A loop or branch that is being printed: the number of its first line, and the names of its inside."""

    line: "int | None"                      # None: a branch, in front of which nothing is made
    indent: str
    inside: frozenset
    # roots of what the region yields, and those for which a loop inside leaves an array of other extents
    handed_on: frozenset
    spares: dict  # root that an iteration does not need any more -> root of the array handed on in its place
    index: "LoopIndex | None" = None  # type: ignore[assignment]  # of a counted loop; of a tuple it is a method


class Printer(ABC):
    """Prints the blocks of one function, line by line."""

    def __init__(self, lowering: Lowering, names: Names):
        self.lowering, self.names = lowering, names
        self.storage, self.views = lowering.storage, lowering.views
        self.scheduler = Scheduler(self.views, self.storage)
        self.expressions = Expressions(self.scalar, self.element, self.axis)
        self.homes: dict[Var, Home] = {}
        self.pending_reads: dict[Var, set] = {}
        self.pending: dict[Var, ExprText] = {}                   # expressions to be written where they are used
        self.held: dict[Var, str] = {}  # roots that are added up in a register, in the loop that is being printed
        self.unbegun: set[Var] = set()                       # the coming reductions that have no first value
        self.axes: dict[Axis, str] = {}
        self.allocated: set[Var] = set()
        self.lines: list[str] = []
        self.mentioned: list[Where] = []                       # the user's lines
        self.indent = "    "
        self.places: list[PrintedRegion] = []  # the loops and branches that are being printed, outermost first
        self.place: tuple | None = None                            # the user's line that was last mentioned
        self.inputs: set[Var] = set()                        # the function's own, whose arrays are the caller's
        self.in_lanes = False                                # whether a block of points is being printed
        self.added: Added | None = None                      # the last line that added to something
        self.regions: list[tuple] = []  # (head, nest) of the loops that stand in no other nest: see parallel.py
        self.rotating: dict[Var, Registers] = {}              # roots whose elements wait in registers (emit_shifted.py)
        self.mostly_zero: set[Var] = set()                   # arrays of the function that are mostly zeros
        self.starting: set = set()  # sums in blocks (loops, then roots) whose first term is stored, not added to zeros
        self.terms: dict[Loop, Terms] = {}                   # of sums over blocks of points (zero_terms.py)
        self.sum_types: dict[str, np.dtype] = {}               # dtypes of what is added up in registers

    @abstractmethod
    def block(self, steps: list, outputs: tuple) -> None:
        """Print the statements of one block."""

    @abstractmethod
    def nodes(self, nodes: list, single: set) -> None:
        """Print some nodes of a nest. single: roots with one writer and one reader."""

    # -- lines -------------------------------------------------------------------------------------

    def line(self, text: str, step: "Step | None" = None) -> None:
        """One line, with the user's line behind it where it is another than before."""
        where = step.eqn.where if step is not None and step.eqn is not None else None
        text = self.indent + text
        if where is not None and (where.file, where.line) != self.place and where.text:
            self.place = (where.file, where.line)
            self.mentioned.append(where)
            text = f"{text:<58}  # {where.text}"
        self.lines.append(text)

    def indented(self, action: Callable[[], T]) -> T:
        before, self.indent = self.indent, self.indent + "    "
        result = action()
        self.indent = before
        return result

    # -- variables ---------------------------------------------------------------------------------

    def home(self, var: Var) -> Home:
        return self.homes[self.storage.root(var)]

    def name(self, var: Var, step: "Step | None" = None) -> str:
        """The name of the variable or of the array it lives in."""
        root = self.storage.root(var)
        return self.names.of(root, step.eqn.op.traits.stem if step is not None and step.eqn is not None else "t")

    def scalar(self, var: Var) -> ExprText:
        """A number in a register, or the expression that it stands for."""
        root = self.storage.root(var)
        waiting = self.pending.get(root)
        return waiting if waiting is not None else ExprText(self.names.of(root))

    def axis(self, axis: Axis) -> str:
        return self.axes[axis]

    def element(self, elem: Elem) -> ExprText:
        """An element that is read."""
        root = self.storage.root(elem.var)
        home = self.homes.get(root)
        if root in self.rotating and (register := self.rotating[root].of(elem.at)) is not None:
            return ExprText(register)
        if not elem.at or (home is not None and home.is_register):
            return self.scalar(elem.var)
        return ExprText(self.subscripted(self.names.of(root), elem.at, home))

    def subscripted(self, name: str, place: tuple, home: "Home | None") -> str:
        """The element of an array at a place. A subscript of an axis that is not kept is left out."""
        kept = home.kept if home is not None else range(len(place))
        return f"{name}[{', '.join(self.expressions.index(kept_index(place, k, home)).source for k in kept)}]"

    def target(self, step: Step) -> str:
        """The place that a step writes to."""
        home, root = self.home(step.out), self.storage.root(step.out)
        if root in self.held:
            return self.held[root]
        if root in self.rotating:
            return self.rotating[root].names[0]
        if not step.target or home.is_register:
            return self.name(step.out, step)
        return self.subscripted(self.name(step.out, step), step.target, home)

    def extents(self, var: Var) -> tuple:
        """The extents of what is kept of an array."""
        home, shape = self.home(var), var.type.shape
        return tuple(
            [at(LANES) if home.lanes and home.lanes[0] == k else self.views.number(shape[k]) for k in home.kept]
        )

    def shape(self, var: Var) -> str:
        """The extents of what is kept of an array, as NumPy's creation functions take them."""
        return tuple_of([self.expressions.index(n).source for n in self.extents(var)])

    def reads(self, step: Step) -> set:
        """Roots that the step's expression reads, those read by the expressions within it included."""
        found: set = set()
        for e in step.reads():
            root = self.storage.root(e.var)
            found |= self.pending_reads[root] if root in self.pending else set(self.storage.arrays_of(root))
        return found


def tuple_of(extents: list) -> str:
    """Extents as NumPy's functions take them."""
    return extents[0] if len(extents) == 1 else f"({', '.join(extents)})"
