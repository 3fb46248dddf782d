"""factor_sums: a sum moves into the linear operation in front of it, which then runs once and not for each term.

    sum over n of (W x_n)   =   W (sum over n of x_n)            the distributive law

The cotangent of something that all points share is such a sum: each point's cotangent goes through the transposed map,
and the results are added up. The pass walks from a sum through negations, transpositions and products with a number to
a contraction. If one operand alone has an axis of the sum, it is summed in that operand. An axis that both operands
have becomes one that the contraction sums over. Numbers of the program and signs that all terms of another sum share go
behind it, from within products, too: the sum of -(w (2 d)) is -2 times that of w d.
"""
from collections import Counter
from typing import Any

from ..ir.graph import Atom, Equation, Func, Literal, Var
from ..ir.op import registry
from ..ir.types import Type
from ..ir.uses import use_counts
from .dce import dce
from .rewrite import Scope, rewrite


def factor_sums(func: Func) -> Func:
    """The Func in which a sum of contractions is a contraction of sums, if nobody else needs the terms.

        y = contract(W, x, ij,nj->ni); s = sum(neg(y), n)   ->   s = neg(contract(W, sum(x, n), ij,j->i))
        s = sum(neg(mul(w, mul(2.0, d))), n)                ->   s = neg(mul(2.0, sum(mul(w, d), n)))
    """
    if not _has_sum(func):
        return func
    func = dce(func)
    uses = use_counts(func)
    new = rewrite(func, lambda eqn, scope: _factored(eqn, scope, uses) if eqn.op.name == "sum" else None)
    return dce(new)


def _has_sum(func: Func) -> bool:
    return any(eqn.op.name == "sum" or any(map(_has_sum, eqn.regions)) for eqn in func.equations)


def _factored(eqn: Equation, scope: Scope, uses: Counter) -> "list | None":
    x, axes = eqn.inputs[0], eqn.params["axes"]
    if eqn.outputs[0].type.dtype.kind not in "fc":
        return None
    if _ends_in_contraction(x, scope, uses):
        return [_sum(x, axes, scope, uses, eqn.where)]
    y, numbers = _without_numbers(x, scope, uses)
    if not numbers or eqn.outputs[0].type.dtype != y.type.dtype:
        return None
    total = scope.emit(eqn.op, (y,), eqn.outputs[0].type, eqn.params, eqn.where)
    for made, k in numbers:
        inputs = [total if j == k else a for j, a in enumerate(made.inputs)]
        total = scope.emit(made.op, inputs, eqn.outputs[0].type, made.params, made.where)
    return [total]


def _without_numbers(x: Atom, scope: Scope, uses: Counter) -> tuple:
    """x without the signs and the numbers of the program that all its elements are multiplied with, and the operations
    that multiply: (equation, operand) each.
    """
    made = _maker(x, scope, uses)
    if made is None or made.op.name not in ("neg", "mul") or any(a.type.dtype != x.type.dtype for a in made.inputs):
        return x, []
    k = _passed(made)
    if k is not None and (made.op.name == "neg" or isinstance(made.inputs[1 - k], Literal)):
        y, numbers = _without_numbers(made.inputs[k], scope, uses)
        return (y, [*numbers, (made, k)]) if y.type.shape == x.type.shape else (x, [])
    found = [_without_numbers(a, scope, uses) for a in made.inputs]
    numbers = [number for _, numbers in found for number in numbers]
    if not numbers:
        return x, []
    return scope.emit(made.op, [y for y, _ in found], x.type, made.params, made.where), numbers


def _maker(x: Atom, scope: Scope, uses: Counter) -> "Equation | None":
    """The equation of this level that made x for one reader."""
    made = scope.made_for_one(x, uses)
    return None if made is None or made.regions or len(made.outputs) != 1 else made


def _ends_in_contraction(x: Atom, scope: Scope, uses: Counter) -> bool:
    made = _maker(x, scope, uses)
    while made is not None and made.op.name != "contract":
        k = _passed(made)
        made = None if k is None else _maker(made.inputs[k], scope, uses)
    return made is not None


def _passed(made: Equation) -> "int | None":
    """The operand of an operation that a sum may move in front of; None if it may not."""
    return 0 if made.op.name == "transpose" else scaled_operand(made)


def scaled_operand(made: Equation) -> "int | None":
    """The operand whose elements an operation all multiplies with one number, or with -1; None if it has none."""
    if made.op.name == "neg":
        return 0
    return next((k for k in (0, 1) if scales(made, k)), None) if made.op.name == "mul" else None


def scales(made: Equation, k: int) -> bool:
    """Whether a product has an array as its k-th operand, and a number as the other."""
    array, number = made.inputs[k], made.inputs[1 - k]
    return bool(array.type.shape and not number.type.shape and array.type.dtype == made.outputs[0].type.dtype)


def _sum(x: Atom, axes: tuple, scope: Scope, uses: Counter, where: object) -> Any:
    """The sum of x over axes, behind as few operations as possible."""
    if not axes:
        return x
    made = _maker(x, scope, uses)
    kept = tuple([n for k, n in enumerate(x.type.shape) if k not in axes])
    if made is not None and made.op.name == "contract":
        return _contraction(made, axes, kept, scope, uses)
    k = None if made is None or not _ends_in_contraction(x, scope, uses) else _passed(made)
    if made is None or k is None:
        return scope.emit(registry["sum"], (x,), Type(x.type.dtype, kept), {"axes": axes}, where)
    inputs, params = list(made.inputs), made.params
    if made.op.name == "transpose":
        order = params["axes"]
        inner = tuple(sorted(order[a] for a in axes))
        left = [a for a in range(len(order)) if a not in inner]
        params = {"axes": tuple([left.index(order[a]) for a in range(len(order)) if a not in axes])}
    else:
        inner = axes
    inputs[k] = _sum(inputs[k], inner, scope, uses, where)
    if made.op.name == "transpose" and len(kept) < 2:
        return inputs[k]
    return scope.emit(made.op, inputs, Type(x.type.dtype, kept), params, made.where)


def _contraction(made: Equation, axes: tuple, kept: tuple, scope: Scope, uses: Counter) -> Var:
    *operands, out = made.params["labels"]
    gone = {out[a] for a in axes}
    inputs = list(made.inputs)
    for k, letters in enumerate(operands):
        own = tuple([a for a, c in enumerate(letters) if c in gone and c not in operands[1 - k]])
        if isinstance(inputs[k], Literal) or not own:
            continue
        inputs[k] = _sum(inputs[k], own, scope, uses, made.where)
        operands[k] = "".join(c for a, c in enumerate(letters) if a not in own)
    labels = (*operands, "".join(c for c in out if c not in gone))
    return scope.emit(made.op, inputs, Type(made.outputs[0].type.dtype, kept), {"labels": labels}, made.where)


__all__ = ["factor_sums"]
