"""common_factors: the sum of two products with one factor is one product with a sum.

    X A + X Bᵀ   =   X (A + Bᵀ)

The gradient of X Xᵀ is such a sum, and so is that of a quadratic form. The pass looks for an addition of two
contractions which nobody else reads. It adds before it multiplies where that is less work.
"""
import math
from collections import Counter

from ..ir.graph import Atom, Equation, Func, Literal, Var
from ..ir.op import registry
from ..ir.types import Type
from ..ir.uses import use_counts
from .dce import dce
from .rewrite import Scope, rewrite

LESS = 8                                                     # multiplications for each element that is added


def common_factors(func: Func) -> Func:
    """The Func in which two products with one factor that are added are one product.

        y = contract(X, A, ij,jk->ik); z = contract(X, B, ij,kj->ik); s = add(y, z)
            ->   s = contract(X, add(A, transpose(B)), ij,jk->ik)
    """
    if sum(eqn.op.name == "contract" for eqn in func.equations) < 2:
        return func
    uses = use_counts(func)
    new = rewrite(func, lambda eqn, scope: _joined(eqn, scope, uses) if eqn.op.name == "add" else None)
    return func if new is func else dce(new)


def _joined(eqn: Equation, scope: Scope, uses: Counter) -> "list | None":
    one, other = (_product(a, scope, uses) for a in eqn.inputs)
    if one is None or other is None:
        return None
    t = eqn.outputs[0].type
    if any(v.type.dtype != t.dtype or len(v.type.shape) != len(t.shape) for v in (*one.outputs, *other.outputs)):
        return None
    for k, j in ((k, j) for k in range(2) for j in range(2)):
        order = _order(one, k, other, j)
        if order is not None and _is_less_work(one, k) and _are_alike(one.inputs[1 - k], other.inputs[1 - j], t):
            inputs = list(one.inputs)
            inputs[1 - k] = _sum(one.inputs[1 - k], other.inputs[1 - j], order, scope, eqn.where)
            return [scope.emit(one.op, inputs, t, one.params, one.where)]
    return None


def _product(x: Atom, scope: Scope, uses: Counter) -> "Equation | None":
    """The contraction, of this level and for one reader, that x is the result of, or the transpose; of operands that
    are not transposed.
    """
    made = scope.made_for_one(x, uses)
    if made is None or made.op.name not in ("contract", "transpose"):
        return None
    if made.op.name == "contract":
        (x, a), (y, b) = (_straight(v, word, scope) for v, word in zip(made.inputs, made.params["labels"]))
        return made.replace(inputs=(x, y), params={**made.params, "labels": (a, b, made.params["labels"][2])})
    inner = _product(made.inputs[0], scope, uses)
    if inner is None:
        return None
    a, b, out = inner.params["labels"]
    labels = (a, b, "".join([out[k] for k in made.params["axes"]]))
    return inner.replace(outputs=made.outputs, params={**inner.params, "labels": labels})


def _straight(x: Atom, letters: str, scope: Scope) -> tuple:
    """The matrix that x is the transpose of, if it is one, and its labels."""
    made = scope.producer(x) if isinstance(x, Var) else None
    if made is None or made.op.name != "transpose":
        return x, letters
    axes = made.params["axes"]
    return _straight(made.inputs[0], "".join([letters[axes.index(k)] for k in range(len(axes))]), scope)


def _are_alike(a: Atom, b: Atom, t: Type) -> bool:
    return not isinstance(a, Literal) and not isinstance(b, Literal) and a.type.dtype == b.type.dtype == t.dtype


def _order(one: Equation, k: int, other: Equation, j: int) -> "tuple | None":
    """The axes of the other product's second factor that stand for the axes of this one's, if the k-th operand of the
    one and the j-th of the other are the same factor.
    """
    if one.inputs[k] is not other.inputs[j]:
        return None
    mine, theirs = one.params["labels"], other.params["labels"]
    renamed: dict[str, str] = {}
    for a, b in (*zip(theirs[2], mine[2]), *zip(theirs[j], mine[k])):
        if renamed.setdefault(a, b) != b:
            return None
    letters = [renamed.get(c) for c in theirs[1 - j]]
    if len(set(renamed.values())) < len(renamed) or sorted(map(str, letters)) != sorted(mine[1 - k]):
        return None
    return tuple([letters.index(c) for c in mine[1 - k]])


def _is_less_work(made: Equation, k: int) -> bool:
    """Whether each element of the second factor takes part in many multiplications, as far as sizes are known."""
    letters = made.params["labels"]
    sizes = [n if isinstance(n, int) else n.hint or 1
             for c, n in zip(letters[k], made.inputs[k].type.shape) if c not in letters[1 - k]]
    return math.prod(sizes) >= LESS


def _sum(a: Atom, b: Atom, order: tuple, scope: Scope, where: object) -> Var:
    if order != tuple(range(len(order))):
        shape = tuple([b.type.shape[k] for k in order])
        b = scope.emit(registry["transpose"], (b,), Type(b.type.dtype, shape), {"axes": order}, where)
    return scope.emit(registry["add"], (a, b), Type(a.type.dtype, a.type.shape), {}, where)
