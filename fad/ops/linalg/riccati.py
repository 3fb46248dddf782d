"""The continuous algebraic Riccati equation a^H x + x a - x g x + q = 0, where g and q are Hermitian.

Sources: P. Lancaster and L. Rodman, Algebraic Riccati Equations (1995), chapter 7 (the stable subspace); D. L.
Kleinman, IEEE Transactions on Automatic Control 13 (1968) 114 (Newton's step).
"""
from typing import Any

import numpy as np
from scipy import linalg as scipy_linalg

from ...ir.op import Op, registry
from ..kinds import Explicit, shape_of
from ..sort import argsort, picked
from . import samples
from .functions import solve_sylvester
from .matrices import adjoint, as_rows, batch_stack, columns_from, matmul, rank, real, rows_from, square_type
from .solve import solve
from .spectral import eig

# With the closed loop c = a - g x:
#   c^H dx + dx c = -(da^H x + x da - x dg x + dq);  with c y + y c^H = -(gx + gx^H) / 2:
#   gq = y,  gg = -x y x,  ga = 2 x y


def _run(a: np.ndarray, g: np.ndarray, q: np.ndarray) -> np.ndarray:
    out = np.empty_like(a)
    for index in np.ndindex(*a.shape[:-2]):
        out[index] = _solution(a[index], g[index], q[index])
    return out


def _solution(a: np.ndarray, g: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The stabilizing one: the graph of the Hamiltonian matrix's stable subspace, by its Schur form."""
    n, is_complex = len(a), np.iscomplexobj(a)
    hamiltonian = np.block([[a, -g], [-q, -a.conj().T]])
    _, u, stable = scipy_linalg.schur(hamiltonian, sort="lhp", output="complex" if is_complex else "real")
    if stable != n:
        raise np.linalg.LinAlgError("Failed to find a finite solution.")
    x = scipy_linalg.solve(u[:n, :n].T, u[n:, :n].T).T
    return (x + x.conj().T) / 2


def _change(a: Any, x: Any, g: Any, side: Any) -> Any:
    closed = a - matmul(g, x)
    return solve_sylvester(adjoint(closed), closed, -side)


def _jvp(ys: tuple, xs: tuple, dxs: tuple) -> tuple:
    (x,), (a, g, _), (da, dg, side) = ys, xs, dxs
    if da is not None:
        moved = matmul(x, da)
        side = moved + adjoint(moved) if side is None else side + moved + adjoint(moved)
    if dg is not None:
        bent = matmul(x, matmul(dg, x))
        side = -bent if side is None else side - bent
    return (None,) if side is None else (_change(a, x, g, side),)


def _pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple) -> tuple:
    (gx,), (x,), (a, g, _) = gs, ys, xs
    closed = a - matmul(g, x)
    y = solve_sylvester(closed, adjoint(closed), -0.5 * (gx + adjoint(gx)))
    return 2.0 * matmul(x, y), -matmul(x, matmul(y, x)), y


def _expand(a: Any, g: Any, q: Any) -> Any:
    """By eigenvectors, and a step of Newton's to take their rounding away."""
    n, k = shape_of(a)[-1], rank(a)
    rows = [registry["concatenate"](*pair, axis=k - 1) for pair in ((a, -g), (-q, -adjoint(a)))]
    w, v = eig(registry["concatenate"](*rows, axis=k - 2))
    order = as_rows(argsort(registry["real"](w)))
    stable = columns_from(picked(v, registry["broadcast_to"](order, *shape_of(v))), 0, n)
    x = adjoint(solve(adjoint(rows_from(stable, 0, n)), adjoint(rows_from(stable, n, n))))
    x = real(x) if not np.issubdtype(square_type(a).dtype, np.complexfloating) else x
    return _change(a, x, g, q + matmul(x, matmul(g, x)))


def _system(rng: Any, *shape: int, dtype: Any) -> tuple:
    return (samples.matrix(rng, *shape, dtype=dtype), samples.positive(rng, *shape, dtype=dtype),
            samples.positive(rng, *shape, dtype=dtype))


continuous_are = Op("continuous_are", _run, lambda a, g, q: square_type(a), kind="opaque", batch=batch_stack,
                    derivative=Explicit(_jvp, _pullback), expand=_expand, hermitian=(1, 2),
                    samples=samples.of_each_kind(_system, samples.KINDS[:1]),
                    doc="The stabilizing solution of a^H x + x a - x g x + q = 0")
