"""early: what reads an array is computed before that array is written to, so that the write can be done in place."""
from collections.abc import Iterable, Iterator
from typing import Any

from ..ir.graph import Equation, Func, Var, free_vars, is_branch, is_loop
from ..ir.uses import DefUse, reads
from ..ir.views import LoopView
from .rewrite import Scope, rewrite

_VIEWS = {"index", "reshape", "transpose", "broadcast_to"}
_WRITES = {"update", "index_add", "resize"}


def early(func: Func) -> Func:
    """Readers of an array (or of parts of it) that stand behind a write to it move in front of the write, if they do not need what it makes.

        y2 = update(y, v, k); t2 = update(t, index(y, k), k)   ->   t2 = update(t, index(y, k), k); y2 = update(y, v, k)
    """
    func = rewrite(func, _visit)
    return func.replace(equations=_ordered(func.equations))


def _visit(eqn: Equation, scope: Scope) -> Any:
    if not eqn.regions:
        return None
    return eqn.replace(regions=tuple([r.replace(equations=_ordered(r.equations)) for r in eqn.regions]))


def _ordered(equations: list) -> list:
    """The equations, each write behind what can be read before it."""
    chains = DefUse(equations)
    done: dict[Equation, None] = {}
    for eqn in equations:
        written = [] if eqn in done else _written(eqn)
        moved = {e for reader in _reading(written, chains) if reader not in done for e in _needed(reader, eqn, chains, done)}
        done.update(dict.fromkeys([*sorted(moved, key=lambda e: chains.position(e.outputs[0])), eqn]))
    return list(done)


def _written(eqn: Equation) -> set:
    """The arrays that an equation would write to in place."""
    if eqn.op.name in _WRITES:
        return {a for a in eqn.inputs[:1] if isinstance(a, Var)}
    if is_loop(eqn):
        return {a for a in LoopView(eqn).init if isinstance(a, Var) and a.type.shape}
    if is_branch(eqn):
        inside = {a for region in eqn.regions for e in region.equations for a in _written(e)}
        return {v for region in eqn.regions for v in free_vars(region) if v in inside}
    return set()


def _reading(arrays: Iterable, chains: DefUse) -> Iterator:
    """The equations that read these arrays, or parts of them; those that only make views of them are not among them."""
    seen = list(arrays)
    for array in seen:
        for eqn in chains.users(array):
            if eqn.op.name in _VIEWS and eqn.inputs[0] is array and eqn.outputs[0].type.shape:
                seen += eqn.outputs
            else:
                yield eqn


def _needed(reader: Equation, write: Equation, chains: DefUse, done: dict) -> set:
    """What is to be done for a reader, itself included; nothing if that needs the write, or something that must stay where it is."""
    found, waiting = set(), [reader]
    while waiting:
        eqn = waiting.pop()
        if eqn is write or eqn.regions or eqn.op.effect:
            return set()
        found.add(eqn)
        waiting += [e for e in map(chains.definition, reads(eqn)) if e is not None and e not in done and e not in found]
    return found
