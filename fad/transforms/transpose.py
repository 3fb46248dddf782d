"""Reverse mode for an op with a forward rule only: the reverse sweep transposes the rule, which is linear."""
from collections.abc import Callable

from ..ir import stack
from ..ir.build import building
from ..ir.op import Op
from ..ir.types import Type
from ..ir.walk import evaluate
from ..ops.carry import defined_type
from .inputs import zeros_like


def pullback_by_transposition(op: Op, gs: tuple, ys: tuple, xs: tuple, params: dict, needs: tuple,
                              pull_back: Callable) -> tuple:
    """The cotangents that the transpose of op's jvp rule gives. pull_back is vjp's: (func, args, wanted) -> values,
    pullback.

    The tangents are symbolic and stand at zero: a linear rule's transpose reads none of them. On arrays (no program
    being built) the transpose is traced once and run.
    """
    with building(f"{op.name}_transposed", region=bool(stack.builders())) as builder:
        with building("tangent", region=True) as inner:
            moving = [k for k, need in enumerate(needs) if need]
            dxs: list = [None] * len(xs)
            for k in moving:
                t = defined_type(xs[k])
                dxs[k] = inner.input(Type(t.dtype, t.shape), f"dx{k}")
            dys = op.derivative.jvp(op, ys, xs, tuple(dxs), params)
            given = [k for k, dy in enumerate(dys) if dy is not None and gs[k] is not None]
            tangent = inner.finish(tuple([dys[k] for k in given]))
        _, pullback = pull_back(tangent, [zeros_like(xs[k]) for k in moving], range(len(moving)))
        gxs = pullback([gs[k] for k in given])
        kept = [j for j, g in enumerate(gxs) if g is not None]
        transposed = builder.finish(tuple([gxs[j] for j in kept]))
    captured = [] if builder.parent else [array for array, _ in builder.trace.captured.values()]
    out: list = [None] * len(xs)
    for j, g in zip(kept, evaluate(transposed, captured)):
        out[moving[j]] = g
    return tuple(out)
