"""An op over a batch of examples gives what a loop over them gives: all its arrays batched, and the first alone."""
import numpy as np
import pytest

from fad.trace.tracing import trace
from fad.transforms.vmap import batch

from ..turns import in_turn
from .cases import OPS, Case, calls, moves, results
from .programs import Program, program


def examples(case: Case, batched: tuple) -> list:
    """Two examples of the batched arguments: the case's own, and one a little off."""
    return [tuple([x if k == 0 or j not in batched else x * 1.01 for j, x in enumerate(case.point)]) for k in range(2)]


def over_batch(case: Case, batched: tuple) -> list:
    inner = program(case)
    rows = examples(case, batched)
    xs = [np.stack([np.asarray(row[j]) for row in rows]) if j in batched else np.asarray(case.point[j])
          for j in range(len(case.moving))]
    flags = [j in batched for j in range(len(xs))] + [False] * len(inner.outside)
    outer = trace(lambda *xs: tuple(batch(inner.func, [*xs, *inner.outside], flags, 2)), xs)
    return Program(outer.func, len(xs), list(outer.captured), tuple(range(len(xs)))).value(*xs)


@pytest.mark.parametrize("name", in_turn([name for name, op in OPS.items() if calls(op) and not op.effect], 1))
def test_batch_is_a_loop(name):
    op = OPS[name]
    for args, params in calls(op):
        moving = tuple(k for k, a in enumerate(args) if moves(a))
        if not moving:
            continue
        case = Case(op, args, params, moving)
        for batched in {tuple(range(len(moving))), (0,)}:
            with np.errstate(all="ignore"):
                rows = [results(case.at(*row)) for row in examples(case, batched)]
            for got, want in zip(over_batch(case, batched), map(np.stack, zip(*rows)), strict=True):
                np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12)
