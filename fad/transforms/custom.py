"""Derivatives of `custom` and `checkpoint` calls.

A custom call's rule offers any of
    jvp(xs, dxs) -> (ys, dys)            tangents None for zero
    forward(xs) -> (ys, residuals)       and backward(residuals, gs, needs) -> gxs, cotangents None for zero;
                                         needs[k] says whether that of xs[k] is asked for
    batch(xs, batched, n) -> ys          over n examples: a leading axis on every result, and on xs[k] where batched[k]
    (see vmap.py)
as code on values. A rule with only a jvp is transposed for reverse mode: it is linear in the tangents.
"""
import threading
from collections.abc import Callable, Sequence
from typing import Any

from ..ir.build import building, current
from ..ir.graph import Equation, Func, Var, free_vars
from ..ir.op import registry
from ..ir.types import Type, type_of
from ..ir.uses import operands
from ..ir.walk import bind_outputs, closure, run_equation
from ..ops.kinds import fit
from ..util.ambient import ambient
from ..util.errors import NoDerivativeError
from .control import JVP_OF_CONTROL, VJP_OF_CONTROL
from .inputs import zeros_like
from .jvp import Forward
from .lane_parts import NAME as LANES_NAME
from .linearity import refuse_nonlinear
from .vjp import Reverse, pull_back


class _Transposed(threading.local):
    """The number of programs of tangents that are being transposed. A function with a jvp rule is linear in these
    programs, so its body says as much as its rule; and a rule that calls its own function (`return f(x), f(dx)`) would
    call itself without end.
    """

    tangents = 0


_transposed = _Transposed()
ambient(_transposed)


def _moves(v: Var) -> bool:
    return v.type.dtype.kind in "fc"


def _refuse_free(free: Sequence, name: str) -> None:
    if free:
        raise NoDerivativeError(f"{name} uses a value that is being differentiated without taking it as an argument",
                                why="its own derivative rule cannot know of it", do="pass the value as an argument")


def _refuse_unruled(rule: object, moves: Sequence, name: str) -> None:
    if any(moves[k] for k in getattr(rule, "unruled", ())):
        raise NoDerivativeError(
            f"{name} is being differentiated with respect to an argument that its rule has no derivative for",
            why="the argument is in nondiff_argnums, or it can only be passed by name",
            do="make it an ordinary argument of the rule, or pass fad.stop_gradient of it")


def is_reverse_only(func: Func) -> bool:
    """Whether a program calls a function that has a reverse-mode rule only, so that forward mode would refuse it."""
    return any(eqn.params["rule"].jvp is None if eqn.op.name == "custom" else any(map(is_reverse_only, eqn.regions))
               for eqn in func.equations)


def jvp_custom(sweep: Forward, eqn: Equation) -> None:
    """Tangents of a custom call by its own rule."""
    dxs = [sweep.tangent(a) for a in eqn.inputs]
    _refuse_free([v for v in free_vars(eqn.regions[0]) if sweep.tangent(v) is not None], eqn.params["name"])
    if all(d is None for d in dxs):
        run_equation(eqn, sweep.env)
        return
    rule = eqn.params["rule"]
    _refuse_unruled(rule, [d is not None for d in dxs], eqn.params["name"])
    if rule.jvp is None:
        raise NoDerivativeError(
            f"{eqn.params['name']} has a reverse-mode rule only (custom_vjp), and forward mode was asked of it",
            do="use reverse mode (fad.grad, fad.jacrev), or give it a rule with fad.custom_jvp")
    ys, dys = rule.jvp([sweep.env.read(a) for a in eqn.inputs], dxs)
    extra = len(eqn.outputs) - len(ys)
    bind_outputs(eqn, _extents(eqn, ys, extra) + tuple(ys), sweep.env)
    for v, dy in zip(eqn.outputs[extra:], dys):
        if dy is not None and _moves(v):
            sweep.tangents[v] = dy


def _extents(eqn: Equation, ys: Sequence, extra: int) -> tuple:
    """The extents among a call's results, read off the other results."""
    known = {n: size for v, y in zip(eqn.outputs[extra:], ys) for n, size in zip(v.type.shape, getattr(y, "shape", ()))}
    return tuple(known[v] for v in eqn.outputs[:extra])


def vjp_custom(sweep: Reverse, eqn: Equation) -> None:
    """A custom call in reverse mode: its rule's forward now, its backward when the cotangents come."""
    name, rule = eqn.params["name"], eqn.params["rule"]
    _refuse_free([v for v in free_vars(eqn.regions[0]) if v in sweep.active], name)
    needs = [a in sweep.active for a in eqn.inputs]
    if not any(needs):
        run_equation(eqn, sweep.env)
        return
    if _transposed.tangents and rule.forward is None:
        _run_again(sweep, eqn)
        return
    _refuse_unruled(rule, needs, name)
    xs = [sweep.env.read(a) for a in eqn.inputs]
    if rule.forward is not None:
        ys, residuals = rule.forward(xs)
        extra = len(eqn.outputs) - len(ys)
        bind_outputs(eqn, _extents(eqn, ys, extra) + tuple(ys), sweep.env)
        backward: Callable = lambda gs: rule.backward(residuals, gs, needs)
    else:
        run_equation(eqn, sweep.env)
        extra = len(eqn.outputs) - rule.results
        backward = lambda gs: transpose_rule(rule, xs, needs, gs)
    sweep.active.update(v for v in eqn.outputs if _moves(v))

    def pull() -> None:
        gs = [sweep.cotangents.pop(v, None) for v in eqn.outputs[extra:]]
        if all(g is None for g in gs):
            return
        full = [zeros_like(sweep.env[v]) if g is None and _moves(v) else g for v, g in zip(eqn.outputs[extra:], gs)]
        for a, g, need, x in zip(eqn.inputs, backward(full), needs, xs):
            if need:
                sweep.add(a, fit(g, x))
    sweep.pullbacks.append(pull)


def transpose_rule(rule: Any, xs: Sequence, needs: Sequence, gs: Sequence) -> list:
    """Cotangents of xs, by the reverse sweep of the rule's tangents, which are linear in those of xs."""
    moving = [k for k, need in enumerate(needs) if need]
    linear = tangent_program(lambda dxs: rule.jvp(list(xs), dxs)[1], [xs[k] for k in moving], moving, len(xs))
    _transposed.tangents += 1
    try:
        refuse_nonlinear(linear, [xs[k] for k in moving], gs)
        _, pull = pull_back(linear, [zeros_like(xs[k]) for k in moving], range(len(moving)))
        found = dict(zip(moving, pull([g for g, out in zip(gs, linear.outputs)])))
    finally:
        _transposed.tangents -= 1
    return [found.get(k) for k in range(len(xs))]


def uses_its_inputs(func: Func) -> bool:
    """Whether a result depends on the value of an input."""
    reached: set = set(func.inputs)
    for eqn in func.equations:
        if any(v in reached for v in operands(eqn)):
            reached.update(eqn.outputs)
    return any(a in reached for a in func.outputs)


def tangent_program(push: Callable, models: Sequence, moving: Sequence, count: int) -> Func:
    """push(dxs) -> dys as a Func of the tangents that move."""
    with building("tangents", region=True) as builder:
        dxs: list = [None] * count
        for k, x in zip(moving, models):
            t = type_of(x)
            dxs[k] = builder.input(Type(t.dtype, t.shape), "dx")
        return builder.finish(tuple([0.0 if dy is None else dy for dy in push(dxs)]))


def jvp_checkpoint(sweep: Forward, eqn: Equation) -> None:
    """Forward mode saves nothing: the program is differentiated where it stands."""
    region = eqn.regions[0]
    inner = Forward(sweep.env.__class__(sweep.env), sweep)
    for var, a in zip(region.inputs, eqn.inputs):
        inner.env[var] = sweep.env.read(a)
        dx = sweep.tangent(a)
        if dx is not None:
            inner.tangents[var] = dx
    inner.run(region)
    for v, atom in zip(eqn.outputs, region.outputs):
        sweep.env[v] = inner.env.read(atom)
        dy = inner.tangent(atom)
        if dy is not None and _moves(v):
            sweep.tangents[v] = dy


def vjp_checkpoint(sweep: Reverse, eqn: Equation) -> None:
    (_run_here if current().at_once and eqn.params["name"] == LANES_NAME else _run_again)(sweep, eqn)


def _run_here(sweep: Reverse, eqn: Equation) -> None:
    """Reverse mode of a call where it stands, whose reverse sweep comes so soon that it may save what it needs."""
    region, name = eqn.regions[0], eqn.params["name"]
    registry["checkpoint"].run_regions([], (tuple,), name=name)   # fad.explain finds the call's name
    sweep.env.update((v, sweep.env.read(a)) for v, a in zip(region.inputs, eqn.inputs))
    sweep.active.update(v for v, a in zip(region.inputs, eqn.inputs) if a in sweep.active)
    sweep.pullbacks.append(lambda: _hand_on(sweep, region.inputs, eqn.inputs))
    sweep.forward(region)
    bind_outputs(eqn, tuple(map(sweep.env.read, region.outputs)), sweep.env)
    sweep.active.update(v for v, a in zip(eqn.outputs, region.outputs) if a in sweep.active)
    sweep.pullbacks.append(lambda: _hand_on(sweep, eqn.outputs, region.outputs))


def _hand_on(sweep: Reverse, variables: Sequence, atoms: Sequence) -> None:
    """Add the cotangents of these variables to those of the atoms that they are."""
    for v, a in zip(variables, atoms):
        sweep.add(a, sweep.cotangents.pop(v, None))


def _run_again(sweep: Reverse, eqn: Equation) -> None:
    """Reverse mode: the call runs without saving, and runs again, saving, when the cotangents come."""
    region = eqn.regions[0]
    args = [sweep.env.read(a) for a in eqn.inputs]
    bind_outputs(eqn, registry["checkpoint"].run_regions(args, (closure(region, sweep.env),), name=eqn.params["name"]),
                 sweep.env)
    free = [v for v in free_vars(region) if v in sweep.active]
    inputs = {v for v, a in zip(region.inputs, eqn.inputs) if a in sweep.active}
    if not inputs and not free:
        return
    sweep.active.update(v for v in eqn.outputs if _moves(v))

    def pull() -> None:
        gs = [sweep.cotangents.pop(v, None) for v in eqn.outputs]
        if all(g is None for g in gs):
            return
        env = sweep.env.__class__(sweep.env)
        for v, x in zip(region.inputs, args):
            env[v] = registry["barrier"](x) if hasattr(x, "dtype") else x
        for v in free:
            env[v] = registry["barrier"](sweep.env.read(v))
        again = Reverse(env, inputs | set(free))
        again.forward(region)
        again.go_on_from(sweep, {v: v for v in free})
        for atom, g in zip(region.outputs, gs):
            again.add(atom, g)
        again.backward()
        again.hand_back(sweep, {v: v for v in free})
        for v, a in zip(region.inputs, eqn.inputs):
            sweep.add(a, again.cotangents.get(v))
    sweep.pullbacks.append(pull)


JVP_OF_CONTROL.update(custom=jvp_custom, checkpoint=jvp_checkpoint)
VJP_OF_CONTROL.update(custom=vjp_custom, checkpoint=vjp_checkpoint)
