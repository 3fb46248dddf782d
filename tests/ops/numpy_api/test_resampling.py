"""scipy.ndimage's interpolation through fad: SciPy's numbers for every degree and mode; tests/laws has derivatives."""
import numpy as np
import pytest
from scipy import ndimage

import fad
from fad.util.errors import UnsupportedFunctionError
from tests.turns import crossed

RNG = np.random.default_rng(3)
X, T = RNG.normal(size=(5, 6)), RNG.normal(size=(3, 4, 5))
PLACES = RNG.uniform(-4.0, 9.0, (2, 40))
MODES = ["constant", "grid-constant", "nearest", "grid-wrap", "mirror", "reflect", "grid-mirror"]


def agrees(f, *args):
    """SciPy's result in its dtype, and a derivative in both modes that is that of differences."""
    got, want = fad.jit(f)(*args), f(*args)
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-10)
    assert got.dtype == want.dtype
    dxs = tuple([np.cos(1.0 + np.arange(np.size(x))).reshape(np.shape(x)) for x in args])
    ahead, behind = (f(*[x + h * dx for x, dx in zip(args, dxs)]) for h in (1e-5, -1e-5))
    np.testing.assert_allclose(fad.jvp(f, args, dxs)[1], (ahead - behind) / 2e-5, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("order, mode", crossed(range(6), MODES, count=3))
def test_coordinates(order, mode):
    for prefilter in (True, False):
        options = {"order": order, "mode": mode, "cval": 0.3, "prefilter": prefilter}
        agrees(lambda x: ndimage.map_coordinates(x, PLACES, **options), X)  # noqa: B023 - called at once
    inner = np.abs(PLACES) % 3.7 + 0.01
    agrees(lambda p: ndimage.map_coordinates(X, p, order=order, mode=mode),
           inner if order > 1 else np.floor(inner) + 0.3)


@pytest.mark.parametrize("order, mode", crossed(range(2, 6), MODES))
def test_coefficients(order, mode):
    agrees(lambda x: ndimage.spline_filter(x, order, mode=mode), X)
    agrees(lambda x: ndimage.spline_filter1d(x, order, 1, mode=mode), T[:, :2])
    agrees(lambda x: ndimage.spline_filter1d(x, order, 1, mode=mode), T[:, :1])


@pytest.mark.parametrize("mode", MODES)
def test_moved_zoomed_and_turned(mode):
    agrees(lambda x, by: ndimage.shift(x, by, mode=mode, cval=0.3), X, np.array([0.4, -1.3]))
    agrees(lambda x: ndimage.zoom(x, (1.7, 0.6), mode=mode, order=2), X)
    agrees(lambda x, m: ndimage.affine_transform(x, m, [0.33, 0.13], mode=mode), X, np.array([[0.7, 0.2], [-0.1, 0.9]]))
    agrees(lambda x: ndimage.rotate(x, 33.0, mode=mode), X)
    agrees(lambda x, angle: ndimage.rotate(x, angle, (0, 2), reshape=False, mode=mode), T, 17.0)


@pytest.mark.filterwarnings("ignore:It is recommended")
def test_further_options():
    agrees(lambda x: ndimage.zoom(x, 3, grid_mode=True, mode="grid-wrap"), X)
    agrees(lambda x: ndimage.zoom(x, (1, 2, 1.5)), T)
    agrees(lambda x: ndimage.zoom(x, 1), X)
    agrees(lambda x, m: ndimage.affine_transform(x, m, output_shape=(3, 7), order=2), X,
           np.array([[0.71, 0.2, 0.43], [-0.13, 0.9, 0.33]]))
    agrees(lambda x, d: ndimage.affine_transform(x, d, 0.4), X, np.array([0.7, 0.6]))
    for dtype in (np.float32, complex):
        f = lambda x: ndimage.map_coordinates(x, PLACES)
        np.testing.assert_allclose(fad.jit(f)(X.astype(dtype)), f(X.astype(dtype)), rtol=1e-5, atol=1e-6)
        assert fad.jit(f)(X.astype(dtype)).dtype == dtype


def test_images_of_whole_numbers_are_left_to_scipy():
    whole = np.arange(12).reshape(3, 4) ** 2
    for f in (lambda x: ndimage.gaussian_filter(x, 0.7), lambda x: ndimage.zoom(x, 2), lambda x: ndimage.laplace(x),
              lambda x: ndimage.convolve(x, np.ones((2, 2)) * 0.3)):
        with pytest.warns(fad.FallbackWarning, match="arrays of whole numbers"):
            got = fad.jit(f)(whole)
        np.testing.assert_array_equal(got, f(whole))
        assert got.dtype == whole.dtype


def test_results_have_the_precision_of_the_image():
    x = X.astype(np.float32)
    for f in (lambda x: ndimage.correlate(x, X[:2, :2]), lambda x: ndimage.convolve1d(x, X[0, :3]),
              lambda x: ndimage.shift(x, 0.3)):
        np.testing.assert_allclose(fad.jit(f)(x), f(x), rtol=1e-4, atol=1e-6)
        assert fad.jit(f)(x).dtype == np.float32


def test_sizes_that_depend_on_traced_numbers_are_refused():
    with pytest.raises(UnsupportedFunctionError, match="a traced factor"):
        fad.grad(lambda s: ndimage.zoom(X, (s, 1)).sum())(2.0)
    with pytest.raises(UnsupportedFunctionError, match="a traced angle"):
        fad.grad(lambda s: ndimage.rotate(X, s).sum())(2.0)
