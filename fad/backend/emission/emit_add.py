"""Printing steps that add to an element: as a sum of free order, two terms for one element as one line."""
import re

from ..schedule.indexmap import Elem
from ..schedule.loop_ir import Step
from ..text.templates import ExprText, bare, is_negative, sum_of
from .printer import Added, Printer

LINE = 90                                   # an expression longer than this gets a name
NUMBER = re.compile(r"(?<=[A-Za-z])_\d+\b")  # of names: equal code is to have equal text


def adds_to(printer: Printer, step: Step, target: str, value: str) -> bool:
    """Whether the step adds one term to its own target, which is then a sum of free order (see sums.py)."""
    if (
        step.eqn is None
        or step.eqn.op.name not in ("add", "sub")
        or step.out.type.dtype.kind not in "fc"
        or not isinstance(step.args[0], Elem)
    ):
        return False
    return printer.expressions.operand(step.args[0]).source == target and value.startswith(
        (f"{target} + ", f"{target} - ")
    )


def print_add(printer: Printer, step: Step) -> None:
    value, target, place = printer.expressions.value(step), printer.target(step), printer.place
    before = printer.added
    if (
        before is not None
        and before[:3] == (len(printer.lines), printer.indent, target)
        and _may_join(printer, before, step, value)
    ):
        del printer.lines[-1]
        step, value, printer.place = before.step, sum_of(before.value, value), before.place
        place = printer.place
    printer.line(
        f"{target} -= {bare(value.source[1:])}" if is_negative(value) else f"{target} += {value.source}", step
    )
    printer.added = Added(len(printer.lines), printer.indent, target, value, step, place)


def _may_join(printer: Printer, before: Added, step: Step, value: ExprText) -> bool:
    """Whether the step's term and the term of the line before, which go to the same element, may be added together
    and stored once.
    """
    root = printer.storage.root(step.out)
    return (
        root not in printer.held
        and root not in printer.reads(step)
        and len(NUMBER.sub("", before.value.source + value.source)) <= LINE
    )
