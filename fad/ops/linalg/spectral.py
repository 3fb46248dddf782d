"""Eigenvalues and eigenvectors.

Sources: M. Giles (2008), section 3.1; for unsymmetric and complex matrices C. Boeddeker et al., "On the computation of
complex-valued gradients with application to statistically optimum beamforming" (2017), and the normalization as in
PyTorch's rules.

Eigenvectors are determined up to a factor of modulus 1 (for a repeated eigenvalue, up to a unitary matrix): for complex
Hermitian matrices the derivative of a function has a meaning only if the function does not depend on that choice. For
general matrices LAPACK's choice is known, and part of the derivative. If eigenvalues repeat, to
rounding, a derivative through their eigenvectors is nan (see matrices.py); functions of other eigenvectors, and
symmetric functions of eigenvalues alone, are right.
"""

import numpy as np

from ...ir.op import Op, registry
from ...ir.types import complex_dtype, real_dtype, type_of
from ...util.array import AnyArray
from ..kinds import Explicit, shape_of
from . import samples
from .matrices import (
    adjoint,
    alike,
    as_columns,
    as_rows,
    batch_stack,
    count_up,
    diagonal,
    diagonal_matrix,
    hermitian_part,
    in_dtype,
    matmul,
    over_gaps,
    rank,
    real,
    square_type,
    unknown,
    unknown_columns,
    vector_type,
)
from .solve import lost_if_singular, plain, solve

# -- Hermitian matrices ----------------------------------------------------------------------------
#
# a v = v diag(w), v^H v = 1. With m = v^H da v and f[i, j] = 1 / (w[j] - w[i]) off the diagonal, 0 on it:
#   dw = diag(m),  dv = v (f * m)            ga = v (diag(gw) + f * (v^H gv - gv^H v) / 2) v^H


def _gaps(w: AnyArray) -> AnyArray:
    return as_rows(w) - as_columns(w)


def _doubt(gw: object, gv: AnyArray) -> AnyArray:
    """nan for each pair where one member has a cotangent."""
    lost = unknown_columns((gv, True), (gw, False))
    return as_rows(lost) + as_columns(lost)


def _eigh_jvp(ys: tuple, xs: tuple, dxs: tuple, **_: bool) -> tuple:
    w, v = ys
    m = matmul(adjoint(v), matmul(hermitian_part(dxs[0]), v))
    return real(diagonal(m)), matmul(v, over_gaps(m, _gaps(w), alike(w), unknown(m)))


def _eigh_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, **_: bool) -> tuple:
    (w, v), (gw, gv) = ys, gs
    if gv is None:
        return (matmul(v * as_rows(gw), adjoint(v)),)
    inner = matmul(adjoint(v), gv)
    middle = over_gaps(0.5 * (inner - adjoint(inner)), _gaps(w), alike(w), _doubt(gw, gv))
    if gw is not None:
        middle = middle + diagonal_matrix(gw)
    return (matmul(v, matmul(middle, adjoint(v))),)


def _infer_eigh(a: AnyArray) -> tuple:
    return vector_type(a, real_dtype(type_of(a).dtype)), square_type(a)


eigh = Op("eigh", lambda a, upper, mrrr: plain.eigh(a, upper, mrrr), lambda a, upper, mrrr: _infer_eigh(a),
          kind="opaque", derivative=Explicit(_eigh_jvp, _eigh_pullback), batch=batch_stack, kernel="linalg.eigh",
          kernel_params=("upper", "mrrr"), hermitian=(0,),
          # syevr may flip signs between neighbouring matrices
          samples=tuple(s for upper in (False, True) for s in samples.of_each_kind(
              samples.positive, samples.KINDS[:2], upper=upper, mrrr=False)),
          doc="Eigenvalues, ascending, and eigenvectors of a Hermitian matrix, of which one triangle is read; signs "
              "and phases are NumPy's (LAPACK's syevd), or if mrrr SciPy's (syevr)")


def numpys_eigh(a: AnyArray) -> tuple:
    return eigh(a, upper=False, mrrr=False)


def _eigvalsh_jvp(ys: tuple, xs: tuple, dxs: tuple) -> tuple:
    _, v = numpys_eigh(xs[0])
    return (real(diagonal(matmul(adjoint(v), matmul(hermitian_part(dxs[0]), v)))),)


def _eigvalsh_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple) -> tuple:
    return _eigh_pullback((gs[0], None), numpys_eigh(xs[0]), xs, needs)


eigvalsh = Op("eigvalsh", np.linalg.eigvalsh, lambda a: _infer_eigh(a)[0],
              kind="opaque", derivative=Explicit(_eigvalsh_jvp, _eigvalsh_pullback), batch=batch_stack,
              kernel="linalg.eigvalsh", kernel_params=(), hermitian=(0,),
              samples=samples.of_each_kind(samples.positive), doc="The eigenvalues of a Hermitian matrix, ascending")

# -- general matrices ------------------------------------------------------------------------------
#
# a v = v diag(w), columns of v of norm 1, the largest component of each real (LAPACK's geev). With m = v^-1 da v and f
#   as above, x = v (f * m), and h the row of the largest components:
#   dw = diag(m),  dv = x - v diag(Re diag(v^H x) + i Im(x[h] / v[h]))
#   ga = v^-H (diag(gw) + conj(f) * (v^H gx)) v^H, its real part for a real a, where
#   gx = gv - v diag(Re diag(v^H gv)) with i Im(diag(v^H gv)) / v[h] taken from the largest components


def _run_eig(a: np.ndarray) -> tuple:
    w, v = np.linalg.eig(a)
    kind = complex_dtype(a.dtype)
    return w.astype(kind), v.astype(kind)


def _infer_eig(a: AnyArray) -> tuple:
    kind = complex_dtype(type_of(a).dtype)
    return vector_type(a, kind), square_type(in_dtype(a, kind))


def _rotated(v: AnyArray, da: AnyArray) -> AnyArray:
    v = v + lost_if_singular(v)
    return solve(v, matmul(in_dtype(da, type_of(v).dtype), v))


def _anchors(v: AnyArray) -> AnyArray:
    """1 / v at the component of each column that LAPACK makes real, the largest one, and 0 elsewhere."""
    size = registry["abs"](v)
    size = registry["where"](registry["equal"](registry["imag"](v), 0), size, -1.0)
    largest = registry["argmax"](size, axis=rank(v) - 2)
    n = shape_of(v)[-1]
    found = registry["equal"](registry["reshape"](count_up(n), n, 1), as_rows(largest))
    return registry["where"](found, 1.0 / registry["where"](found, real(v), 1.0), 0.0)


def _imaginary_total(x: AnyArray) -> AnyArray:
    """i times the imaginary part of each column's sum, as a row."""
    return as_rows(1j * registry["imag"](registry["sum"](x, axes=(rank(x) - 2,))))


def _eig_jvp(ys: tuple, xs: tuple, dxs: tuple) -> tuple:
    w, v = ys
    m = _rotated(v, dxs[0])
    x = matmul(v, over_gaps(m, _gaps(w), alike(w), unknown(m)))
    growth = as_rows(real(diagonal(matmul(adjoint(v), x))))
    return diagonal(m), x - v * (growth + _imaginary_total(x * _anchors(v)))


def _eig_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple) -> tuple:
    (w, v), (gw, gv) = ys, gs
    v = v + lost_if_singular(v)  # a defective matrix: its eigenvalues have no derivatives
    vh, middle = adjoint(v), None
    if gv is not None:
        along = diagonal(matmul(vh, gv))
        gx = gv - v * as_rows(real(along)) - 1j * as_rows(registry["imag"](along)) * _anchors(v)
        middle = over_gaps(matmul(vh, gx), registry["conj"](_gaps(w)), alike(w), _doubt(gw, gv))
    if gw is not None:
        middle = diagonal_matrix(gw) if middle is None else middle + diagonal_matrix(gw)
    return (solve(vh, matmul(middle, vh)),)


eig = Op("eig", _run_eig, _infer_eig, kind="opaque", derivative=Explicit(_eig_jvp, _eig_pullback), batch=batch_stack,
         kernel="linalg.eig", kernel_params=(), samples=samples.of_each_kind(samples.regular, samples.KINDS[:2]),
         doc="Eigenvalues and eigenvectors, always complex, of a square matrix")


def _eigvals_jvp(ys: tuple, xs: tuple, dxs: tuple) -> tuple:
    _, v = eig(xs[0])
    return (diagonal(_rotated(v, dxs[0])),)


def _eigvals_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple) -> tuple:
    return _eig_pullback((gs[0], None), eig(xs[0]), xs, needs)


eigvals = Op("eigvals", lambda a: np.linalg.eigvals(a).astype(complex_dtype(a.dtype)), lambda a: _infer_eig(a)[0],
             kind="opaque", derivative=Explicit(_eigvals_jvp, _eigvals_pullback), batch=batch_stack,
             kernel="linalg.eigvals", kernel_params=(), samples=samples.of_each_kind(samples.regular),
             doc="The eigenvalues, always complex, of a square matrix")
