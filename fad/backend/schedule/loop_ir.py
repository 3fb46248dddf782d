"""Steps, the units of the scheduler. A step is one equation at one point of its iteration space.

    map       out[target] = expression of args            (elementwise ops, copies, updates, parts of a concatenation)
    reduce    out[target] = combination of args over the reduced axes
    add       out[target] += args[0]                       (out holds something already)
    scan      running results along the axis `along`
    place     the index of the best element along `along`
    fill      out is a new array full of args[0]
    call      whole arrays in, whole arrays out
    control   regions
    check     raises where a condition fails
"""
from collections.abc import Iterator
from typing import Any

from ...ir.graph import Equation, Var
from .indexmap import Axis, Elem, Index, Position, elements_in, substitute


class BackendError(Exception):
    """There is no template for something in this program: it stays with the interpreter."""


class Step:
    """One equation (or part of one) at a point of its iteration space."""

    # Which of these there are, the kind says: they are None in steps of the other kinds.
    eqn: Equation
    out: Var
    along: Any

    __slots__ = (
        "kind", "eqn", "out", "outs", "axes", "reduced", "target", "args", "arrays", "body", "along", "order",
        "touches",
    )

    def __init__(self, kind: str, eqn: "Equation | None", out: "Var | None" = None, *, axes: tuple = (),
                 reduced: tuple = (), target: tuple = (), args: tuple = (), arrays: tuple = (), outs: tuple = (),
                 body: Any = None, along: object = None):
        self.kind, self.axes, self.reduced = kind, axes, reduced
        self.eqn, self.out = eqn, out  # type: ignore[assignment]
        self.target, self.args, self.arrays, self.body, self.along = target, args, arrays, body, along
        self.outs = outs or ((out,) if out is not None else ())
        self.order = 0
        self.touches: Any = None                             # the scheduler's notes of its reads and writes

    def on(self, axis: Axis, shared: Axis) -> "Step":
        """The step inside a loop over `shared`, which takes the place of its axis."""
        new = self.substitute({axis: Index.of(shared)})
        new.axes, new.reduced = (
            tuple([a for a in self.axes if a is not axis]),
            tuple([a for a in self.reduced if a is not axis]),
        )
        new.along = shared if self.along is axis else self.along
        return new

    def substitute(self, table: dict) -> "Step":
        """The step with axes of its places replaced by what the table holds for them."""
        new = Step(
            self.kind,
            self.eqn,
            self.out,
            axes=self.axes,
            reduced=self.reduced,
            target=tuple([i.substitute(table) for i in self.target]),
            args=tuple([substitute(a, table) for a in self.args]),
            arrays=self.arrays,
            outs=self.outs,
            body=self.body,
            along=self.along,
        )
        new.order = self.order
        return new

    def joined(self, axis: Axis, shared: Axis) -> "Step":
        """The step with its axis replaced by a loop's (which it still counts among its own)."""
        new = self.on(axis, shared)
        new.axes = tuple([shared if a is axis else a for a in self.axes])
        new.reduced = tuple([shared if a is axis else a for a in self.reduced])
        return new

    @property
    def is_point(self) -> bool:
        return not self.axes

    def reads(self) -> Iterator[Elem]:
        """The elements it reads at one point."""
        for a in self.args:
            yield from elements_in(a)
        for i in self.target:
            yield from elements_in(i)
        for a in self.axes:
            yield from elements_in(a.extent)

    def __repr__(self) -> str:
        name = self.eqn.op.name if self.eqn else "copy"
        return f"<{self.kind} {self.out}{list(self.target)} = {name}{self.args} over {self.axes}>"


class Loop:
    """A loop of the nest tree: for axis in range(extent), the nodes in order."""

    __slots__ = ("axis", "nodes")

    def __init__(self, axis: Axis, nodes: list):
        self.axis, self.nodes = axis, nodes


class Begin:
    """The place where a reduction's (or scan's) result gets its first value, before the loop that adds to it."""

    __slots__ = ("step",)

    def __init__(self, step: Step):
        self.step = step


def steps_of(node: object) -> list:
    """The steps of a node, those of inner loops among them."""
    if isinstance(node, Loop):
        return [s for n in node.nodes for s in steps_of(n)]
    return [node.step if isinstance(node, Begin) else node]


__all__ = ["Step", "Loop", "Begin", "BackendError", "Position", "steps_of"]
