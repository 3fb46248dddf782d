"""join_equal_fills: two arrays that a loop fills with the same values at the same places are one array."""
from ..ir.graph import Atom, Equation, Func, Literal, Var, is_counted
from ..ir.uses import DefUse, defined_in
from ..ir.views import LoopView
from .rewrite import Scope, rewrite, stands_for


def join_equal_fills(func: Func) -> Func:
    """If a loop fills an empty array with what it writes to another one, the two are one array. If it copies the same
    places of a third array, the empty one is that third array. Such copies come from reverse mode: a loop saves what it
    reads and what it writes, and so do the loops around it.

        t, u = for i: yield update(t, x, i), update(u, x, i)   ->   t = for i: yield update(t, x, i); u = t
        u = for i: yield update(u, index(t, i), i)             ->   u = t

    The elements that the loop does not write are undefined in an empty array, so they may be anything.
    """
    return rewrite(func, _visit)


def _visit(eqn: Equation, scope: Scope) -> None:
    loop = LoopView(eqn) if is_counted(eqn) and not eqn.params["extents"] else None
    if loop is None:
        return
    empty = [k for k, a in enumerate(loop.init) if _is_empty(a, scope)]
    if not empty:
        return
    chains, inside = DefUse.of(loop.body), defined_in(loop.body)
    fills = [_only_write(loop, k, chains) for k in range(len(loop.results))]
    for k in empty:
        fill, carry = fills[k], loop.carries[k]
        if fill is None or chains.use_count(carry) != 1 or chains.use_count(loop.next[k]) != 1:
            continue                                         # somebody reads what the iterations before have left
        same = [j for j, other in enumerate(fills) if j != k and other is not None and _is_same(fill, other, chains)
                and not (j in empty and scope.resolve(loop.results[j]) is loop.results[k])]
        made = chains.definition(fill.inputs[1])
        if same:
            scope.replaced[loop.results[k]] = scope.resolve(loop.results[same[0]])
        elif made is not None and made.reads_part and made.inputs[0] not in inside and _is_part(made, fill):
            scope.replaced[loop.results[k]] = made.inputs[0]


def _is_empty(a: Atom, scope: Scope) -> bool:
    made = scope.producer(a) if isinstance(a, Var) else None
    return made is not None and made.op.name == "unwritten"


def _only_write(loop: LoopView, k: int, chains: DefUse) -> "Equation | None":
    """The equation that replaces a part of a carry in each iteration, if nothing else changes it."""
    made = chains.definition(loop.next[k])
    if made is None or not made.replaces_part or made.inputs[0] is not loop.carries[k]:
        return None
    return made if "a" not in made.params["spec"] else None


def _is_same(one: Equation, other: Equation, chains: DefUse) -> bool:
    """Whether two arrays get the same values at the same places."""
    return (stands_for(one.outputs[0], other.outputs[0]) and _are_one_place(one, other, 2)
            and (_are_equal(one.inputs[1], other.inputs[1]) or _is_read_back(one, other, chains)
                 or _is_read_back(other, one, chains)))


def _is_read_back(one: Equation, other: Equation, chains: DefUse) -> bool:
    """Whether the first array gets what has just been written to the second one, at the place where it was written."""
    made = chains.definition(one.inputs[1])
    return (made is not None and made.reads_part and made.inputs[0] is other.outputs[0]
            and made.outputs[0].type.dtype == other.outputs[0].type.dtype and _are_one_place(made, other, 1))


def _is_part(read: Equation, fill: Equation) -> bool:
    """Whether an element is read from the same place of its array as it is written to in the other one."""
    return stands_for(read.inputs[0], fill.outputs[0]) and _are_one_place(read, fill, 1)


def _are_one_place(one: Equation, write: Equation, first: int) -> bool:
    """Whether an equation, by its operands from a number on, selects the places that another one writes to."""
    mine, theirs = one.inputs[first:], write.inputs[2:]
    return (len(mine) == len(theirs) and all(map(_are_equal, mine, theirs))
            and all(one.params[name] == write.params[name] for name in ("spec", "at")))


def _are_equal(a: Atom, b: Atom) -> bool:
    if isinstance(a, Literal) and isinstance(b, Literal):
        return (repr(a.value), a.type.dtype) == (repr(b.value), b.type.dtype)
    return a is b
