"""Forward mode of loops and branches: the tangents of active carries are carried beside them."""
from collections.abc import Callable
from typing import Any

from ..ir.graph import Equation, Func, Literal, Var, free_vars
from ..ir.walk import Environment, bind_outputs, closure
from ..ops.control import COND, FOR, WHILE
from .activity import activate
from .inputs import zeros_like


def _active_outputs(sweep: Any, eqn: Equation) -> list:
    """Indices of the outputs that have a tangent."""
    used = [a for a in eqn.inputs if not isinstance(a, Literal)] + [v for r in eqn.regions for v in free_vars(r)]
    active: set[Var] = {v for v in used if sweep.tangent(v) is not None}
    activate(eqn, active)
    return [k for k, v in enumerate(eqn.outputs) if v in active]


def _dense(dx: Any, x: Any) -> Any:
    return zeros_like(x) if dx is None else dx


def _with_tangents(extents: tuple, moving: list, count: int) -> tuple:
    """Links of extents, for the carries and, behind them, their tangents."""
    place = {k: count + j for j, k in enumerate(moving)}
    return extents + tuple((place[k], axis, j) for k, axis, j in extents if k in place)


def _names(params: dict, moving: list) -> tuple:
    names = params["names"]
    return names + tuple(f"d{names[k]}" if names[k] else "" for k in moving)


def _body(sweep: Any, body: Func, moving: list, lead: int) -> Callable:
    """The body with tangents: (i?, *carries, *tangents) -> (*carries, *tangents)."""
    count = len(body.inputs)

    def step(*values: Any) -> tuple:
        inner = type(sweep)(Environment(sweep.env), sweep)
        inner.env.update(zip(body.inputs, values[:count]))
        inner.tangents.update(zip([body.inputs[lead + k] for k in moving], values[count:]))
        return _run(inner, body, moving)
    return step


def _run(inner: Any, region: Func, moving: list) -> tuple:
    inner.run(region)
    ys = tuple([inner.env.read(a) for a in region.outputs])
    return ys + tuple([_dense(inner.tangent(region.outputs[k]), ys[k]) for k in moving])


def _bind(sweep: Any, eqn: Equation, moving: list, results: tuple) -> None:
    count = len(eqn.outputs)
    bind_outputs(eqn, results[:count], sweep.env)
    sweep.tangents.update(zip([eqn.outputs[k] for k in moving], results[count:]))


def _tangents_of_init(sweep: Any, atoms: tuple, values: list, moving: list) -> list:
    return [_dense(sweep.tangent(atoms[k]), values[k]) for k in moving]


def jvp_for(sweep: Any, eqn: Equation) -> None:
    moving = _active_outputs(sweep, eqn)
    args = [sweep.env.read(a) for a in eqn.inputs]
    tangents = _tangents_of_init(sweep, eqn.inputs[3:], args[3:], moving)
    results = FOR.run_regions(args + tangents, (_body(sweep, eqn.regions[0], moving, 1),), names=_names(eqn.params, moving),
                              extents=_with_tangents(eqn.params["extents"], moving, len(eqn.outputs)), checkpoint=eqn.params.get("checkpoint"))
    _bind(sweep, eqn, moving, results)


def jvp_while(sweep: Any, eqn: Equation) -> None:
    moving = _active_outputs(sweep, eqn)
    args = [sweep.env.read(a) for a in eqn.inputs]
    tangents = _tangents_of_init(sweep, eqn.inputs, args, moving)
    test = closure(eqn.regions[0], sweep.env)
    regions = (lambda *values: test(*values[:len(args)]), _body(sweep, eqn.regions[1], moving, 0))
    results = WHILE.run_regions(args + tangents, regions, names=_names(eqn.params, moving),
                                extents=_with_tangents(eqn.params["extents"], moving, len(eqn.outputs)), checkpoint=eqn.params.get("checkpoint"))
    _bind(sweep, eqn, moving, results)


def jvp_cond(sweep: Any, eqn: Equation) -> None:
    moving = _active_outputs(sweep, eqn)

    def branch(region: Func) -> Callable:
        return lambda: _run(type(sweep)(Environment(sweep.env), sweep), region, moving)
    results = COND.run_regions([sweep.env.read(eqn.inputs[0])], tuple([branch(r) for r in eqn.regions]), names=_names(eqn.params, moving),
                               extents=_with_tangents(eqn.params["extents"], moving, len(eqn.outputs)))
    _bind(sweep, eqn, moving, results)
