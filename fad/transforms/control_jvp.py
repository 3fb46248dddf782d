"""Forward mode of loops and branches: the tangents of active carries are carried beside them."""
from collections.abc import Callable
from typing import Any

from ..ir.graph import Equation, Func, Var
from ..ir.uses import operands
from ..ir.views import BranchView, LoopView
from ..ir.walk import bind_outputs, closure
from ..ops.control import COND
from .activity import activate
from .inputs import dense
from .sweeps import ForwardSweep


def _active_outputs(sweep: ForwardSweep, eqn: Equation) -> list:
    """Indices of the outputs that have a tangent."""
    active: set[Var] = {v for v in operands(eqn) if sweep.tangent(v) is not None}
    activate(eqn, active)
    return [k for k, v in enumerate(eqn.outputs) if v in active]


def _with_tangents(extents: tuple, moving: list, count: int) -> tuple:
    """Links of extents, for the carries and, behind them, their tangents."""
    place = {k: count + j for j, k in enumerate(moving)}
    return extents + tuple((place[k], axis, j) for k, axis, j in extents if k in place)


def _names(params: dict, moving: list) -> tuple:
    names = params["names"]
    return names + tuple(f"d{names[k]}" if names[k] else "" for k in moving)


def _body(sweep: ForwardSweep, loop: LoopView, moving: list) -> Callable:
    """The body with tangents: (i?, *carries, *tangents) -> (*carries, *tangents)."""
    body, count = loop.body, len(loop.body.inputs)

    def step(*values: object) -> tuple:
        inner = sweep.inner()
        inner.env.update(zip(body.inputs, values[:count]))
        inner.tangents.update(zip([loop.carries[k] for k in moving], values[count:]))
        return _run(inner, body, moving)
    return step


def _run(inner: Any, region: Func, moving: list) -> tuple:
    inner.run(region)
    ys = tuple([inner.env.read(a) for a in region.outputs])
    return ys + tuple([dense(inner.tangent(region.outputs[k]), ys[k]) for k in moving])


def _bind(sweep: ForwardSweep, eqn: Equation, moving: list, results: tuple) -> None:
    count = len(eqn.outputs)
    bind_outputs(eqn, results[:count], sweep.env)
    sweep.tangents.update(zip([eqn.outputs[k] for k in moving], results[count:]))


def jvp_loop(sweep: ForwardSweep, eqn: Equation) -> None:
    """A loop that carries the tangents behind the carries."""
    moving, loop = _active_outputs(sweep, eqn), LoopView(eqn)
    args = [sweep.env.read(a) for a in eqn.inputs]
    tangents = [dense(sweep.tangent(loop.init[k]), sweep.env.read(loop.init[k])) for k in moving]
    regions: tuple = (_body(sweep, loop, moving),)
    if loop.test is not None:
        test, count = closure(loop.test, sweep.env), len(loop.carries)
        regions = (lambda *values: test(*values[:count]), *regions)
    results = eqn.op.run_regions(args + tangents, regions, names=_names(eqn.params, moving),
                                 extents=_with_tangents(eqn.params["extents"], moving, len(eqn.outputs)),
                                 checkpoint=eqn.params.get("checkpoint"))
    _bind(sweep, eqn, moving, results)


def jvp_cond(sweep: ForwardSweep, eqn: Equation) -> None:
    moving = _active_outputs(sweep, eqn)

    def branch(region: Func) -> Callable:
        return lambda: _run(sweep.inner(), region, moving)
    results = COND.run_regions([sweep.env.read(BranchView(eqn).selector)], tuple([branch(r) for r in eqn.regions]),
                               names=_names(eqn.params, moving),
                               extents=_with_tangents(eqn.params["extents"], moving, len(eqn.outputs)))
    _bind(sweep, eqn, moving, results)
