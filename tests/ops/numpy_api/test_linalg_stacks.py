"""Functions of scipy.linalg of numbers, vectors and stacks: SciPy's result, or a clear refusal; and derivatives."""
import numpy as np
import pytest
import scipy
import scipy.linalg as la

import fad
from fad.ops.override import BY_NAME, load_all
from fad.util.errors import CallError, FadError

from ...turns import in_turn

pytestmark = pytest.mark.skipif(np.lib.NumpyVersion(scipy.__version__) < "1.17.0", reason="takes no stacks")
load_all()
RNG = np.random.default_rng(0)
A, B, V = RNG.standard_normal((3, 3)) + 3 * np.eye(3), RNG.standard_normal((3, 3)), RNG.standard_normal(3) + 2
S = A @ A.T
A2, B2, S2, V2 = (np.stack([x, 1.1 * x]) for x in (A, B, S, V))
ARGUMENTS = {
    "number": (2.0,), "one": (V[:1],), "stack": (A2,), "positive stack": (S2,), "stack, matrix": (S2, B),
    "matrix, stack": (S, B2), "stack, vector": (S2, V), "stacks": (S2, B2), "stacks of vectors": (V2, 2 * V2),
    "stacks of diagonals": (V2, V2[:, :2]), "matrix, vector": (A, V)}
# SciPy reads memory beyond its arguments; gives a flag for each matrix; the exponential; other signs and dtypes
DIFFER = {"lu_solve", "cho_factor", "sqrtm", "eig", "eig_banded", "rq"}
SAID_CLEARLY = ("the rank is deficient", "0-dimensional array given", "1-dimensional array given")
NAMES = sorted(name[13:] for name in BY_NAME if name.startswith("scipy.linalg.") and name.count(".") == 2)


def parts(found):
    return [y for x in found for y in parts(x)] if isinstance(found, (tuple, list)) else [found]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", in_turn([n for n in NAMES if n not in DIFFER]))
def test_results_are_scipys_or_refused(name):
    f = getattr(la, name)
    for kind, given in ARGUMENTS.items():
        try:
            wanted = parts(f(*map(np.asarray, given)))
        except Exception:
            continue
        try:
            found = parts(fad.jit(lambda *given: f(*given), fallback=False)(*map(np.asarray, given)))
        except FadError as error:
            assert not isinstance(error, CallError) or error.args[0].startswith(SAID_CLEARLY), kind
            continue
        for x, y in zip(found, wanted, strict=True):
            assert np.shape(x) == np.shape(y), kind
            np.testing.assert_allclose(x, y, 1e-8, 1e-9, err_msg=kind)


DERIVED = {
    "polar": lambda x: la.polar(x)[1], "lstsq": lambda x: la.lstsq(x, V)[0],
    "orthogonal_procrustes": lambda x: la.orthogonal_procrustes(x, S2)[0], "toeplitz": lambda x: la.toeplitz(x, x * x),
    "solve_sylvester": lambda x: la.solve_sylvester(x, S2, B),
    "eigvals_banded": lambda x: la.eigvals_banded(x + 2.0), "khatri_rao": lambda x: la.khatri_rao(x, B),
}


@pytest.mark.parametrize("name", DERIVED)
def test_derivatives_of_stacks(name):
    f, d = DERIVED[name], 1e-6 * B2 * [[[1.0]], [[2.0]]]
    w = np.random.default_rng(1).standard_normal(np.shape(f(A2)))
    found = fad.grad(lambda x: np.sum(w * f(x)), fallback=False)(A2)
    np.testing.assert_allclose(np.sum(found * d), np.sum(w * (f(A2 + d) - f(A2 - d))) / 2, rtol=1e-6)
