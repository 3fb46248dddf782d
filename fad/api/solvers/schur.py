"""scipy.linalg.schur and hessenberg of real matrices within functions: A = Z T Z^T with an orthogonal Z.

With the skew matrix W = Z^T dZ,

    dT = M + T W - W T,      M = Z^T dA Z,      dZ = Z W.

T keeps its shape: elements that are zero by it stay zero, and the two diagonal elements of a 2 x 2 block of Schur's
form stay equal. These are as many linear equations as W has unknown elements: n (n - 1) / 2. For Hessenberg's form,
whose Z has a fixed first column, they are (n - 1) (n - 2) / 2 (G. Golub, C. Van Loan, Matrix Computations, 2013,
theorem 7.4.2). They have no solution where eigenvalues are repeated, or T falls apart.

LAPACK chooses the order of the eigenvalues and the signs of the columns. Where that choice jumps, the derivative
raises. Complex forms are refused: the phases of their columns are LAPACK's.
"""
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir.op import registry
from ...ir.types import type_of
from ...ops.kinds import shape_of
from ...ops.linalg.matrices import matmul, transposed
from ...ops.numpy_api.arguments import as_array, fixed, taken
from ...ops.numpy_api.within import WITHIN
from ...ops.override import BY_NAME
from ...ops.precision import as_given
from ...util.array import AnyArray
from ...util.errors import NoDerivativeError
from ...util.lazy import LazyModule
from ..derivatives.jacobian import jacobian
from ..derivatives.tangent_rules import call_with_rule

linalg: Any = LazyModule("scipy.linalg")
FLOAT = np.dtype(float)
CHANGE, LARGE = 1e-10, 1e-3                                   # a change of A, and one of Z that tells of a jump


class Form:
    """One of the two forms.

    zeros: the places (i, j), i > j, at which the form fixes elements of T; rotations: the places, i > j, of the unknown
    elements of W.
    """

    def __init__(self, name: str, n: int):
        is_schur = name == "schur"
        self.name, self.n = name, n
        self.zeros = np.tril_indices(n, -1 if is_schur else -2)
        i, j = np.tril_indices(n - 1 + is_schur, -1)
        self.rotations = (i, j) if is_schur else (i + 1, j + 1)
        count = len(self.rotations[0])
        self.places, self.signs = np.full((n, n), count), np.zeros((n, n))
        self.places[self.rotations] = self.places[self.rotations[::-1]] = np.arange(count)
        self.signs[self.rotations], self.signs[self.rotations[::-1]] = 1.0, -1.0

    def on_numbers(self, _: object, a: object) -> AnyArray:
        """T and Z."""
        if self.name == "schur":
            return np.stack(linalg.schur(a))
        return np.stack(linalg.hessenberg(a, calc_q=True))

    def check(self, _: object, a: Any, z: object) -> float:
        """Raise where a tiny change of A makes another Z."""
        step = CHANGE * (np.linalg.norm(a) + np.finfo(float).tiny) * np.random.default_rng(0).uniform(0.5, 1.0, a.shape)
        for change in (step, -step, step * np.random.default_rng(1).choice([-1.0, 1.0], a.shape)):
            if not np.max(np.abs(self.on_numbers(0, a + change)[1] - z), initial=0.0) < LARGE:
                raise np.linalg.LinAlgError(f"scipy.linalg.{self.name} has no derivative here: LAPACK chooses other "
                                            "signs or another order for a matrix that is nearly the same")
        return 1.0

    def told(self, x: object, t: object) -> AnyArray:
        """The vector that must be zero in a derivative x of T."""
        i, j = self.zeros
        low = _elements(x, i, j)
        if self.name != "schur":
            return low
        return registry["where"](_elements(t, i, j) != 0.0, _elements(x, i, i) - _elements(x, j, j), low)

    def rotation(self, w: object) -> AnyArray:
        """The skew matrix W with these elements."""
        return taken(registry["concatenate"](w, np.zeros(1), axis=0), self.places) * self.signs

    def __call__(self, values: Sequence) -> AnyArray:
        return call_with_rule(self.name, lambda both, *_: (both,), self._push, values)[0]

    def _push(self, values: Sequence, dxs: Sequence) -> tuple:
        both = self(values)
        t, z = both[0], both[1]
        still = [registry["stop_gradient"](x) for x in (values[1], z)]
        passed = registry["host"](1.0, *still, function=self.check, like=0)
        registry["check_that"](passed == 1.0, True, what="a jump", error="RuntimeError")
        m = matmul(matmul(transposed(z), dxs[1]), z)
        dt, dz = m, z * 0.0
        if len(self.zeros[0]):
            def rotated(w: object) -> AnyArray:
                return matmul(t, self.rotation(w)) - matmul(self.rotation(w), t)
            matrix = jacobian(lambda w: self.told(rotated(w), t))(np.zeros(len(self.rotations[0])))
            right = registry["reshape"](-self.told(m, t), len(self.zeros[0]), 1)
            w = registry["reshape"](BY_NAME["numpy.linalg.solve"].call(matrix, right), len(self.zeros[0]))
            dt, dz = m + rotated(w), matmul(z, self.rotation(w))
        return (both,), (BY_NAME["numpy.stack"].call([dt, dz]),)


def _elements(x: object, i: object, j: object) -> AnyArray:
    return taken(registry["reshape"](x, shape_of(x)[0] * shape_of(x)[1]), i * shape_of(x)[1] + j)


def _form(name: str, a: object) -> tuple:
    a = as_array(a)
    if len(shape_of(a)) != 2:
        raise NoDerivativeError(f"scipy.linalg.{name} of a stack has no derivative", do="use fad.vmap")
    if type_of(a).dtype.kind == "c":
        raise NoDerivativeError(f"scipy.linalg.{name} of a complex matrix has no derivative",
                                why="the phases of its columns are LAPACK's choice",
                                do="use numpy.linalg.eig, or functions of matrices (expm, sqrtm, solve_sylvester)")
    n = fixed(shape_of(a)[0], "the number of rows")
    if fixed(shape_of(a)[1], "the number of columns") != n:
        raise ValueError("expected square matrix")
    a, form = registry["cast"](a, dtype=FLOAT), Form(name, n)
    room = registry["full"](0.0, 2, n, n, dtype=FLOAT)
    found = registry["host"](room, registry["stop_gradient"](a), function=form.on_numbers, like=0)
    both = form((found, a))
    return both[0], both[1]


def schur(a: object, output: str = "real", sort: object = None, **options: object) -> tuple:
    """T and Z."""
    if sort is not None or output not in ("real", "r"):
        raise NoDerivativeError("scipy.linalg.schur with sort, or with complex output, has no derivative",
                                do="leave sort and output out")
    return _form("schur", a)


def hessenberg(a: object, calc_q: bool = False, **options: object) -> Any:
    """H, and with calc_q Q."""
    h, q = _form("hessenberg", a)
    return (h, q) if calc_q else h


WITHIN["scipy.linalg.schur"] = as_given(schur)
WITHIN["scipy.linalg.hessenberg"] = as_given(hessenberg)
