"""Texts of reductions and scans: the first value, and how one element joins the rest."""
import numpy as np

from ...ir.op import registry
from ..text.templates import ExprText, template
from .loop_ir import BackendError, Step
from .numbers import dtype_name, literal, wraps, zero


def dtype_argument(dtype: np.dtype) -> str:
    """The last argument of a NumPy function that makes an array."""
    return "" if dtype == np.float64 else f", {dtype_name(dtype)}"


def filled(shape: str, value: str, dtype: np.dtype) -> str:
    """The call that makes an array full of one number."""
    if value == zero(dtype):
        return f"np.zeros({shape}{dtype_argument(dtype)})"
    return f"np.full({shape}, {value}{dtype_argument(dtype)})"


def unit(step: Step) -> str:
    """The first value of a reduction."""
    dtype = step.out.type.dtype
    first = step.eqn.op.traits.reduction.identity(dtype)
    if first is None:
        raise BackendError(f"no start for {step.eqn.op.name} of {dtype}")
    return literal(first, dtype).source


def combine(step: Step) -> str:
    """The template that joins two results."""
    joins = registry[step.eqn.op.traits.reduction.by]
    return str(joins.traits.bool_text if step.out.type.dtype == np.bool_ else joins.text)


def combined(target: str, by: str, value: ExprText, dtype: np.dtype) -> str:
    """The statement that joins a value to the target, of this dtype."""
    if wraps(dtype) and by in ("{0} + {1}", "{0} * {1}"):    # in a register it would grow beyond its dtype
        return f"{target} = {dtype_name(dtype)}({template(by).fill([ExprText(target), value]).source})"
    if by in ("{0} + {1}", "{0} * {1}"):
        return f"{target} {by[4]}= {value.source}"
    return f"{target} = {template(by).fill([ExprText(target), value]).source}"


def with_carry(text: str, args: list, carry: ExprText) -> str:
    """A scan's text, with the result before in its place."""
    return template(text.replace("{c}", "{9}")).fill([*args, *[carry] * (10 - len(args))]).source
