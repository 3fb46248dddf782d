"""Expressions: the text of what one step computes at one point."""
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.graph import Atom, Equation, Literal, Var
from ...ir.types import BOOL, INT, ufunc_dtypes
from ..schedule.indexmap import Axis, Elem, Index, Position
from ..schedule.loop_ir import BackendError, Step
from ..schedule.numbers import as_operand, converted, dtype_name, literal, wraps
from ..text.templates import PRODUCT, SIGN, SUM, ExprText, Template, template

_KINDS = "buifc"


class _Typed:
    """An atom as NumPy's promotion looks at it."""

    def __init__(self, atom: Atom):
        self.atom = atom


class Expressions:
    """Writes expressions; `scalar(var)` gives the text of a value in a register, `element(elem)` of one in an array."""

    def __init__(self, scalar: Callable, element: Callable, axis: Callable):
        self.scalar, self.element, self.axis = scalar, element, axis

    # -- operands ----------------------------------------------------------------------------------

    def operand(self, operand: Any, dtype: "np.dtype | None" = None) -> ExprText:
        """An operand, in the dtype of the loop that reads it."""
        if isinstance(operand, Literal):
            return literal(operand.value, dtype or operand.type.dtype)
        if isinstance(operand, Position):
            text = self.index(operand.index)
            text = text if operand.dtype == INT else converted(text, INT, operand.dtype)
            return as_operand(text, operand.dtype, dtype or operand.dtype)
        text = self.element(operand)
        return as_operand(text, operand.var.type.dtype, dtype or operand.var.type.dtype)

    def exactly(self, operand: object, dtype: np.dtype) -> ExprText:
        """An operand in just this dtype, where no arithmetic would bring it to that."""
        return (
            literal(operand.value, dtype)
            if isinstance(operand, Literal)
            else converted(self.operand(operand), _dtype_of(operand), dtype)
        )

    def index(self, index: Index) -> ExprText:
        """A subscript: the loop's index first, then the rest."""
        parts = [(self._symbol(s), c) for s, c in index.terms]
        parts.sort(key=lambda part: part[1] < 0)
        text = ""
        for source, c in parts:
            size = (
                source.within(SIGN if c < 0 and not text else SUM + (c < 0))
                if abs(c) == 1
                else f"{abs(c)} * {source.within(PRODUCT + 1)}"
            )
            text += (size if c > 0 else "-" + size) if not text else f" {'+' if c > 0 else '-'} {size}"
        if not text:
            return literal(index.const)
        if index.const:
            text += f" {'+' if index.const > 0 else '-'} {abs(index.const)}"
        if len(parts) == 1 and not index.const:
            return ExprText(text, parts[0][0].binds if parts[0][1] == 1 else SIGN if parts[0][1] == -1 else PRODUCT)
        return ExprText(text, SUM)

    def _symbol(self, s: object) -> ExprText:
        if isinstance(s, Axis):
            return ExprText(self.axis(s))
        if isinstance(s, Var):
            return self.scalar(s)
        return self.element(s)

    # -- steps -------------------------------------------------------------------------------------

    def value(self, step: Step) -> ExprText:
        """The expression that the step computes, in its result's dtype."""
        eqn, dtype = step.eqn, step.out.type.dtype
        if eqn is None or eqn.op.kind != "elementwise":
            return self._moved(step, dtype)
        if eqn.op.name == "cast":
            return self.exactly(step.args[0], dtype)
        return self._elementwise(eqn, step, dtype)

    def _moved(self, step: Step, dtype: np.dtype) -> ExprText:
        if step.eqn is not None and step.eqn.op.name == "contract":
            x, y = (self.operand(a, dtype) for a in step.args)
            product = template("{0} & {1}" if dtype == BOOL else "{0} * {1}").fill([x, y])
            return ExprText(f"{dtype_name(dtype)}({product.source})") if wraps(dtype) else product
        return self.exactly(step.args[0], dtype)

    def _elementwise(self, eqn: Equation, step: Step, dtype: np.dtype) -> ExprText:
        dtypes = loop_dtypes(eqn)
        if eqn.op.traits.comparison is not None and not all(_fits(a, d) for a, d in zip(step.args, dtypes)):
            return literal(
                bool(eqn.op.run(*[a.value if isinstance(a, Literal) else d.type(0) for a, d in zip(step.args, dtypes)]))
            )
        chosen = template_of(eqn, dtypes)
        args = [self.operand(a, d) for a, d in zip(step.args, dtypes)]
        text = chosen.fill(args)
        return ExprText(f"{dtype_name(dtype)}({text.source})") if wraps(dtype) else text


def loop_dtypes(eqn: Equation) -> tuple:
    """The dtypes in which the op reads its operands."""
    ufunc = eqn.op.facts.get("ufunc") or eqn.op.facts.get("scipy", lambda: None)()
    if ufunc is not None:
        return ufunc_dtypes(ufunc, *[a.value if isinstance(a, Literal) else _Typed(a) for a in eqn.inputs])[
            : len(eqn.inputs)
        ]
    out = eqn.outputs[0].type.dtype
    return tuple([out if _follows(a, out) else a.type.dtype for a in eqn.inputs])


def _follows(atom: Atom, out: np.dtype) -> bool:
    """Whether an operand of an op that is no ufunc is read in the result's dtype: a Python number that loses nothing by
    it, and a float with floats.
    """
    kind = atom.type.dtype.kind
    if BOOL in (atom.type.dtype, out) or kind + out.kind != "iu" and _KINDS.index(kind) > _KINDS.index(out.kind):
        return False
    return isinstance(atom, Literal) or atom.type.weak or kind == out.kind == "f"


def template_of(eqn: Equation, dtypes: tuple) -> Template:
    """The text of the op for these dtypes."""
    name, text, traits = eqn.op.name, eqn.op.text, eqn.op.traits
    if text is None:
        raise BackendError(f"no text for {name}")
    if all(d == BOOL for d in dtypes):
        if traits.bool_text is None and eqn.op.facts.get("ufunc") is not None:
            raise BackendError(f"no text for {name} of bools")
        text = traits.bool_text or text
    if dtypes[0].kind == "c":
        if traits.comparison is not None and traits.comparison.is_order:
            raise BackendError("no compiled order of complex numbers")
        text = traits.complex_text or text
    if name == "pow":
        text = _power(eqn, dtypes) or text
    if name == "square" and dtypes[0].kind in "fc" and dtypes[0].itemsize >= 8:
        text = "{0} ** 2"
    if name in ("floordiv", "mod") and dtypes[0] == INT and _is_positive(eqn.inputs[1]):
        text = "{0} // {1}" if name == "floordiv" else "{0} % {1}"
    if name in ("left_shift", "right_shift") and _is_few_bits(eqn.inputs[1], dtypes[0]):
        text = "{0} << {1}" if name == "left_shift" else "{0} >> {1}"
    return template(text)


def _power(eqn: Equation, dtypes: tuple) -> "str | None":
    """A small constant exponent is multiplications, a half a root."""
    p = eqn.inputs[1]
    if (
        not isinstance(p, Literal)
        or dtypes[0].kind not in "fc"
        or isinstance(p.value, complex)
        or eqn.inputs[0].type.dtype != dtypes[0]
    ):
        return None  # (of an int or a float32 that is read in double precision, Numba's own root is not)
    if p.value == 0.5 and dtypes[0].kind == "f":
        return "sqrt({0})"
    if p.value == int(p.value) and 2 <= p.value <= 4 and dtypes[0] in (np.float64, np.complex128):
        return "{0} ** " + str(int(p.value))
    return None


def _is_positive(atom: Atom) -> bool:
    return isinstance(atom, Literal) and atom.value > 0


def _fits(operand: object, dtype: np.dtype) -> bool:
    """Whether an operand, if it is a number, is one of this dtype: NumPy compares its integers with all of Python's."""
    return (
        not isinstance(operand, Literal)
        or dtype.kind not in "iu"
        or np.iinfo(dtype).min <= operand.value <= np.iinfo(dtype).max
    )


def _is_few_bits(atom: Atom, dtype: np.dtype) -> bool:
    return isinstance(atom, Literal) and 0 <= atom.value < 8 * dtype.itemsize


def _dtype_of(operand: Any) -> np.dtype:
    if isinstance(operand, Elem):
        return operand.var.type.dtype
    return operand.dtype if isinstance(operand, Position) else operand.type.dtype
