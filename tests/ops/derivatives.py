"""The laws of one op at one point: tangents against differences, the adjoint identity, and both again for its
derivatives."""
import numpy as np

from fad.ir.walk import evaluate
from fad.trace.tracing import trace
from fad.transforms.jvp import jvp
from fad.transforms.vjp import vjp


def directions(rng, xs, moving, hermitian=()):
    """A random tangent for each moving input (along Hermitian matrices, where an op takes its input for one)."""
    out = []
    for k in moving:
        x = np.asarray(xs[k])
        d = rng.standard_normal(x.shape) + (1j * rng.standard_normal(x.shape) if x.dtype.kind == "c" else 0)
        if k in hermitian:
            d = d + np.conj(np.swapaxes(d, -1, -2))
        out.append(d.astype(x.dtype))
    return out


def inner(a, b):
    """The real inner product of two lists of arrays."""
    return sum(np.sum(np.conj(x) * y).real for x, y in zip(a, b))


def floating(xs):
    return [k for k, x in enumerate(xs) if np.asarray(x).dtype.kind in "fc"]


def moved(xs, moving, dxs, t):
    xs = list(xs)
    for k, d in zip(moving, dxs):
        xs[k] = np.asarray(xs[k]) + t * d
    return xs


def differences(f, xs, moving, dxs, h=1e-5):
    """Central differences of each result of f along dxs."""
    above, below = f(moved(xs, moving, dxs, h)), f(moved(xs, moving, dxs, -h))
    return [(a - b) / (2 * h) for a, b in zip(above, below)]


def real_results(f, xs):
    return [np.asarray(y) for y in f(xs) if np.asarray(y).dtype.kind in "fc"]


def check_function(f, *xs, moving=None, hermitian=(), rtol=1e-5, atol=1e-6, second=True, rng=None):
    """Trace f and hold its derivatives, first and second, against differences and against each other."""
    rng = rng or np.random.default_rng(3)
    moving = floating(xs) if moving is None else moving
    traced = trace(f, list(xs))
    func, xs = traced.func, [*xs, *traced.captured]

    def run(args):
        return real_results(lambda a: evaluate(func, a), args)

    values, dxs = run(xs), directions(rng, xs, moving, hermitian)
    forward, backward = jvp(func, moving), vjp(func, moving)
    tangents = evaluate(forward, [*xs, *dxs])[len(func.outputs):]
    for got, want in zip(tangents, differences(run, xs, moving, dxs), strict=True):
        np.testing.assert_allclose(got, want, rtol=rtol, atol=atol)
    gs = [np.asarray(d) for d in directions(rng, values, range(len(values)))]
    cotangents = evaluate(backward, [*xs, *gs])[len(func.outputs):]
    np.testing.assert_allclose(inner(gs, tangents), inner(cotangents, dxs), rtol=1e-8, atol=1e-8)
    for x, k in zip(cotangents, moving):
        assert np.asarray(x).dtype == np.asarray(xs[k]).dtype and np.shape(x) == np.shape(xs[k])
    if second:
        _check_second(backward, len(func.outputs), [*xs, *gs], moving, hermitian, rng, rtol * 10, atol * 10)
    return values


def _check_second(backward, outputs, xs, moving, hermitian, rng, rtol, atol):
    dxs = directions(rng, xs, moving, hermitian)
    tangents = evaluate(jvp(backward, moving), [*xs, *dxs])
    results = len(backward.outputs)
    want = differences(lambda a: evaluate(backward, a)[outputs:], xs, moving, dxs)
    for got, expected in zip(tangents[results:][-len(moving):], want, strict=True):
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=atol)
