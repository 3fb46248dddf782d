"""Objects of SciPy's and NumPy's classes with traced numbers: every attribute is the library's, or refused; hasattr,
isinstance and type say what they say of the library's object."""
import numpy as np
import pytest
import scipy.sparse.linalg
from scipy import integrate, interpolate, sparse, stats
from scipy.spatial.transform import Rotation, Slerp

import fad
from fad.ops.override import load_all
from fad.util.errors import CallError, FadError
from fad.util.library_object import LibraryObject

from ..turns import in_turn

V, GRID = np.array([0.3, 0.7, 0.5]), np.arange(4.0)
MAKERS = {
    "Rotation": lambda x: Rotation.from_rotvec(x),
    "Slerp": lambda x: Slerp([0.0, 1.0], Rotation.from_rotvec(np.stack([x, 2 * x * x]))),
    "csr_matrix": lambda x: sparse.csr_matrix(np.outer(x, x)),
    "coo_array": lambda x: sparse.coo_array((x, ([0, 1, 2], [2, 1, 0])), shape=(3, 3)),
    "SuperLU": lambda x: scipy.sparse.linalg.splu(sparse.csc_matrix(np.diag(x))),
    "gaussian_kde": lambda x: stats.gaussian_kde(x),
    "multivariate_normal": lambda x: stats.multivariate_normal(x, 1.0 + x),
    "dirichlet": lambda x: stats.dirichlet(1.0 + x),
    "multinomial": lambda x: stats.multinomial(3, x / np.sum(x)),
    "PPoly": lambda x: interpolate.PPoly(x[None], GRID),
    "CubicSpline": lambda x: interpolate.CubicSpline(GRID[:3], x),
    "derivative": lambda x: interpolate.CubicSpline(GRID[:3], x).derivative(),
    "PchipInterpolator": lambda x: interpolate.PchipInterpolator(GRID[:3], x),
    "Akima1DInterpolator": lambda x: interpolate.Akima1DInterpolator(GRID[:3], x),
    "CubicHermiteSpline": lambda x: interpolate.CubicHermiteSpline(GRID[:3], x, x),
    "BSpline": lambda x: interpolate.make_interp_spline(GRID[:3], x, k=2),
    "interp1d": lambda x: interpolate.interp1d(GRID[:3], x),
    "RegularGridInterpolator": lambda x: interpolate.RegularGridInterpolator((GRID[:3],), x),
    "RBFInterpolator": lambda x: interpolate.RBFInterpolator(x[:, None], x * x),
    "RectBivariateSpline": lambda x: interpolate.RectBivariateSpline(GRID, GRID, np.outer(GRID + x[0], GRID)),
    "Chebyshev": lambda x: np.polynomial.Chebyshev(x),
    "poly1d": lambda x: np.poly1d(x),
    "OdeSolution": lambda x: integrate.solve_ivp(lambda t, y: -y, (0, 1), x, dense_output=True).sol,
}
NOTHING, OF_FAD = object(), {*dir(LibraryObject)}


def is_data(value):
    return isinstance(value, (bool, int, float, np.ndarray, tuple)) or value is None


@pytest.mark.parametrize("name", in_turn(MAKERS, count=4))
def test_attributes_are_the_librarys_or_refused(name):
    make = MAKERS[name]
    theirs = make(V)
    public = {n for n in dir(theirs) if n[0] != "_"}

    def asked(x):
        made = make(x)
        assert isinstance(made, type(theirs)) and type(made) is type(theirs)
        assert not hasattr(made, "nothing_of_the_kind") and getattr(made, "nothing_of_the_kind", x) is x
        assert {n for n in dir(made) if n[0] != "_" and n not in OF_FAD} <= public
        return x
    fad.jit(asked, fallback=False)(V)
    for attribute in sorted(public):
        wanted = getattr(theirs, attribute)
        try:
            found = fad.jit(read, fallback=False, static_argnames=("make", "attribute", "only"))(
                V, make=make, attribute=attribute, only=is_data(wanted))
        except FadError as error:
            assert "do: " in str(error) and not isinstance(error, CallError)
            continue
        if is_data(wanted):
            are_equal(found, wanted, attribute)


def read(x, make, attribute, only):
    """An attribute of the object made of x, if that is data; x of any other."""
    found = getattr(make(x), attribute, NOTHING)
    assert found is not NOTHING and hasattr(make(x), attribute), attribute
    return found if only else x


def are_equal(found, wanted, attribute):
    """One attribute, or each of several in a tuple."""
    if isinstance(wanted, tuple):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted):
            are_equal(one, other, attribute)
    elif wanted is None or isinstance(wanted, str):
        assert found == wanted
    else:
        np.testing.assert_allclose(found, wanted, 1e-9, 1e-12, err_msg=attribute)


def test_each_object_has_a_case():
    load_all()
    made = [f"{cls.__module__}.{cls.__name__}" for cls in LibraryObject.__subclasses__()]
    assert len(made) <= len(MAKERS), made


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
@pytest.mark.parametrize("make", [lambda x: sparse.csr_matrix(np.diag(x)), lambda x: sparse.csr_matrix(np.outer(x, x)),
                                  lambda x: sparse.csr_matrix((x, ([2, 1, 0], [0, 1, 2])), shape=(3, 3))])
def test_the_elements_of_a_sparse_matrix_are_scipys_or_refused(make):
    """The order is SciPy's, and zeros are left out."""
    np.testing.assert_array_equal(fad.jit(lambda x: make(x).data)(V), make(V).data)
    with pytest.raises(FadError):
        fad.jit(lambda x: make(x).data, fallback=False)(V)


def test_a_missing_method_is_not_hidden_by_a_default():
    """hasattr was False of methods that fad's object has not, and the other branch was taken."""
    def f(x):
        turn = Rotation.from_rotvec(x)
        return x * 2 if hasattr(turn, "as_davenport") else x
    np.testing.assert_array_equal(fad.jit(f, fallback=False)(V), f(V))
    with pytest.raises(FadError, match="Rotation.as_davenport is not supported"):
        fad.grad(lambda x: np.sum(x) * len(Rotation.from_rotvec(x).as_davenport(V, "e", V)), fallback=False)(V)
