"""Linear systems in discrete time: SciPy's values, and slopes, for matrices, transfer functions and system objects."""
import numpy as np
import pytest
from scipy import signal

import fad

from ..turns import in_tiers

A, B = np.array([[0.9, 0.1], [-0.2, 0.8]]), np.array([[1.0, 0.2], [0.5, 0.0]])
C, D = np.array([[1.0, 0.0]]), np.array([[0.0, 0.1]])
U, STATE = np.arange(12.0).reshape(6, 2) * 0.1, signal.dlti(A, B, C, D, dt=0.1)
TRANSFER = signal.dlti(np.array([1.0, 0.3]), np.array([1.0, -0.5, 0.1]), dt=0.5)

CALLS = {
    "impulse": (lambda a: signal.dimpulse((a, B, C, D, 0.1), n=8), A),
    "step": (lambda b: signal.dstep((A, b, C, D, 0.1), n=8), B),
    "impulse at times": (lambda a: signal.dimpulse((a, B, C, D, 0.1), t=np.arange(5) * 0.1), A),
    "impulse from a state": (lambda x: signal.dimpulse((A, B, C, D, 0.1), x0=x, n=5), np.ones(2)),
    "a hundred": (lambda a: signal.dimpulse((a, B, C, D, 0.1)), A),
    "simulation": (lambda a: signal.dlsim((a, B, C, D, 0.1), U), A),
    "of inputs": (lambda u: signal.dlsim((A, B[:, :1], C, D[:, :1], 0.1), u, x0=[1.0, 2.0]), U[:, 0]),
    "interpolated": (lambda u: signal.dlsim((A, B, C, D, 0.1), u, t=np.array([0.0, 0.15, 0.5])), U[:3]),
    "a system of matrices": (lambda u: signal.dlsim(STATE, u), U),
    "a system of polynomials": (lambda u: signal.dlsim(TRANSFER, u), U[:, 0]),
    "numerator": (lambda n: signal.dimpulse((n, [2.0, -0.5, 0.1], 0.1), n=8), np.array([1.0, 0.3])),
    "denominator": (lambda d: signal.dstep(([1.0, 0.3], d, 1), n=8), np.array([2.0, -0.5, 0.1])),
    "a gain": (lambda n: signal.dstep((n, [2.0], 1), n=4), np.array([1.0])),
}


def total(result):
    parts = [p for part in result for p in (part if isinstance(part, tuple) else (part,))]
    return sum([np.sum(np.sin(1.0 + np.arange(p.size)) * p.ravel()) for p in parts])


@pytest.mark.parametrize("name, tier", in_tiers(CALLS))
def test_values_and_slopes(name, tier):
    call, x = CALLS[name]
    expected, found = call(x), fad.jit(call, compile=tier, fallback=False)(x)
    assert len(found) == len(expected)
    value, slope = fad.value_and_grad(lambda x: total(call(x)), compile=tier, fallback=False)(x)
    assert value == pytest.approx(total(expected), rel=1e-11) and total(found) == pytest.approx(value, rel=1e-11)
    steps = 1e-6 * np.eye(x.size).reshape(x.size, *x.shape)
    slopes = [(total(call(x + h)) - total(call(x - h))) / 2e-6 for h in steps]
    np.testing.assert_allclose(np.ravel(slope), slopes, rtol=1e-5, atol=1e-6)


def test_what_is_no_such_system():
    with pytest.raises(ValueError, match="Improper"):
        fad.jit(lambda n: signal.dstep((n, [1.0, 0.5], 1), n=4))(np.ones(3))
    with pytest.raises(ValueError, match="must not be zero"):
        fad.jit(lambda d: signal.dstep(([1.0], d, 1), n=4))(np.array([0.0, 1.0]))
    with pytest.raises(fad.FadError, match="zeros, poles"):
        fad.jit(lambda z: signal.dstep((z, [0.5], 1.0, 1), n=4), fallback=False)(np.array([0.1]))
