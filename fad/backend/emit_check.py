"""Printing checks: a condition, and the error that is raised where it does not hold."""

from .loop_ir import Step
from .printer import Printer
from .templates import SUM


def print_check(printer: Printer, step: Step) -> None:
    if step.eqn.op.name == "check_room":
        printer.line(f"if not room_for({printer.expressions.operand(step.args[0]).source}):", step)
        printer.indented(
            lambda: printer.line("raise MemoryError('what a loop saves for its reverse sweep does not fit in memory')")
        )
        return
    a, b = (printer.expressions.operand(x).within(SUM) for x in step.args)
    where = step.eqn.where.text if step.eqn.where is not None else ""
    if step.eqn.op.name == "check_index":
        printer.line(f"if {a} < -{b} or {a} >= {b}:" if " " not in b else f"if {a} < -({b}) or {a} >= {b}:", step)
        error, message = "IndexError", f"index out of range along axis {step.eqn.params['axis']}"
    else:
        printer.line(f"if {a} != {b}:", step)
        error, message = "ValueError", f"{step.eqn.params['what']} differ"
        if step.eqn.op.name == "check_that":
            error, message = step.eqn.params.get("error", "AssertionError"), step.eqn.params["what"]
    printer.indented(lambda: printer.line(f"raise {error}({message + (f': {where}' if where else '')!r})"))
