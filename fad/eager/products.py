"""Matrix products and linear algebra of tensors."""
import math
from collections.abc import Callable

import numpy as np

from ..ops.face import BY_NAME
from ..ops.table import TABLE as op
from ..util.array import AnyArray, ArrayOrNumber
from . import composites
from .errors import c_name, expands, not_expandable, scalar_name
from .fast import product
from .promotion import agree
from .registry import by_record, define, function, in_precision, named, one_dim, run, tensor_of
from .tensor import Tensor, is_operand
from .together import step

_MATRIX, _VECTOR, _DOT = ("ij", "jk", "ik"), ("ij", "j", "i"), ("i", "i", "")
_UNLIKE = {1: "dot : expected both vectors to have same dtype, but found {} and {}",
           2: "expected m1 and m2 to have the same dtype, but got: {} != {}",
           3: "expected scalar type {} but found {}"}
_PLAIN = {(2, 2): ({"labels": _MATRIX}, "MmBackward0"), (2, 1): ({"labels": _VECTOR}, "MvBackward0"),
          (1, 1): ({"labels": _DOT}, "DotBackward0")}
_FAST = {ranks: product(op["contract"], params["labels"], label) for ranks, (params, label) in _PLAIN.items()}


def matmul(self: object, other: object) -> ArrayOrNumber:
    """The matrix product, by NumPy's rules for vectors and stacks."""
    if isinstance(self, Tensor) and isinstance(other, Tensor):
        fast = _FAST.get((self._a.ndim, other._a.ndim))
        y = None if fast is None else fast(self, other)
        if y is not None:
            return y
    self, other = (x if hasattr(x, "shape") else tensor_of(x) for x in (self, other))
    ranks = len(self.shape), len(other.shape)
    if self.shape[-1:] != other.shape[-2:][:1] and isinstance(self, Tensor) and isinstance(other, Tensor):
        _mismatch(self.shape, other.shape)
    if isinstance(self, Tensor) and isinstance(other, Tensor) and self._a.dtype is not other._a.dtype:
        _agree(self, other)
    if ranks in _PLAIN:
        params, label = _PLAIN[ranks]
        return run(op["contract"], self, other, label=label, **params)
    return named(op["matmul"](self, other), "BmmBackward0" if ranks == (3, 3) else "UnsafeViewBackward0")


def _agree(a: Tensor, b: Tensor) -> None:
    """Raise unless two factors are of one dtype."""
    ranks = a._a.ndim, b._a.ndim
    if ranks[0] > 1 and ranks[1] == 1:
        agree("addmv input tensors must have the same dtype, but got {0}, {1}, and {0}", b, a)
    kind = 1 if ranks == (1, 1) else 2 if ranks[1] == 2 or ranks[0] == 1 else 3
    agree(_UNLIKE[kind], a, b, name=c_name if kind == 2 else scalar_name)


def _mismatch(a: tuple, b: tuple) -> None:
    if not a or not b:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {len(a)}D and {len(b)}D")
    if len(a) == len(b) == 1:
        raise RuntimeError(f"inconsistent tensor size, expected tensor [{a[0]}] and src [{b[0]}] to have the same "
                           f"number of elements, but got {a[0]} and {b[0]} elements respectively")
    rows = a if len(a) < 3 else (math.prod(a[:-1]), a[-1])
    if len(b) == 1:
        raise RuntimeError(f"size mismatch, got input ({rows[0]}), mat ({rows[0]}x{rows[1]}), vec ({b[0]})")
    if len(b) > 2:
        raise RuntimeError(f"Expected size for first two dimensions of batch2 tensor to be: "
                           f"[{b[0] if len(a) < 3 else a[0]}, {a[-1]}] but got: [{b[0]}, {b[1]}].")
    a = rows
    raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({'x'.join(map(str, a if len(a) > 1 else (1, *a)))} "
                       f"and {'x'.join(map(str, b))})")


function("matmul")(matmul)


def _stacks(a: tuple, b: tuple) -> None:
    """Raise unless two stacks of matrices can be multiplied one by one."""
    if (a[0], a[2]) != tuple(b[:2]):
        raise RuntimeError(f"Expected size for first two dimensions of batch2 tensor to be: [{a[0]}, {a[2]}] but got: "
                           f"[{b[0]}, {b[1]}].")


def _of_ranks(name: str, ranks: tuple, wrong: Callable) -> None:
    """matmul, of tensors with so many dimensions."""
    def call(self: Tensor, other: Tensor) -> ArrayOrNumber:
        have = len(self.shape), len(other.shape)
        if have != ranks:
            raise RuntimeError(wrong(*have))
        if ranks == (3, 3):
            _stacks(self.shape, other.shape)
        return matmul(self, other)
    define(name, call, f"The product of two tensors of {ranks[0]} and {ranks[1]} dimensions.")


_of_ranks("mm", (2, 2), lambda a, b: "self must be a matrix" if a != 2 else "mat2 must be a matrix")
_of_ranks("bmm", (3, 3), lambda a, b: f"batch{1 if a != 3 else 2} must be a 3D tensor")
_of_ranks("mv", (2, 1), lambda a, b: f"vector + matrix @ vector expected, got 1, {a}, {b}")
Tensor.__matmul__ = lambda self, other: (
    matmul(self, other) if is_operand(other) and hasattr(other, "shape") else NotImplemented
)  # type: ignore[attr-defined]
Tensor.__rmatmul__ = lambda self, other: (
    matmul(tensor_of(other), self) if is_operand(other) and hasattr(other, "shape") else NotImplemented
)  # type: ignore[attr-defined]


@function()
def dot(self: AnyArray, other: AnyArray) -> AnyArray:
    """The sum of products of two vectors' elements."""
    if len(self.shape) != 1 or len(other.shape) != 1:
        raise RuntimeError(f"1D tensors expected, but got {len(self.shape)}D and {len(other.shape)}D tensors")
    return inner(self, other)


@function()
def inner(self: AnyArray, other: AnyArray) -> AnyArray:
    """The sums of products over the last dimensions."""
    if (len(self.shape) and len(other.shape) and self.shape[-1] != other.shape[-1]
            and (len(self.shape), len(other.shape)) != (1, 1)):
        raise RuntimeError(f"inner() the last dimension must match on both input tensors but got shapes "
                           f"{list(self.shape)} and {list(other.shape)}")
    if len(self.shape) == 1 == len(other.shape) and isinstance(self, Tensor) and self.shape != other.shape:
        raise RuntimeError(f"inconsistent tensor size, expected tensor {list(self.shape)} and src {list(other.shape)} "
                           "to have the same number of elements, "
                           f"but got {self.shape[0]} and {other.shape[0]} elements respectively")
    agree(_UNLIKE[1], self, other)
    return (
        run(op["contract"], self, other, labels=_DOT, label="DotBackward0")
        if len(self.shape) == 1 == len(other.shape)
        else BY_NAME["numpy.inner"].call(self, other)
    )


define("vdot", lambda self, other: dot(self.conj(), other),
       "The dot product with the first vector conjugated.",
       node="VdotBackward0", edges="self other", saves="self other")


@function("outer", "ger")
def outer(self: Tensor, other: Tensor) -> AnyArray:
    """Every product of an element of one vector with one of the other."""
    for name, x in (("self", self), ("vec2", other)):
        if len(x.shape) != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {len(x.shape)}-D")
    return named(self.reshape(-1, 1) * other, "MulBackward0")


@function(changing=True)
def addmm(self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> AnyArray:
    """beta * self + alpha * mat1 @ mat2."""
    for name, x in (("mat1", mat1), ("mat2", mat2)):
        if len(x.shape) != 2:
            raise RuntimeError(f"{name} must be a matrix, got {len(x.shape)}-D tensor")
    if mat1.shape[-1:] != mat2.shape[:1]:
        _mismatch(mat1.shape, mat2.shape)
    agree("self and mat2 must have the same dtype, but got {} and {}", self, mat2)
    agree(_UNLIKE[2], mat1, mat2, name=c_name)
    return composites.addmm(self, mat1, mat2, beta=_factor("beta", beta, self), alpha=_factor("alpha", alpha, mat1))


def _factor(name: str, number: ArrayOrNumber, x: AnyArray) -> ArrayOrNumber:
    """A number by which x is multiplied, in x's dtype."""
    if isinstance(number, float) and x.dtype.kind in "iu":
        raise RuntimeError(f"For integral input tensors, argument {name} must not be a floating point number.")
    return number != 0 if x.dtype.kind == "b" and isinstance(number, (int, float)) else number


def added(x: AnyArray, product: ArrayOrNumber, beta: object, alpha: object) -> AnyArray:
    """beta * x + alpha * product. Where beta is 0, x does not count, nor do nan and inf in it."""
    beta, alpha = _factor("beta", beta, x), _factor("alpha", alpha, product)
    if isinstance(beta, (int, float, complex)) and beta == 0:
        return op["where"](False, x, False if x.dtype.kind == "b" else 0) + product * alpha
    return x * beta + product * alpha


@function(changing=True)
@step("AddmvBackward0", "self mat vec", "mat vec", "alpha beta")
def addmv(self: Tensor, mat: Tensor, vec: Tensor, *, beta: int = 1, alpha: int = 1) -> AnyArray:
    """beta * self + alpha * mat @ vec."""
    if (len(mat.shape), len(vec.shape)) != (2, 1) or len(self.shape) > 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {len(self.shape)}, {len(mat.shape)}, "
                           f"{len(vec.shape)}")
    if mat.shape[1] != vec.shape[0] or math.prod(self.shape) not in (1, mat.shape[0]):
        raise RuntimeError(f"size mismatch, got input ({math.prod(self.shape)}), mat ({mat.shape[0]}x{mat.shape[1]}), "
                           f"vec ({vec.shape[0]})")
    agree("addmv input tensors must have the same dtype, but got {}, {}, and {}", self, mat, vec)
    return added(self, matmul(mat, vec), beta, alpha)


def _expands(x: Tensor, shape: tuple) -> None:
    """Raise unless what is added to a product expands to its shape."""
    if not expands(x.shape, shape):
        raise RuntimeError(not_expandable(tuple(x.shape), tuple(shape), x.dtype))


define("addbmm",
       lambda self, batch1, batch2, *, beta=1, alpha=1: added(self, matmul(batch1, batch2).sum(0), beta, alpha),
       "beta * self + alpha * the sum of the products of a batch.",
       node="AddbmmBackward0", edges="self batch1 batch2", saves="batch1 batch2", shows="alpha beta", changing=True)


@function(changing=True)
@step("BaddbmmBackward0", "self batch1 batch2", "batch1 batch2", "alpha beta")
def baddbmm(self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: int = 1, alpha: int = 1) -> AnyArray:
    """beta * self + alpha * batch1 @ batch2."""
    for name, x in (("batch1", batch1), ("batch2", batch2)):
        if len(x.shape) != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    _expands(self, (*batch1.shape[:2], batch2.shape[2]))
    _stacks(batch1.shape, batch2.shape)
    return added(self, matmul(batch1, batch2), beta, alpha)


for _name, _target in {"inverse": "numpy.linalg.inv", "det": "numpy.linalg.det",
                       "slogdet": "numpy.linalg.slogdet", "matrix_power": "numpy.linalg.matrix_power",
                       "pinverse": "numpy.linalg.pinv", "matrix_exp": "scipy.linalg.expm"}.items():
    by_record(_name, _target)
define("kron", lambda self, other: in_precision(BY_NAME["numpy.kron"].call(self, other), (self, other)),
       "numpy.kron, on tensors.", node="KronBackward0", edges="self other", copies="self other")


@step("LinalgCrossBackward0", "self other", "self other", "dim")
def cross_product(self: Tensor, other: Tensor, dim: int = -1) -> Tensor:
    """The cross products of vectors of three along a dimension, the others broadcast."""
    n = len(self.shape)
    if len(other.shape) != n:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    ax = one_dim(dim, n)
    if self.shape[ax] != 3 or other.shape[ax] != 3:
        raise RuntimeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got {self.shape[ax]} and "
                           f"{other.shape[ax]}")
    turned = [
        [
            op["index"](x, np.asarray(order), spec=(":",) * ax + ("a",) + (":",) * (n - ax - 1), at=ax)
            for order in ((1, 2, 0), (2, 0, 1))
        ]
        for x in (self, other)
    ]
    return turned[0][0] * turned[1][1] - turned[0][1] * turned[1][0]


@function()
def cross(self: Tensor, other: Tensor, dim: "int | None" = None) -> Tensor:
    """The cross product along a dimension; by default the first that has three elements."""
    if dim is None:
        n = max(len(self.shape), len(other.shape))
        shape = np.broadcast_shapes(tuple(self.shape), tuple(other.shape))
        dim = next((k for k in range(n) if shape[k] == 3), None)
        if dim is None:
            raise RuntimeError("no dimension of size 3 in input")
    return cross_product(self, other, dim)


@function()
def trace(self: Tensor) -> AnyArray:
    """The sum of a matrix' diagonal."""
    if len(self.shape) != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {len(self.shape)}")
    return composites.trace(self) if self.dtype.kind in "fc" else self.diagonal().sum()


@function("logdet")
def logdet(self: Tensor) -> Tensor:
    """log(det(self)): nan where the determinant is negative; of a complex one, the principal value."""
    sign, size = BY_NAME["numpy.linalg.slogdet"].call(self)
    if sign.dtype.kind == "c":
        return op["log"](sign) + size
    return op["where"](sign < 0, np.nan, size)


@function(method=True)
@step("CholeskyBackward0", "self", "result", "upper")
def cholesky(self: Tensor, upper: bool = False) -> Tensor:
    """The Cholesky factor."""
    y = BY_NAME["numpy.linalg.cholesky"].call(self)
    return y.mT if upper else y
