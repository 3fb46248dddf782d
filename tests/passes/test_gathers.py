"""Gathers move up to what their rows are computed from, where that is less work, and change no number."""
import numpy as np
import pytest

import fad
from fad.ir.walk import evaluate
from fad.passes.gathers import hoist_gathers
from fad.trace.tracing import trace

RNG = np.random.default_rng(0)
X, W, V = RNG.standard_normal((40, 3)), RNG.standard_normal((3, 4)), RNG.standard_normal(40)
ROWS = np.array([3, 3, 39, 0, 17, 5, 22])

FUNCTIONS = {
    "elementwise": lambda x, rows: np.sin(x)[rows],
    "broadcast": lambda x, rows: (x * V[:, None] + x[0])[rows],
    "one row for all": lambda x, rows: (np.sin(x[:1]) + x)[rows],
    "product": lambda x, rows: (x @ W)[rows],
    "einsum": lambda x, rows: np.einsum("vi,vj->vij", x, x)[rows],
    "sum": lambda x, rows: np.sum(x * x, axis=1)[rows],
    "other axis": lambda x, rows: np.transpose(np.exp(x))[:, rows],
    "reshape": lambda x, rows: np.tanh(x @ W).reshape(-1, 2, 2)[rows],
    "concatenate": lambda x, rows: np.concatenate((np.sin(x), x * 2.0), axis=1)[rows],
    "stack": lambda x, rows: np.stack((np.sin(x[:, 0]), x[:, 1] * 2.0), axis=-1)[rows],
    "where": lambda x, rows: np.where(x > 0, np.exp(x), 0.5 * x)[rows],
    "broadcast_to": lambda x, rows: np.broadcast_to(np.sin(x)[:, :, None], (len(x), 3, 2))[rows],
    "integers": lambda x, rows: (np.arange(len(x)) * 2)[rows] * x[rows, 0],
}


def hoisted(f):
    func = trace(f, [X, ROWS]).func
    return func, hoist_gathers(func)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_numbers_stay(name):
    f = FUNCTIONS[name]
    traced = trace(f, [X, ROWS])
    got, = evaluate(hoist_gathers(traced.func), [X, ROWS, *traced.captured])
    np.testing.assert_allclose(got, f(X, ROWS), rtol=1e-14)
    for tier in ("never", "now"):
        with fad.config.using(compile=tier):
            np.testing.assert_allclose(fad.jit(f)(X, ROWS), f(X, ROWS), rtol=1e-13)
            J = fad.jacrev(f)(X, ROWS)
            np.testing.assert_allclose(J, fad.jacfwd(f)(X, ROWS), rtol=1e-12, atol=1e-12)
            h = 1e-6 * np.cos(np.arange(X.size)).reshape(X.shape)
            np.testing.assert_allclose(np.tensordot(J, h, 2), (f(X + h, ROWS) - f(X - h, ROWS)) / 2, rtol=1e-6,
                                       atol=1e-12)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "integers"])
def test_what_is_gathered_is_not_computed(name):
    """After the pass all arithmetic is on as many rows as are gathered."""
    _, func = hoisted(FUNCTIONS[name])
    many, few = func.inputs[0].type.shape[0], func.inputs[1].type.shape[0]
    work = [e for e in func.equations
            if e.op.kind in ("elementwise", "contract", "reduce") and e.outputs[0].type.dtype.kind == "f"]
    assert work and all(many not in e.outputs[0].type.shape for e in work)
    assert any(few in e.outputs[0].type.shape for e in work)


def stays(f):
    before, after = hoisted(f)
    return [e.op.name for e in before.equations] == [e.op.name for e in after.equations]


def test_what_others_need_is_computed_once():
    def f(x, rows):
        y = np.sin(x)
        return y[rows], np.sum(y)
    assert stays(f)


def test_many_rows_are_gathered_behind():
    many = np.arange(40)
    func = trace(lambda x, rows: np.sin(x)[rows], [X, many]).func
    assert [e.op.name for e in hoist_gathers(func).equations] == [e.op.name for e in func.equations]


def test_rows_that_depend_on_one_another_are_gathered_behind():
    assert stays(lambda x, rows: np.cumsum(x, axis=0)[rows])


def test_a_gather_in_a_loop_leaves_what_is_around_it():
    def f(x, rows):
        y, total = np.sin(x), 0.0
        for _ in range(5):
            total = total + np.sum(y[rows]) * total
        return total
    _, func = hoisted(f)
    assert [e.op.name for e in func.equations if e.op.name == "sin"] == ["sin"]
