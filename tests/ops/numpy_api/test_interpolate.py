"""scipy.interpolate through fad: objects made outside of the function, splines made of traced data, regular grids."""
import numpy as np
import pytest
from scipy import interpolate

import fad
from fad.util.errors import UnsupportedFunctionError
from tests.turns import crossed

RNG = np.random.default_rng(4)
PLACES, DATA = np.linspace(0.0, 6.0, 7), RNG.normal(size=(7, 2))
WAVE = np.sin(PLACES * np.pi / 3.0).round(14)
CUBIC, CIRCLE = interpolate.CubicSpline(PLACES, DATA), interpolate.CubicSpline(PLACES, WAVE, bc_type="periodic")
BSPLINE = interpolate.make_interp_spline(PLACES, WAVE + PLACES)
BCIRCLE = interpolate.make_interp_spline(PLACES, WAVE, bc_type="periodic")
GRID, FALLING = (PLACES[:4], PLACES[:5]), (PLACES[:4][::-1], PLACES[:5])
VALUES = RNG.normal(size=(4, 5))


def check(f, *xs):
    """SciPy's values in every tier, and derivatives that are those of differences."""
    np.testing.assert_allclose(fad.jit(f)(*xs), f(*xs), rtol=1e-9, atol=1e-10)
    dxs = tuple([np.cos(1.0 + np.arange(np.size(x))).reshape(np.shape(x)) for x in xs])
    ahead, behind = (f(*[x + h * dx for x, dx in zip(xs, dxs)]) for h in (1e-5, -1e-5))
    y, dy = fad.jvp(f, xs, dxs)
    np.testing.assert_allclose(dy, (ahead - behind) / 2e-5, rtol=1e-6, atol=1e-7)
    gs = fad.vjp(f, *xs)[1](np.ones_like(y))
    np.testing.assert_allclose(sum(np.sum(g * dx) for g, dx in zip(gs, dxs)), np.sum(dy), rtol=1e-9)


@pytest.mark.parametrize("spline, ends",
                         crossed([CUBIC, CIRCLE, BSPLINE, BCIRCLE], [(0.3, 4.4), (4.4, 0.3), (-7.7, 20.4), (8.5, 9.6)]))
def test_integrals_of_splines_from_outside(spline, ends):
    a, b = ends
    check(lambda a, b: spline.integrate(a, b), a, b)


@pytest.mark.parametrize("extrapolate", [True, False, "periodic"])
@pytest.mark.parametrize(("a", "b"), [(0.3, 4.4), (3.3, 0.1)])
def test_integrals_of_splines_of_traced_data(extrapolate, a, b):
    check(lambda y, a: interpolate.CubicSpline(PLACES, y).integrate(a, b, extrapolate=extrapolate), WAVE, a)
    check(lambda y, a: interpolate.make_interp_spline(PLACES, y).integrate(a, b, extrapolate=extrapolate), WAVE + 1.0,
          a)


def test_integrals_of_splines_follow_coefficients_that_change():
    spline = interpolate.CubicSpline(PLACES, WAVE)
    area = fad.jit(spline.integrate)
    before = area(0.3, 1.4)
    spline.c[:] *= 2.0
    np.testing.assert_allclose(area(0.3, 1.4), 2.0 * before, rtol=1e-14)


@pytest.mark.parametrize("nu", [-2, -1, 0, 1, 2, 5])
def test_derivatives_and_antiderivatives(nu):
    x = np.array([0.4, 2.3, 5.9])
    check(lambda y: interpolate.CubicSpline(PLACES, y).derivative(nu)(x), DATA)
    check(lambda c: interpolate.PPoly(c, PLACES).antiderivative(nu)(x), RNG.normal(size=(3, 6)))
    check(lambda c: interpolate.BSpline(np.arange(11.0), c, 3, axis=1).derivative(min(nu, 3))(x + 3.0), DATA.T)


@pytest.mark.parametrize("degree", [0, 1, 2, 3, 4, 5])
def test_splines_through_traced_data(degree):
    x = np.array([[0.4, 2.3], [5.9, 6.4]])
    check(lambda y: interpolate.make_interp_spline(PLACES, y, degree)(x), DATA)
    check(lambda y: interpolate.make_interp_spline(PLACES, y, degree, axis=1)(x), RNG.normal(size=(2, 7, 3)))


@pytest.mark.parametrize("ext", [0, 1, 3])
@pytest.mark.parametrize("nu", [0, 1])
def test_splines_of_fitpack(ext, nu):
    places = np.array([[0.4, 2.3, -0.7], [5.9, 7.4, 3.1]])
    smooth, through = interpolate.UnivariateSpline(PLACES, WAVE, s=0.1, ext=ext), interpolate.splrep(PLACES, WAVE)
    check(lambda x: smooth(x, nu), places)
    check(lambda x: interpolate.splev(x, through, nu, ext), places)
    check(lambda x, c: interpolate.splev(x, (through[0], c, 3), nu, ext), places, through[1])
    check(lambda x: interpolate.splev(x, (through[0], [through[1], 2.0 * through[1]], 3), nu, ext)[1], places)


def test_splines_of_fitpack_outside_of_their_knots():
    with pytest.raises(ValueError, match="lies outside of the spline"):
        fad.jit(interpolate.UnivariateSpline(PLACES, WAVE, ext=2))(9.0)


@pytest.mark.parametrize("method, grid", crossed(["linear", "slinear", "nearest", "cubic"], [GRID, FALLING]))
def test_grids_from_outside(method, grid):
    f = interpolate.RegularGridInterpolator(grid, VALUES, method,
                                            **({"solver_args": {"atol": 1e-15, "rtol": 1e-15}} if method == "cubic"
                                               else {}))
    check(f, np.array([[0.4, 1.3], [2.0, 3.0], [2.7, 3.9]]) + 0.01)
    check(lambda x, y: f((x, y)), np.array([[0.4], [1.3]]), np.array([0.2, 3.1, 2.2]))
    check(lambda x: f([x, x]), 1.2)


@pytest.mark.parametrize("method, fill", crossed(["linear", "nearest", "cubic"], [None, 2.5]))
def test_grids_of_traced_values(method, fill):
    x = np.array([[0.4, 1.3], [2.0, 3.0], [2.7, 3.9], [-0.4, 1.1], [3.7, 4.6]]) + 0.01
    check(lambda v, x: interpolate.interpn(GRID, v, x, method, bounds_error=False, fill_value=fill), VALUES, x)
    check(lambda v, x: interpolate.interpn(GRID[:1], v, x, method, bounds_error=False, fill_value=fill), VALUES,
          x[:, :1])


def test_a_place_that_is_nan_has_the_value_nan():
    x = np.array([[0.5, np.nan], [0.5, 0.5]])
    for method in ("linear", "nearest"):
        got = fad.jit(lambda x: interpolate.interpn(GRID, VALUES, x, method, bounds_error=False))(x)  # noqa: B023
        np.testing.assert_array_equal(np.isnan(got), [True, False])


def test_what_grids_refuse():
    f = interpolate.RegularGridInterpolator(GRID, VALUES)
    with pytest.raises(ValueError, match="out of bounds in dimension 1"):
        fad.jit(lambda x: f([x, 9.0 * x]))(1.0)
    with pytest.raises(ValueError, match="ascending"):
        fad.grad(lambda v: interpolate.interpn(FALLING, v, [1.0, 1.0]).sum())(VALUES)
    with pytest.raises(UnsupportedFunctionError, match="pchip"):
        fad.grad(lambda v: interpolate.interpn(GRID, v, [1.0, 1.0], "pchip").sum())(VALUES)


def test_splines_of_fitpack_are_scipys_and_smoothing_is_refused():
    x, y = np.linspace(0.0, 2.0, 9), np.sin(np.arange(9.0))
    at = np.linspace(0.1, 1.9, 5)
    for options in ({}, {"k": 2}, {"k": 5}, {"t": [0.6, 1.1], "k": 3}, {"t": [1.0], "k": 1, "w": 1.0 + x},
                    {"s": 0, "w": 1.0 + x}):
        def f(y, options=options):
            tck = interpolate.splrep(x, y, **options)
            slope = interpolate.splev(at, interpolate.splder(tck))
            return interpolate.splev(at, tck) + interpolate.splint(0.2, 1.7, tck) + slope
        np.testing.assert_allclose(fad.jit(f, fallback=False)(y), f(y), rtol=1e-9, atol=1e-11)
        # it is linear
        np.testing.assert_allclose(fad.jacobian(f, fallback=False)(y) @ y, f(y), rtol=1e-9, atol=1e-10)
    for options in ({"s": 0.1}, {"w": 1.0 + x}, {"per": 1}):
        with pytest.raises(fad.FadError, match="splrep"):
            fad.grad(lambda y, o=options: interpolate.splrep(x, y, **o)[1][0], fallback=False)(y)


@pytest.mark.parametrize("degrees", [(3, 3), (1, 2), (4, 5)])
def test_splines_over_a_plane(degrees):
    kx, ky = degrees
    through = RNG.normal(size=(6, 7))
    f = interpolate.RectBivariateSpline(PLACES[:6], PLACES, through, kx=kx, ky=ky)
    x, y = np.array([-0.3, 0.4, 2.3, 5.6]), np.array([0.2, 3.1, 6.4, 5.0])
    check(f.ev, x, y)
    check(lambda x, y: f(x, y, dy=1), x, np.sort(y) - 0.57)
    check(lambda z, x: interpolate.RectBivariateSpline(PLACES[:6], PLACES, z, kx=kx, ky=ky)(x, [0.3, 1.2]), through, x)
    check(lambda c, x: interpolate.bisplev(x, 1.3, (*f.get_knots(), c, kx, ky)), f.get_coeffs(), x)
    check(lambda x, y: interpolate.bisplev(x, y, (*f.tck, kx, ky)), 1.2, 0.7)
    with pytest.raises(ValueError, match="x must be strictly increasing"):
        fad.jit(f)(x[::-1], y[:1])
    with pytest.raises(ValueError, match="must hold"):
        fad.jit(lambda x: interpolate.bisplev(x, x, (*f.tck, kx, ky), dx=kx))(1.0)
    with pytest.raises(UnsupportedFunctionError, match="knots"):
        fad.grad(lambda z: interpolate.RectBivariateSpline(PLACES[:6], PLACES, z, s=0.1)(1.0, 1.0).sum())(through)
