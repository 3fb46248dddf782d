"""Steps with a loop-carried value: reductions, scans and searches; how they begin, and what an iteration does."""

from ..schedule.array_contraction import kept_index
from ..schedule.indexmap import Axis, Index
from ..schedule.loop_ir import BackendError, Begin, Loop, Step
from ..schedule.numbers import zero
from ..schedule.reductions import combine, combined, filled, unit, with_carry
from ..text.templates import SUM, ExprText
from .allocation_hoisting import fill_room, room
from .printer import Printer


def begin(printer: Printer, step: Step) -> None:
    """The lines in front of the loops of a step: its first value."""
    if step.kind == "reduce":
        _begin_with(printer, step, unit(step))
    elif step.kind == "scan":
        printer.line(f"{_carry(printer, step)} = {zero(step.out.type.dtype)}", step)
    else:
        printer.line(f"{_carry(printer, step)} = {zero(step.eqn.inputs[0].type.dtype)}", step)
        if printer.home(step.out).is_register:                # a part of the function that is set apart returns it
            printer.line(f"{printer.target(step)} = 0")


def _begin_with(printer: Printer, step: Step, first: str) -> None:
    root = printer.storage.root(step.out)
    if printer.home(root).kept and room(printer, root) is not None:
        fill_room(printer, root, step, first)
    elif printer.home(root).kept and root not in printer.allocated:
        printer.allocated.add(root)
        printer.line(f"{printer.name(root, step)} = {filled(printer.shape(root), first, root.type.dtype)}", step)
    else:
        printer.line(f"{_open_target(printer, step)} = {first}", step)


def _open_target(printer: Printer, step: Step) -> str:
    """The part of the result that a reduction is about to compute: axes of loops still to come are whole."""
    home = printer.home(step.out)
    if not home.kept:
        return printer.name(step.out, step)
    places = [kept_index(step.target, k, home) for k in home.kept]
    parts = [
        printer.expressions.index(i).source if all(a in printer.axes for a in i.axes()) else _span(printer, i)
        for i in places
    ]
    return f"{printer.name(step.out, step)}[{', '.join(parts)}]"


def _span(printer: Printer, index: Index) -> str:
    """The slice that a subscript runs through as its axis does, whose loop is still to come."""
    axis = next(s for s, _ in index.terms if isinstance(s, Axis))
    if (axis, 1) not in index.terms:
        raise BackendError("a reduction into a stretched subscript")
    first = index - Index.of(axis)
    if first == Index():
        return ":"
    return f"{printer.expressions.index(first).source}:{printer.expressions.index(first + axis.extent).source}"


def print_reduce(printer: Printer, step: Step) -> None:
    """One term more."""
    target, value, root = printer.target(step), printer.expressions.value(step), printer.storage.root(step.out)
    if root in printer.starting:                              # 0.0 + -0.0 is 0.0
        printer.starting.discard(root)
        printer.line(f"{target} = {unit(step)} + {value.within(SUM + 1)}", step)
        return
    printer.line(combined(target, combine(step), value, step.out.type.dtype), step)


def _carry(printer: Printer, step: Step) -> str:
    """The name of what a scan or search carries from iteration to iteration."""
    return printer.names.of(("carry", step.out), "running" if step.kind == "scan" else "best")


def print_scan(printer: Printer, step: Step) -> None:
    """One element of a running sum or the like."""
    carry, facts = ExprText(_carry(printer, step)), step.eqn.op.facts
    args = [printer.expressions.operand(a, step.out.type.dtype) for a in step.args]
    printer.line(f"if {printer.axes[step.along]} == 0:")
    printer.indented(lambda: printer.line(f"{carry.source} = {with_carry(facts['first'], args, carry)}"))
    printer.line("else:")
    printer.indented(lambda: printer.line(f"{carry.source} = {with_carry(facts['step'], args, carry)}"))
    printer.line(f"{printer.target(step)} = {carry.source}", step)


def print_place(printer: Printer, step: Step) -> None:
    """One element more of a search for the place of the largest or smallest."""
    if step.eqn.inputs[0].type.dtype.kind == "c":
        raise BackendError("no compiled order of complex numbers")
    best, k = _carry(printer, step), printer.axes[step.along]
    value = printer.names.fresh("value")
    sign = ">" if step.eqn.op.name == "argmax" else "<"
    printer.line(f"{value} = {printer.expressions.operand(step.args[0]).source}", step)
    printer.line(f"if {k} == 0 or {value} {sign} {best} or ({value} != {value} and {best} == {best}):")

    def better() -> None:
        printer.line(f"{best} = {value}")
        printer.line(f"{printer.target(step)} = {k}")
    printer.indented(better)


def is_held(printer: Printer, step: Step, loop: "Loop | None", around: set) -> bool:
    """Whether a reduction adds to one element all through an innermost loop (around: the axes of the loops
    outside).
    """
    if (
        step.kind != "reduce"
        or loop is None
        or not printer.home(step.out).kept
        or any(isinstance(n, (Loop, Begin)) for n in loop.nodes)
    ):
        return False
    inside = [n for n in loop.nodes if n.kind == "reduce" and n.out is step.out]
    outer = around - {loop.axis}
    return len(inside) == 1 and all(a in outer for i in inside[0].target for a in i.axes())


def release(printer: Printer, step: Step, name: str) -> None:
    """Put what was added up in a register where it belongs."""
    target = printer.target(step)
    if printer.storage.root(step.out) in printer.unbegun:
        printer.unbegun.discard(printer.storage.root(step.out))
        printer.line(f"{target} = {name}")
    else:
        printer.line(combined(target, combine(step), ExprText(name), step.out.type.dtype))
    printer.names.release(name)
