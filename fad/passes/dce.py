"""dce: what nothing depends on goes, carries of loops and results of branches included."""
from typing import Any

from ..ir.graph import Equation, Func, Var, extents_of, has_effect


def dce(func: Func) -> Func:
    """Equations whose results nobody uses are removed; checks stay.

        a = sin(x); b = cos(x); return a   ->   a = sin(x); return a
    """
    return _swept(func, {a for a in func.outputs if isinstance(a, Var)})


def _swept(func: Func, needed: set) -> Func:
    """func without what is not needed; `needed` grows by what its equations use."""
    for a in func.outputs:
        _need(a, needed)
    kept: list[Equation] = []
    for eqn in reversed(func.equations):
        if not (has_effect(eqn) or any(v in needed for v in eqn.outputs)):
            continue
        eqn = _trimmed(eqn, needed)
        for a in eqn.inputs:
            _need(a, needed)
        needed.update(extents_of(eqn.outputs))
        kept.append(eqn)
    return Func(func.name, func.inputs, kept[::-1], func.outputs)


def _need(a: Any, needed: set) -> None:
    if isinstance(a, Var):
        needed.add(a)
        needed.update(extents_of((a,)))


def _trimmed(eqn: Equation, needed: set) -> Equation:
    """An equation with regions, without the carries or results that nobody needs, its regions swept."""
    if not eqn.regions:
        return eqn
    trim = {"for": _trim_for, "while": _trim_while, "cond": _trim_cond}.get(eqn.op.name)
    if trim is not None:
        eqn = trim(eqn, needed)
    regions = []
    for region in eqn.regions:
        inside: set = set()
        regions.append(_swept(region, inside))
        needed.update(inside)
        needed.update(extents_of(region.inputs))
    return Equation(eqn.op, eqn.inputs, eqn.outputs, eqn.params, tuple(regions), eqn.where)


def _used_carries(eqn: Equation, needed: set, offset: int, regions: tuple) -> list:
    """Which carries are needed: those used after the loop, by its test, or by a carry that is needed.

    regions: the bodies whose outputs are the carries; an input of a region stands `offset` places before its carry's.
    """
    body = regions[-1]
    wanted = {k for k, v in enumerate(eqn.outputs) if v in needed}
    inputs = body.inputs[offset:]
    if len(regions) > 1:
        test_needs: set = set()
        _swept(regions[0], test_needs)
        wanted |= {k for k, v in enumerate(regions[0].inputs) if v in test_needs}
    while len(wanted) < len(eqn.outputs):
        inside: set = set()
        _swept(Func(body.name, body.inputs, body.equations, tuple(body.outputs[k] for k in sorted(wanted))), inside)
        more = wanted | {k for k, v in enumerate(inputs) if v in inside} | _extents_of_carries(eqn, wanted)
        if more == wanted:
            break
        wanted = more
    return sorted(wanted)


def _extents_of_carries(eqn: Equation, wanted: set) -> set:
    """Carries that are extents of wanted carries."""
    position = {v: k for k, v in enumerate(eqn.outputs)}
    return {position[n] for k in wanted for n in eqn.outputs[k].type.shape if n in position}


def _params(eqn: Equation, kept: list) -> dict:
    """names and extents (see ops/control.py) of the carries that stay."""
    params = dict(eqn.params)
    if params.get("names"):
        params["names"] = tuple(params["names"][k] for k in kept)
    if params.get("extents"):
        place = {k: j for j, k in enumerate(kept)}
        params["extents"] = tuple((place[k], axis, place[j]) for k, axis, j in params["extents"] if k in place and j in place)
    return params


def _trim_for(eqn: Equation, needed: set) -> Equation:
    (body,) = eqn.regions
    kept = _used_carries(eqn, needed, 1, (body,))
    if len(kept) == len(eqn.outputs):
        return eqn
    region = Func(body.name, body.inputs[:1] + tuple(body.inputs[1 + k] for k in kept), body.equations, tuple(body.outputs[k] for k in kept))
    inputs = eqn.inputs[:3] + tuple(eqn.inputs[3 + k] for k in kept)
    return Equation(eqn.op, inputs, tuple(eqn.outputs[k] for k in kept), _params(eqn, kept), (region,), eqn.where)


def _trim_while(eqn: Equation, needed: set) -> Equation:
    test, body = eqn.regions
    kept = _used_carries(eqn, needed, 0, (test, body))
    if len(kept) == len(eqn.outputs):
        return eqn
    regions = (Func(test.name, tuple(test.inputs[k] for k in kept), test.equations, test.outputs),
               Func(body.name, tuple(body.inputs[k] for k in kept), body.equations, tuple(body.outputs[k] for k in kept)))
    return Equation(eqn.op, tuple(eqn.inputs[k] for k in kept), tuple(eqn.outputs[k] for k in kept), _params(eqn, kept), regions, eqn.where)


def _trim_cond(eqn: Equation, needed: set) -> Equation:
    wanted = {k for k, v in enumerate(eqn.outputs) if v in needed}
    kept = sorted(wanted | _extents_of_carries(eqn, wanted))
    if len(kept) == len(eqn.outputs):
        return eqn
    regions = tuple([Func(r.name, r.inputs, r.equations, tuple(r.outputs[k] for k in kept)) for r in eqn.regions])
    return Equation(eqn.op, eqn.inputs, tuple(eqn.outputs[k] for k in kept), _params(eqn, kept), regions, eqn.where)

