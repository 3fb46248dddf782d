"""Each pass keeps what a program computes, and does what its docstring says."""
import numpy as np
import pytest

import fad
from fad.ir.check import check
from fad.ir.walk import evaluate
from fad.passes.pipeline import PIPELINE, optimise
from fad.trace.tracing import trace
from fad.transforms.jvp import jvp
from fad.transforms.vjp import vjp

x, y = np.array([0.3, 1.2, 2.0]), np.array([1.0, -0.5, 0.7])
PROGRAMS = {
    "arithmetic": lambda x, y: (x * 1.0 + 0.0 - 0) / 1 + np.negative(-y) + x * y + x * y,
    "broadcast": lambda x, y: np.sum(np.outer(x, y) * 2.0 + np.sum(x), axis=0),
    "slices": lambda x, y: (x[1:] - x[:-1] ** 2) * y[1:],
    "stops": lambda x, y: fad.stop_gradient(x) * y,
    "checkpoint": lambda x, y: fad.checkpoint(lambda t: np.sin(t) * y)(x),
    "transposes": lambda x, y: np.outer(x, y).T.T.T @ x,
    "columns": lambda x, y: x.reshape(-1, 1)[:, 0] * np.outer(x, y)[:, 0],
    "loop": lambda x, y: fad.fori_loop(0, 4, lambda i, c: (c[0] * np.sin(x) + y, c[1] + 1.0), (x, 0.0))[0],
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("transform", [lambda f: f, lambda f: vjp(f, [0, 1]), lambda f: jvp(f, [0, 1])],
                         ids=["primal", "vjp", "jvp"])
def test_every_pass_keeps_the_values(name, transform):
    traced = trace(PROGRAMS[name], [x, y])
    func = transform(traced.func)
    rng = np.random.default_rng(0)
    inputs = ([x, y]
              + [rng.standard_normal(3 if name != "slices" else 2) if k == 2 else rng.standard_normal(3)
                 for k in range(2, len(func.inputs))])
    want = evaluate(func, inputs)
    for run in (*PIPELINE, optimise):
        func_after = check(run(func))
        for a, b in zip(evaluate(func_after, inputs), want):
            np.testing.assert_allclose(a, b, rtol=1e-12)


def _optimised(f, *args):
    return optimise(trace(f, list(args)).func)


def test_cse_merges_and_dce_removes():
    func = _optimised(lambda x: (np.sin(x) + np.sin(x), np.cos(x))[0], x)
    assert [e.op.name for e in func.equations] == ["sin", "add"]


def test_identities():
    assert not _optimised(lambda x: np.negative(-(x * 1.0 + -0.0)) - 0, x).equations
    assert not _optimised(lambda x: np.conj(np.real(x)).T.reshape(x.shape), x).equations


def test_one_division_by_a_root():
    """The derivative 0.5 / root of the root and 1 / root: equal to the last bit where the factor is a power of two,
    else both are divided."""
    def divided(a, b):
        return lambda x: (lambda root: (a / root, b / root))(np.sqrt(x))

    ends = np.array([0.0, 5e-324, 3e-308, 0.3, 1.7e308, np.inf, np.nan])
    for a, b, divisions in ((1.0, 0.5, 1), (-3.0, 1.5, 1), (3.0, 1.0, 2), (0.0, 1.0, 2)):
        func = _optimised(divided(a, b), x)
        assert [e.op.name for e in func.equations].count("div") == divisions
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(evaluate(func, [ends]), divided(a, b)(ends))
    assert [e.op.name for e in _optimised(lambda x: 1.0 / x + 0.5 / x, x).equations].count("div") == 2


def test_a_part_that_is_all_of_it():
    """x[:, 0] of one column and its derivative are reshapes; of two columns they are not."""
    def column(x):
        return np.sum(x.reshape(-1, 1)[:, 0] ** 2)

    def write(x):
        y = np.zeros((3, 1))
        y[:, 0] = x
        return y[:, 0] * 2.0

    for f in (column, write):
        for func in (trace(f, [x]).func, vjp(trace(f, [x]).func, [0])):
            assert not {"index", "update", "index_add", "full"} & {e.op.name for e in optimise(func).equations}
    two = optimise(vjp(trace(lambda x: x.reshape(-1, 2)[:, 0], [np.ones(4)]).func, [0]))
    assert "index_add" in {e.op.name for e in two.equations}


def test_loop_invariants_are_hoisted_and_dead_carries_dropped():
    func = _optimised(lambda x: fad.fori_loop(0, 9, lambda i, c: (c[0] + np.exp(x), c[1] * 2.0), (x, x))[0], x)
    assert [e.op.name for e in func.equations] == ["exp", "for"]
    loop = func.equations[1]
    assert len(loop.outputs) == 1 and [e.op.name for e in loop.regions[0].equations] == ["add"]


def test_infinities_and_nans_survive():
    f = fad.jit(lambda x: x * 0.0 + (x - x))
    assert np.isnan(f(np.array([np.inf, np.nan]))).all()
