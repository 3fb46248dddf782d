"""known_conditions: correlated value propagation (Muchnick 1997, section 12.2). A branch knows its condition, and a
choice between True and False is a condition.
"""
from collections.abc import Iterator
from typing import Any

from ..ir.graph import Atom, Equation, Func, Literal, Var, free_vars, is_branch
from ..ir.op import registry
from ..ir.views import BranchView
from .rewrite import Scope, given, rewrite, stands_for


def known_conditions(func: Func) -> Func:
    """In a branch its condition is the number of the branch. A result that is True on one side and False on the other
    is the condition, or its negation.

        r = cond c: True else False; s = cond c: f(c) else g(r)   ->   s = cond c: f(True) else g(False)
    """
    return rewrite(func, _visit)


def _visit(eqn: Equation, scope: Scope) -> Any:
    if not is_branch(eqn) and not _reads_truths(eqn):
        return None
    eqn = eqn.replace(inputs=tuple([scope.look_up(("is", a)) or a for a in eqn.inputs]))
    if eqn.op.name == "logical_not":
        known = scope.look_up(("not", eqn.inputs[0]))
        scope.known.setdefault(("not", eqn.inputs[0]), eqn.outputs[0])
        return (known,) if known is not None and stands_for(known, eqn.outputs[0]) else eqn
    if not is_branch(eqn) or eqn.inputs[0].type.dtype.kind != "b":
        return eqn
    branch = BranchView(eqn)
    for out in branch.results:
        _note_truth(out, branch, scope)
    regions = []
    for number, region in enumerate(branch.branches):
        free = free_vars(region)
        known = {v: x for v, x in _implied(branch.selector, bool(number), scope) if v in free}
        regions.append(given(region, known, scope) if known else region)
    return eqn.replace(regions=tuple(regions))


def _reads_truths(eqn: Equation) -> bool:
    """Whether a truth of Python's is as good here as one of NumPy's: nothing is computed with it as with a number."""
    return eqn.op.kind in ("elementwise", "check") and all(v.type.dtype.kind == "b" for v in eqn.outputs)


def _note_truth(out: Var, branch: BranchView, scope: Scope) -> None:
    """Note a result that says which side was taken: it is the condition, or its negation."""
    values = [a.value if isinstance(a, Literal) else None for a in branch.yielded(out)]
    if values[0] is False and values[1] is True:
        scope.known[("is", out)] = branch.selector
    elif values[0] is True and values[1] is False:
        known = scope.look_up(("not", branch.selector))
        if known is None:
            known = scope.emit(registry["logical_not"], (branch.selector,), out.type, {}, branch.eqn.where)
            scope.known[("not", branch.selector)] = known
        scope.known[("is", out)] = known


def _implied(condition: Atom, value: bool, scope: Scope) -> Iterator[tuple]:
    """The variables whose truth follows from that of a condition, each with it."""
    if not isinstance(condition, Var):
        return
    yield condition, Literal(value, condition.type)
    made = scope.producer(condition)
    negated = scope.look_up(("not", condition))
    if negated is not None:
        yield negated, Literal(not value, negated.type)
    if made is None:
        return
    if made.op.name == "logical_not":
        yield from _implied(made.inputs[0], not value, scope)
    if made.op.name == ("logical_and" if value else "logical_or"):
        for part in made.inputs:
            yield from _implied(part, value, scope)
    if is_branch(made) and made.inputs[0].type.dtype.kind == "b":        # a and b:  cond a: b else False
        other = [isinstance(a, Literal) and bool(a.value) is not value for a in BranchView(made).yielded(condition)]
        if other.count(True) == 1:
            yield from _implied(made.inputs[0], not other.index(True), scope)
