"""Every kernel: values and effects as plain NumPy, both tiers; reverse, forward and second derivatives; loops rolled."""
import numpy as np
import pytest

import fad

from . import KERNELS
from .judge import Loss, copied, directions, effect, moved, product, slope

ALL = sorted(KERNELS)
SMOOTH = [name for name in ALL if KERNELS[name].smooth]
TIERS = ["never", "now"]


def gradient(loss):
    return fad.grad(loss, argnums=tuple(range(len(loss.point))))


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("name", ALL)
def test_value_and_effect(name, tier):
    kernel = KERNELS[name]
    arguments = kernel.arguments()
    compiled = fad.jit(kernel.run, compile=tier)
    for got, want in zip(effect(compiled, arguments), effect(kernel.run, arguments), strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("name", SMOOTH)
def test_reverse_and_forward(name, tier):
    loss = Loss(KERNELS[name])
    before = copied(loss.point)
    direction = directions(loss.point)
    want = slope(loss, loss.point, direction)
    with fad.config.using(compile=tier):
        along = fad.jvp(loss, loss.point, direction)[1]
        got = product(gradient(loss)(*loss.point), direction)
    np.testing.assert_allclose(got, want, rtol=2e-7, atol=1e-8)
    np.testing.assert_allclose(along, got, rtol=1e-9, atol=1e-10)
    for a, b in zip(loss.point, before):
        np.testing.assert_array_equal(a, b)
