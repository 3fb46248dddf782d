"""Dense Jacobians leave out the terms of sums over points whose tangents are zero; the numbers are those with all
terms."""
import re
import warnings

import numba
import numpy as np
import pytest

import fad
from fad.kernels.terms import nonzero_first

from ..turns import in_turn

RNG = np.random.default_rng(0)
POINTS = 150


def bent(theta, W, base, places):
    """Each parameter rotates one bone and all bones attached to it. Each point follows a few bones."""
    angles = np.zeros(W.shape[1])
    angles[places] = theta
    turns = np.stack([np.stack([np.cos(angles), -np.sin(angles)], -1), np.stack([np.sin(angles), np.cos(angles)], -1)],
                     -2)
    return np.einsum("vij,vj->vi", np.einsum("vb,bij->vij", W, turns), base)


def arguments(bones, parameters, rng=RNG):
    W, base = rng.standard_normal((POINTS, bones)), rng.standard_normal((POINTS, 2))
    return rng.standard_normal(parameters), W, base, rng.permutation(bones)[:parameters]


def both(f, *args):
    """The Jacobian interpreted and compiled."""
    return [fad.jit(fad.jacobian(f), compile=policy)(*args) for policy in ("never", "now")]


def is_used(f, *args):
    return "nonzero_first(" in fad.source(fad.jit(fad.jacobian(f), compile="now"), *args)


@pytest.mark.parametrize("bones, parameters", [(2, 2), (4, 1), (5, 2), (5, 5), (7, 3), (8, 2), (22, 6)])
def test_jacobians_of_points_that_follow_bones(bones, parameters):
    args = arguments(bones, parameters)
    want, got = both(bent, *args)
    np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-13)
    assert is_used(bent, *args)


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_zero_times_what_is_no_number_is_not_left_out(bad):
    theta, W, base, places = arguments(9, 3)
    W[3, 5] = W[140, places[0]] = bad
    want, got = both(bent, theta, W, base, places)
    assert np.isnan(want[3]).any()
    np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-13)


def test_tangents_that_are_no_numbers_are_terms():
    theta, W, base, places = arguments(9, 3)
    theta[1] = np.inf
    with np.errstate(invalid="ignore"):
        want, got = both(bent, theta, W, base, places)
    assert np.isnan(want[:, :, 1]).all()
    np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-13)


def test_signs_of_zeros():
    """No term at all, or terms that are -0.0: the sum is 0.0."""
    theta, W, base, places = arguments(9, 3)
    W[:, places[0]] = 0.0
    W[:5] = -0.0
    want, got = both(bent, theta, W, base, places)
    assert np.array_equal(np.signbit(got), np.signbit(want))


@pytest.mark.parametrize("extent", [1, 2, 3, 4, 5, 8, 11])
@pytest.mark.parametrize("share", [0.0, 0.2, 1.0])
def test_terms_in_order(extent, share):
    """The compiled kernel and its plain form agree, and the terms are all, and only, those that are not zero."""
    factors = RNG.standard_normal((6, extent, 2)) * (RNG.uniform(size=(6, extent, 1)) < share)
    others = RNG.standard_normal((4, extent))
    for x in (others, np.where(others > 1, np.nan, others)):
        want, got = nonzero_first(factors, x), numba.njit(lambda a, b: nonzero_first(a, b))(factors, x)
        np.testing.assert_array_equal(got, want)
        for i, (whole, count, *order) in enumerate(got):
            kept = np.flatnonzero(factors[i, :, 0]) if np.isfinite(x).all() else np.arange(extent)
            assert sorted(order) == list(range(extent)) and order[:count] == kept.tolist()
            assert whole % 2 == 0 and min(2, extent // 2 * 2) <= whole <= extent and max(whole, count) - count < 3


def test_blocks_on_two_cores():
    args = arguments(9, 3)
    with fad.config.using(threads=2):
        want, got = both(bent, *args)
    np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-13)


def test_an_exported_module_has_the_kernel(tmp_path):
    theta, W, base, places = arguments(9, 3)
    path = tmp_path / "bones.py"
    fad.export(fad.jacobian(bent), theta, W, base, places, path=path)
    names: dict = {}
    exec(path.read_text(), names)
    function = next(f for name, f in names.items() if name in ("bent", "jacobian"))
    np.testing.assert_allclose(function(theta, W, base, places), both(bent, theta, W, base, places)[0], rtol=1e-13,
                               atol=1e-13)


@pytest.mark.parametrize("seed", in_turn(range(16)))
def test_random_jacobians_over_points(seed):
    """Random contractions of arrays that parameters are scattered into, of random extents, beside all seeds at once."""
    rng = np.random.default_rng(seed)
    bones, extra, parameters = (int(n) for n in rng.integers((1, 1, 1), (12, 4, 6)))
    W, T = rng.standard_normal((POINTS, bones)), rng.standard_normal((bones, extra))
    rows, columns = rng.integers(0, bones, parameters), rng.integers(0, extra, parameters)
    start, scale = rng.standard_normal(parameters), rng.standard_normal(POINTS)
    picked = rng.integers(0, POINTS, int(rng.integers(100, 400)))
    last, sign = rng.integers(0, 2, 2)

    def f(theta, W, T):
        A = np.zeros((bones, extra))
        A[rows, columns] = theta * theta
        y = W @ (A * T) if last else np.einsum("vb,bk,v->vk", W, A * T, scale)
        y = np.tanh(y)[picked]
        return -y if sign else y
    want, got = both(f, start, W, T)
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)
    J, h = got, 1e-6
    for k in range(parameters):
        step = h * (np.arange(parameters) == k)
        difference = (f(start + step, W, T) - f(start - step, W, T)) / (2 * h)
        np.testing.assert_allclose(J[..., k], difference, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("join", [np.bitwise_and, np.logical_or, np.bitwise_xor, np.maximum, np.greater, np.where])
def test_tangents_beside_masks(join):
    """An operation on masks among equations that the columns of an identity matrix go through."""
    def f(x):
        scaled = np.eye(6) @ x
        inside = (scaled > -0.8) & (scaled < 0.9)
        held = join(inside, scaled < 0.5, inside) if join is np.where else join(inside, scaled < 0.5)
        return np.sum(np.tanh(np.where(held, scaled, 0.0) * inside))
    x = np.linspace(-1, 1, 6)
    a, b = [fad.jit(fad.jacobian(fad.grad(f)), compile=policy)(x) for policy in ("never", "now")]
    np.testing.assert_allclose(a, b, rtol=1e-12)


def test_matrices_of_ones_and_clipped_vectors():
    def f(x):
        y, unit = x * 1.0, np.eye(6) * 1.0
        np.matmul(unit, y, out=y)
        np.clip(y, -0.8, 0.9, out=y)
        return np.sum(np.tanh(y)) + np.mean(np.sin(unit))
    x = np.linspace(-1, 1, 6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        a, b = [fad.jit(lambda x: fad.jvp(fad.grad(f), (x,), (np.cos(x),)), compile=policy)(x)
                for policy in ("never", "now")]
    np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("threads", [1, 2])
def test_rows_picked_from_tangents_are_read_along_memory(threads):
    """What blocks of points write for each parameter, the gather reads point by point: so it lies in memory."""
    args = arguments(9, 3)
    picked = RNG.integers(0, POINTS, 3 * POINTS)

    def f(*args):
        return -bent(*args)[picked]
    with fad.config.using(threads=threads):
        want, got = both(f, *args)
    np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-13)
    last = fad.source(fad.jit(fad.jacobian(f), compile="now"), *args).rpartition("] = -")
    assert last[0].endswith("i, j, k") and re.match(r"\w+\[.*, j, k\]\n", last[2]), last
