"""Combinations of elements, counting and looking up, and matrices of a form."""
import itertools

import numpy as np

from ..ops.face import BY_NAME
from ..ops.table import TABLE as op
from ..util.array import AnyArray, ArrayOrNumber, Axes, DTypeLike
from .dtypes import as_dtype
from .errors import scalar_name
from .formulas import sinc
from .indexing import getitem
from .inplace import number
from .joining import meshgrid, stack
from .products import added, matmul
from .reductions import sum
from .registry import FUNCTIONS, by_number, define, function, in_precision, named, one_dim, run, tensor_of
from .results import QR, SVD, Scaled
from .shapes import reshape
from .tensor import Tensor, raw, wrap
from .together import step


@function(method=False)
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """Every combination of an element of each vector, a row for each."""
    if len(tensors) == 1:
        return tensors[0]
    return stack([reshape(g, -1) for g in meshgrid(*tensors)], 1)


@function(method=False)
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Every combination of r elements of a vector, a row for each."""
    if len(input.shape) != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input.shape)}")
    if r == 0:
        return input.new_empty(0)
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    return getitem(input, np.asarray(list(choose(range(input.shape[0]), r)), np.int64).reshape(-1, r))


@function()
def nanmean(self: Tensor, dim: Axes = None, keepdim: bool = False, *, dtype: DTypeLike = None) -> Tensor:
    """The mean of what is not nan."""
    if self.dtype.kind not in "fc":
        raise RuntimeError(f"nanmean(): expected input to have floating point or complex dtype but got "
                           f"{scalar_name(self.dtype)}")
    x = self if dtype is None else self.to(as_dtype(dtype))
    there = op["logical_not"](op["isnan"](x))
    return FUNCTIONS["nansum"](x, dim, keepdim) / sum(there.to(x.dtype), dim, keepdim)


@function(changing=True)
@step("RenormBackward0", "self", "self", "p dim maxnorm")
def renorm(self: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """Parts along a dimension whose p-norm is more than maxnorm, scaled to have that."""
    if len(self.shape) < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {len(self.shape)} dimensions")
    ax = one_dim(dim, len(self.shape))
    norms = self.norm(p, [k for k in range(len(self.shape)) if k != ax], True)
    return self * op["where"](norms > maxnorm, maxnorm / (norms + 1e-7), 1.0)


@function(method=False)
def vander(x: Tensor, N: "int | None" = None, increasing: bool = False) -> Tensor:
    """The powers of a vector's elements, a column for each."""
    if len(x.shape) != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    if N is not None and N < 0:
        raise RuntimeError("N must be non-negative.")
    powers = range(x.shape[-1] if N is None else N)
    if not len(powers):
        return x.reshape(-1, 1)[:, :0]
    return stack([x ** k for k in (powers if increasing else reversed(powers))], -1)


@function(changing=True)
@step("MvlgammaBackward0", "self", "self", "p")
def mvlgamma(self: Tensor, p: int) -> ArrayOrNumber:
    """The logarithm of the multivariate gamma function."""
    total = p * (p - 1) / 4 * float(np.log(np.pi))
    for k in range(p):
        total = run(op["gammaln"], self - k / 2) + total
    return total


@function()
@step("Rot90Backward0", "self", "", "k dims")
def rot90(self: object, k: int = 1, dims: object = (0, 1)) -> Tensor:
    """Turned by k right angles in the plane of two dimensions."""
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    a, b = [one_dim(d, len(self.shape)) for d in dims]
    if a == b:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    turns = {0: lambda: self.clone(), 1: lambda: self.flip(b).transpose(a, b), 2: lambda: self.flip(a, b),
             3: lambda: self.flip(a).transpose(a, b)}
    return turns[k % 4]()


@function(method=False)
@step("PdistBackward0", "input", "self=input result", "p")
def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The p-norms of the differences of every two rows."""
    if len(input.shape) != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {len(input.shape)}D")
    rows, columns = np.triu_indices(input.shape[0], 1)
    return (getitem(input, rows) - getitem(input, columns)).norm(float(number(p, "pdist", "p")), dim=-1)


define("addbmm",
       lambda self, batch1, batch2, *, beta=1, alpha=1: added(self, sum(matmul(batch1, batch2), 0), beta, alpha),
       "beta * self + alpha * the sum of the products of a batch.",
       node="AddbmmBackward0", edges="self batch1 batch2", saves="batch1 batch2", shows="alpha beta", changing=True)


@function(method=False)
def chain_matmul(*matrices: AnyArray) -> AnyArray:
    """The product of matrices."""
    y = matrices[0]
    for m in matrices if len(matrices) > 1 else ():
        if len(m.shape) != 2:
            raise RuntimeError(f"Tensor dimension is {len(m.shape)}, expected 2 instead.")
    for m in matrices[1:]:
        y = matmul(y, m)
    return y


@function(method=False)
def cumulative_trapezoid(y: Tensor, x: "Tensor | None" = None, *, dx: float = 1.0, dim: int = -1) -> Tensor:
    """The integral up to each place, by the trapezoidal rule."""
    n = y.shape[dim]
    middle = y.narrow(dim, 1, n - 1) + y.narrow(dim, 0, n - 1)
    return (by_number(middle, 0.5 * dx) if x is None else by_number(middle, 0.5) * x.diff(dim=dim)).cumsum(dim)


for _name, _target in {"isneginf": "numpy.isneginf", "isposinf": "numpy.isposinf", "isreal": "numpy.isreal",
                       "matrix_exp": "scipy.linalg.expm", "igamma": "scipy.special.gammainc",
                       "igammac": "scipy.special.gammaincc"}.items():
    def _call(*args: Tensor, _target: str = _target, _name: str = _name) -> Tensor:
        return in_precision(BY_NAME[_target].call(*[tensor_of(a) if isinstance(a, np.ndarray) else a for a in args]),
                            args)
    define(_name, _call, f"{_target}, on tensors.", changing=_name in ("igamma", "igammac"))


@function()
def svd(self: object, some: bool = True, compute_uv: bool = True) -> tuple:
    """U, S, V with self = U diag(S) V^H; without compute_uv, U and V are zero."""
    if not compute_uv:
        *stack, rows, columns = self.shape
        u, v = (self.new_zeros((*stack, n, n)) for n in (rows, columns))
        return SVD(u, BY_NAME["numpy.linalg.svdvals"].call(self), v)
    u, s, vh = BY_NAME["numpy.linalg.svd"].call(self, full_matrices=not some)
    return SVD(u, s, vh.mT.conj())


define("qr",
       lambda self, some=True: QR(*BY_NAME["numpy.linalg.qr"].call(self, "reduced" if some else "complete")),
       "Q, R.")
define("frexp", lambda self: Scaled(op["frexp_mantissa"](self), op["frexp_exponent"](self)),
       "(mantissa, exponent) with self = mantissa * 2 ** exponent.", node="FrexpBackward0", edges="self",
       saves="exponent=indices", copies="self")
define("embedding",
       lambda weight, indices, padding_idx=-1: named(getitem(weight, raw(indices)), "EmbeddingBackward0"),
       "Rows of the weight by their indices.", method=False)


@function()
@step("CholeskySolveBackward0", "self L", "self input2=L result", "upper")
def cholesky_solve(self: Tensor, L: Tensor, upper: bool = False) -> Tensor:
    """X with A X = self, from the Cholesky factor of A."""
    for name, x in (("b", self), ("u", L)):
        if len(x.shape) < 2:
            raise RuntimeError(f"{name} should have at least 2 dimensions, but has {len(x.shape)} dimensions instead")
    if self.shape[-2] != L.shape[-1]:
        raise RuntimeError(f"Incompatible matrix sizes for cholesky_solve: each A matrix is {L.shape[-1]} by "
                           f"{L.shape[-1]} but each b matrix is {self.shape[-2]} by {self.shape[-1]}")
    lower = L.mT.conj() if upper else L
    y = BY_NAME["scipy.linalg.solve_triangular"].call(lower, self, lower=True)
    return BY_NAME["scipy.linalg.solve_triangular"].call(lower.mT.conj(), y, lower=False)


define("cholesky_inverse",
       lambda self, upper=False: cholesky_solve(wrap(np.eye(self.shape[-1], dtype=self.dtype)), self, upper),
       "The inverse of a matrix, from its Cholesky factor.",
       node="CholeskyInverseBackward0", edges="self", saves="self result", shows="upper")


@function(method=False)
def trapezoid(y: Tensor, x: "Tensor | None" = None, *, dx: float = 1.0, dim: int = -1) -> Tensor:
    """The integral by the trapezoidal rule."""
    n = y.shape[dim]
    middle = y.narrow(dim, 1, n - 1) + y.narrow(dim, 0, n - 1)
    return sum(by_number(middle, 0.5 * dx) if x is None else by_number(middle, 0.5) * x.diff(dim=dim), dim)


@function(method=False)
@step("CdistBackward0", "x1 x2", "x1 x2 result", "p")
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: "str | None" = None) -> Tensor:
    """The p-norm of the difference of every row of x1 and every row of x2; compute_mode is taken for PyTorch's sake."""
    for name, x in (("X1", x1), ("X2", x2)):
        if len(x.shape) < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {len(x.shape)}D")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}")
    p = number(p, "cdist", "p")
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    return (x1.unsqueeze(-2) - x2.unsqueeze(-3)).norm(p, dim=-1)


function(changing=True)(sinc)
FUNCTIONS["trapz"] = trapezoid


define("diagflat", lambda self, offset=0: reshape(self, -1).diag_embed(offset),
       "A matrix with all elements on a diagonal.")


@function(method=False)
def gradient(input: Tensor, *, spacing: object = 1.0, dim: Axes = None, edge_order: int = 1) -> tuple:
    """Central differences along dimensions, one-sided ones at the edges."""
    dims = range(len(input.shape)) if dim is None else [dim] if isinstance(dim, int) else dim
    steps = spacing if isinstance(spacing, (tuple, list)) else [1.0 if spacing is None else spacing] * len(dims)
    call = BY_NAME["numpy.gradient"].call
    return tuple([in_precision(call(input, s, axis=one_dim(d, len(input.shape)), edge_order=edge_order), (input, s))
                  for s, d in zip(steps, dims)])

