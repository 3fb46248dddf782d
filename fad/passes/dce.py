"""dce: dead code elimination, carries of loops and results of branches included.

Mark and sweep over one graph of the program and its regions: linear in the program.
"""
from collections.abc import Iterator

from ..ir.graph import Equation, Func, Var, extents_of
from ..ir.views import BranchView, LoopView, with_results
from .rewrite import in_regions


def dce(func: Func) -> Func:
    """Equations without a use are removed. Checks stay, and so do the loops and branches around them.

        a = sin(x); b = cos(x); return a   ->   a = sin(x); return a
    """
    return _swept(func, _marked(func))


# -- mark: variables and equations of the program and its regions are one graph; each has edges to its needs


def _marked(func: Func) -> set:
    """The variables and equations that the outputs and the checks need."""
    needs: dict[object, list] = {}
    waiting: list = list(func.outputs)
    _note_needs(func, (), needs, waiting)
    marked: set = set()
    while waiting:
        node = waiting.pop()
        if node not in marked:
            marked.add(node)
            waiting += needs.get(node, ())
            if type(node) is Var and node.type.shape:
                waiting += extents_of((node,))
    return marked


def _note_needs(func: Func, around: tuple, needs: dict[object, list], waiting: list) -> None:
    """Note what each node of a Func and its regions needs, an equation also the one `around` it; and the checks."""
    for eqn in func.equations:
        own = needs[eqn] = [*around]
        if eqn.op.effect:
            waiting.append(eqn)
        for v in eqn.outputs:
            needs[v] = [eqn]
        if not eqn.regions:
            own += eqn.inputs
            own += eqn.outputs
            continue
        for node, needed in _EDGES.get(eqn.op.traits.control, _edges_of_whole)(eqn):
            needs.setdefault(node, []).extend(needed)
        for region in eqn.regions:
            _note_needs(region, (eqn,), needs, waiting)


def _edges_of_whole(eqn: Equation) -> Iterator[tuple]:
    yield eqn, (*eqn.inputs, *eqn.outputs, *[a for region in eqn.regions for a in (*region.inputs, *region.outputs)])


def _edges_of_loop(eqn: Equation) -> Iterator[tuple]:
    """A carry that is needed in the loop or behind it is needed everywhere: its first value and its next one.
    """
    loop = LoopView(eqn)
    yield eqn, (*loop.bounds, *(loop.test.outputs if loop.test is not None else ()))
    for out, start, iteration, *carries in zip(loop.results, loop.init, loop.next, *map(loop.carries_of, eqn.regions)):
        yield out, (start, iteration, *carries)
        for v in carries:
            yield v, (out,)


def _edges_of_branches(eqn: Equation) -> Iterator[tuple]:
    branch = BranchView(eqn)
    yield eqn, (branch.selector,)
    for out in branch.results:
        yield out, branch.yielded(out)


_EDGES = {"for": _edges_of_loop, "while": _edges_of_loop, "cond": _edges_of_branches}


# -- sweep -----------------------------------------------------------------------------------------


def _swept(func: Func, marked: set) -> Func:
    return func.replace(equations=[_trimmed(eqn, marked) for eqn in func.equations if eqn in marked])


def _trimmed(eqn: Equation, marked: set) -> Equation:
    """An equation with regions, without its unused carries or results, its regions swept."""
    if not eqn.regions:
        return eqn
    kept = [k for k, v in enumerate(eqn.outputs) if v in marked]
    if len(kept) < len(eqn.outputs):
        eqn = with_results(eqn, kept)
    return in_regions(eqn, lambda region: _swept(region, marked))
