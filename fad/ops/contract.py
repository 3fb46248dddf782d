"""Contraction: the sum of products over named axes. Every matrix product, dot, outer product and einsum of two arrays is one op.

contract(x, y, labels=("ij", "jk", "ik")): each axis has a letter; letters that are not in the result are summed over.
Within one operand the letters differ; a letter in one operand only must be in the result.
"""
from typing import Any

import numpy as np

from ..ir.op import Op
from ..ir.types import Type, result_dtype
from . import extents
from .kinds import Multilinear, conjugate, shape_of


def _run_contract(x: Any, y: Any, labels: tuple) -> Any:
    a, b, out = labels
    batch = [c for c in a if c in b and c in out]
    summed = [c for c in a if c in b and c not in out]
    left, right = [c for c in a if c not in b], [c for c in b if c not in a]
    x = np.transpose(x, [a.index(c) for c in batch + left + summed])
    y = np.transpose(y, [b.index(c) for c in batch + summed + right])
    size = {**dict(zip(batch + left + summed, x.shape)), **dict(zip(batch + summed + right, y.shape))}

    def extent(letters: list) -> int:
        return int(np.prod([size[c] for c in letters], dtype=int))
    lead = tuple(size[c] for c in batch)
    z = np.matmul(x.reshape(lead + (extent(left), extent(summed))), y.reshape(lead + (extent(summed), extent(right))))
    order = batch + left + right
    return np.transpose(z.reshape(tuple(size[c] for c in order)), [order.index(c) for c in out])[()]


def _infer_contract(x: Any, y: Any, labels: tuple) -> Type:
    size: dict[str, Any] = {}
    for letters, operand in zip(labels, (x, y)):
        for c, n in zip(letters, shape_of(operand)):
            size[c] = extents.agree(size[c], n, "extents of axes to be multiplied") if c in size else n
    return Type(result_dtype(x, y), tuple(size[c] for c in labels[2]))


def _left(g: Any, xs: tuple, labels: tuple) -> Any:
    a, b, out = labels
    return contract(g, conjugate(xs[1]), labels=(out, b, a))


def _right(g: Any, xs: tuple, labels: tuple) -> Any:
    a, b, out = labels
    return contract(conjugate(xs[0]), g, labels=(a, out, b))


contract = Op("contract", _run_contract, _infer_contract, kind="contract", derivative=Multilinear(_left, _right))
