"""Allocation hoisting: an array is made outside of a loop if no iteration hands it on to the next.

Its extents, or an upper bound of them, must be known there.
"""
from typing import Any, NamedTuple

from ...ir.graph import Var, is_counted
from ...ir.views import LoopView
from ..schedule.indexmap import Index, elements_in
from ..schedule.loop_ir import Step
from ..schedule.lowering import Body
from ..schedule.reductions import dtype_argument
from .printer import LoopIndex, PrintedRegion, Printer, tuple_of


class Allocation(NamedTuple):
    """The place in front of which an array may be made, and its extents; exact: whether they are the array's own."""

    place: int
    extents: tuple
    exact: bool


def defined_in(body: Body) -> set:
    """Every variable that a region binds, at any depth."""
    found = set(body.func.inputs)
    for step in body.steps:
        found.update(step.outs)
        for inner in step.body.bodies if step.body is not None else ():
            found |= defined_in(inner)
    return found


def spares(printer: Printer, body: Body, outs: tuple) -> dict:
    """Carries whose arrays are dead at the end of an iteration, with the new arrays handed on in their place: the two
    are exchanged.

    So two arrays, made before the loop, do for all iterations.
    """
    storage, inside = printer.storage, defined_in(body)
    handed_on = [storage.root(a) for a in body.func.outputs if isinstance(a, Var)]
    found = {}
    for out, a in zip(outs, body.func.outputs):
        old, new = storage.root(out), storage.root(a) if isinstance(a, Var) else None
        if (
            not out.type.shape
            or new is None
            or old is new
            or old in handed_on
            or new not in inside
            or handed_on.count(new) > 1
            or new in storage.base
        ):
            continue
        if (
            old.type.dtype == new.type.dtype
            and old.type.shape == new.type.shape
            and not {old, new} & (set(storage.base.values()) | storage.resized)
        ):
            found[old] = new
    return found


def counter_of(printer: Printer, step: Any) -> LoopIndex | None:
    """The index of a counted loop of a known step."""
    loop = LoopView(step.eqn)
    start, stop, stride = [printer.views.number(a) for a in loop.bounds]
    if stride.terms:
        return None
    last = stop.shifted(-1 if stride.const > 0 else 1)
    return LoopIndex(loop.index, *((start, last) if stride.const > 0 else (last, start)))


def entered(printer: Printer, step: Any, line: "int | None", spares: dict) -> PrintedRegion:
    """The place of a loop (or of a branch)."""
    bodies = step.body.bodies
    handed_on = {
        root
        for body in bodies
        for a in body.func.outputs
        if isinstance(a, Var)
        for root in printer.storage.arrays_of(a)
    }
    inside = set().union(*[defined_in(body) for body in bodies])
    index = counter_of(printer, step) if is_counted(step.eqn) else None
    return PrintedRegion(
        line, printer.indent, frozenset(inside), frozenset(handed_on - set(spares.values())), spares, index
    )


def _room_for(printer: Printer, root: Var, extents: tuple) -> "Allocation | None":
    """The outermost of the places being printed in front of which an array of these extents may be made, or None.

    An array that gives way to one of other extents is not there to be filled again: an iteration makes its own.

    Where its first extent depends on the indices of counted loops, an array with the most elements that it has in any
    iteration serves all of them.
    """
    best, exact, chosen = None, True, False
    for k in range(len(printer.places) - 1, -1, -1):
        place = printer.places[k]
        chosen = chosen or place.line is None
        if root in place.handed_on or root in printer.storage.resized:
            break
        if any(_is_inside(n, place) for n in extents):
            if place.index is None or chosen:  # a branch that is never taken may ask for any number of elements
                break
            extents, exact = (place.index.most(extents[0]), *extents[1:]), False
            if any(_is_inside(n, place) for n in extents):
                break
        if place.line is not None:
            best = Allocation(k, extents, exact)
    return best


def _is_inside(extent: Index, place: PrintedRegion) -> bool:
    return any(e.var in place.inside for e in elements_in(extent))


def _insert(printer: Printer, k: int, text: str) -> None:
    """A line in front of the k-th place."""
    at = printer.places[k].line
    assert at is not None                                     # no branch has room in front of it
    printer.lines.insert(at, printer.places[k].indent + text)
    printer.places = [p._replace(line=p.line + 1) if p.line is not None and p.line >= at else p for p in printer.places]


def allocate(printer: Printer, root: Var, step: Step) -> None:
    """Make an array: in front of a loop where that is possible, else here."""
    name, found = printer.name(root, step), room(printer, root)
    extents = [printer.expressions.index(n).source for n in printer.extents(root)]
    printer.allocated.add(root)
    if found is None:
        printer.line(f"{name} = {_made(root, extents)}")
    elif found.exact:
        _insert(printer, found.place, f"{name} = {_made(root, extents)}")
    else:
        whole = printer.names.fresh("room")
        most, *others = [printer.expressions.index(n).source for n in found.extents]
        # there may be no iteration
        _insert(printer, found.place, f"{whole} = {_made(root, [f'max({most}, 0)', *others])}")
        printer.line(f"{name} = {whole}[:{extents[0]}]")


def fill_room(printer: Printer, root: Var, step: Step, value: str) -> None:
    """Make an array in front of a loop, and fill it where it is needed."""
    allocate(printer, root, step)
    if value:
        printer.line(f"{printer.name(root, step)}[{', '.join(':' * len(printer.home(root).kept))}] = {value}", step)


def _made(root: Var, extents: list) -> str:
    return f"np.empty({tuple_of(extents)}{dtype_argument(root.type.dtype)})"


def room(printer: Printer, root: Var) -> "Allocation | None":
    """The place where an array that is not allocated yet may be made, if not where it is needed."""
    return None if root in printer.allocated else _room_for(printer, root, printer.extents(root))
