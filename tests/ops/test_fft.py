"""The Fourier ops on their own samples."""
import numpy as np
import pytest

from fad.ops import fft

from .derivatives import check_function

OPS = {op.name: op for op in (fft.fft, fft.ifft, fft.rfft, fft.irfft)}
CASES = [(name, k) for name, op in OPS.items() for k in range(len(op.samples))]


@pytest.mark.parametrize("name, k", CASES)
def test_derivatives(name, k):
    op = OPS[name]
    xs, params = op.samples[k](np.random.default_rng(k))
    check_function(lambda x: op(x, *xs[1:], **params), xs[0])


@pytest.mark.parametrize("name, k", CASES)
def test_a_batch_is_what_a_loop_gives(name, k):
    op = OPS[name]
    xs, params = op.samples[k](np.random.default_rng(k))
    stack = np.stack([xs[0], 2 * xs[0], xs[0] - 1])
    got = op.batch(op, (stack, *xs[1:]), (True,) + (False,) * len(xs[1:]), params)
    np.testing.assert_allclose(got, np.stack([op(x, *xs[1:], **params) for x in stack]))
