"""Matrix products, sums of products over chosen dimensions, and linear algebra of tensors."""
import copy
import string
from collections.abc import Callable

import numpy as np

from ...ops.contract import with_adjoints
from ...ops.table import TABLE as op
from ...util.array import AnyArray, ArrayOrNumber, Axes
from ..graph.op_node import Handle, handle_of
from ..graph.single_node import step
from ..tensors.errors import c_name, expands, not_expandable, override, refuse_if
from ..tensors.promotion import agree
from ..tensors.tensor import Tensor, is_operand
from . import composites
from .composite import lean
from .registry import by_record, define, function, in_precision, named, one_dim, run, tensor_of

_MATRIX, _VECTOR, _DOT = ("ij", "jk", "ik"), ("ij", "j", "i"), ("i", "i", "")
_PLAIN = {(2, 2): ({"labels": _MATRIX}, "MmBackward0"), (2, 1): ({"labels": _VECTOR}, "MvBackward0"),
          (1, 1): ({"labels": _DOT}, "DotBackward0")}


def _short(labels: tuple) -> Handle:
    """The short way of a contraction, which knows its two adjoints on arrays."""
    run, left, right = with_adjoints(labels)

    def pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, labels: tuple) -> tuple:
        return left(gs[0], xs[1]) if needs[0] else None, right(xs[0], gs[0]) if needs[1] else None
    handle = copy.copy(handle_of(op["contract"]))
    handle.run, handle.pullback, handle.kept = lambda x, y, labels: run(x, y), pullback, {}
    return handle


_SHORT = {ranks: _short(params["labels"]) for ranks, (params, _) in _PLAIN.items()}


def matmul(self: object, other: object) -> ArrayOrNumber:
    """The matrix product, by NumPy's rules for vectors and stacks."""
    if isinstance(self, Tensor) and isinstance(other, Tensor):
        ranks = self._a.ndim, other._a.ndim
        y = None
        if ranks in _SHORT and self._a.dtype is other._a.dtype:
            y = lean(_SHORT[ranks], (self, other), *_PLAIN[ranks])
        if y is not None:
            return y
        _factors(self, other)
    self, other = (x if hasattr(x, "shape") else tensor_of(x) for x in (self, other))
    ranks = len(self.shape), len(other.shape)
    if ranks in _PLAIN:
        params, label = _PLAIN[ranks]
        return run(op["contract"], self, other, label=label, **params)
    return named(op["matmul"](self, other), "BmmBackward0" if ranks == (3, 3) else "UnsafeViewBackward0")


def _factors(*xs: Tensor) -> None:
    """Raise unless tensors are of one dtype, and the last two can be multiplied."""
    a, b = xs[-2].shape, xs[-1].shape
    if not a or not b or a[-1] != b[-2:][0]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({'x'.join(map(str, a))} and "
                           f"{'x'.join(map(str, b))})")
    for x in xs[:-1]:
        agree("expected m1 and m2 to have the same dtype, but got: {} != {}", x, xs[-1], name=c_name)


function("matmul")(matmul)


def _ranks(name: str, ranks: tuple, *xs: Tensor) -> None:
    """Raise unless tensors have so many dimensions."""
    have = tuple([len(x.shape) for x in xs])
    refuse_if(have != ranks, f"{name}: expected tensors of {ranks} dimensions, but got {have}")


def _of_ranks(name: str, ranks: tuple, f: Callable = matmul) -> None:
    def call(self: Tensor, other: Tensor) -> ArrayOrNumber:
        _ranks(name, ranks, self, other)
        return f(self, other)
    define(name, call, f"The product of two tensors of {ranks[0]} and {ranks[1]} dimensions.")


for _name, *_given in (("mm", (2, 2)), ("bmm", (3, 3)), ("mv", (2, 1)), ("dot", (1, 1)), (
        "outer", (1, 1), lambda self, other: named(self.reshape(-1, 1) * other, "MulBackward0"))):
    _of_ranks(_name, *_given)
Tensor.__matmul__ = lambda self, other: (matmul(self, other) if is_operand(other) and hasattr(other, "shape")
                                         else NotImplemented)
Tensor.__rmatmul__ = lambda self, other: (
    matmul(tensor_of(other), self) if is_operand(other) and hasattr(other, "shape") else NotImplemented
)


@function()
def inner(self: AnyArray, other: AnyArray) -> ArrayOrNumber:
    """The sums of products over the last dimensions."""
    if len(self.shape) == 1 == len(other.shape):
        return matmul(self, other)
    agree("expected m1 and m2 to have the same dtype, but got: {} != {}", self, other, name=c_name)
    return override("numpy.inner", self, other)


define("vdot", lambda self, other: self.conj().dot(other), "The dot product with the first vector conjugated.",
       node="VdotBackward0", edges="self other", saves="self other")


@function(changing=True)
def addmm(self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> AnyArray:
    """beta * self + alpha * mat1 @ mat2."""
    _ranks("addmm", (2, 2), mat1, mat2)
    _factors(self, mat1, mat2)
    return composites.addmm(self, mat1, mat2, beta=_factor("beta", beta, self), alpha=_factor("alpha", alpha, mat1))


def _factor(name: str, number: ArrayOrNumber, x: AnyArray) -> ArrayOrNumber:
    """A number by which x is multiplied, in x's dtype."""
    if isinstance(number, float) and x.dtype.kind in "iu":
        raise RuntimeError(f"For integral input tensors, argument {name} must not be a floating point number.")
    return number != 0 if x.dtype.kind == "b" and isinstance(number, (int, float)) else number


def _added(name: str, ranks: tuple, x: Tensor, first: Tensor, second: Tensor, beta: object, alpha: object,
           summed: bool = False) -> ArrayOrNumber:
    """beta * x + alpha * the product of two tensors with so many dimensions (`summed` over a stack). Where beta is 0, x
    does not count, nor do nan and inf in it."""
    _ranks(name, ranks, first, second)
    _factors(x, first, second)
    product = matmul(first, second).sum(0) if summed else matmul(first, second)
    if not expands(x.shape, product.shape):
        raise RuntimeError(not_expandable(tuple(x.shape), tuple(product.shape), x.dtype))
    beta, alpha = _factor("beta", beta, x), _factor("alpha", alpha, product)
    if isinstance(beta, (int, float, complex)) and beta == 0:
        return op["where"](False, x, False if x.dtype.kind == "b" else 0) + product * alpha
    return x * beta + product * alpha


define("addmv", lambda self, mat, vec, *, beta=1, alpha=1: _added("addmv", (2, 1), self, mat, vec, beta, alpha),
       "beta * self + alpha * mat @ vec.", node="AddmvBackward0", edges="self mat vec", saves="mat vec",
       shows="alpha beta", changing=True)
define("baddbmm", lambda self, batch1, batch2, *, beta=1, alpha=1: _added("baddbmm", (3, 3), self, batch1, batch2, beta,
                                                                          alpha),
       "beta * self + alpha * batch1 @ batch2.", node="BaddbmmBackward0", edges="self batch1 batch2",
       saves="batch1 batch2", shows="alpha beta", changing=True)
define("addbmm", lambda self, batch1, batch2, *, beta=1, alpha=1: _added("addbmm", (3, 3), self, batch1, batch2, beta,
                                                                         alpha, summed=True),
       "beta * self + alpha * the sum of the products of a batch.", node="AddbmmBackward0",
       edges="self batch1 batch2", saves="batch1 batch2", shows="alpha beta", changing=True)
for _name, _target in {"inverse": "numpy.linalg.inv", "det": "numpy.linalg.det",
                       "slogdet": "numpy.linalg.slogdet", "matrix_power": "numpy.linalg.matrix_power",
                       "pinverse": "numpy.linalg.pinv", "matrix_exp": "scipy.linalg.expm"}.items():
    by_record(_name, _target)
define("diagflat", lambda self, offset=0: override("numpy.diagflat", self, offset),
       "A matrix with all elements along a diagonal.")
define("kron", lambda self, other: in_precision(override("numpy.kron", self, other), (self, other)),
       "numpy.kron, on tensors.", node="KronBackward0", edges="self other", copies="self other")


@step("LinalgCrossBackward0", "self other", "self other", "dim")
def cross_product(self: Tensor, other: Tensor, dim: int = -1) -> Tensor:
    """The cross products of vectors of three along a dimension, the others broadcast."""
    n = len(self.shape)
    refuse_if(len(other.shape) != n, "linalg.cross: inputs must have the same number of dimensions.")
    ax = one_dim(dim, n)
    if self.shape[ax] != 3 or other.shape[ax] != 3:
        raise RuntimeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got {self.shape[ax]} and "
                           f"{other.shape[ax]}")
    return override("numpy.cross", self, other, axis=ax)


@function()
def cross(self: Tensor, other: Tensor, dim: "int | None" = None) -> Tensor:
    """The cross product along a dimension; by default the first that has three elements."""
    if dim is None:
        n = max(len(self.shape), len(other.shape))
        shape = np.broadcast_shapes(tuple(self.shape), tuple(other.shape))
        dim = next((k for k in range(n) if shape[k] == 3), None)
        refuse_if(dim is None, "no dimension of size 3 in input")
    return cross_product(self, other, dim)


@function()
def trace(self: Tensor) -> AnyArray:
    """The sum of a matrix' diagonal."""
    refuse_if(len(self.shape) != 2, f"trace: expected a matrix, but got tensor with dim {len(self.shape)}")
    return composites.trace(self) if self.dtype.kind in "fc" else self.diagonal().sum()


@function("logdet")
def logdet(self: Tensor) -> Tensor:
    """log(det(self)): nan where the determinant is negative; of a complex one, the principal value."""
    sign, size = override("numpy.linalg.slogdet", self)
    if sign.dtype.kind == "c":
        return op["log"](sign) + size
    return op["where"](sign < 0, np.nan, size)


@function(method=True, node=("CholeskyBackward0", "self", "result", "upper"))
def cholesky(self: Tensor, upper: bool = False) -> Tensor:
    """The Cholesky factor."""
    return cholesky_factor(self, upper=upper)


def cholesky_factor(A: Tensor, *, upper: bool = False) -> Tensor:
    """L with A = L L^H; upper: its conjugate transpose."""
    y = override("numpy.linalg.cholesky", A)
    return y.mT.conj() if upper else y


@function(method=False)
def einsum(equation: str, *operands: Tensor) -> Tensor:
    """Sums of products, by NumPy's notation; dimensions that operands alone have under an ellipsis are summed, too."""
    given = operands[0] if len(operands) == 1 and isinstance(operands[0], (tuple, list)) else operands
    words, arrow, out = equation.replace(" ", "").partition("->") if isinstance(equation, str) else ("", "", "")
    if len(given) == 1 and isinstance(given[0], Tensor) and "," not in words:
        return _of_one(words, arrow, out, given[0])
    if arrow and "..." in words and "..." not in out:
        y = override("numpy.einsum", f"{words}->...{out}", *given)
        return y.sum(tuple(range(len(y.shape) - len(out)))) if len(y.shape) > len(out) else y
    return override("numpy.einsum", equation, *given)


def _of_one(word: str, arrow: str, out: str, x: Tensor) -> Tensor:
    """einsum of one operand: diagonals and exchanged dimensions, which are views, then sums."""
    rest = "".join([c for c in string.ascii_letters if c not in word][:len(x.shape) - len(word.replace("...", ""))])
    word = word.replace("...", rest)
    out = (out.replace("...", rest) if arrow
           else rest + "".join(sorted(c for c in word if word.count(c) == 1 and c not in rest)))
    for c in dict.fromkeys(word):
        while word.count(c) > 1:
            first, last = word.index(c), word.rindex(c)
            x, word = x.diagonal(0, first, last), word[:first] + word[first + 1:last] + word[last + 1:] + c
    order = [word.index(c) for c in (*out, *[c for c in word if c not in out])]
    x = x.permute(*order) if order else x.view(())
    return x.sum(tuple(range(len(out), len(word)))) if len(word) > len(out) else x


@function(method=False)
def tensordot(a: Tensor, b: Tensor, dims: Axes = 2) -> Tensor:
    """The sum of products over pairs of dimensions."""
    agree("both inputs should have same dtype", a, b)
    return override("numpy.tensordot", a, b, dims)
