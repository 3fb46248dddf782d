"""hoist_reads: scalar promotion of reads. A loop reads an element that stays in place once, in front of the loop.

Bounds of indices must show that the loop does not write to the element (dependence_test.py).
"""

from ..ir.graph import Equation, Func, Literal, is_counted
from ..ir.types import Type
from ..ir.views import LoopView
from .dependence_test import Places
from .loop_guards import if_it_runs, runs
from .reduction_recognition import Sums
from .rewrite import Scope, rewrite


def hoist_reads(func: Func) -> Func:
    """An element that stays in place is read in front of the loop, if the loop has an iteration (else there may be no
    such element).

        for i in range(n): s = s + x[k] * y[i]   ->   a = x[k] if 0 < n else 0.0; for i in range(n): s = s + a * y[i]

    So are elements of an array that the loop writes to at other places: `for j in range(k): x[j] -= x[k] * y[j]`.
    """
    return _hoisted(func, True)


def hoist_reads_of_carries(func: Func) -> Func:
    """The same for arrays that the loop writes to, before derivatives are taken: what is read once is saved once.

        for i in range(k): x[i] -= x[k] * y[i]   ->   a = x[k] if 0 < k else 0.0; for i in range(k): x[i] -= a * y[i]
    """
    return _hoisted(func, False)


def _hoisted(func: Func, also_from_outside: bool) -> Func:
    """The Func with what loops read at one place in front of them."""
    places = Places(func)
    return rewrite(func, lambda eqn, scope: _visit(eqn, scope, places, also_from_outside))


def _visit(eqn: Equation, scope: Scope, places: Places, also_from_outside: bool) -> "Equation | None":
    reads = _invariant(eqn, places, also_from_outside) if is_counted(eqn) else {}
    if not reads:
        return None
    for before in _before(eqn, [*reads.values()], places):
        scope.add(before)
    loop = LoopView(eqn)
    return loop.replace(body=loop.body.replace(equations=[e for e in loop.body.equations if e not in reads]))


def _invariant(loop: Equation, places: Places, also_from_outside: bool) -> dict:
    """{reader of a scalar in the loop's body: the same read in front of the loop}, at places from outside that the loop
    does not check first.
    """
    view = LoopView(loop)
    region, sums = view.body, Sums(view.body)
    reads = dict.fromkeys([e for e in region.equations if e.reads_part and not e.outputs[0].type.shape
                           and sums.inside.isdisjoint(e.inputs[1:])])
    checked = any(e.op.name == "check_index" and e.inputs[0] not in sums.inside for e in region.equations)
    known = view.step is not None and runs(loop) is not False and not checked
    found = {e: e for e in reads if also_from_outside and e.inputs[0] not in sums.inside}
    for k, init in enumerate(view.init) if any(e.inputs[0] in sums.inside for e in reads) else ():
        found.update({e: e.replace(inputs=(init, *e.inputs[1:])) for e in _unwritten(sums, k, reads, places)})
    return {e: before for e, before in found.items() if known or _is_element(e)}


def _unwritten(sums: Sums, k: int, reads: dict, places: Places) -> list:
    """The reads that find the k-th carry as it was before the loop."""
    steps = sums.steps(k) or ()
    return places.keep_apart(sums.region, [e for e in steps if e in reads], [e for e in steps if not e.reads_part])


def _is_element(eqn: Equation) -> bool:
    """Whether the array is known to have the element even if the loop has no iteration."""
    extents, places = eqn.inputs[0].type.shape, eqn.inputs[1:]
    return all(isinstance(n, int) and isinstance(i, Literal) and 0 <= i.value < n for n, i in zip(extents, places))


def _before(loop: Equation, reads: list, places: Places) -> list:
    """The equations in front of the loop."""
    if LoopView(loop).step is not None and places.ranges.is_less(*LoopView(loop).ends):
        return reads
    safe, others = [e for e in reads if _is_element(e)], [e for e in reads if not _is_element(e)]
    numbers = tuple([Literal(e.outputs[0].type.dtype.type(0), Type(e.outputs[0].type.dtype)) for e in others])
    return safe + (if_it_runs(loop, others, tuple([e.outputs[0] for e in others]), numbers) if others else [])
