"""merge_axes: contractions of stacks become products of two matrices.

Axes that stand side by side wherever they stand are one axis in memory. BLAS multiplies the two matrices that are left
several times faster than a nest of loops does. Small products stay: a nest may hold what is done with the elements.
"""
import math
from typing import Any

from ..ir.graph import Equation, Func, traced_value
from ..ir.op import registry
from ..ir.types import INT, Type
from .rewrite import Scope, as_atom, rewrite

LEAST = 32                                                   # elements of each axis of the matrices


def merge_axes(func: Func) -> Func:
    """The Func with products of matrices in place of contractions with axes that can be merged.

        y = contract(A, C, ijk,kl->ijl)   ->   t = contract(reshape(A, n m, p), C, ak,kl->al); y = reshape(t, n, m, q)
    """
    return rewrite(func, lambda eqn, scope: _merged(eqn, scope) if eqn.op.name == "contract" else None)


def _merged(eqn: Equation, scope: Scope) -> "list | None":
    words, out = eqn.params["labels"], eqn.outputs[0].type
    groups = side_by_side(words)
    sizes = {c: n for x, word in zip(eqn.inputs, words) for c, n in zip(word, x.type.shape)}
    if max(map(len, groups), default=1) == 1 or not _are_matrices(words, groups):
        return None
    if not all(_is_large(g, sizes) for g in groups):
        return None
    if out.dtype.kind not in "fc" or any(x.type.dtype != out.dtype for x in eqn.inputs):
        return None
    merged = {g[0]: _product([sizes[c] for c in g], scope, eqn.where) for g in groups}
    labels = tuple(["".join([c for c in word if c in merged]) for word in words])
    *inputs, shape = [tuple([merged[c] for c in word]) for word in labels]
    flat = [_reshaped(x, given, scope, eqn.where) for x, given in zip(eqn.inputs, inputs)]
    y = scope.emit(eqn.op, flat, Type(out.dtype, shape), {"labels": labels}, eqn.where)
    return [_reshaped(y, out.shape, scope, eqn.where)]


def side_by_side(words: tuple) -> list:
    """The letters in groups that stand side by side, in one order, in each word that has one of them.

    >>> side_by_side(("ijk", "kl", "ijl")), side_by_side(("ijk", "jil", "kl"))
    (['ij', 'k', 'l'], ['i', 'j', 'k', 'l'])
    """
    groups: list[str] = []
    for c in dict.fromkeys("".join(words)):
        with_c = groups[-1] + c if groups else c
        if groups and all(with_c in word or not set(with_c) & set(word) for word in words):
            groups[-1] = with_c
        else:
            groups.append(c)
    return groups


def _are_matrices(words: tuple, groups: list) -> bool:
    """Whether each operand and the result have two groups, and no group is in all of them."""
    return len(groups) == 3 and all(sum(g in word for word in words) == 2 for g in groups)


def _is_large(group: str, sizes: dict) -> bool:
    """Whether the merged axis is long, as far as is known."""
    known = [n for c in group if (n := traced_value(sizes[c])) is not None]
    return len(known) == len(group) and math.prod(known) >= LEAST


def _product(extents: list, scope: Scope, where: object) -> Any:
    first, *others = extents
    for n in others:
        first = first * n if isinstance(first, int) and isinstance(n, int) else scope.emit(
            registry["mul"], (as_atom(first), as_atom(n)), Type(INT, ()), {}, where)
    return first


def _reshaped(x: Any, shape: tuple, scope: Scope, where: Any) -> Any:
    if len(shape) == len(x.type.shape):
        return x
    return scope.emit(registry["reshape"], (x, *map(as_atom, shape)), Type(x.type.dtype, shape), {}, where)
