"""fold: constant folding. Equations on numbers are computed now. One walk over the program."""
from typing import Any

import numpy as np

from ..ir import stack
from ..ir.graph import Equation, Func, Literal, is_branch
from ..util.array import ArrayOrNumber
from .rewrite import Scope, rewrite


def fold(func: Func) -> Func:
    """Scalar equations whose inputs are all numbers become numbers. A check of a number that holds goes. A branch on a
    number gives way to the side that it takes.

        a = mul(2.0, 3.0); b = add(x, a)   ->   b = add(x, 6.0)
    """
    return rewrite(func, _visit)


def _visit(eqn: Equation, scope: Scope) -> Any:
    if is_branch(eqn) and isinstance(eqn.inputs[0], Literal):
        taken = eqn.regions[int(eqn.inputs[0].value)]
        for inner in taken.equations:
            scope.add(inner)
        return taken.outputs
    if eqn.op.name == "check_that" and all(isinstance(a, Literal) for a in eqn.inputs):
        test, wanted = [bool(a.value) for a in eqn.inputs]
        return () if test == wanted else None
    if eqn.op.kind != "elementwise" or eqn.op.traits.barrier or not all(isinstance(a, Literal) for a in eqn.inputs):
        return None
    out = eqn.outputs[0]
    if len(eqn.outputs) != 1 or out.type.shape:
        return None
    with stack.concrete(), np.errstate(all="ignore"):
        value = eqn.op.run(*[a.value for a in eqn.inputs], **eqn.params)
    return (Literal(as_number(value, out.type), out.type),)


def as_number(value: ArrayOrNumber, t: Any) -> ArrayOrNumber:
    """The value as the type says: Python's number where it is weak, else NumPy's."""
    return np.asarray(value).item() if t.weak else t.dtype.type(value)
