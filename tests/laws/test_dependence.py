"""The laws of dependence: what has a derivative is in the pattern, of every op, whatever its operands vary with."""
import numpy as np
import pytest

from fad.ir.walk import evaluate
from fad.trace.tracing import trace
from fad.transforms.dependence import propagate

from ..turns import in_turn
from .cases import OPS, differentiable
from .programs import differentiated

NAMES = [name for name, op in OPS.items() if differentiable(op)]
WORD = 64


def real_cases(name):
    return [(case, traced) for case, traced in differentiated(name)
            if all(np.asarray(x).dtype.kind == "f" for x in case.point)]


def pattern(traced, point):
    """The truths of dependence, rows for the elements of all results, columns for those of all moving arguments."""
    sizes = [np.size(x) for x in point]
    seeds = [np.zeros(np.shape(x), np.int64)[()] for x in point]

    def body(*values):
        sets, xs = values[:len(seeds)], values[len(seeds):]
        args = [*xs[:traced.lead], *traced.outside, *xs[traced.lead:]]
        return propagate(traced.func, args, dict(zip(traced.moving, sets)))
    made = trace(body, [*seeds, *point])
    columns = []
    for first in range(0, sum(sizes), WORD):
        bits = np.zeros(sum(sizes), np.uint64)
        here = bits[first:first + WORD]
        here[:] = np.left_shift(np.uint64(1), np.arange(len(here), dtype=np.uint64))
        parts = np.split(bits.view(np.int64), np.cumsum(sizes)[:-1])
        given = [p.reshape(np.shape(x))[()] for p, x in zip(parts, point)]
        sets = evaluate(made.func, [*given, *point, *made.captured])
        rows = np.concatenate([np.ravel(np.asarray(s, np.int64)) for s in sets]).view(np.uint64)
        columns.append((rows[:, None] >> np.arange(len(here), dtype=np.uint64)) & np.uint64(1))
    return np.concatenate(columns, axis=1).astype(bool)


def jacobian(traced, point):
    """The same of the derivative: where forward mode gives anything but zero."""
    columns, ys = [], traced.value(*point)
    for k, x in enumerate(point):
        for place in np.ndindex(np.shape(x)):
            dxs = [np.zeros(np.shape(z)) for z in point]
            dxs[k][place] = 1.0
            dys = iter(traced.forward(tuple(point), tuple([d[()] for d in dxs])))
            parts = [np.ravel(next(dys)) if a.type.dtype.kind in "fc" else np.zeros(np.size(y))
                     for a, y in zip(traced.func.outputs, ys)]
            columns.append(np.concatenate(parts) != 0)
    return np.stack(columns, axis=1)


@pytest.mark.parametrize("name", in_turn(NAMES))
def test_what_has_a_derivative_is_in_the_pattern(name):
    for case, traced in real_cases(name):
        found, needed = pattern(traced, case.point), jacobian(traced, case.point)
        assert found.shape == needed.shape
        assert not (needed & ~found).any(), (name, needed.astype(int), found.astype(int))


EXACT = ("add", "mul", "sin", "broadcast_to", "reshape", "transpose", "concatenate", "pack", "sum", "contract", "index",
         "index_add", "update", "full")


@pytest.mark.parametrize("name", EXACT)
def test_linear_and_elementwise_ops_have_no_more_than_that(name):
    for case, traced in real_cases(name):
        assert np.array_equal(pattern(traced, case.point), jacobian(traced, case.point)), name
