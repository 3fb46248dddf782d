"""promote_sums: scalar promotion of sums. A loop adds to a number, and the number goes to the array once, behind it.

The element must not depend on the iteration, and bounds of indices must show that the loop touches it nowhere else
(dependence_test.py). One walk; the proofs compare at most MOST_PAIRS pairs of accesses a loop.
"""
from typing import Any

from ..ir.absent import absent
from ..ir.graph import Atom, Equation, Func, Literal, Var, is_counted
from ..ir.op import registry
from ..ir.types import Type
from ..ir.views import LoopView
from .dependence_test import Places
from .loop_guards import if_it_runs, runs
from .reduction_recognition import Sums, is_addition
from .rewrite import Scope, rewrite


def promote_sums(func: Func) -> Func:
    """A loop's additions to an element that stays in place go to a number, and the number goes to the array behind the
    loop.

    The loop must read and write other elements only.

        for i in range(n): g[k] += x[i]   ->   s = 0.0; for i in range(n): s = s + x[i]; if 0 < n: g[k] += s
    """
    places = Places(func)
    return rewrite(func, lambda eqn, scope: _visit(eqn, scope, places))


def _visit(eqn: Equation, scope: Scope, places: Places) -> "Equation | None":
    if not is_counted(eqn) or LoopView(eqn).step is None or runs(eqn) is False:
        return None
    sums = Sums(LoopView(eqn).body)
    if any(e.op.name == "check_index" and e.inputs[0] not in sums.inside for e in sums.region.equations):
        return None                                          # of a place that the body checks nothing is known outside
    chosen = [(k, adds) for k in range(len(eqn.outputs)) if (adds := _to_move(sums, k, places))]
    return _divided(eqn, chosen, scope) if chosen else None


def _to_move(sums: Sums, k: int, places: Places) -> list:
    """The additions of numbers to an element of the k-th carry that is the same in all iterations, where all else but
    additions happens to other elements.
    """
    steps = sums.steps(k) or ()
    found = [e for e in steps if e.adds_part and _stays(e, sums.inside)]
    return places.keep_apart(sums.region, found, [e for e in steps if not is_addition(e)])


def _stays(add: Equation, inside: set) -> bool:
    """Whether this adds a number, in the array's dtype, to an element that does not depend on the iteration."""
    array, number, *place = add.inputs
    return (number.type.dtype == array.type.dtype and all(entry == "i" for entry in add.params["spec"])
            and inside.isdisjoint(place))


def _divided(loop: Equation, chosen: list, scope: Scope) -> Equation:
    """The loop with one sum for each element; the scope gets it and all equations behind it but the last."""
    groups = {k: _by_place(found) for k, found in chosen}
    kept = {k: Var(loop.outputs[k].type, loop.outputs[k].name) for k, _ in chosen}
    all_groups = [adds for of_array in groups.values() for adds in of_array]
    totals = {adds[0]: Var(Type(adds[0].inputs[0].type.dtype), "total") for adds in all_groups}
    outputs = (*[kept.get(k, v) for k, v in enumerate(loop.outputs)], *totals.values())
    zeros = [Literal(absent(v.type.dtype), v.type) for v in totals.values()]
    names = loop.params["names"] and (*loop.params["names"], *[""] * len(totals))
    view = LoopView(loop)
    scope.add(view.replace(init=(*view.init, *zeros), body=_with_sums(view.body, all_groups), results=outputs,
                           params=loop.params | {"names": names}))
    *before, last = _behind(loop, groups, kept, totals)
    for eqn in before:
        scope.add(eqn)
    return last


def _by_place(adds: list) -> list:
    """The additions to one array by the elements that they add to."""
    found: dict[tuple, list] = {}
    for e in adds:
        found.setdefault(tuple([(a.value, a.type.dtype) if isinstance(a, Literal) else a for a in e.inputs[2:]]),
                         []).append(e)
    return list(found.values())


def _with_sums(region: Func, groups: list) -> Func:
    """The body, which adds to numbers in place of the arrays: an iteration's additions to one element stay where they
    were, and the sum goes to the number at the end.
    """
    states = {e.outputs[0]: e.inputs[0] for adds in groups for e in adds}
    group_of = {e: k for k, adds in enumerate(groups) for e in adds}

    def now(a: Atom) -> Atom:
        while a in states:
            a = states[a]
        return a
    equations: list[Equation] = []
    parts: dict[int, Any] = {}
    for e in region.equations:
        k = group_of.get(e)
        if k is None:
            equations.append(e.replace(inputs=tuple(map(now, e.inputs))))
        elif k not in parts:
            parts[k] = e.inputs[1]
        else:
            equations.append(_sum(parts[k], e.inputs[1], e))
            parts[k] = equations[-1].outputs[0]
    before = [Var(Type(adds[0].inputs[0].type.dtype), "total") for adds in groups]
    sums = [_sum(s, parts[k], adds[-1]) for k, (s, adds) in enumerate(zip(before, groups))]
    return region.replace(inputs=(*region.inputs, *before), equations=equations + sums,
                          outputs=(*map(now, region.outputs), *[e.outputs[0] for e in sums]))


def _sum(a: Atom, b: Var, add: Equation) -> Equation:
    return Equation(registry["add"], (a, b), (Var(Type(add.inputs[0].type.dtype)),), {}, (), add.where)


def _behind(loop: Equation, groups: dict, kept: dict, totals: dict) -> list:
    """The equations that add the sums to the arrays, which get their names by them."""
    equations = []
    for k, found in groups.items():
        states = [kept[k], *[Var(kept[k].type) for _ in found[1:]], loop.outputs[k]]
        for (e, *_), old, new in zip(found, states, states[1:]):
            equations.append(e.replace(inputs=(old, totals[e], *e.inputs[2:]), outputs=(new,)))
    return if_it_runs(loop, equations, tuple([loop.outputs[k] for k in groups]), tuple(kept.values()))
