"""NumPy's products of arrays, as contractions: dot, matmul, inner, outer, tensordot, vecdot, kron, cross, trace."""
import operator
from typing import Any

import numpy as np

from ...ir.op import registry
from ...ir.types import INT, type_of
from ...util.array import AnyArray, ArrayLike, ArrayOrNumber, Axes, DTypeLike, Extent
from .. import extents
from ..contract import contract, matmul, new_letters, stacked_product
from ..kinds import conjugate, same_extent, same_shape, shape_of
from ..literals import numpy_number
from ..override import override
from .arguments import as_array, fixed, in_dtype, into, one_axis, rank, ravel, taken
from .join import strong
from .sort import last

override("numpy.matmul", "numpy.linalg.matmul",
         samples=("np.matmul(x, S)", "x @ S", "v @ S @ v"))(lambda x1, x2: matmul(as_array(x1), as_array(x2)))


@override("numpy.dot", method="dot", samples=("np.dot(x, S)", "np.dot(v, v)", "x.dot(v)"))
def dot(a: AnyArray, b: AnyArray, out: object = None) -> ArrayOrNumber:
    """Over the last axis of a and the last but one of b; a product where either is a number."""
    a, b = numpy_number(strong(a)), numpy_number(strong(b))
    if not rank(a) or not rank(b):
        return _into_its_own(out, a * b)
    letters = new_letters(rank(a) + rank(b), "")
    left, right = letters[:rank(a)], list(letters[rank(a):])
    right[-2 if len(right) > 1 else -1] = left[-1]
    rest = [c for c in right if c != left[-1]]
    return _into_its_own(out, contract(a, b, labels=(left, "".join(right), left[:-1] + "".join(rest))))


def _into_its_own(out: object, y: ArrayOrNumber) -> ArrayOrNumber:
    """np.dot casts nothing: out is of the result's dtype."""
    if out is not None and type_of(out).dtype != type_of(y).dtype:
        raise ValueError(
            "output array is not acceptable (must have the right datatype, number of dimensions, and be a C-Array)")
    return into(out, y)


@override("numpy.vdot", samples=("np.vdot(v, v)", "np.vdot(x, x)"))
def vdot(a: ArrayLike, b: ArrayLike, /) -> AnyArray:
    a, b = ravel(as_array(a)), ravel(as_array(b))
    return contract(conjugate(a), b, labels=("a", "a", ""))


@override("numpy.inner", samples=("np.inner(x, S)",))
def inner(a: AnyArray, b: ArrayLike, /) -> Any:
    a, b = numpy_number(strong(a)), numpy_number(strong(b))
    if not rank(a) or not rank(b):
        return a * b
    return tensordot(a, b, axes=([-1], [-1]))


@override("numpy.outer", samples=("np.outer(v, v)", "np.outer(x, v)"))
def outer(a: ArrayLike, b: ArrayLike, out: object = None) -> AnyArray:
    return into(out, contract(ravel(as_array(a)), ravel(as_array(b)), labels=("a", "b", "ab")))


@override("numpy.linalg.outer")
def vector_outer(x1: ArrayLike, x2: ArrayLike, /) -> AnyArray:
    x1, x2 = as_array(x1), as_array(x2)
    if rank(x1) != 1 or rank(x2) != 1:
        raise ValueError(f"Input arrays must be one-dimensional, but they are {rank(x1)}- and {rank(x2)}-dimensional.")
    return outer(x1, x2)


@override("numpy.tensordot", samples=("np.tensordot(x, S, axes=1)", "np.tensordot(x, S, axes=([1], [0]))",
                                      "np.tensordot(x, x, 2)"))
def tensordot(a: ArrayLike, b: ArrayLike, axes: Axes = 2) -> AnyArray:
    a, b = as_array(a), as_array(b)
    left, right = _summed_axes(axes, rank(a), rank(b))
    letters = new_letters(rank(a) + rank(b), "")
    word, other = letters[:rank(a)], list(letters[rank(a):])
    for p, q in zip(left, right, strict=True):
        other[q] = word[p]
    summed = {word[p] for p in left}
    out = "".join(c for c in word if c not in summed) + "".join(c for c in other if c not in summed)
    return contract(a, b, labels=(word, "".join(other), out))


override("numpy.linalg.tensordot")(lambda x1, x2, /, *, axes=2: tensordot(x1, x2, axes))


def _summed_axes(axes: Any, m: int, n: int) -> tuple:
    """The axes of the one and of the other array that are multiplied and summed."""
    if not hasattr(axes, "__len__"):
        if axes > m or axes > n:
            raise ValueError(f"tensordot over {axes} axes of arrays that have {m} and {n}")
        return list(range(m - axes, m)), list(range(axes))
    left, right = (list(k) if hasattr(k, "__len__") else [k] for k in axes)
    if len(left) != len(right):
        raise ValueError("shape-mismatch for sum")
    return [one_axis(k, m) for k in left], [one_axis(k, n) for k in right]


# -- products of stacks of vectors and matrices ----------------------------------------------------


def _last(x: AnyArray, axis: int) -> AnyArray:
    """x with one axis moved to the end."""
    return last(x, one_axis(axis, rank(x)))


@override("numpy.vecdot", samples=("np.vecdot(x, v)",))
def vecdot(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> AnyArray:
    return stacked_product(conjugate(_last(as_array(x1), axis)), _last(as_array(x2), axis), ("a", "a", ""))


override("numpy.linalg.vecdot")(lambda x1, x2, /, *, axis=-1: vecdot(x1, x2, axis=axis))


@override("numpy.matvec", samples=("np.matvec(S, x)",))
def matvec(x1: ArrayLike, x2: ArrayLike, /) -> AnyArray:
    return stacked_product(as_array(x1), as_array(x2), ("ab", "b", "a"))


@override("numpy.vecmat", samples=("np.vecmat(x, S)",))
def vecmat(x1: ArrayLike, x2: ArrayLike, /) -> AnyArray:
    return stacked_product(conjugate(as_array(x1)), as_array(x2), ("a", "ab", "b"))


@override("numpy.kron", samples=("np.kron(v, v)", "np.kron(x, S)"))
def kron(a: ArrayLike, b: ArrayLike) -> AnyArray:
    a, b = as_array(a), as_array(b)
    ndim = max(rank(a), rank(b))
    a, b = (registry["reshape"](c, *[1] * (ndim - rank(c)), *shape_of(c)) for c in (a, b))
    letters = new_letters(2 * ndim, "")
    both = "".join(c for pair in zip(letters[:ndim], letters[ndim:]) for c in pair)
    product = contract(a, b, labels=(letters[:ndim], letters[ndim:], both))
    return registry["reshape"](product, *[m * n for m, n in zip(shape_of(a), shape_of(b))])


# -- cross, trace ----------------------------------------------------------------------------------


@override("numpy.cross", samples=("np.cross(x[:, :3], x[:, 1:])",))
def cross(a: ArrayLike, b: ArrayLike, axisa: int = -1, axisb: int = -1, axisc: int = -1,
          axis: "int | None" = None) -> AnyArray:
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = _last(as_array(a), axisa), _last(as_array(b), axisb)
    (p, m), (q, n) = _components(a), _components(b)
    np.cross(np.ones(m), np.ones(n))                          # raises what it raises: NumPy from 2.5 on takes no pairs
    if m == 2 and n == 2:
        return p[0] * q[1] - p[1] * q[0]
    z = [minus(times(p[i], q[j]), times(p[j], q[i])) for i, j in ((1, 2), (2, 0), (0, 1))]
    y = _stacked(z)
    k = one_axis(axisc, rank(y))
    order = list(range(rank(y) - 1))
    order.insert(k, rank(y) - 1)
    return y if k == rank(y) - 1 else registry["transpose"](y, axes=tuple(order))


def _components(x: AnyArray) -> "tuple[list, int]":
    """The components of vectors on the last axis, the third of two being None (zero)."""
    n = fixed(shape_of(x)[-1], "the number of components of the vectors of a cross product")
    return [taken(x, k, axis=rank(x) - 1) for k in range(min(n, 3))] + [None] * (3 - n), n


def times(x: AnyArray, y: AnyArray) -> AnyArray:
    """x * y, where None is zero."""
    return None if x is None or y is None else x * y


def minus(x: AnyArray, y: AnyArray) -> AnyArray:
    """x - y, where None is zero."""
    return -y if x is None else x if y is None else x - y


def _stacked(parts: list) -> AnyArray:
    """Arrays of one shape, side by side on a new last axis."""
    shape = extents.broadcast_shapes(*[shape_of(p) for p in parts])
    parts = [p if same_shape(shape_of(p), shape) else registry["broadcast_to"](p, *shape) for p in parts]
    return registry["concatenate"](*[registry["reshape"](p, *shape, 1) for p in parts], axis=len(shape))


def diagonals(x: ArrayOrNumber, offset: int, axis1: int, axis2: int) -> AnyArray:
    """The diagonals of the matrices in two axes of x, on a new last axis."""
    ndim = rank(x)
    first, second = one_axis(axis1, ndim), one_axis(axis2, ndim)
    if first == second:
        raise ValueError("axis1 and axis2 cannot be the same")
    m, n = shape_of(x)[first], shape_of(x)[second]
    places = registry["iota"](_diagonal_extent(m, n, offset), dtype=INT)
    down, right = (places - offset if offset < 0 else places), (places + offset if offset > 0 else places)
    spec = tuple("a" if k in (first, second) else ":" for k in range(ndim))
    return registry["index"](x, *((down, right) if first < second else (right, down)), spec=spec, at=ndim - 2)


def _diagonal_extent(m: Extent, n: Extent, offset: int) -> AnyArray:
    if same_extent(m, n):
        return extents.difference(m, abs(offset))
    return extents.minimum(extents.difference(m, max(-offset, 0)), extents.difference(n, max(offset, 0)))


@override("numpy.trace", method="trace", samples=("np.trace(S)", "np.trace(S, 1)", "np.trace(x)"))
def trace(a: ArrayLike, offset: Any = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike = None,
          out: Any = None) -> AnyArray:
    y = diagonals(as_array(a), operator.index(offset), axis1, axis2)
    return into(out, in_dtype(registry["sum"](in_dtype(y, dtype), axes=(rank(y) - 1,)), dtype))


override("numpy.linalg.trace")(lambda x, /, *, offset=0, dtype=None: trace(x, offset, -2, -1, dtype))
override("numpy.linalg.cross")(lambda x1, x2, /, *, axis=-1: _three(x1, x2, axis))


def _three(x1: AnyArray, x2: AnyArray, axis: int) -> AnyArray:
    x1, x2 = as_array(x1), as_array(x2)
    if any(fixed(shape_of(x)[axis], "the number of components") != 3 for x in (x1, x2)):
        raise ValueError("Both input arrays must be (arrays of) 3-dimensional vectors")
    return cross(x1, x2, axis=axis)
