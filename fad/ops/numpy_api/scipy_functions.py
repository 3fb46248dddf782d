"""scipy.linalg: functions of matrices, matrix equations, and matrices made of vectors."""
from typing import Any

import numpy as np

from ...ir.op import registry
from ...ir.types import complex_dtype, result_dtype, type_of
from ...util.array import AnyArray, ArrayLike, ArrayOrNumber, Extent
from .. import extents
from ..kinds import conjugate, is_complex, shape_of
from ..linalg import factorizations, functions, solve
from ..linalg.matrices import adjoint, as_columns, as_rows, count_up, identity_like, matmul, on_diagonal
from ..override import BY_NAME, check_finite, override
from .arguments import as_array, check_all, fixed, in_dtype, rank, ravel, refuse, taken
from .stacks import at_least, epsilon, matrix, over_stacks, square, together
from .within import add_solver

# -- functions of matrices -------------------------------------------------------------------------


@override("scipy.linalg.expm", samples=("la.expm(S)", "la.expm(np.stack([S, P]))"))
def expm(A: ArrayLike) -> AnyArray:
    return functions.expm(square(at_least(2, A)))


@override("scipy.linalg.expm_frechet", samples=("la.expm_frechet(S, P)[1]",), precision="double")
def expm_frechet(A: ArrayLike, E: ArrayLike, method: object = None, compute_expm: bool = True,
                 check_finite: bool = True) -> tuple:
    if method not in (None, "SPS", "blockEnlarge"):
        raise ValueError(f"Unknown implementation {method}")
    A, E = together(square(A), square(E))
    tangent = functions.expm_frechet(A, E)
    return (functions.expm(A), tangent) if compute_expm else tangent


def _without_report(name: str, disp: bool) -> None:
    if disp is False:
        raise refuse(f"scipy.linalg.{name}", "disp=False")


@override("scipy.linalg.sqrtm", samples=("la.sqrtm(P)",),
          note="where no two eigenvalues of the root are opposite; real for real matrices, or raises")
def sqrtm(A: ArrayLike, disp: bool = True) -> AnyArray:
    _without_report("sqrtm", disp)
    return functions.sqrtm(square(A))


@override("scipy.linalg.logm", samples=("la.logm(P)",), precision="double",
          note="off the negative real axis; real for real matrices, or raises")
def logm(A: ArrayLike, disp: bool = True) -> AnyArray:
    _without_report("logm", disp)
    return functions.logm(square(A))


@override("scipy.linalg.signm", samples=("la.signm(S - 2.5 * np.eye(4))",), note="where no eigenvalue is imaginary")
def signm(A: ArrayLike, disp: bool = True) -> AnyArray:
    """a (a a)^(-1/2) (N. J. Higham, Functions of Matrices (2008), equation 5.2)."""
    _without_report("signm", disp)
    A = square(A)
    return matmul(A, solve.inv(functions.sqrtm(matmul(A, A))))


@override("scipy.linalg.fractional_matrix_power", samples=("la.fractional_matrix_power(P, 0.3)",))
def fractional_matrix_power(A: ArrayLike, t: object) -> AnyArray:
    """exp(t log A); whole powers by multiplication."""
    A = square(A)
    if isinstance(t, (int, float)) and t == int(t):
        return BY_NAME["numpy.linalg.matrix_power"].call(A, int(t))
    return functions.expm(functions.logm(A) * t)


def _turned(a: AnyArray) -> AnyArray:
    """exp(i a)"""
    return functions.expm(in_dtype(a, complex_dtype(type_of(a).dtype)) * 1j)


@override("scipy.linalg.cosm", samples=("la.cosm(S)",))
def cosm(A: ArrayLike) -> AnyArray:
    A = square(A)
    return 0.5 * (_turned(A) + _turned(-A)) if is_complex(A) else registry["real"](_turned(A))


@override("scipy.linalg.sinm", samples=("la.sinm(S)",))
def sinm(A: ArrayLike) -> AnyArray:
    A = square(A)
    return -0.5j * (_turned(A) - _turned(-A)) if is_complex(A) else registry["imag"](_turned(A))


@override("scipy.linalg.tanm", samples=("la.tanm(0.2 * S)",))
def tanm(A: ArrayLike) -> AnyArray:
    return _quotient(cosm(A), sinm(A))


def _quotient(a: AnyArray, b: AnyArray) -> AnyArray:
    """a^-1 b; like SciPy, it refuses operands that are not finite."""
    check_finite(a, b)
    return solve.solve(a, b)


@override("scipy.linalg.coshm", samples=("la.coshm(S)",))
def coshm(A: ArrayLike) -> AnyArray:
    A = square(A)
    return 0.5 * (functions.expm(A) + functions.expm(-A))


@override("scipy.linalg.sinhm", samples=("la.sinhm(S)",))
def sinhm(A: ArrayLike) -> AnyArray:
    A = square(A)
    return 0.5 * (functions.expm(A) - functions.expm(-A))


@override("scipy.linalg.tanhm", samples=("la.tanhm(0.2 * S)",))
def tanhm(A: ArrayLike) -> AnyArray:
    return _quotient(coshm(A), sinhm(A))


@override("scipy.linalg.orthogonal_procrustes", samples=("la.orthogonal_procrustes(S, x.T @ x + S)",),
          note="where the product has full rank")
@over_stacks(A="2", B="2")
def orthogonal_procrustes(A: ArrayLike, B: ArrayLike, check_finite: bool = True) -> tuple:
    """The polar factor of A^H B, and the sum of the product's singular values (P. H. Schönemann, Psychometrika 31
    (1966) 1)."""
    A, B = together(matrix(A), matrix(B))
    for m, n in zip(shape_of(A), shape_of(B)):
        extents.agree(m, n, "the shapes of A and B")
    product = matmul(adjoint(A), B)
    iteration, stretch = polar(product)
    return iteration, registry["sum"](registry["real"](BY_NAME["numpy.diagonal"].call(stretch)), axes=(0,))


@override("scipy.linalg.polar", samples=("la.polar(S)[0]", "la.polar(S)[1]", "la.polar(x.T)[0]", "la.polar(x)[1]"),
          note="where the rank is full")
@over_stacks(a="2")
def polar(a: ArrayLike, side: str = "right") -> tuple:
    """By the root s of the smaller of a^H a and a a^H, which is regular: u is a s^-1 or s^-1 a. It is smooth where
    singular values repeat; they are not. The root has the condition of a squared: Newton's iteration takes the error
    from u, and what stays far from an isometry came of a matrix whose rank is deficient."""
    a = matrix(a)
    if side not in ("right", "left"):
        raise ValueError("`side` must be either 'right' or 'left'")
    (m, n), star = shape_of(a), adjoint(a)
    is_tall = extents.is_at_least(m, n)
    s = functions.sqrtm(_hermitian(matmul(star, a) if is_tall else matmul(a, star)))
    u = adjoint(solve.solve(s, star)) if is_tall else solve.solve(s, a)
    for _ in range(3):
        u = matmul(u, _correction(matmul(adjoint(u), u))) if is_tall else matmul(_correction(matmul(u, adjoint(u))), u)
    gram = matmul(adjoint(u), u) if is_tall else matmul(u, adjoint(u))
    error = registry["abs"](gram - identity_like(gram))
    check_all(error < epsilon(gram) ** 0.5, "the rank is deficient, and the polar factor is not unique")
    return u, _hermitian(matmul(adjoint(u), a) if side == "right" else matmul(a, adjoint(u)))


def _correction(gram: AnyArray) -> AnyArray:
    """(3 - g) / 2, which is about g^(-1/2) for g near to 1 (N. J. Higham, Functions of Matrices (2008), 8.20)."""
    return 1.5 * identity_like(gram) - 0.5 * gram


def _hermitian(a: ArrayOrNumber) -> AnyArray:
    return factorizations.hermitian(a, lower=True)


# -- matrix equations ------------------------------------------------------------------------------


@override("scipy.linalg.solve_sylvester", samples=("la.solve_sylvester(S, P, x.T @ x)",))
@over_stacks(a="2", b="2", q="2")
def solve_sylvester(a: ArrayLike, b: ArrayLike, q: ArrayLike) -> AnyArray:
    a, b, q = square(a), square(b), matrix(q)
    dtype = result_dtype(a, b, q)
    return functions.solve_sylvester(in_dtype(a, dtype), in_dtype(b, dtype), in_dtype(q, dtype))


@override("scipy.linalg.solve_continuous_lyapunov", "scipy.linalg.solve_lyapunov",
          samples=("la.solve_continuous_lyapunov(S, P)",))
@over_stacks(a="2", q="2")
def solve_continuous_lyapunov(a: ArrayLike, q: ArrayLike) -> AnyArray:
    a = square(at_least(2, a))
    return solve_sylvester(a, adjoint(a), at_least(2, q))


@override("scipy.linalg.solve_discrete_lyapunov", samples=("la.solve_discrete_lyapunov(0.2 * S, P)",))
@over_stacks(a="2", q="2")
def solve_discrete_lyapunov(a: AnyArray, q: AnyArray, method: object = None) -> AnyArray:
    """By the bilinear transformation to a continuous equation: Popov, "Hyperstability and optimality of automatic
    systems" (1964)."""
    if method not in (None, "direct", "bilinear"):
        raise ValueError("Unknown solver " + str(method))
    a, q = together(square(a), square(q))
    one, ah = identity_like(a), adjoint(a)
    right = solve.inv(ah + one)
    b = matmul(ah - one, right)
    return solve_continuous_lyapunov(adjoint(b), matmul(matmul(solve.inv(a + one), -2.0 * q), right))


for _name in ("solve_continuous_are", "solve_discrete_are"):
    add_solver(f"scipy.linalg.{_name}", "of the stabilising solution, by a Lyapunov equation",
               "write the iteration to the solution in NumPy")
for _name in ("schur", "hessenberg"):
    add_solver(f"scipy.linalg.{_name}", "of real matrices, where it is unique", "numpy.linalg.eig has derivatives")

# -- matrices made of vectors ----------------------------------------------------------------------


def _joined(c: object, r: AnyArray) -> AnyArray:
    """c and then r without its first entry."""
    tail = registry["slice_axis"](r, 0, 1, extents.difference(shape_of(r)[0], 1))
    return registry["concatenate"](c, tail, axis=0)


def _grid(m: Extent, n: Extent) -> tuple:
    return as_columns(count_up(m)), as_rows(count_up(n))


@override("scipy.linalg.toeplitz", samples=("la.toeplitz(v)", "la.toeplitz(v, 2 * v[:3])"))
@over_stacks(c="1", r="1")
def toeplitz(c: ArrayLike, r: Any = None) -> AnyArray:
    c = at_least(1, c)
    r = conjugate(c) if r is None else at_least(1, r)
    m, n = shape_of(c)[0], shape_of(r)[0]
    i, j = _grid(m, n)
    places = registry["where"](registry["greater_equal"](i, j), i - j, j - i + (m - 1))
    return taken(_joined(c, r), places)


@override("scipy.linalg.hankel", samples=("la.hankel(v)", "la.hankel(v, 2 * v[:3])"))
def hankel(c: ArrayLike, r: Any = None) -> AnyArray:
    c = as_array(c)
    if not rank(c):
        raise IndexError("hankel takes a vector, and a number was given")
    c = ravel(c)
    r = registry["zeros_like"](c) if r is None else ravel(as_array(r))
    i, j = _grid(shape_of(c)[0], shape_of(r)[0])
    return taken(_joined(c, r), i + j)


@override("scipy.linalg.convolution_matrix",
          samples=("la.convolution_matrix(v, 3)", "la.convolution_matrix(v, 2, 'same')",
                                                  "la.convolution_matrix(v[:2], 4, 'valid')"))
@over_stacks(a="1")
def convolution_matrix(a: ArrayLike, n: int, mode: str = "full") -> AnyArray:
    """The matrix m with m @ x = convolve(a, x) for all x of n values."""
    a = at_least(1, a)
    columns = [BY_NAME["numpy.convolve"].call(a, column, mode) for column in np.eye(n)]
    return in_dtype(BY_NAME["numpy.stack"].call(columns, axis=1), type_of(a).dtype)


@override("scipy.linalg.leslie", samples=("la.leslie(v, x[0, :3])",))
@over_stacks(f="1", s="1")
def leslie(f: ArrayLike, s: ArrayLike) -> AnyArray:
    f, s = at_least(1, f), at_least(1, s)
    extents.agree(shape_of(f)[0], shape_of(s)[0] + 1, "lengths of f and s (one less)")
    dtype = result_dtype(f, s)
    column = registry["full"](0, shape_of(s)[0], 1, dtype=dtype)
    below = registry["concatenate"](in_dtype(BY_NAME["numpy.diag"].call(s), dtype), column, axis=1)
    return registry["concatenate"](as_rows(in_dtype(f, dtype)), below, axis=0)


@override("scipy.linalg.circulant", samples=("la.circulant(v)",))
@over_stacks(c="1")
def circulant(c: ArrayLike) -> AnyArray:
    c = at_least(1, c)
    n = shape_of(c)[0]
    i, j = _grid(n, n)
    return taken(c, registry["where"](registry["greater_equal"](i, j), i - j, i - j + n))


@override("scipy.linalg.fiedler", samples=("la.fiedler(v)",))
@over_stacks(a="1")
def fiedler(a: AnyArray) -> ArrayOrNumber:
    a = at_least(1, a)
    return registry["abs"](as_columns(a) - as_rows(a))


@override("scipy.linalg.diagsvd", samples=("la.diagsvd(v, 4, 6)", "la.diagsvd(v[:3], 5, 3)"))
@over_stacks(s="1")
def diagsvd(s: ArrayLike, M: Any, N: Any) -> AnyArray:
    s = at_least(1, s)
    n = fixed(shape_of(s)[0], "the number of singular values")
    if n not in (M, N):
        raise ValueError("Length of s must be M or N.")
    return BY_NAME["numpy.pad"].call(BY_NAME["numpy.diag"].call(s), [(0, M - n), (0, N - n)])


@override("scipy.linalg.companion", samples=("la.companion(v)",))
@over_stacks(a="1")
def companion(a: ArrayLike) -> AnyArray:
    a = at_least(1, a)
    if not extents.is_at_least(shape_of(a)[0], 2):
        raise ValueError("The length of `a` along the last axis must be at least 2.")
    n = extents.difference(shape_of(a)[0], 1)
    first = registry["slice_axis"](a, 0, 0, 1)
    check_all(first != 0, "The first coefficient in `a` must not be zero.")
    row = as_rows(-registry["slice_axis"](a, 0, 1, n) / first)
    below = registry["cast"](on_diagonal(extents.difference(n, 1), n), dtype=type_of(row).dtype)
    return registry["concatenate"](row, below, axis=0)


@override("scipy.linalg.block_diag", samples=("la.block_diag(S, P)", "la.block_diag(x, v)"))
def block_diag(*arrs: ArrayLike) -> AnyArray:
    blocks = [_as_block(a) for a in arrs]
    dtype = result_dtype(*blocks)
    width: Any = 0
    for b in blocks:
        width = width + shape_of(b)[1]
    before: Any = 0
    rows = []
    for b in blocks:
        m, n = shape_of(b)
        after = extents.difference(extents.difference(width, before), n)
        rows.append(registry["concatenate"](_zeros(m, before, dtype), in_dtype(b, dtype), _zeros(m, after, dtype),
                                            axis=1))
        before = before + n
    return registry["concatenate"](*rows, axis=0)


def _as_block(a: object) -> Any:
    a = as_array(a)
    if rank(a) > 2:
        raise refuse("scipy.linalg.block_diag", "stacks of matrices", do="use fad.vmap")
    return a if rank(a) == 2 else registry["reshape"](a, 1, *(shape_of(a) or (1,)))


def _zeros(m: Extent, n: Extent, dtype: np.dtype) -> AnyArray:
    return registry["full"](0, m, n, dtype=dtype)


@override("scipy.linalg.khatri_rao", samples=("la.khatri_rao(x, S)",))
@over_stacks(a="2", b="2")
def khatri_rao(a: ArrayLike, b: ArrayLike) -> AnyArray:
    a, b = matrix(a), matrix(b)
    (m, k), (n, _) = shape_of(a), shape_of(b)
    return registry["reshape"](registry["contract"](a, b, labels=("ik", "jk", "ijk")), m * n, k)
