"""Lowering of loops and branches: each carry lives in one variable; arrays that only the loop needs change in place."""
from collections.abc import Iterator

from ...ir.graph import Atom, Equation, Var, free_vars, is_branch
from ...ir.views import BranchView, LoopView
from ..text.loop_inversion import inverted
from .indexmap import at
from .loop_ir import Step
from .lowering import Body, Lowering, Regions
from .views import Views


def lower_loop(lowering: Lowering, eqn: Equation) -> list:
    """for and while: the test has carries of its own names. A `while` that is a `for` has bounds: loop_inversion.py."""
    loop, storage = LoopView(eqn), lowering.storage
    found = inverted(loop)
    bounds = loop.bounds if found is None else (found.start, found.stop)
    regions = eqn.regions if found is None else (found.ends, loop.body)
    init, numbers = loop.init, tuple([lowering.views.locate(a) for a in bounds])
    if loop.index is not None:
        lowering.views.forms[loop.index] = at(loop.index)
    read = {root for region in eqn.regions for v in free_vars(region) for root in _read_through(lowering, v)}
    # they may be the arrays' extents
    numbers_first = sorted(zip(init, eqn.outputs), key=lambda pair: bool(pair[1].type.shape))
    before = [step for a, out in numbers_first for step in _start(lowering, eqn, a, out, init, read)]
    bodies = []
    for func in regions:
        carries = loop.carries_of(func)
        for carry, out in zip(carries, eqn.outputs):
            storage.share(carry, out)
        roots = tuple([storage.root(v) for v in eqn.outputs if v.type.shape])
        bodies.append(Body(func, lowering.block(func, roots, carries if func is loop.body else ())))
    for result, carry, out in zip(loop.next, loop.carries, eqn.outputs):
        _same_register(lowering, bodies[-1], result, carry, out)
    taken = [a for a, out in zip(init, eqn.outputs) if isinstance(a, Var) and storage.root(a) is storage.root(out)]
    return [
        *before,
        Step("control", eqn, outs=eqn.outputs, args=numbers, arrays=(*eqn.outputs, *taken), body=Regions(*bodies)),
    ]


def _read_through(lowering: Lowering, v: Var) -> Iterator[Var]:
    """The roots of the arrays that reading v reads: its own, or those it is a view of."""
    if v in lowering.views.read:
        for base in lowering.views.bases[v]:
            yield from _read_through(lowering, base)
    else:
        yield from lowering.storage.arrays_of(v)


def _start(lowering: Lowering, eqn: Equation, a: Atom, out: Var, init: tuple, read: set) -> list:
    """The steps that give a carry its first value; none where its array, which no iteration reads (`read`), is taken
    over as it is.
    """
    kept = list(init).count(a) > 1 or (isinstance(a, Var) and not read.isdisjoint(lowering.storage.arrays_of(a)))
    if out.type.shape and not kept and lowering.storage.take_over(out, a, lowering.views):
        return []
    lowering.storage.own(out)
    step = lowering.copy_into(a, out)
    lowering.note_copy(eqn, out, step)
    return [step]


def _same_register(lowering: Lowering, body: Body, result: Atom, carry: "Var | None", out: Var) -> None:
    """Let a number that the region computes be called what it is called around it, if the old one is not read
    afterwards.
    """
    if out.type.shape or not isinstance(result, Var) or list(body.func.outputs).count(result) > 1:
        return
    places = [k for k, s in enumerate(body.steps) if result in s.outs]
    if not places or body.steps[places[0]].kind not in ("map", "reduce", "control") or result in lowering.storage.roots:
        return
    if carry is not None and (
        carry in body.func.outputs or _read_once_made(body, places[0], result, carry, lowering.views)
    ):
        return
    lowering.storage.share(result, out)


def _read_once_made(body: Body, place: int, result: Var, carry: Var, views: Views) -> bool:
    """Whether the carry is read after the step at this place has made the result; in a branch of that step, too."""
    step = body.steps[place]
    if body.is_read_after(place, carry, views):
        return True
    if step.eqn is None or not is_branch(step.eqn):
        return False
    k = step.outs.index(result)
    return any(_read_in_branch(branch, k, carry, views) for branch in step.body.bodies)


def _read_in_branch(branch: Body, k: int, carry: Var, views: Views) -> bool:
    result, others = branch.func.outputs[k], branch.func.outputs[:k] + branch.func.outputs[k + 1:]
    place = next((i for i, s in enumerate(branch.steps) if result in s.outs), None)
    return place is not None and (carry in others or _read_once_made(branch, place, result, carry, views))


def lower_branch(lowering: Lowering, eqn: Equation) -> list:
    """cond: arrays that are free once it is over may be changed in place by its branches."""
    storage = lowering.storage
    around = dict.fromkeys(
        v for region in eqn.regions for v in free_vars(region) if v.type.shape and v not in lowering.views.read
    )
    free = tuple(dict.fromkeys(storage.root(v) for v in around if storage.is_free(v)))
    bodies = [Body(region, lowering.block(region, free)) for region in eqn.regions]
    taken: set = set()
    for k, out in enumerate(eqn.outputs):
        roots = {storage.root(b.func.outputs[k]) if isinstance(b.func.outputs[k], Var) else None for b in bodies}
        root = roots.pop() if len(roots) == 1 else None
        if root in free and root not in taken and out.type.shape:
            taken.add(root)
            storage.share(out, root)
        else:
            storage.own(out)
            for body in bodies:
                _same_register(lowering, body, body.func.outputs[k], None, out)
    selector = lowering.views.locate(BranchView(eqn).selector)
    return [Step("control", eqn, outs=eqn.outputs, args=(selector,), body=Regions(*bodies))]
