"""Statements on whole arrays: creation, reshaping, matrix products, and the kernels of linear algebra and their like.
"""

from ...ir.graph import Atom, Literal
from ..schedule.loop_ir import BackendError, Step
from ..schedule.numbers import literal
from ..schedule.reductions import dtype_argument, filled
from ..text.templates import ATOM
from .printer import Printer


def fill_value(printer: Printer, step: Step) -> str:
    """The value that fills a new array; empty text for an array that is yet to be written."""
    if not step.args:
        return ""
    return printer.expressions.exactly(step.args[0], step.out.type.dtype).source


def fill_text(printer: Printer, step: Step, value: str) -> str:
    """A new array full of one number."""
    dtype = step.out.type.dtype
    if not value:
        return f"np.empty({printer.shape(step.out)}{dtype_argument(dtype)})"
    return filled(printer.shape(step.out), value, dtype)


def call_text(printer: Printer, step: Step) -> str:
    """The statement of a step that takes whole arrays."""
    if step.eqn is None:
        return f"{printer.name(step.out)} = {printer.name(step.arrays[0])}.copy()"
    name = step.eqn.op.name
    outs = ", ".join(printer.name(v, step) for v in step.outs)
    if name == "reshape":
        return f"{outs} = {_reshape(printer, step)}"
    if name == "contract":
        x, y = (printer.name(v) + (".T" if turned else "") for v, turned in zip(step.arrays, step.along))
        return f"{outs} = np.dot({x}, {y})"
    if name == "resize":
        return f"{outs} = resized({outs}, {printer.expressions.operand(step.args[0]).source})"
    return f"{outs} = {_kernel(printer, step)}" if outs else _kernel(printer, step)


def _reshape(printer: Printer, step: Step) -> str:
    extents = [printer.expressions.operand(a).source for a in step.args]
    name, root = printer.name(step.arrays[0]), printer.storage.root(step.arrays[0])
    given = f"np.ascontiguousarray({name})" if root in printer.inputs else name
    return f"{given}.reshape({extents[0] if len(extents) == 1 else '(' + ', '.join(extents) + ')'})"


def _kernel(printer: Printer, step: Step) -> str:
    facts = step.eqn.op.facts
    kernel = facts.get("kernel")
    if kernel is None:
        raise BackendError(f"no kernel for {step.eqn.op.name}")
    chosen = facts.get("kernel_inputs", range(len(step.eqn.inputs)))
    args = [_argument(printer, step.eqn.inputs[k]) for k in chosen]
    params = [repr(step.eqn.params[p]) for p in facts.get("kernel_params", ())]
    args = params + args if facts.get("params_lead") else args + params
    return f"{kernel}({', '.join(args)})"


def _argument(printer: Printer, atom: Atom) -> str:
    if isinstance(atom, Literal):
        return literal(atom.value, atom.type.dtype).source
    if atom.type.shape:
        return printer.name(atom)
    return printer.expressions.operand(printer.views.locate(atom)).within(ATOM)
