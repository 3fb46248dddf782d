"""Printing loops and branches: carries are variables; arrays among them are changed in place or change hands."""
import functools
import math
import re
from typing import Any

from ...ir.graph import Atom, Literal, Var, is_branch
from ...ir.views import LoopView
from ..schedule.array_contraction import Home
from ..schedule.indexmap import Elem, Index, Position
from ..schedule.loop_ir import Step
from ..schedule.lowering import Body
from ..schedule.numbers import literal
from .allocation_hoisting import entered, spares
from .loop_splitting import split_short
from .printer import Printer

FEW, LONG = 16, 32  # iterations of a loop that LLVM lays out; steps of an iteration that does not feel a count
SHORT = 64                                  # elements of an array that is copied


def print_control(printer: Printer, step: Step) -> None:
    """A `for`, `while` or `cond` step."""
    for v in step.outs:
        root = printer.storage.root(v)
        printer.homes[root] = Home(root, tuple(range(len(root.type.shape))))
        printer.allocated.add(root)
    branches = is_branch(step.eqn)
    spare = {} if branches else spares(printer, step.body.bodies[-1], step.outs)
    printer.places.append(entered(printer, step, None if branches else len(printer.lines), spare))
    {"for": _print_for, "while": _print_while, "cond": _print_cond}[step.eqn.op.traits.control](printer, step)
    printer.places.pop()


def _print_for(printer: Printer, step: Step) -> None:
    body = step.body.bodies[0]
    start, stop, stride = (printer.expressions.operand(a).source for a in step.args)
    index = printer.names.of(LoopView(step.eqn).index, "i")
    span = (
        stop if (start, stride) == ("0", "1") else f"{start}, {stop}" if stride == "1" else f"{start}, {stop}, {stride}"
    )
    printer.line(f"for {index} in range({span}):", step)
    head = printer.lines[-1]
    printer.indented(lambda: _print_body(printer, body, step.outs))
    split_short(printer, head)
    printer.names.release(index)


def _print_while(printer: Printer, step: Step) -> None:
    test, body = step.body.bodies
    if step.args:
        _print_inverted(printer, step)
        return
    printer.line("while True:", step)

    def iteration() -> None:
        printer.block(test.steps, test.func.outputs)
        printer.line(f"if not {_value(printer, test.func.outputs[0]).within(5)}:")
        printer.indented(lambda: printer.line("break"))
        _print_body(printer, body, step.outs)
    printer.indented(iteration)


def _print_inverted(printer: Printer, step: Step) -> None:
    """A `while` that counts up to a bound (loop_inversion.py)."""
    ends, body = step.body.bodies
    start, stop = (printer.expressions.operand(a).source for a in step.args)
    printer.line(f"for _ in range({stop if start == '0' else f'{start}, {stop}'}):", step)

    def iteration() -> None:
        _print_body(printer, body, step.outs)
        if not isinstance(ends.func.outputs[0], Literal):
            printer.block(ends.steps, ends.func.outputs)
            printer.line(f"if {_value(printer, ends.func.outputs[0]).source}:")
            printer.indented(lambda: printer.line("break"))
    printer.indented(iteration)


def _print_body(printer: Printer, body: Any, outs: tuple) -> bool:
    """The statements of a region, and what its results are called around it. Whether there are any."""
    before, head = set(printer.allocated), printer.lines[-1]  # arrays that it makes may stand further in front
    printer.block(body.steps, body.func.outputs)
    _assign(printer, body, outs, before)
    printer.allocated = before
    is_empty = printer.lines[-1] is head
    if is_empty:
        printer.line("pass")
    return not is_empty


def _assign(printer: Printer, body: Body, outs: tuple, before: set) -> None:
    pairs = [(out, a) for out, a in zip(outs, body.func.outputs)
             if not isinstance(a, Var) or printer.storage.root(a) is not printer.storage.root(out)]
    copied = {old: new for old, new in printer.places[-1].spares.items() if _is_short(old)}
    pairs = [(out, a) for out, a in pairs if printer.storage.root(out) not in copied]
    names = [printer.names.of(printer.storage.root(out)) for out, _ in pairs]
    values, free = [], printer.allocated - before            # free: made in here, and not yet handed on
    for out, a in pairs:
        text = _value(printer, a, out.type.dtype)
        arrays = set(printer.storage.arrays_of(a)) if isinstance(a, Var) else set()
        fresh = bool(arrays) and arrays <= free
        values.append(
            text.source
            if not out.type.shape or fresh or _changes_hands(printer, a, body, outs)
            else f"{text.source}.copy()"
        )
        free -= arrays
    # the array that is not needed any more is the next iteration's to fill
    for old, new in printer.places[-1].spares.items():
        if old not in copied:
            names.append(printer.names.of(new))
            values.append(printer.names.of(old))
    if len(names) > 1 and _entangled(names, values):
        printer.line(f"{', '.join(names)} = {', '.join(values)}")
    else:
        for name, value in zip(names, values):
            printer.line(f"{name} = {value}")
    for old, new in copied.items():
        _copy(printer, old, new)


def _is_short(root: Var) -> bool:
    """Whether a copy of an array is quicker than an exchange: LLVM knows that two arrays are apart only while their
    names do not change.
    """
    extents = root.type.shape
    return all(isinstance(n, int) for n in extents) and math.prod(extents) <= SHORT


def _copy(printer: Printer, old: Var, new: Var) -> None:
    """The elements of an array, put into another one."""
    indent = printer.indent
    indices: list = []
    for n in old.type.shape:
        indices.append(printer.names.loop([*printer.axes.values(), *indices]))
        printer.line(f"for {indices[-1]} in range({n}):")
        printer.indent += "    "
    at = ", ".join(indices)
    printer.line(f"{printer.names.of(old)}[{at}] = {printer.names.of(new)}[{at}]")
    printer.indent = indent


def _changes_hands(printer: Printer, a: Atom, body: Body, outs: tuple) -> bool:
    """Whether the array is one carry's in this iteration, and only another carry's in the next."""
    if printer.places[-1].line is None or not isinstance(a, Var):
        return False
    root = printer.storage.root
    handed_on = [root(b) for b in body.func.outputs if isinstance(b, Var)]
    return root(a) in [root(out) for out in outs] and handed_on.count(root(a)) == 1


def _entangled(names: list, values: list) -> bool:
    """Whether a later assignment reads what an earlier one has changed."""
    read = [set(re.findall(r"\w+", value)) for value in values]
    return any(not read[k].isdisjoint(names[:k]) for k in range(len(names)))


def _value(printer: Printer, atom: Atom, dtype: Any = None) -> Any:
    if isinstance(atom, Literal):
        return literal(atom.value, dtype or atom.type.dtype)
    if atom.type.shape:
        return printer.scalar(atom)
    found = printer.views.locate(atom)
    if isinstance(found, (Elem, Position, Literal)):
        return printer.expressions.operand(found, dtype)
    return printer.expressions.index(Index())


def _print_cond(printer: Printer, step: Step) -> None:
    selector = printer.expressions.operand(step.args[0])
    boolean = step.eqn.inputs[0].type.dtype.kind == "b"
    order = [1, 0] if boolean and len(step.body.bodies) == 2 else list(range(len(step.body.bodies)))
    for k, branch in enumerate(order):
        last = k == len(order) - 1
        test = selector.source if boolean else f"{selector.within(5)} == {branch}"
        printer.line("else:" if last else f"{'if' if k == 0 else 'elif'} {test}:", None if k else step)
        body = step.body.bodies[branch]
        if not printer.indented(functools.partial(_print_body, printer, body, step.outs)) and last:
            del printer.lines[-2:]
