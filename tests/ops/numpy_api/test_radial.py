"""RBFInterpolator: every kernel, with respect to places, data, smoothing and points; at the places, and refusals."""
import numpy as np
import pytest
from scipy import interpolate

import fad
from fad.ops.numpy_api.radial import KERNELS

RNG = np.random.default_rng(0)
PLACES, POINTS = RNG.normal(size=(9, 2)), RNG.normal(size=(4, 2))
DATA = np.sin(PLACES[:, 0]) + PLACES[:, 1]


@pytest.mark.filterwarnings("ignore:Casting complex")
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("degree", [None, 2])
def test_kernels(kernel, degree):
    epsilon = 0.8 if KERNELS[kernel][2] else None

    def f(places, data, points, smoothing):
        through = interpolate.RBFInterpolator(places, data, kernel=kernel, epsilon=epsilon, degree=degree,
                                              smoothing=smoothing)
        return np.sum(through(points) * np.arange(1.0, 5.0))
    args = PLACES, DATA, POINTS, 0.1
    np.testing.assert_allclose(fad.jit(f, fallback=False)(*args), f(*args), rtol=1e-9)
    report = fad.certify(f, *args)
    assert report.ok, report


def test_an_interpolator_from_outside():
    through = interpolate.RBFInterpolator(PLACES, np.stack((DATA, DATA ** 2), 1), smoothing=0.01)

    def f(x):
        return np.sum(through(x) ** 2)
    np.testing.assert_allclose(fad.jit(f, fallback=False)(POINTS), f(POINTS), rtol=1e-10)
    h, E = 1e-5, np.eye(8).reshape(8, 4, 2)
    np.testing.assert_allclose(fad.grad(f)(POINTS).ravel(),
                               [(f(POINTS + h * e) - f(POINTS - h * e)) / (2 * h) for e in E],
                               rtol=1e-6, atol=1e-8)


def test_at_a_place_of_the_data():
    through = interpolate.RBFInterpolator(PLACES, DATA)
    def f(x):
        return through(x[None])[0]
    h = 1e-6
    np.testing.assert_allclose(fad.grad(f)(PLACES[0]),
                               [(f(PLACES[0] + h * e) - f(PLACES[0] - h * e)) / (2 * h) for e in np.eye(2)],
                               rtol=1e-4)
    assert np.abs(np.diag(fad.hessian(f)(PLACES[0]))).min() > 1e200              # it is infinite


def test_refusals():
    with pytest.raises(fad.FadError, match="neighbors"):
        fad.grad(lambda x: interpolate.RBFInterpolator(PLACES, DATA * x, neighbors=4)(POINTS)[0], fallback=False)(1.0)
    with pytest.raises(ValueError, match="epsilon"):
        fad.grad(lambda x: interpolate.RBFInterpolator(PLACES, DATA * x, kernel="gaussian")(POINTS)[0])(1.0)
    with pytest.raises(np.linalg.LinAlgError):
        fad.grad(lambda x: interpolate.RBFInterpolator(np.zeros((4, 2)), DATA[:4] * x)(POINTS)[0])(1.0)
