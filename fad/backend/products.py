"""Matrix products of size, which BLAS does: both operands have rows and columns of their own, and none of them is small."""
from typing import Any

from ..ir.graph import Equation, Literal, Var
from .indexmap import Axis, Elem, Index
from .steps import Step

SMALL = 24                                  # up to here a loop in the nest is as fast, and may be fused


def is_matrix_product(eqn: Equation) -> bool:
    """Whether the contraction is a product of two matrices that is worth a call."""
    a, b, out = eqn.params["labels"]
    if not (len(a) == len(b) == len(out) == 2) or set(out) <= set(a) or set(out) <= set(b):
        return False
    if any(isinstance(x, Literal) for x in eqn.inputs) or eqn.outputs[0].type.dtype.kind not in "fc":
        return False
    if any(x.type.dtype != eqn.outputs[0].type.dtype for x in eqn.inputs):
        return False
    return all(_size(n) > SMALL for x in eqn.inputs for n in x.type.shape)


def _size(n: Any) -> int:
    if isinstance(n, int):
        return n
    return n.hint if isinstance(n, Var) and n.hint is not None else 1 << 20


def matrix_product(lowering: Any, eqn: Equation) -> list:
    """The step that calls BLAS; its text is left, right with the transpositions that the labels ask for."""
    a, b, out = eqn.params["labels"]
    before, operands = [], []
    for x, letters in zip(eqn.inputs, (a, b)):
        var, turned = _stored(lowering, x)
        if var is None:
            if x in lowering.views.read:
                before.append(lowering.copy(x))
            var, turned = x, False
        operands.append((var, letters[::-1] if turned else letters))
    if out[0] in b:
        operands.reverse()
    (x, left), (y, right) = operands
    summed = next(c for c in left if c in right)
    turns = (left[1] != summed, right[0] != summed)
    lowering.storage.own(eqn.outputs[0])
    return [*before, Step("call", eqn, eqn.outputs[0], arrays=(x, y), along=turns)]


def _stored(lowering: Any, x: Var) -> tuple:
    """The array that x is, or is the transpose of, and which of the two."""
    i, j = Axis(None), Axis(None)
    found = lowering.views.locate(x, (Index(((i, 1),)), Index(((j, 1),))))
    if isinstance(found, Elem) and len(found.at) == 2:
        if found.at == (Index(((i, 1),)), Index(((j, 1),))):
            return found.var, False
        if found.at == (Index(((j, 1),)), Index(((i, 1),))):
            return found.var, True
    return None, False
