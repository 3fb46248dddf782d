"""Arrays that are zero but for their edges are added edge by edge: the same numbers, without a pass over the array."""
import numpy as np
import pytest

import fad
from fad.ir.check import check
from fad.ir.walk import evaluate
from fad.passes.edge_additions import add_edges
from fad.passes.pipeline import optimise
from fad.trace.tracing import trace
from fad.transforms.vjp import vjp


def vector(u):
    for _ in range(3):
        new = u.copy()
        new[1:-1] = u[1:-1] - 0.1 * u[1:-1] * (u[2:] - u[:-2])
        u = new
    return np.sum(u ** 3)


def one_end(u):
    for _ in range(2):
        new = u.copy()
        new[2:] = u[2:] * u[1:-1] * u[:-2]
        u = new
    return np.sum(u ** 2)


def plate(u):
    u = np.outer(u, u + 0.5)
    for _ in range(2):
        new = u.copy()
        new[1:-1, 2:] = u[1:-1, 2:] + 0.1 * u[2:, 2:] * u[:-2, 1:-1]
        u = new
    return np.sum(u ** 3)


def rows(u):
    u = np.outer(u, u + 0.5)
    for _ in range(2):
        new = u.copy()
        new[1:] = u[1:] * u[:-1] ** 2 + np.sin(u[:-1])
        u = new
    return np.sum(u ** 2)


def half(u):
    for _ in range(2):
        new = u.copy()
        new[u.size // 2:] = u[u.size // 2:] * u[-1]
        u = new
    return np.sum(u ** 2)


def also_read(u):
    g = u * 1.0
    z = g.copy()
    z[1:-1] = 0.0
    return np.sum((np.cumsum(u) + z) * z)


U = np.linspace(0.1, 1.1, 9)
CASES = [(f, n) for f in (vector, one_end, plate, rows) for n in (2, 3, 4, 9)]


def _gradient(f):
    return optimise(vjp(trace(f, [U]).func, [0]))


@pytest.mark.parametrize("f, n", CASES, ids=[f"{f.__name__}-{n}" for f, n in CASES])
def test_the_numbers_stay(f, n):
    func = _gradient(f)
    after = add_edges(func)
    assert after is not func and _zeroed(after) < _zeroed(func)
    for a, b in zip(evaluate(check(after), [U[:n], 1.0]), evaluate(func, [U[:n], 1.0]), strict=True):
        np.testing.assert_array_equal(a, b)


def _zeroed(func):
    """Sums of arrays that were written to."""
    made = {v: e for e in func.equations for v in e.outputs}
    return sum(e.op.name == "add" and any(a in made and made[a].replaces_part for a in e.inputs)
               for e in func.equations) + sum(_zeroed(r) for e in func.equations for r in e.regions)


@pytest.mark.parametrize("f", [half, also_read], ids=lambda f: f.__name__)
def test_other_sums_stay(f):
    func = _gradient(f)
    assert add_edges(func).equations == func.equations


@pytest.mark.parametrize("f", [vector, plate], ids=lambda f: f.__name__)
def test_compiled(f):
    expected = fad.jit(fad.grad(f), compile="never")(U)
    g = fad.jit(fad.grad(f), compile="now")
    np.testing.assert_allclose(g(U), expected, rtol=1e-13)
    assert "] = 0.0" not in fad.source(g, U).replace("[:] = 0.0", "").replace("[:, :] = 0.0", "")
