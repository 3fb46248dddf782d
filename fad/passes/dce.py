"""dce: dead code elimination, carries of loops and results of branches included.

Mark and sweep over one graph of the program and its regions: linear in the program.
"""
from collections.abc import Iterator
from typing import Any

from ..ir.graph import Equation, Func, Var, extents_of


def dce(func: Func) -> Func:
    """Equations without a use are removed. Checks stay, and so do the loops and branches around them.

        a = sin(x); b = cos(x); return a   ->   a = sin(x); return a
    """
    return _swept(func, _marked(func))


# -- mark: variables and equations of the program and its regions are one graph; each has edges to its needs --------------


def _marked(func: Func) -> set:
    """The variables and equations that the outputs and the checks need."""
    needs: dict[Any, list] = {}
    waiting: list = list(func.outputs)
    for node, needed in _edges(func):
        needs.setdefault(node, []).extend(needed)
        if isinstance(node, Equation) and node.op.effect:
            waiting.append(node)
    marked: set = set()
    while waiting:
        node = waiting.pop()
        if node in marked:
            continue
        marked.add(node)
        waiting += needs.get(node, ())
        if isinstance(node, Var):
            waiting += extents_of((node,))
    return marked


def _edges(func: Func) -> Iterator[tuple]:
    """(node, what it needs) of a Func and its regions."""
    for eqn in func.equations:
        yield from _EDGES.get(eqn.op.name, _edges_of_whole)(eqn)
        for v in eqn.outputs:
            yield v, (eqn,)
        for region in eqn.regions:
            for inner in region.equations:
                yield inner, (eqn,)
            yield from _edges(region)


def _edges_of_whole(eqn: Equation) -> Iterator[tuple]:
    yield eqn, (*eqn.inputs, *eqn.outputs, *[a for region in eqn.regions for a in (*region.inputs, *region.outputs)])


def _edges_of_loop(eqn: Equation) -> Iterator[tuple]:
    """A carry that is needed in the loop or behind it is needed everywhere: its first value and its next one.
    """
    *tests, body = eqn.regions
    count = len(eqn.outputs)
    yield eqn, (*eqn.inputs[:len(eqn.inputs) - count], *[a for test in tests for a in test.outputs])
    inside = [region.inputs[len(region.inputs) - count:] for region in eqn.regions]
    for out, start, turn, *carries in zip(eqn.outputs, eqn.inputs[len(eqn.inputs) - count:], body.outputs, *inside):
        yield out, (start, turn, *carries)
        for v in carries:
            yield v, (out,)


def _edges_of_branches(eqn: Equation) -> Iterator[tuple]:
    yield eqn, eqn.inputs
    for out, *results in zip(eqn.outputs, *[region.outputs for region in eqn.regions]):
        yield out, results


_EDGES = {"for": _edges_of_loop, "while": _edges_of_loop, "cond": _edges_of_branches}


# -- sweep --------------------------------------------------------------------------------------------------------------------


def _swept(func: Func, marked: set) -> Func:
    return Func(func.name, func.inputs, [_trimmed(eqn, marked) for eqn in func.equations if eqn in marked], func.outputs)


def _trimmed(eqn: Equation, marked: set) -> Equation:
    """An equation with regions, without its unused carries or results, its regions swept."""
    if not eqn.regions:
        return eqn
    kept = [k for k, v in enumerate(eqn.outputs) if v in marked]
    if len(kept) < len(eqn.outputs):
        eqn = _with_results(eqn, kept)
    return Equation(eqn.op, eqn.inputs, eqn.outputs, eqn.params, tuple([_swept(r, marked) for r in eqn.regions]), eqn.where)


def _with_results(eqn: Equation, kept: list) -> Equation:
    """A loop with these of its carries, a cond with these of its results."""
    def chosen(atoms: tuple) -> tuple:
        lead = len(atoms) - len(eqn.outputs)
        return (*atoms[:lead], *[atoms[lead + k] for k in kept])

    carried = chosen if eqn.op.name != "cond" else tuple     # a branch has no inputs
    tests = len(eqn.regions) - 1 if eqn.op.name == "while" else 0
    regions = [Func(r.name, carried(r.inputs), r.equations, r.outputs if k < tests else chosen(r.outputs)) for k, r in enumerate(eqn.regions)]
    return Equation(eqn.op, carried(eqn.inputs), chosen(eqn.outputs), _params(eqn, kept), tuple(regions), eqn.where)


def _params(eqn: Equation, kept: list) -> dict:
    """names and extents (see ops/control.py) of the carries that stay."""
    params = dict(eqn.params)
    if params.get("names"):
        params["names"] = tuple([params["names"][k] for k in kept])
    if params.get("extents"):
        place = {k: j for j, k in enumerate(kept)}
        params["extents"] = tuple([(place[k], axis, place[j]) for k, axis, j in params["extents"] if k in place and j in place])
    return params
