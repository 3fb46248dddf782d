"""Contraction: the sum of products over named axes. Every matrix product, dot, outer product and einsum of two arrays
is one op.

contract(x, y, labels=("ij", "jk", "ik")): each axis has a letter; letters that are not in the result are summed over.
Within one operand the letters differ; a letter in one operand only must be in the result.
"""
import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..ir.op import Op, registry
from ..ir.traits import PRODUCTS_KEPT, Reduction, Traits, nought
from ..ir.types import Type, result_dtype
from ..util.array import AnyArray, ArrayOrNumber, Extent
from ..util.errors import ExtentError
from . import extents
from .kinds import Multilinear, conjugate, shape_of

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"         # what einsum takes

# -- in NumPy --------------------------------------------------------------------------------------


class ContractionPlan(NamedTuple):
    """The form of a contraction as one product of stacks of matrices.

    Letters come in four groups: of both operands and the result (batch), of x alone (left), of y alone (right), summed.
    """

    x_axes: tuple
    y_axes: tuple
    batch: int
    left: int
    right: int
    summed: int
    out_axes: tuple


@lru_cache(maxsize=4096)
def plan(labels: tuple) -> ContractionPlan:
    """The plan for these labels.

    >>> plan(("ij", "jk", "ki"))
    ContractionPlan(x_axes=(0, 1), y_axes=(0, 1), batch=0, left=1, right=1, summed=1, out_axes=(1, 0))
    """
    x, y, out = labels
    batch = [c for c in out if c in x and c in y]
    summed = [c for c in x if c in y and c not in out]
    left, right = [c for c in x if c not in y], [c for c in y if c not in x]
    order = batch + left + right
    return ContractionPlan(tuple(x.index(c) for c in batch + left + summed),
                           tuple(y.index(c) for c in batch + summed + right), len(batch), len(left), len(right),
                           len(summed), tuple(order.index(c) for c in out))


@lru_cache(maxsize=4096)
def _runner(labels: tuple) -> Callable:
    """The quickest way to run these labels in NumPy; BLAS takes transposed matrices as they are, without a copy."""
    p = plan(labels)
    if not p.summed:
        return lambda x, y: _multiply(x, y, p)
    if not p.batch and not p.left and not p.right and p.summed > 1:
        return lambda x, y: _dot_of_all(x.transpose(p.x_axes), y.transpose(p.y_axes))
    if not p.batch and p.summed == 1 and p.left < 2 and p.right < 2:
        return _dot_runner(p)
    if not p.left and not p.right:
        subscripts = f"{_letters(p.x_axes, labels[0])},{_letters(p.y_axes, labels[1])}->{labels[2]}"
        return lambda x, y: np.einsum(_plain(subscripts), x.transpose(p.x_axes), y.transpose(p.y_axes))
    if max(p.left, p.right, p.summed) == 1:
        return _matmul_runner(p)
    return lambda x, y: _matmul(x, y, p)


def _dot_of_all(x: Any, y: Any) -> AnyArray:
    """The sum of the products of all elements."""
    _check_alike(x.shape, y.shape)
    return np.dot(x.reshape(-1), y.reshape(-1))


def _check_alike(summed: tuple, other: tuple) -> None:
    """Raise where axes differ that belong together: reshaped, what does not fit may seem to."""
    if summed != other:
        raise ExtentError(f"extents of axes to be multiplied differ: {summed} and {other}")


def _dot_runner(p: ContractionPlan) -> Callable:
    """A product of two matrices or vectors."""
    flip_x, flip_y = p.x_axes == (1, 0), p.y_axes == (1, 0)
    if p.out_axes == (1, 0):
        return lambda x, y: np.dot(y if flip_y else y.T, x if flip_x else x.T)
    if not flip_x and not flip_y:
        return np.dot
    return lambda x, y: np.dot(x.T if flip_x else x, y.T if flip_y else y)


def _matmul_runner(p: ContractionPlan) -> Callable:
    """A product of stacks of matrices or vectors, without reshaping."""
    products: dict[tuple, Callable] = {(1, 1): np.matmul, (1, 0): _stacked_matvec, (0, 1): _stacked_vecmat}
    product = products[p.left, p.right]
    if _is_identity(p.x_axes) and _is_identity(p.y_axes) and _is_identity(p.out_axes):
        return product
    return lambda x, y: product(x.transpose(p.x_axes), y.transpose(p.y_axes)).transpose(p.out_axes)


def _is_identity(axes: tuple) -> bool:
    return axes == tuple(range(len(axes)))


def _stacked_matvec(x: AnyArray, y: AnyArray) -> AnyArray:
    return np.matmul(x, y[..., None])[..., 0]


def _stacked_vecmat(x: AnyArray, y: AnyArray) -> AnyArray:
    return np.matmul(x[..., None, :], y)[..., 0, :]


def _letters(axes: tuple, label: str) -> str:
    return "".join(label[k] for k in axes)


@lru_cache(maxsize=4096)
def _plain(subscripts: str) -> str:
    """Subscripts in the letters that einsum takes."""
    letters = dict(zip(dict.fromkeys(c for c in subscripts if c not in ",->"), LETTERS))
    return "".join(letters.get(c, c) for c in subscripts)


@lru_cache(maxsize=4096)
def with_adjoints(labels: tuple) -> "tuple[Callable, Callable, Callable]":
    """Of these labels, on real arrays: the product of (x, y), and its adjoints, of (g, y) and of (x, g).

    >>> product, left, right = with_adjoints(("ij", "j", "i"))
    >>> x, y = np.eye(2), np.array([3.0, 4.0])
    >>> left(product(x, y), y)
    array([[ 9., 12.],
           [12., 16.]])
    """
    a, b, out = labels
    return _runner(labels), _runner((out, b, a)), _runner((a, out, b))


def _multiply(x: Any, y: Any, p: ContractionPlan) -> AnyArray:
    x, y = x.transpose(p.x_axes), y.transpose(p.y_axes)
    x = x.reshape(x.shape + (1,) * p.right)
    y = y.reshape(y.shape[:p.batch] + (1,) * p.left + y.shape[p.batch:])
    return (x * y).transpose(p.out_axes)


def _matmul(x: Any, y: Any, p: ContractionPlan) -> AnyArray:
    x, y = x.transpose(p.x_axes), y.transpose(p.y_axes)
    lead, left, summed, right = x.shape[:p.batch], x.shape[p.batch:p.batch + p.left], x.shape[
        p.batch + p.left:], y.shape[p.batch + p.summed:]
    _check_alike(lead + summed, y.shape[:p.batch + p.summed])
    inner = math.prod(summed)
    z = np.matmul(x.reshape(lead + (math.prod(left), inner)), y.reshape(lead + (inner, math.prod(right))))
    return z.reshape(lead + left + right).transpose(p.out_axes)


def _run_contract(x: ArrayOrNumber, y: AnyArray, labels: tuple) -> AnyArray:
    z = _runner(labels)(np.asarray(x), np.asarray(y))
    return z if labels[2] else z[()]


# -- the record ------------------------------------------------------------------------------------


def _infer_contract(x: ArrayOrNumber, y: AnyArray, labels: tuple) -> Type:
    size: dict[str, Any] = {}
    for letters, operand in zip(labels, (x, y)):
        for c, n in zip(letters, shape_of(operand), strict=True):
            size[c] = extents.agree(size[c], n, "extents of axes to be multiplied") if c in size else n
    return Type(result_dtype(x, y), tuple(size[c] for c in labels[2]))


def _left(g: AnyArray, xs: tuple, labels: tuple) -> AnyArray:
    a, b, out = labels
    return contract(g, conjugate(xs[1]), labels=(out, b, a))


def _right(g: AnyArray, xs: tuple, labels: tuple) -> AnyArray:
    a, b, out = labels
    return contract(conjugate(xs[0]), g, labels=(a, out, b))


def new_letters(count: int, used: str) -> str:
    """Letters that are not in use.

    >>> new_letters(2, "ac")
    'bd'
    """
    found: list[str] = []
    code = ord("a")
    while len(found) < count:
        c = chr(code)
        if c.isalpha() and c not in used:
            found.append(c)
        code += 1
    return "".join(found)


def _batch(op: Op, xs: tuple, batched: tuple, params: dict) -> AnyArray:
    a, b, out = params["labels"]
    n = new_letters(1, a + b + out)
    return op(*xs, labels=((n if batched[0] else "") + a, (n if batched[1] else "") + b, n + out))


def _sample(labels: tuple, left: object = float, right: object = float) -> Callable:
    def draw(rng: np.random.Generator) -> tuple:
        size = {c: 2 + k for k, c in enumerate(sorted(set("".join(labels))))}
        return tuple(_drawn(rng, [size[c] for c in word], dtype)
                     for word, dtype in zip(labels, (left, right))), {"labels": labels}
    return draw


def _drawn(rng: np.random.Generator, shape: list, dtype: object) -> AnyArray:
    x = rng.standard_normal(shape)
    return x + 1j * rng.standard_normal(shape) if dtype is complex else x


_SAMPLES = tuple(_sample(tuple(word.split("."))) for word in (
    "ij.jk.ik", "ij.kj.ki", "i.i.", "i.j.ji", "ij.j.i", ".ij.ji", "bij.bjk.bik", "bij.bj.bi", "ij.ij.j", "bij.jk.kbi",
    "ijk.kji.", "ij.i.ij"))
_MIXED = (_sample(("ij", "jk", "ik"), complex, complex), _sample(("ij", "j", "i"), complex, float),
          _sample(("i", "ij", "j"), float, complex))
contract = Op("contract", _run_contract, _infer_contract, kind="contract", derivative=Multilinear(_left, _right),
              batch=_batch, samples=_SAMPLES + _MIXED,
              doc="The sum of products over axes named by letters: matrix products, dots, outer products",
              traits=Traits(rounds=True, widens=PRODUCTS_KEPT, reduction=Reduction("add", nought), stem="dot"))

# -- matmul: NumPy's rules for ranks and stacks ----------------------------------------------------


def _stack_axis(m: Extent, n: Extent) -> "tuple[bool, bool]":
    """Of two extents that broadcast: whether the first, and the second, is a 1 to be stretched."""
    if isinstance(m, int) and isinstance(n, int):
        return (m == 1 and n != 1), (n == 1 and m != 1)
    if extents.hint(m) == extents.hint(n):
        return False, False
    first = extents.is_one(m)
    return first, not first and extents.is_one(n)


def without_axes(x: ArrayOrNumber, axes: "list | tuple") -> ArrayOrNumber:
    """x without these axes, whose extents are 1."""
    if not axes:
        return x
    return registry["reshape"](x, *[n for k, n in enumerate(shape_of(x)) if k not in axes])


def stacked_product(x: ArrayOrNumber, y: ArrayOrNumber, core: tuple) -> AnyArray:
    """The product of stacks: `core` labels the last axes of x, of y and of the result; the axes before them broadcast.
    """
    m, n = shape_of(x)[:len(shape_of(x)) - len(core[0])], shape_of(y)[:len(shape_of(y)) - len(core[1])]
    rank = max(len(m), len(n))
    letters = new_letters(rank, "".join(core))
    left, right = list(letters[rank - len(m):]), list(letters[rank - len(n):])
    ones: tuple = ([], [])
    for k in range(1, min(len(m), len(n)) + 1):
        for which, stretched in enumerate(_stack_axis(m[-k], n[-k])):
            if stretched:
                ones[which].append((len(m), len(n))[which] - k)
    x, y = without_axes(x, ones[0]), without_axes(y, ones[1])
    left = [c for k, c in enumerate(left) if k not in ones[0]]
    right = [c for k, c in enumerate(right) if k not in ones[1]]
    return contract(x, y, labels=("".join(left) + core[0], "".join(right) + core[1], letters + core[2]))


def matmul(x: Any, y: Any) -> AnyArray:
    """x @ y by NumPy's rules: vectors are rows on the left and columns on the right, stacks of matrices broadcast."""
    x, y = (a if hasattr(a, "shape") else np.asarray(a) for a in (x, y))
    left, right = len(shape_of(x)), len(shape_of(y))
    if not left or not right:
        raise ValueError("matmul: an operand is a number; use * instead")
    core = (("j" if left == 1 else "ij"), ("j" if right == 1 else "jk"),
            ("" if left == 1 else "i") + ("" if right == 1 else "k"))
    return stacked_product(x, y, core)


registry["matmul"] = matmul          # type: ignore[assignment]  # the operator @, not an op
