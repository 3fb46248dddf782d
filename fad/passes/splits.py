"""splits: a product that is split along an axis is split before, so that it is never laid out flat.

A reshape needs the whole array in memory. The parts of a product can be computed with the product, block by block. So
an axis of few elements is split in the operand, and one that was merged in the operand is not merged at all.
"""
import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ..ir.graph import Atom, Equation, Func, Var
from ..ir.op import registry
from ..ir.types import Type
from ..ir.uses import use_counts
from ..ops.contract import new_letters
from ..ops.kinds import same_extent
from .dce import dce
from .rewrite import Scope, as_atom, rewrite

FEW = 16  # elements of an axis that is split or summed over, products of an element; more are one call of BLAS


def split_early(func: Func) -> Func:
    """The Func with a reshape of an operand, or none, in place of a reshape of the product.

        y = reshape(contract(W, T, vb,bk->vk), n, 3, 4)   ->   y = contract(W, reshape(T, m, 3, 4), vb,bxy->vxy)

        q = reshape(Q, k d, d); y = reshape(contract(x, q, nj,mj->nm), n, k, d)   ->   y = contract(x, Q, nj,kij->nki)

    The same where the product is transposed in between, as in the derivatives of the latter.
    """
    if not any(eqn.op.name == "reshape" for eqn in func.equations):
        return func
    uses = use_counts(func)
    return dce(rewrite(func, lambda eqn, scope: _split(eqn, scope, uses) if eqn.op.name == "reshape" else None))


def _split(eqn: Equation, scope: Scope, uses: Counter) -> "list | None":
    made = _product(eqn.inputs[0], scope, uses)
    if made is None:
        return None
    for axis, parts in _split_axes(eqn.inputs[0].type.shape, eqn.outputs[0].type.shape):
        *operands, out = made.params["labels"]
        owners = [k for k, letters in enumerate(operands) if out[axis] in letters]
        found = _operand(made, owners[0], out[axis], parts, scope) if len(owners) == 1 else None
        if found is not None:
            inputs, labels = list(made.inputs), list(made.params["labels"])
            inputs[owners[0]], labels[owners[0]], new = found
            labels[2] = out.replace(out[axis], new)
            return [scope.emit(made.op, inputs, eqn.outputs[0].type, {"labels": tuple(labels)}, made.where)]
    return None


def _product(x: Atom, scope: Scope, uses: Counter) -> "Equation | None":
    """The product that a variable is, or is the transpose of, with the labels for it. Nobody else reads it."""
    made = scope.made_for_one(x, uses)
    if made is not None and made.op.name == "transpose":
        inner = _product(made.inputs[0], scope, uses)
        if inner is None:
            return None
        *operands, out = inner.params["labels"]
        return inner.replace(params={"labels": (*operands, "".join([out[k] for k in made.params["axes"]]))})
    return made if made is not None and made.op.name == "contract" else None


def _split_axes(before: tuple, after: tuple) -> Iterator[tuple]:
    """An axis that may have become several axes, and their extents, while the others stayed.

    >>> list(_split_axes((22, 12), (22, 3, 4)))
    [(1, (3, 4))]
    """
    more = len(after) - len(before)
    for axis in range(len(before)) if more > 0 else ():
        parts = after[axis:axis + more + 1]
        others = [*zip(before[:axis], after), *zip(before[axis + 1:], after[axis + more + 1:])]
        if all(same_extent(m, n) for m, n in others) and not any(same_extent(m, 1) for m in parts):
            yield axis, parts


def _operand(made: Equation, k: int, letter: str, parts: tuple, scope: Scope) -> "tuple | None":
    """The k-th operand of a product with an axis split into these parts, its labels, and the parts' letters."""
    x, letters = made.inputs[k], made.params["labels"][k]
    new = new_letters(len(parts), "".join(made.params["labels"]))
    axis = letters.index(letter)
    if _is_short(x.type.shape[axis], parts):
        return _reshaped(scope, x, axis, parts, made.where), letters.replace(letter, new), new
    found = _before_merging(x, letters, letter, parts, new, scope)
    labels = made.params["labels"]
    pays = found is not None and (
        _are_few(made, 0, labels[2])                             # each element of the product sums few terms
        or _is_computed(found[0], scope) and _are_few(made, 1 - k, labels[k]))   # few products read one of x
    return found if pays else None


def _is_short(n: int, parts: tuple) -> bool:
    return isinstance(n, int) and 1 < n <= FEW and all(isinstance(m, int) for m in parts)


def _is_computed(x: object, scope: Scope) -> bool:
    """Whether an array is made element by element: a pass over its rows has those of a block at hand."""
    made = scope.made_by.get(x) if isinstance(x, Var) else None
    return made is not None and made.op.kind == "elementwise"


def _are_few(made: Equation, k: int, without: str) -> bool:
    """Whether the axes of the k-th operand without these have few elements together, as far as sizes are known."""
    shape, letters = made.inputs[k].type.shape, made.params["labels"][k]
    extents = [n if isinstance(n, int) else n.hint for n, c in zip(shape, letters) if c not in without]
    return None not in extents and math.prod(extents) <= FEW


def _before_merging(x: Any, letters: str, letter: str, parts: tuple, new: str, scope: Scope) -> "tuple | None":
    """The operand before these parts became its axis, its labels, and the parts' letters."""
    made = scope.made_by.get(x) if isinstance(x, Var) else None
    if made is not None and made.op.name == "transpose":
        axes = made.params["axes"]
        order = "".join([letters[axes.index(k)] for k in range(len(axes))])
        return _before_merging(made.inputs[0], order, letter, parts, new, scope)
    if made is None or made.op.name != "reshape":
        return None
    whole, axis = made.inputs[0], letters.index(letter)
    for k, others in _split_axes(x.type.shape, whole.type.shape):
        if k == axis and all(same_extent(m, n) for m, n in zip(others, parts)):
            return whole, letters.replace(letter, new), new
    return None


def _reshaped(scope: Scope, x: Var, axis: int, parts: tuple, where: object) -> Var:
    shape = (*x.type.shape[:axis], *parts, *x.type.shape[axis + 1:])
    return scope.emit(registry["reshape"], (x, *map(as_atom, shape)), Type(x.type.dtype, shape), {}, where)
