"""sink_assignments: a value that a loop keeps from one of its iterations is computed again behind the loop.

    for i in range(n):                          for i in range(n):
        if x[i] > m: m = x[i]       --->            if x[i] > m: m, k, taken = x[i], i, True     (m is a constant now)
                                                if taken: m = x[k]

The last iteration that assigns decides the value, so a derivative needs that iteration only: nothing is saved of the
others, and the reverse sweep visits one. All other assignments are partially dead (J. Knoop, O. Rüthing, B. Steffen,
"Partial dead code elimination", PLDI 1994). One walk over the program.
"""
import functools
from typing import Any, NamedTuple

from ..ir.graph import Equation, Func, Literal, Var, has_effect, is_branch, is_loop
from ..ir.op import registry
from ..ir.types import BOOL, INT, Type
from ..ir.uses import DefUse, reads
from ..ir.views import BranchView, LoopView
from ..ir.walk import Environment, run_equation
from ..ops.control import COND
from ..util.array import AnyArray
from .legalisation import opened
from .rewrite import Scope, emit, rewrite

LONGEST = 40                                                 # equations that are computed again
FALSE, ZERO = Literal(False, Type(BOOL)), Literal(0, Type(INT, (), True))


def sink_assignments(func: Func) -> Func:
    """A number that iterations assign on a condition, and only compare, is a constant to derivatives within the loop.
    Behind the loop the value of the last assignment is computed again, from the integers that it depends on.

        m = for i, m: yield where(x[i] > m, x[i], m)   ->   k, taken = for i, ...; m = cond taken: x[k] else m0
    """
    return rewrite(func, lambda eqn, scope: _visit(eqn, scope) if is_loop(eqn) else None)


class _Assignment(NamedTuple):
    """A carry's conditional assignment; number: the carry's; when: the condition, or its opposite (is_opposite);
    equations: compute the value from the integers `leaves`, and from what is around the loop."""

    number: int
    choice: Equation
    when: Any
    is_opposite: bool
    value: Any
    equations: list
    leaves: list


def _visit(eqn: Equation, scope: Scope) -> Any:
    loop = LoopView(eqn)
    chains = DefUse.of(loop.body)
    found = [a for k in range(len(loop.carries)) if (a := _assignment(loop, k, chains)) is not None]
    if not found:
        return None
    init = list(loop.init)
    for a in found:
        first = init[a.number]
        if isinstance(first, Var):
            init[a.number] = scope.emit(registry["stop_gradient"], (first,), first.type, {}, eqn.where)
    new = _with_carries(loop, init, found)
    scope.add(new)
    answers, more = list(loop.results), iter(new.outputs[len(loop.results):])
    for a in found:
        answers[a.number], = _behind(a, loop, [next(more) for _ in (None, *a.leaves)], scope)
    return answers


def _behind(a: _Assignment, loop: LoopView, carried: list, scope: Scope) -> tuple:
    """The value of the last assignment, or the loop's first one where there was none; carried: what the loop's last
    iteration hands on for the assignment."""
    own = {v for e in a.equations for v in e.outputs}.union(a.leaves)
    around = list(dict.fromkeys(v for v in (*[v for e in a.equations for v in reads(e)], a.value) if v not in own))

    def chosen(taken: AnyArray, first: AnyArray, *values: AnyArray) -> tuple:
        env = Environment()
        env.update(zip(a.leaves, values))
        for v, x in zip(around, values[len(a.leaves):]):
            env.bind_input(v, x)

        def last() -> tuple:
            for e in a.equations:
                run_equation(e, env)
            return (env.read(a.value),)
        found, = COND.run_regions([taken], (lambda: (first,), last), names=("",))
        return (registry["where"](taken, found, first),)      # a choice for the masks, as it was in the loop
    inputs = (carried[0], loop.init[a.number], *carried[1:], *around)
    return opened(Equation(COND, inputs, (), {}, (), loop.eqn.where), chosen, scope)


# -- what iterations assign ----------------------------------------------------------------------------------------


def _assignment(loop: LoopView, k: int, chains: DefUse) -> "_Assignment | None":
    """The assignment to the k-th carry, where an iteration does nothing else with it than to compare."""
    carry, after = loop.carries[k], loop.next[k]
    choice = chains.definition(after)
    if carry.type.shape or carry.type.dtype.kind not in "fc" or choice is None or loop.next.count(after) != 1:
        return None
    sides, inside = _sides(choice, after)
    if sides is None or carry not in sides or sides[0] is sides[1] or carry in loop.next:
        return None
    others = [e for v in (carry, after) for e in chains.users(v) if e is not choice]
    value = sides[0] if sides[1] is carry else sides[1]
    if not all(e.op.traits.comparison or e.op.name == "stop_gradient" for e in others) or value in (carry, after):
        return None
    if not isinstance(value, Var) or value.type.dtype != carry.type.dtype or _count(choice, carry) != 1:
        return None
    needed = _needed(value, {v: e for e in (*loop.body.equations, *inside) for v in e.outputs}, loop)
    return None if needed is None else _Assignment(k, choice, choice.inputs[0], sides[0] is value, value, *needed)


def _sides(choice: Equation, result: Var) -> tuple:
    """The values of a choice where its condition is false and true, and the equations of its regions."""
    if choice.op.name == "where" and not choice.inputs[0].type.shape:
        return (choice.inputs[2], choice.inputs[1]), []
    if is_branch(choice) and choice.inputs[0].type.dtype.kind == "b":
        branch = BranchView(choice)
        return tuple(branch.yielded(result)), [e for region in branch.branches for e in region.equations]
    return None, []


def _count(choice: Equation, carry: Var) -> int:
    """The number of times that a choice reads the carry."""
    atoms = [*choice.inputs, *[a for region in choice.regions for a in region.outputs]]
    inner = [v for region in choice.regions for e in region.equations for v in reads(e)]
    return sum(a is carry for a in [*atoms, *inner])


def _needed(value: Var, makers: dict, loop: LoopView) -> "tuple | None":
    """The equations that compute a value, in order, and the integers of the iteration that they start from."""
    found: dict[Equation, None] = {}
    leaves: dict[Var, None] = {}
    outer, pending = set(loop.body.equations), [value]
    while pending:
        v = pending.pop()
        made = makers.get(v)
        is_given = v in loop.body.inputs or made is not None and made in outer and not _is_arithmetic(made)
        if is_given and _is_integer(v):
            leaves[v] = None
        elif made is not None and made not in found:
            found[made] = None
            pending += reads(made)
        elif v in loop.body.inputs:
            return None
    if len(found) > LONGEST or any(map(has_effect, found)):
        return None
    return [e for e in dict.fromkeys(makers.values()) if e in found], list(leaves)


def _is_integer(v: Var) -> bool:
    return not v.type.shape and v.type.dtype == INT


def _is_arithmetic(eqn: Equation) -> bool:
    """Whether an equation computes integers from integers."""
    return eqn.op.kind == "elementwise" and all(a.type.dtype == INT for a in eqn.inputs)


# -- the loop and what stands behind it ----------------------------------------------------------------------------


def _with_carries(loop: LoopView, init: list, assignments: list) -> Equation:
    """The loop with more carries for each assignment: whether there was one, and the integers of the last one."""
    equations: list = []
    constant: dict[Equation, list] = {}
    carries: list = []
    for a in assignments:
        constant.setdefault(a.choice, []).append(a.value)
    for e in loop.body.equations:
        equations += _to_constants(e, constant[e]) if e in constant else [e]
    for a in assignments:
        emitted = functools.partial(emit, equations, where=a.choice.where)
        when = emitted("logical_not", (a.when,), FALSE.type) if a.is_opposite else a.when
        taken, before = Var(FALSE.type), [Var(v.type) for v in a.leaves]
        carries.append((FALSE, taken, emitted("logical_or", (when, taken), FALSE.type)))
        carries += [(ZERO, v, emitted("where", (when, leaf, v), v.type)) for leaf, v in zip(a.leaves, before)]
    first, inside, after = map(tuple, zip(*carries))
    results = tuple([Var(v.type) for v in inside])
    body = loop.body.replace(inputs=loop.body.inputs + inside, equations=equations, outputs=loop.next + after)
    test = loop.test and loop.test.replace(inputs=loop.test.inputs + tuple([Var(v.type) for v in inside]))
    names = loop.eqn.params["names"]
    params = dict(loop.eqn.params, names=names and (*names, *[""] * len(inside)))
    return loop.replace(init=(*init, *first), test=test, body=body, results=loop.results + results, params=params)


def _to_constants(choice: Equation, values: list) -> list:
    """A choice between values that are constants to derivatives."""
    still = {v: Var(v.type) for v in values}
    made = [Equation(registry["stop_gradient"], (v,), (new,), {}, (), choice.where) for v, new in still.items()]
    if not choice.regions:
        return [*made, choice.replace(inputs=tuple([still.get(v, v) for v in choice.inputs]))]
    regions = [r.replace(equations=[*r.equations, *[e for e in made if e.inputs[0] in r.outputs]],
                         outputs=tuple([still.get(v, v) for v in r.outputs])) for r in choice.regions]
    return [choice.replace(regions=tuple(regions))]
