"""scipy.signal, scipy.ndimage and scipy.spatial.distance through fad give SciPy's numbers in every mode; tests/laws has
their derivatives."""
import itertools

import numpy as np
import pytest
from scipy import ndimage, signal
from scipy.spatial import distance

import fad
from fad.util.errors import UnsupportedFunctionError

SIZES = [(6, 3), (6, 4), (3, 6), (5, 5), ((6, 5), (3, 2)), ((6, 5), (2, 4)), ((3, 2), (6, 5)), ((4, 4), (4, 4))]
MODES = ("full", "same", "valid")
EDGES = ("reflect", "constant", "nearest", "mirror", "wrap")
METRICS = "euclidean sqeuclidean cityblock chebyshev cosine correlation braycurtis canberra minkowski".split()


def agrees(f, *args):
    np.testing.assert_allclose(fad.jit(f)(*args), f(*args), rtol=1e-9, atol=1e-11)


def random(*shape):
    return np.random.default_rng(len(shape)).normal(size=shape)


@pytest.mark.parametrize("name", ["convolve", "correlate", "fftconvolve", "oaconvolve"])
@pytest.mark.parametrize(("sizes", "mode"), list(itertools.product(SIZES, MODES)))
def test_convolutions(name, sizes, mode):
    a, b = [np.random.default_rng(k).normal(size=size) for k, size in enumerate(sizes)]
    agrees(lambda a, b: getattr(signal, name)(a, b, mode), a, b)
    agrees(lambda a, b: getattr(signal, name)(a, b, mode), a * (1 + 2j), b)


@pytest.mark.parametrize("name", ["convolve2d", "correlate2d"])
@pytest.mark.parametrize(("sizes", "mode", "boundary"),
                         list(itertools.product(SIZES[4:6] + SIZES[7:], MODES, ["fill", "wrap", "symm"])))
def test_convolutions_with_boundaries(name, sizes, mode, boundary):
    a, b = [np.random.default_rng(k).normal(size=size) for k, size in enumerate(sizes)]
    for fill in (0, 1.5):
        agrees(lambda a, b: getattr(signal, name)(a, b, mode, boundary, fill), a, b)      # noqa: B023 - called at once
        agrees(lambda a, b: getattr(signal, name)(a * (1 - 1j), b * (2 + 1j), mode, boundary, fill), a, b)  # noqa: B023


def test_transforms_of_integers():
    ones = np.ones((3, 2), int)
    for a, b in ((np.arange(3), np.array([2])), (np.arange(3), np.arange(2)), (ones, ones[:1])):
        for axes in (None, 0):
            f = lambda a, b: signal.fftconvolve(a, b, axes=axes)                          # noqa: B023
            agrees(f, a, b)
            assert fad.jit(f)(a, b).dtype == f(a, b).dtype
    with pytest.raises(ValueError, match="axes cannot be empty"):
        fad.jit(lambda a: signal.fftconvolve(a, a, axes=[]))(np.ones(2))


def test_analytic_signal_and_trends():
    for n, wanted in itertools.product((7, 8), (None, 10, 6)):
        agrees(lambda x: signal.hilbert(x, wanted), random(n))                            # noqa: B023
    for kind in ("linear", "constant"):
        for n in (1, 2, 5):
            agrees(lambda x: signal.detrend(x, axis=0, type=kind), random(n, 4))          # noqa: B023


@pytest.mark.parametrize(("name", "mode", "size", "origin"),
                         list(itertools.product(["correlate1d", "convolve1d"], EDGES, (1, 2, 3, 4), (-1, 0))))
def test_filters_of_one_dimension(name, mode, size, origin):
    def filtered(x, w):
        return getattr(ndimage, name)(x, w, mode=mode, cval=0.7, origin=origin)
    try:
        filtered(random(7, 6), random(size))
    except ValueError:
        with pytest.raises(ValueError, match="origin"):
            fad.jit(filtered)(random(7, 6), random(size))
    else:
        agrees(filtered, random(7, 6), random(size))


@pytest.mark.parametrize("mode", EDGES)
def test_filters_of_many_dimensions(mode):
    for name, shape in itertools.product(("correlate", "convolve"), ((3, 3), (2, 3), (4, 1))):
        agrees(lambda x, w: getattr(ndimage, name)(x, w, mode=mode, cval=0.7),  # noqa: B023
               random(7, 6), random(*shape))
    for sigma, order in itertools.product((0.4, 1.3, (1.0, 0.5)), (0, 1, 2)):
        agrees(lambda x: ndimage.gaussian_filter(x, sigma, order=order, mode=mode), random(7, 6))  # noqa: B023
    for size in (1, 2, 3, (2, 4)):
        agrees(lambda x: ndimage.uniform_filter(x, size, mode=mode), random(7, 6))  # noqa: B023


@pytest.mark.parametrize("mode", EDGES[:4])
def test_values_between_grid_points(mode):
    places = np.array([[0.2, 3.7, -1.3, 8.9, 5.99, 6.0, 6.2], [1.1, 2.5001, 0.3, 1.0, 5.0, -0.2, 4.4]])
    for order in (0, 1):
        agrees(lambda x, c: ndimage.map_coordinates(x, c, order=order, mode=mode, cval=0.3),  # noqa: B023
               random(7, 6), places)


@pytest.mark.parametrize("mode", EDGES)
def test_extremes_in_windows(mode):
    for name, size in itertools.product(("maximum_filter", "minimum_filter"), (1, 2, 3, (2, 4))):
        agrees(lambda x: getattr(ndimage, name)(x, size, mode=mode, cval=0.7), random(7, 6))  # noqa: B023
        agrees(lambda x: getattr(ndimage, f"{name}1d")(x, 4, 0, mode=mode, origin=-1), random(7, 6))  # noqa: B023
    agrees(lambda x: ndimage.maximum_filter(x, 3, axes=(0,), origin=1), random(7, 6))
    agrees(lambda x: ndimage.gaussian_gradient_magnitude(x, (0.7, 1.1), mode=mode), random(7, 6))


def test_distances_between_vectors_and_their_matrices():
    u, v, m = random(5), random(5)[::-1] + 0.3, random(5, 5)
    agrees(lambda u, v, m: distance.mahalanobis(u, v, m @ m.T), u, v, m)
    agrees(lambda u, v: distance.seuclidean(u, v, u * u + 1.0), u, v)
    agrees(lambda u, v: distance.jensenshannon(abs(u), abs(v), 2), u, v)
    agrees(lambda m: distance.jensenshannon(abs(m), m * m, axis=1, keepdims=True), m)
    agrees(distance.squareform, random(10))
    agrees(lambda d: distance.squareform(distance.squareform(d)), random(10))
    with pytest.raises(ValueError, match="must be symmetric"):
        fad.jit(distance.squareform)(m)


@pytest.mark.parametrize("metric", METRICS)
def test_distances(metric):
    agrees(lambda a, b: distance.cdist(a, b, metric), random(4, 3), random(5, 3) + 0.1)
    agrees(lambda a: distance.pdist(a, metric), random(4, 3))
    agrees(getattr(distance, metric), random(3), random(3) ** 2)


def test_what_is_not_there_says_so():
    x = random(5, 5)
    for f in (lambda x: ndimage.map_coordinates(x, [[1.5], [2.5]], mode="wrap"),
              lambda x: distance.cdist(x, x, "jaccard"), lambda x: ndimage.gaussian_filter(x, x[0, 0]),
              lambda x: signal.detrend(x, bp=[2])):
        with pytest.raises(UnsupportedFunctionError):
            fad.jit(f, fallback=False)(x)
