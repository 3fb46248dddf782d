"""Every special function of the table, compiled, against SciPy's own: all loops, all number types."""
import numba
import numpy as np
import pytest
import scipy.special as sp

from fad.kernels import special

from ..turns import crossed

POINTS = [0.3, 1.7, 2.9, 0.55, 3.3]  # the j-th argument of a function
OTHERS = [0.6, 0.5, 0.4, 0.3, 0.2]
UFUNCS = [name for name in special.__all__ if isinstance(getattr(sp, name), np.ufunc)]
KINDS = {"d": float, "D": lambda x: complex(x, 0.4), "l": lambda x: int(x) + 1, "f": np.float32, "F": np.complex64}


def calls(letters):
    """(name, arguments) for every loop of every ufunc whose argument types are among `letters`."""
    for name in UFUNCS:
        for types in getattr(sp, name).types:
            inputs = types.split("->")[0]
            if set(inputs) <= set(letters) and any(c in letters[0] for c in inputs):
                for points in (POINTS, OTHERS) if letters == "d" else (POINTS,):
                    yield name, tuple(KINDS[c](x) for c, x in zip(inputs, points))


def compiled_together(chosen):
    """The results of many calls, compiled as one function: a compilation each would take minutes."""
    names = sorted({name for name, _ in chosen})
    lines = [f"    r{i} = {name}({', '.join(f'a[{i}][{j}]' for j in range(len(args)))})"
             for i, (name, args) in enumerate(chosen)]
    text = "def f(a):\n" + "\n".join(lines) + f"\n    return ({', '.join(f'r{i}' for i in range(len(chosen)))},)"
    space = {name: getattr(special, name) for name in names}
    exec(text, space)
    return numba.njit(space["f"])(tuple(args for _, args in chosen))


# float32: SciPy computes a few functions in it; here it is float64, rounded
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("letters, part", crossed(["d", "ldD", "Dd", "fl"], range(4)))
def test_every_loop(letters, part):
    chosen = list(calls(letters))[part::4]
    results = compiled_together(chosen) if chosen else ()
    for (name, args), result in zip(chosen, results):
        with np.errstate(all="ignore"):
            expected = getattr(sp, name)(*args)
        np.testing.assert_allclose(result, expected, rtol=1e-4 if letters[0] == "f" else 1e-13, err_msg=f"{name}{args}")
        np.testing.assert_array_equal(getattr(special, name)(*args), expected)


def test_functions_that_are_no_ufuncs():
    @numba.njit
    def f(x, z):
        a = special.zeta(2.5), special.zeta(2.5, x), special.lambertw(x), special.lambertw(z, 1)
        b = special.polygamma(0, x), special.polygamma(1, x), special.polygamma(2.0, x), special.multigammaln(3 + x, 2)
        return a, b, special.spherical_jn(2, x), special.spherical_jn(1, z), special.spherical_in(1, x)

    x, z = 0.7, 0.3 + 2j
    a = sp.zeta(2.5), sp.zeta(2.5, x), sp.lambertw(x), sp.lambertw(z, 1)
    b = sp.polygamma(0, x), sp.polygamma(1, x), sp.polygamma(2, x), sp.multigammaln(3 + x, 2)
    spherical = sp.spherical_jn(2, x), sp.spherical_jn(1, z), sp.spherical_in(1, x)
    for actual, expected in zip(f(x, z), (a, b, *spherical)):
        np.testing.assert_allclose(actual, expected, rtol=1e-13)


def test_special_values():
    @numba.njit
    def f(x):
        return special.gammaln(x), special.gamma(x), special.psi(x), special.ndtri(x), special.erfinv(x), special.i0(x)

    with np.errstate(all="ignore"):
        for x in (0.0, -1.0, np.inf, -np.inf, np.nan, 1.0):
            expected = [g(x) for g in (sp.gammaln, sp.gamma, sp.psi, sp.ndtri, sp.erfinv, sp.i0)]
            np.testing.assert_array_equal(f(x), expected)


def test_several_results():
    sn, cn, dn, phase = numba.njit(lambda u, m: special.ellipj(u, m))(0.5, 0.3)
    np.testing.assert_allclose((sn, cn, dn, phase), sp.ellipj(0.5, 0.3), rtol=1e-15)

