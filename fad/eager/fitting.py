"""Shapes that functions of matrices refuse, in PyTorch's words: what each checks before it computes, and which matrix
of a stack could not be factored."""
import math
from collections.abc import Callable, Sequence

import numpy as np

from ..ops.linalg.solve import run_lu
from ..ops.table import TABLE
from ..util.array import AnyArray, Axes
from .errors import c_name


def _by(sizes: AnyArray) -> str:
    return "x".join(map(str, sizes))


def _square(A: AnyArray, called: str) -> None:
    if A.shape[-1] != A.shape[-2]:
        raise RuntimeError(f"{called}: A must be batches of square matrices, but they are {A.shape[-2]} by "
                           f"{A.shape[-1]} matrices")


def _matrix(x: AnyArray, called: str, name: str = "A") -> None:
    if len(x.shape) < 2:
        raise RuntimeError(f"{called}: The input tensor {name} must have at least 2 dimensions.")


def _equation(A: AnyArray, B: AnyArray, called: str, left: bool = True) -> None:
    if A.shape[-1] != B.shape[-2 if left else -1]:
        raise RuntimeError(f"{called}: Incompatible shapes of A and B for the equation "
                           f"{'AX = B' if left else 'XA = B'} ({_by(A.shape[-2:])} and {_by(B.shape[-2:])})")


def solve(A: AnyArray, B: AnyArray, *, left: bool = True, **_: object) -> None:
    is_vector = len(B.shape) == 1 or (len(A.shape) - 1 == len(B.shape) and A.shape[:-1] == B.shape)
    if is_vector and left and A.shape[-1] != B.shape[-1]:
        raise RuntimeError(f"linalg.solve: Incompatible shapes of A and B for the equation AX = B ({_by(A.shape[-2:])} "
                           f"and {B.shape[-1]}x1)")
    if not is_vector:
        _equation(A, B, "linalg.solve", left)


def solve_triangular(A: AnyArray, B: AnyArray, *, upper: bool, left: bool = True, **_: object) -> None:
    for name, x in (("A", A), ("B", B)):
        _matrix(x, "linalg.solve_triangular", name)
    _square(A, "linalg.solve_triangular")
    _equation(A, B, "linalg.solve_triangular", left)


def lu_solve(LU: AnyArray, pivots: AnyArray, B: AnyArray, *, left: bool = True, **_: object) -> None:
    _matrix(LU, "torch.linalg.lu_solve")
    _square(LU, "torch.linalg.lu_solve")
    _matrix(B, "linalg.lu_solve", "B")
    if pivots._a.dtype != np.int32:
        raise RuntimeError("linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32")
    if pivots.shape[-1] != LU.shape[-1]:
        raise RuntimeError("linalg.lu_solve: Number of pivots per batch should be same as the dimension of the matrix")
    _equation(LU, B, "linalg.lu_solve", left)


def qr(A: AnyArray, mode: str = "reduced") -> None:
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or "
                           "'complete'")


def _lu(called: str) -> Callable:
    def check(A: AnyArray, **_: object) -> None:
        if len(A.shape) < 2:
            raise RuntimeError(
                f"{called}: Expected tensor with 2 or more dimensions. Got size: {list(A.shape)} instead"
            )
    return check


def lstsq(A: AnyArray, B: AnyArray, rcond: object = None, *, driver: "str | None" = None) -> None:
    called = "torch.linalg.lstsq"
    if len(A.shape) < 2:
        raise RuntimeError(f"{called}: input must have at least 2 dimensions.")
    is_vector = len(B.shape) == len(A.shape) - 1
    if A.shape[-2] != B.shape[-1 if is_vector else -2]:
        raise RuntimeError(f"{called}: input.size(-2) should match other.size({-1 if is_vector else -2})")
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError(f"{called}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")


def pinv(A: AnyArray, *_: int, hermitian: bool = False, **__: object) -> None:
    if len(A.shape) < 2:
        name = c_name(A._a.dtype).title()
        size = A.shape[0] if A.shape else ""
        raise RuntimeError(f"linalg.pinv({name}{{[{size}]}}): expected a tensor with 2 or more dimensions of float, "
                           "double, cfloat or cdouble types")
    if hermitian:
        _square(A, "linalg.eigh")


def matrix_rank(A: AnyArray, tol: object = None, hermitian: bool = False, **_: object) -> None:
    _matrix(A, "torch.linalg.matrix_rank", "input")
    if hermitian:
        _square(A, "linalg.eigh")


def multi_dot(tensors: Sequence) -> None:
    if len(tensors) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    for k, x in enumerate(tensors):
        place = "first" if k == 0 else "last" if k == len(tensors) - 1 else ""
        if place and len(x.shape) not in (1, 2):
            raise RuntimeError(f"multi_dot(): the {place} tensor must be 1D or 2D but got {len(x.shape)}D")
        if not place and len(x.shape) != 2:
            raise RuntimeError(f"multi_dot(): tensor {k} must be 2D but got {len(x.shape)}D")
    for k, (x, y) in enumerate(zip(tensors, tensors[1:])):
        if x.shape[-1] != y.shape[0]:
            raise RuntimeError(f"multi_dot(): tensors {k} and {k + 1} with shapes {list(x.shape)} and {list(y.shape)} "
                               "cannot be multiplied")


_ORDERS = ("fro", "nuc", math.inf, -math.inf, 1, -1, 2, -2)


def matrix_norm(A: AnyArray, ord: object = "fro", dim: object = (-2, -1), *_: bool, **__: object) -> None:
    _matrix(A, "linalg.matrix_norm")
    if not isinstance(dim, (tuple, list)) or len(dim) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got "
                           f"{dim if isinstance(dim, int) else ' '.join(map(str, dim))}")
    if dim[0] % len(A.shape) == dim[1] % len(A.shape):
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({dim[0]}, {dim[1]})")
    if ord not in _ORDERS:
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")


def norm(A: AnyArray, ord: object = None, dim: Axes = None, *_: object, **__: object) -> None:
    if ord is None:
        return
    if dim is None and len(A.shape) not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
                           f"{len(A.shape)}D.")
    pair = tuple(range(len(A.shape))) if dim is None else dim
    if isinstance(ord, str) or isinstance(pair, (tuple, list)) and len(pair) == 2:
        matrix_norm(A, ord, pair)


def vector_norm(x: AnyArray, ord: object = 2, *_: int, **__: object) -> None:
    if isinstance(ord, str):
        raise TypeError("linalg_vector_norm(): argument 'ord' must be Number, not str")


def householder_product(input: AnyArray, tau: AnyArray) -> None:
    called = "torch.linalg.householder_product"
    if len(input.shape) < 2:
        raise RuntimeError(f"{called}: input must have at least 2 dimensions.")
    if input.shape[-2] < input.shape[-1]:
        raise RuntimeError(f"{called}: input.shape[-2] must be greater than or equal to input.shape[-1]")
    if input.shape[-1] < tau.shape[-1]:
        raise RuntimeError(f"{called}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    if tuple(tau.shape[:-1]) != tuple(input.shape[:-2]):
        raise RuntimeError(f"{called}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got "
                           f"{list(tau.shape[:-1])}")


def tensorinv(A: AnyArray, ind: int = 2) -> None:
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    _halves(A, ind, "ind")


def tensorsolve(A: AnyArray, B: AnyArray, dims: object = None) -> None:
    if dims is None and tuple(A.shape[:len(B.shape)]) == tuple(B.shape):
        _halves(A, len(B.shape), "other.ndim")


def _halves(A: AnyArray, at: int, name: str) -> None:
    first, last = math.prod(A.shape[:at]), math.prod(A.shape[at:])
    if first != last:
        raise RuntimeError(f"Expected self to satisfy the requirement prod(self.shape[{name}:]) == "
                           f"prod(self.shape[:{name}]), but got {last} != {first}")


def vander(x: AnyArray, *, N: "int | None" = None) -> None:
    if (N if N is not None else x.shape[-1] if len(x.shape) else 1) <= 1:
        raise RuntimeError("N must be greater than 1.")


def einsum(equation: str, operands: Sequence) -> None:
    """The subscripts of einsum: as many as each operand has dimensions, of sizes that agree, and those of the result
    among them."""
    for k, c in enumerate(equation):
        if not (c.isascii() and c.isalpha()) and c not in " .,->":
            raise RuntimeError(f"einsum(): invalid subscript given at index {k} in the equation string, subscripts "
                               "must be in [a-zA-Z]")
    words, arrow, out = equation.replace(" ", "").partition("->")
    each = words.split(",")
    if len(each) != len(operands):
        more, given = ("fewer", "specified") if len(operands) < len(each) else ("more", "specified")
        raise RuntimeError(f"einsum(): {more} operands were provided than {given} in the equation")
    sizes: dict = {}
    for k, (word, x) in enumerate(zip(each, operands)):
        if "." not in word:
            _subscripts(k, word, tuple(x.shape), sizes)
    letters = out.replace(".", "") if arrow else ""
    for c in letters:
        if letters.count(c) > 1:
            raise RuntimeError(f"einsum(): output subscript {c} appears more than once in the output")
        if c not in words:
            raise RuntimeError(f"einsum(): output subscript {c} does not appear in the equation for any input operand")


def _subscripts(k: int, word: str, shape: tuple, sizes: dict) -> None:
    """The subscripts of one operand; sizes: those seen so far."""
    if len(word) != len(shape):
        raise RuntimeError(f"einsum(): the number of subscripts in the equation ({len(word)}) does not match the "
                           f"number of dimensions ({len(shape)}) for operand {k} and no ellipsis was given")
    own: dict = {}
    for c, n in zip(word, shape):
        if own.setdefault(c, n) != n:
            raise RuntimeError(f"einsum(): subscript {c} is repeated for operand {k} but the sizes don't match, {n} != "
                               f"{own[c]}")
    for c, n in own.items():
        seen = sizes.get(c, 1)
        if n != seen and 1 not in (n, seen):
            raise RuntimeError(f"einsum(): subscript {c} has size {n} for operand {k} which does not broadcast with "
                               f"previously seen size {seen}")
        sizes[c] = max(n, seen)


CHECKS: dict[str, Callable] = {f.__name__: f for f in (solve, solve_triangular, lu_solve, qr, lstsq, pinv, matrix_rank,
                                                       multi_dot, matrix_norm, norm, vector_norm,
                                                       householder_product, tensorinv, tensorsolve, vander)}
CHECKS.update(solve_ex=solve, lu=_lu("linalg.lu"), lu_factor=_lu("torch.lu_factor"),
              lu_factor_ex=_lu("torch.lu_factor"))


# -- factorizations that fail ------------------------------------------------------------------------------------------


def failures(a: np.ndarray, inverted: bool) -> np.ndarray:
    """LAPACK's info for each matrix that is inverted, or factored by Cholesky: 0, or the order of the first leading
    minor that makes this impossible."""
    if not inverted:
        return np.asarray(TABLE["cholesky_ex"].run(a)[1])
    pivots = np.diagonal(run_lu(a)[0], axis1=-2, axis2=-1)
    found = np.cumprod(pivots != 0, -1).sum(-1)
    return np.where(found < pivots.shape[-1], found + 1, 0).astype(np.int32)


def why_singular(called: str, a: np.ndarray) -> str:
    """PyTorch's words for an inverse or a Cholesky factor that could not be computed: which matrix of the stack, and
    where in it. Empty if all can be."""
    is_inverse = called.endswith(("inv", "inverse"))
    for k, info in enumerate(failures(a, is_inverse).reshape(-1)):
        if info:
            batch = f"(Batch element {k}): " if a.ndim > 2 else ""
            if is_inverse:
                return (f"linalg.inv: {batch}The diagonal element {info} is zero, the inversion could not be completed "
                        "because the input matrix is singular.")
            return (f"{called}: {batch}The factorization could not be completed because the input is not "
                    f"positive-definite (the leading minor of order {info} is not positive-definite).")
    return ""
