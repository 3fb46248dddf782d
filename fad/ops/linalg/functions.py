"""Functions of matrices (exponential, square root, logarithm) and the Sylvester equation.

Source: N. Higham, "Functions of Matrices: Theory and Computation" (2008), chapter 3. The tangent of y = f(a) is the
Frechet derivative l(a, da), and it is the upper right block of f of a block matrix (equation 3.16):

    f([[a, e], [0, a]]) = [[f(a), l(a, e)], [0, f(a)]]

The same applied to l gives its derivative: l([[a, d], [0, a]], [[e, h], [0, e]]) has the upper right block l(a, h) +
l2(a; d, e). So each function and its `_frechet` form a family that is closed under differentiation, to any order. The
adjoint of e -> l(a, e) is g -> l(a^H, g), since f(a^H) = f(a)^H for these functions.
"""
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.op import Op, registry
from ...ir.types import Type, type_of
from ...util.array import AnyArray, ArrayOrNumber, DTypeLike
from ...util.interrupts import reraise_interrupt
from ...util.lazy import LazyModule
from .. import extents
from ..kinds import Explicit, shape_of
from . import samples
from .matrices import adjoint, batch_stack, columns_from, matmul, rank, rows_from, square_type
from .solve import lost_if_singular

scipy_linalg = LazyModule("scipy.linalg")


def each_matrix(f: Callable) -> Callable:
    """f of one matrix, or of several, for stacks; in the dtype of the first."""
    def run(a: np.ndarray, *more: np.ndarray) -> np.ndarray:
        if a.ndim == 2 and a.size:
            return _in_dtype_of(a, f(a, *more))
        out = np.empty((more[-1] if more else a).shape, a.dtype)
        for index in np.ndindex(*a.shape[:-2]) if out.size else ():
            out[index] = _in_dtype_of(a, f(a[index], *[m[index] for m in more]))
        return out
    return run


def _in_dtype_of(a: np.ndarray, y: np.ndarray) -> np.ndarray:
    """y in a's dtype, provided that a real a has a real y."""
    if a.dtype.kind != "c" and y.dtype.kind == "c":
        if np.abs(y.imag).max() > 1e-8 * np.abs(y).max():
            raise np.linalg.LinAlgError("this function of a real matrix is complex: pass the matrix as complex")
        y = y.real
    return y.astype(a.dtype, copy=False)


# -- block matrices --------------------------------------------------------------------------------


def block_triangle(a: AnyArray, e: AnyArray) -> AnyArray:
    """[[a, e], [0, a]]"""
    k = rank(a)
    top = registry["concatenate"](a, e, axis=k - 1)
    bottom = registry["concatenate"](registry["zeros_like"](a), a, axis=k - 1)
    return registry["concatenate"](top, bottom, axis=k - 2)


def upper_right(x: AnyArray, a: AnyArray) -> AnyArray:
    """The upper right block of x, as large as a."""
    n = shape_of(a)[-1]
    return columns_from(rows_from(x, 0, n), n, n)


def _zeros(x: AnyArray, dx: Any) -> AnyArray:
    return registry["nothing_like"](x) if dx is None else dx


# -- functions with their Frechet derivative -------------------------------------------------------


def matrix_function(name: str, run: Callable, run_frechet: Callable, make: Callable, doc: str,
                    regular: bool = False) -> tuple:
    """The op of a function of square matrices, and that of its Frechet derivative l(a, e). `regular`: singular
    matrices have no derivative."""
    def along(a: ArrayOrNumber, e: object, of: AnyArray) -> AnyArray:
        return frechet(a, e) + lost_if_singular(of) if regular else frechet(a, e)

    def frechet_jvp(ys: tuple, xs: tuple, dxs: tuple) -> tuple:
        (a, e), (da, de) = xs, dxs
        if da is None:
            return (frechet(a, de),)
        blocks = frechet(block_triangle(a, da), block_triangle(e, _zeros(e, de)))
        return (upper_right(blocks, a),)

    def frechet_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple) -> tuple:
        (g,), (a, e) = gs, xs
        ah, eh = adjoint(a), adjoint(e)
        ge = frechet(ah, g) if needs[1] else None
        if not needs[0]:
            return None, ge
        zero = registry["nothing_like"](e)
        return upper_right(frechet(block_triangle(ah, g), block_triangle(eh, zero)), a), ge

    def pair(rng: np.random.Generator, *shape: int, dtype: DTypeLike) -> tuple:
        return make(rng, *shape, dtype=dtype), samples.matrix(rng, *shape, dtype=dtype)

    frechet: Op = Op(f"{name}_frechet", each_matrix(run_frechet), lambda a, e: square_type(a), kind="opaque",
                     batch=batch_stack, derivative=Explicit(frechet_jvp, frechet_pullback),
                     expand=lambda a, e: upper_right(function(block_triangle(a, e)), a),
                     samples=samples.of_each_kind(pair), doc=f"The directional derivative of {name} at a along e")
    function: Op = Op(name, each_matrix(run), square_type, kind="opaque", batch=batch_stack, kernel=f"linalg.{name}",
                      kernel_params=(), derivative=Explicit(lambda ys, xs, dxs: (along(xs[0], dxs[0], xs[0]),),
                                      lambda gs, ys, xs, needs: (along(adjoint(xs[0]), gs[0], xs[0]),)),
                  samples=samples.of_each_kind(make), doc=doc)
    return function, frechet


def by_blocks(run: Callable) -> Callable:
    """The Frechet derivative of a function by the function of a block matrix."""
    def run_frechet(a: np.ndarray, e: np.ndarray) -> np.ndarray:
        n = a.shape[-1]
        return run(np.block([[a, e], [np.zeros_like(a), a]]))[:n, n:]
    return run_frechet


expm, expm_frechet = matrix_function("expm", lambda a: scipy_linalg.expm(a),
                                     lambda a, e: scipy_linalg.expm_frechet(a, e, compute_expm=False), samples.matrix,
                                     "The exponential of square matrices")
def _run_logm(a: np.ndarray) -> np.ndarray:
    return scipy_linalg.logm(a.astype(np.result_type(a, float)))           # SciPy judges its result by double precision


def _run_logm_frechet(a: np.ndarray, e: np.ndarray) -> np.ndarray:
    try:
        return by_blocks(_run_logm)(a, e)
    except ValueError as error:
        reraise_interrupt(error)  # SciPy finds its own result infinite: a singular matrix has no logarithm
        return np.full(e.shape, np.nan, np.result_type(a, e))


logm, logm_frechet = matrix_function("logm", _run_logm, _run_logm_frechet, samples.regular,
                                     "The principal logarithm of square matrices", regular=True)

# -- the Sylvester equation ------------------------------------------------------------------------
#
# a x + x b = q:  a dx + dx b = dq - da x - x db;  with a^H y + y b^H = g:  gq = y,  ga = -y x^H,  gb = -x^H y


def _run_sylvester(a: np.ndarray, b: np.ndarray, q: np.ndarray) -> np.ndarray:
    out = np.empty(q.shape, q.dtype)
    for index in np.ndindex(*q.shape[:-2]):
        out[index] = scipy_linalg.solve_sylvester(a[index], b[index], q[index])
    return out


def _infer_sylvester(a: AnyArray, b: AnyArray, q: AnyArray) -> Type:
    m, n = square_type(a).shape[-1], square_type(b).shape[-1]
    *stack, rows, columns = shape_of(q)
    agree = [extents.agree(p, r, "the extents of a Sylvester equation") for p, r in ((m, rows), (n, columns))]
    return Type(type_of(q).dtype, (*stack, *agree))


def _sylvester_jvp(ys: tuple, xs: tuple, dxs: tuple) -> tuple:
    (x,), (a, b, _), (da, db, side) = ys, xs, dxs
    for moved in (None if da is None else matmul(da, x), None if db is None else matmul(x, db)):
        if moved is not None:
            side = -moved if side is None else side - moved
    return (solve_sylvester(a, b, side),)


def _sylvester_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple) -> tuple:
    (g,), (x,), (a, b, _) = gs, ys, xs
    y, xh = solve_sylvester(adjoint(a), adjoint(b), g), adjoint(x)
    return (-matmul(y, xh) if needs[0] else None), (-matmul(xh, y) if needs[1] else None), y


def _equation(rng: np.random.Generator, *shape: int, dtype: DTypeLike) -> tuple:
    *stack, n, _ = shape
    return (samples.regular(rng, *shape, dtype=dtype), samples.regular(rng, *stack, 2, 2, dtype=dtype),
            samples.matrix(rng, *stack, n, 2, dtype=dtype))


solve_sylvester = Op("solve_sylvester", _run_sylvester, _infer_sylvester, kind="opaque", batch=batch_stack,
                     derivative=Explicit(_sylvester_jvp, _sylvester_pullback), kernel="linalg.solve_sylvester",
                     kernel_params=(), samples=samples.of_each_kind(_equation), doc="The solution x of a x + x b = q")

# -- the square root -------------------------------------------------------------------------------
#  x x = a:  x dx + dx x = da, a Sylvester equation;  ga = y with x^H y + y x^H = gx. The root of a singular matrix has
# no derivative (Higham 2008, section 6.1): its equation is singular, and rounding hides it.


def _sqrtm_jvp(ys: tuple, xs: tuple, dxs: tuple) -> tuple:
    return (solve_sylvester(ys[0], ys[0], dxs[0] + lost_if_singular(xs[0])),)


def _sqrtm_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple) -> tuple:
    root = adjoint(ys[0])
    return (solve_sylvester(root, root, gs[0] + lost_if_singular(xs[0])),)


sqrtm = Op("sqrtm", each_matrix(lambda a: scipy_linalg.sqrtm(a)), square_type, kind="opaque", batch=batch_stack,
           derivative=Explicit(_sqrtm_jvp, _sqrtm_pullback), kernel="linalg.sqrtm", kernel_params=(),
           samples=samples.of_each_kind(samples.regular), doc="The principal square root of square matrices")
