"""splits: a product that is split along a short axis is split before, so that it is never laid out flat.

A reshape needs the whole array in memory. The parts of a product can be computed with the product, block by block.
"""
from collections import Counter
from typing import Any

from ..ir.graph import Equation, Func, Var
from ..ir.op import registry
from ..ir.types import Type
from ..ir.uses import use_counts
from ..ops.contract import new_letters
from ..ops.kinds import same_extent
from .dce import dce
from .rewrite import Scope, as_atom, rewrite

FEW = 16  # elements of the axis; a larger product is one call of BLAS


def split_early(func: Func) -> Func:
    """The Func with a reshape of an operand in place of a reshape of the product, where it splits one short axis.

        y = reshape(contract(W, T, vb,bk->vk), n, 3, 4)   ->   y = contract(W, reshape(T, m, 3, 4), vb,bxy->vxy)
    """
    if not any(eqn.op.name == "reshape" for eqn in func.equations):
        return func
    uses = use_counts(func)
    return dce(rewrite(func, lambda eqn, scope: _split(eqn, scope, uses) if eqn.op.name == "reshape" else None))


def _split(eqn: Equation, scope: Scope, uses: Counter) -> "list | None":
    x = eqn.inputs[0]
    made = scope.made_by.get(x) if isinstance(x, Var) and uses[x] == 1 else None
    if made is None or made.op.name != "contract":
        return None
    axis, parts = split_axis(x.type.shape, eqn.outputs[0].type.shape)
    *operands, out = made.params["labels"]
    owners = [k for k, letters in enumerate(operands) if axis is not None and out[axis] in letters]
    if len(owners) != 1:
        return None
    k, letter = owners[0], out[axis]
    new = new_letters(len(parts), "".join(made.params["labels"]))
    labels = tuple([word.replace(letter, new) for word in made.params["labels"]])
    inputs = list(made.inputs)
    inputs[k] = _reshaped(scope, inputs[k], operands[k].index(letter), parts, eqn.where)
    return [scope.emit(made.op, inputs, eqn.outputs[0].type, {"labels": labels}, made.where)]


def split_axis(before: tuple, after: tuple) -> "tuple[int | None, tuple]":
    """The axis that becomes several axes of few elements in all, and their extents; None if the reshape does something
    else.

    >>> split_axis((22, 12), (22, 3, 4))
    (1, (3, 4))
    """
    more = len(after) - len(before)
    for axis, n in enumerate(before) if more > 0 else ():
        parts = after[axis:axis + more + 1]
        others = [*zip(before[:axis], after), *zip(before[axis + 1:], after[axis + more + 1:])]
        if (isinstance(n, int) and 1 < n <= FEW and all(isinstance(m, int) and m > 1 for m in parts)
                and all(same_extent(m, n) for m, n in others)):
            return axis, parts
    return None, ()


def _reshaped(scope: Scope, x: Any, axis: int, parts: tuple, where: Any) -> Any:
    shape = (*x.type.shape[:axis], *parts, *x.type.shape[axis + 1:])
    return scope.emit(registry["reshape"], (x, *map(as_atom, shape)), Type(x.type.dtype, shape), {}, where)
