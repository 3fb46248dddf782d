"""linalg, fft and special for tensors: NumPy's and SciPy's functions, in PyTorch's terms (dim, keepdim) where an argument is a tensor."""
import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..ops.face import BY_NAME
from ..trace.alias import attribute_of
from .factors import MATRICES, of_matrices
from .formulas import where
from .products import cross_product
from .registry import FUNCTIONS, named
from .tensor import Tensor, raw, wrap
from .together import together

_DIMS = {"dim": "axis", "keepdim": "keepdims"}


def for_tensors(library: str, own: Mapping[str, Callable], renamed: Mapping[str, str] = _DIMS) -> "tuple[Callable, Callable]":
    """__getattr__ and __dir__ of a namespace: the library's functions, which take tensors with PyTorch's names of options too; own: what differs in more."""
    get, names = attribute_of(library)
    made: dict[str, Any] = {}

    def attribute(name: str) -> Any:
        if name not in made:
            made[name] = _both(own.get(name), get, f"{library}.{name}", renamed)
        return made[name]
    return attribute, lambda: sorted({*names(), *own})


def _both(for_tensor: "Callable | None", get: Callable, path: str, renamed: Mapping[str, str]) -> Any:
    name = path.rpartition(".")[2]
    try:
        library = get(name)
    except AttributeError:
        if for_tensor is None:
            raise
        return for_tensor if isinstance(for_tensor, type) else of_matrices(name, _stepping(path, for_tensor))
    if isinstance(library, type) or not callable(library):
        return library if for_tensor is None else for_tensor

    def call(*args: Any, **kwargs: Any) -> Any:
        if not any(isinstance(a, Tensor) for a in (*args, *kwargs.values())) and not _holds_tensors(args):
            return library(*args, **kwargs)
        if for_tensor is not None:
            return _as_step(path, for_tensor(*args, **kwargs), args)
        out = kwargs.pop("out", None)
        face = BY_NAME.get(path)
        y = (library if face is None else face.call)(*args, **{renamed.get(key, key): value for key, value in kwargs.items()})
        y = wrap(y) if isinstance(y, np.ndarray) else y              # what does not hang on the tensors' values, as a matrix' power 0
        return _as_step(path, y, args) if out is None else out.copy_(y)
    call.__name__, call.__doc__ = name, library.__doc__
    return of_matrices(name, call) if path.startswith("numpy.linalg.") else call


_STEPS = {"lu": "LinalgLuBackward0", "lu_factor": "LinalgLuFactorExBackward0", "householder_product": "LinalgHouseholderProductBackward0",
          "fftshift": "RollBackward0", "ifftshift": "RollBackward0"}


def _as_step(path: str, y: Any, args: tuple) -> Any:
    """What a function computed, as the one step that it is for PyTorch."""
    library, _, name = path.rpartition(".")
    label = _STEPS.get(name)
    if label is None and library == "numpy.fft" and isinstance(y, Tensor) and args and isinstance(args[0], Tensor):
        label = f"Fft{args[0]._a.dtype.kind == 'c' and 'C' or 'R'}2{y._a.dtype.kind == 'c' and 'C' or 'R'}Backward0"
    if label is not None:
        together(y if isinstance(y, tuple) else (y,), label, [a for a in args if isinstance(a, Tensor)])
    return y


def _stepping(path: str, f: Callable) -> Callable:
    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        return _as_step(path, f(*args, **kwargs), args)
    return call


def _holds_tensors(args: tuple) -> bool:
    return bool(args) and isinstance(args[0], (tuple, list)) and any(isinstance(a, Tensor) for a in args[0])


def _face(name: str, *args: Any, **kwargs: Any) -> Any:
    return BY_NAME[name].call(*args, **kwargs)


# -- linalg -------------------------------------------------------------------------------------------------------------------


class Factored(NamedTuple):
    """A result and, for each matrix, 0 where nothing went wrong."""

    result: Any
    info: Any


def _info(x: Any) -> Tensor:
    return wrap(np.zeros(x.shape[:-2], np.int32))


def norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """A vector's or matrix' norm."""
    x = A if dtype is None else A.to(dtype)
    if ord is None:
        return vector_norm(x, 2, dim, keepdim)
    if dim is None:
        dim = 0 if len(x.shape) == 1 else tuple(range(len(x.shape)))
    if isinstance(dim, int) or len(dim) == 1:
        return vector_norm(x, ord, dim, keepdim)
    return _face("numpy.linalg.norm", x, ord, axis=tuple(dim), keepdims=keepdim)


def vector_norm(x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The ord-norm of all elements or along dimensions."""
    return (x if dtype is None else x.to(dtype)).norm(ord, dim, keepdim)


def matrix_norm(A: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The norm of matrices."""
    if ord == "fro":
        return vector_norm(A, 2, tuple(dim), keepdim, dtype=dtype)
    return _face("numpy.linalg.norm", A if dtype is None else A.to(dtype), ord, axis=tuple(dim), keepdims=keepdim)


def solve_triangular(A: Any, B: Any, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Any:
    """X with A X = B (left=False: X A = B), A triangular."""
    if not left:
        return solve_triangular(A.mT, B.mT, upper=not upper, unitriangular=unitriangular).mT
    return named(_face("scipy.linalg.solve_triangular", A, B, lower=not upper, unit_diagonal=unitriangular), "LinalgSolveTriangularBackward0")


def cholesky(A: Any, *, upper: bool = False) -> Any:
    """The Cholesky factor."""
    y = _face("numpy.linalg.cholesky", A)
    return y.mT.conj() if upper else y


def vander(x: Any, *, N: "int | None" = None) -> Any:
    """The powers 0, 1, 2, ... of the elements, along a new last dimension."""
    if not len(x.shape):
        x = x.reshape(1)
    return Tensor._stack_rows([x ** k for k in range(x.shape[-1] if N is None else N)], -1)    # type: ignore[attr-defined]


def solve(A: Any, B: Any, *, left: bool = True) -> Any:
    """X with A X = B (left=False: X A = B)."""
    if left and (len(B.shape) == 1 or A.shape[:-1] == B.shape):                                  # one vector, or one for each matrix
        return solve(A, B.unsqueeze(-1)).squeeze(-1)
    return _face("numpy.linalg.solve", A, B) if left else solve(A.mT, B.mT).mT


def qr(A: Any, mode: str = "reduced") -> Any:
    """Q, R."""
    if mode == "r":
        if A.requires_grad:
            raise RuntimeError("The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, mode='reduced') if you "
                               "are going to differentiate through linalg.qr.")
        return QR(wrap(np.zeros(0, A.dtype)), _face("numpy.linalg.qr", A, "r"))
    q, r = _face("numpy.linalg.qr", A, mode)
    return QR(named(q, "LinalgQrBackward0", mode=mode), r)


class LeastSquares(NamedTuple):
    """The solution of least squares and what is known of it."""

    solution: Any
    residuals: Any
    rank: Any
    singular_values: Any


class QR(NamedTuple):
    """The factors of qr."""

    Q: Any
    R: Any


def cross(input: Any, other: Any, *, dim: int = -1) -> Any:
    """The cross product."""
    return cross_product(input, other, dim)


def diagonal(A: Any, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """The diagonals of matrices, sharing memory."""
    return A.diagonal(offset, dim1, dim2)


def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Tensor:
    """How many singular values are above atol and above rtol times the largest one; rtol is 0 where only atol is given, else what rounding leaves."""
    absolute, relative = (None if t is None else np.asarray(raw(t)) for t in (atol if tol is None else tol, rtol))
    s = np.abs(np.linalg.eigvalsh(A._a)) if hermitian else np.linalg.svd(A._a, compute_uv=False)
    rounding = max(A._a.shape[-2:]) * np.finfo(s.dtype).eps
    relative = np.where(0.0 if absolute is None else absolute > 0, 0.0, rounding) if relative is None else relative
    largest = s.max(-1, initial=0)
    least = np.maximum(0.0 if absolute is None else absolute, relative * largest)
    return wrap(np.asarray((s > least[..., None]).sum(-1)))


def lu(A: Tensor, *, pivot: bool = True) -> tuple:
    """P, L, U with A = P L U; P in A's dtype."""
    p, *factors = _face("scipy.linalg.lu", A)
    return p.to(A.dtype), *factors


def least_squares(A: Tensor, B: Tensor, rcond: Any = None, *, driver: Any = None) -> LeastSquares:
    """The solution of A X = B with the least sum of squares."""
    solution, residuals, rank, s = _face("numpy.linalg.lstsq", A, B, rcond)
    return LeastSquares(solution, residuals, wrap(np.asarray(raw(rank), np.int64)), s)


def cond(A: Tensor, p: Any = None) -> Tensor:
    """The condition number; in the 2-norm the largest singular value over the smallest, 0/0 not excepted."""
    if A._a.ndim < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if p not in (None, 2, -2):
        return _face("numpy.linalg.cond", A, p)
    s = _face("numpy.linalg.svdvals", A)
    return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]


LINALG: dict[str, Callable] = {
    "norm": norm, "vector_norm": vector_norm, "matrix_norm": matrix_norm, "solve_triangular": solve_triangular, "cholesky": cholesky, "vander": vander,
    "solve": solve, "qr": qr, "cross": cross, "cond": cond, "diagonal": diagonal,
    "inv_ex": lambda A, *, check_errors=False: Factored(_face("numpy.linalg.inv", A), _info(A)),
    "cholesky_ex": lambda A, *, upper=False, check_errors=False: Factored(cholesky(A, upper=upper), _info(A)),
    "solve_ex": lambda A, B, *, left=True, check_errors=False: Factored(solve(A, B, left=left), _info(A)),
    **MATRICES, "matrix_exp": lambda A: _face("scipy.linalg.expm", A), "lu": lu,
    "vecdot": lambda x, y, *, dim=-1: (x.conj() * y).sum(dim), "multi_dot": lambda tensors: _face("numpy.linalg.multi_dot", list(tensors)),
    "lstsq": least_squares,
    "tensorsolve": lambda A, B, dims=None: _face("numpy.linalg.tensorsolve", A, B, dims), "matrix_rank": matrix_rank}

# -- special ------------------------------------------------------------------------------------------------------------------

_RENAMED = {"bessel_j0": "j0", "bessel_j1": "j1", "bessel_y0": "y0", "bessel_y1": "y1", "modified_bessel_i0": "i0", "modified_bessel_i1": "i1",
            "modified_bessel_k0": "k0", "modified_bessel_k1": "k1", "scaled_modified_bessel_k0": "k0e", "scaled_modified_bessel_k1": "k1e"}
SPECIAL: dict[str, Callable] = {name: BY_NAME[f"scipy.special.{target}"].call for name, target in _RENAMED.items()}
SPECIAL.update(softmax=FUNCTIONS["softmax"], log_softmax=FUNCTIONS["log_softmax"], logsumexp=FUNCTIONS["logsumexp"], multigammaln=FUNCTIONS["mvlgamma"])
SPECIAL["airy_ai"] = lambda x: BY_NAME["scipy.special.airy"].call(x)[0]
SPECIAL["spherical_bessel_j0"] = lambda x: BY_NAME["scipy.special.spherical_jn"].call(0, x)


def _polynomial(target: str) -> Callable:
    def call(x: Any, n: Any) -> Any:
        """Of degree n, without its fraction; zero where n is negative."""
        degree = np.trunc(raw(n)).astype(np.int64)
        y = BY_NAME[f"scipy.special.{target}"].call(np.maximum(degree, 0), x)
        return y if (degree >= 0).all() else where(wrap(degree >= 0), y, 0.0)
    return call


for _family, _target in {"chebyshev_polynomial_t": "eval_chebyt", "chebyshev_polynomial_u": "eval_chebyu", "hermite_polynomial_h": "eval_hermite",
                         "hermite_polynomial_he": "eval_hermitenorm", "laguerre_polynomial_l": "eval_laguerre", "legendre_polynomial_p": "eval_legendre",
                         "shifted_chebyshev_polynomial_t": "eval_sh_chebyt", "shifted_chebyshev_polynomial_u": "eval_sh_chebyu"}.items():
    SPECIAL[_family] = _polynomial(_target)

# -- fft ----------------------------------------------------------------------------------------------------------------------


def _several(name: str, of_scipy: bool = False) -> Callable:
    def call(input: Any, s: Any = None, dim: Any = None, norm: Any = None) -> Any:
        axes = {} if dim is None else {"axes": tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)}
        s = (s,) if isinstance(s, int) else s
        return _face(f"{'scipy' if of_scipy else 'numpy'}.fft.{name}", input, s, norm=norm, **axes)
    return call


FFT: dict[str, Callable] = {name: _several(name) for name in ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")}
FFT.update({name: _several(name, of_scipy=True) for name in ("hfft2", "hfftn", "ihfft2", "ihfftn")})
FFT.update(fftshift=lambda input, dim=None: _face("numpy.fft.fftshift", input, dim), ifftshift=lambda input, dim=None: _face("numpy.fft.ifftshift", input, dim))
