"""The ops of linear algebra on their own samples: tangents, cotangents, second derivatives, batches."""
import itertools

import numpy as np
import pytest

from fad.ir.op import Op
from fad.ops.linalg import OPS

from .derivatives import check_function

CASES = [(name, k) for name, op in OPS.items() for k in range(len(op.samples))]


def function_of(op: Op, params: dict):
    """The op as a function; inputs that are a means (the factors of the first) are computed anew as the first moves."""
    if "complete" in op.facts:
        return lambda a, *rest: op(*op.facts["complete"](a, None, None, *rest), **params)
    return lambda *xs: op(*xs, **params)


def inputs_of(op: Op, xs: tuple) -> list:
    return [x for k, x in enumerate(xs) if k not in op.facts.get("means", ())]


@pytest.mark.parametrize("name, k", CASES)
def test_derivatives(name, k):
    op = OPS[name]
    xs, params = op.samples[k](np.random.default_rng(k))
    check_function(function_of(op, params), *inputs_of(op, xs), hermitian=op.facts.get("hermitian", ()))


@pytest.mark.parametrize("name, k", CASES)
def test_a_batch_is_what_a_loop_gives(name, k):
    op = OPS[name]
    rngs = [np.random.default_rng(seed) for seed in (1, 2, 3)]
    examples = [op.samples[k](rng) for rng in rngs]
    params = examples[0][1]
    for batched in batchings(len(examples[0][0])):
        columns = [np.stack([e[0][j] for e in examples]) if b else examples[0][0][j] for j, b in enumerate(batched)]
        if "means" in op.facts and len(set(batched[:3])) > 1:
            continue                                                   # factors go with their matrix
        got = op.batch(op, tuple(columns), batched, params)
        if got is NotImplemented:
            continue
        got = as_tuple(got)
        want = [as_tuple(op(*[c[e] if b else c for c, b in zip(columns, batched)], **params)) for e in range(3)]
        for j, y in enumerate(got):
            np.testing.assert_allclose(y, np.stack([w[j] for w in want]), rtol=1e-9, atol=1e-9)


def batchings(count: int):
    return [b for b in itertools.product((False, True), repeat=count) if any(b)]


def as_tuple(y):
    return y if isinstance(y, tuple) else (y,)


@pytest.mark.parametrize("name, k", [(name, k) for name, k in CASES if "expand" in OPS[name].facts])
def test_the_expansion_is_the_op(name, k):
    op = OPS[name]
    xs, params = op.samples[k](np.random.default_rng(k))
    np.testing.assert_allclose(op.facts["expand"](*xs, **params), op(*xs, **params), rtol=1e-9, atol=1e-9)


def test_the_expansion_of_a_complement_spans_the_same_space():
    u = np.linalg.qr(np.random.default_rng(0).standard_normal((2, 5, 3)))[0]
    for basis in (OPS["complement"](u), OPS["complement"].facts["expand"](u)):
        assert basis.shape == (2, 5, 2)
        np.testing.assert_allclose(u @ np.swapaxes(u, 1, 2) + basis @ np.swapaxes(basis, 1, 2),
                                   np.broadcast_to(np.eye(5), (2, 5, 5)), atol=1e-12)
