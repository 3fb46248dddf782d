"""early: what reads an array is computed before that array is written to, so that the write can be done in place."""
from typing import Any

from ..ir.graph import Equation, Func, Var, free_vars
from .rewrite import Scope, rewrite

_VIEWS = {"index", "reshape", "transpose", "broadcast_to"}
_WRITES = {"update", "index_add", "resize"}


def early(func: Func) -> Func:
    """Readers of an array (or of parts of it) that stand behind a write to it move in front of the write, if they do not need what it makes.

        y2 = update(y, v, k); t2 = update(t, index(y, k), k)   ->   t2 = update(t, index(y, k), k); y2 = update(y, v, k)
    """
    func = rewrite(func, _visit)
    return Func(func.name, func.inputs, _ordered(func.equations), func.outputs)


def _visit(eqn: Equation, scope: Scope) -> Any:
    if not eqn.regions:
        return None
    regions = tuple([Func(r.name, r.inputs, _ordered(r.equations), r.outputs) for r in eqn.regions])
    return Equation(eqn.op, eqn.inputs, eqn.outputs, eqn.params, regions, eqn.where)


def _ordered(equations: list) -> list:
    found = list(equations)
    k = 0
    while k < len(found):
        written = _written(found[k])
        moved = _readers(found, k, written) if written else []
        for place, j in enumerate(moved):
            found.insert(k + place, found.pop(j))
        k += len(moved) + 1
    return found


def _written(eqn: Equation) -> set:
    """The arrays that an equation would write to in place."""
    if eqn.op.name in _WRITES:
        return {a for a in eqn.inputs[:1] if isinstance(a, Var)}
    if eqn.op.name in ("for", "while"):
        return {a for a in eqn.inputs[len(eqn.inputs) - len(eqn.outputs):] if isinstance(a, Var) and a.type.shape}
    if eqn.op.name == "cond":
        inside = {a for region in eqn.regions for e in region.equations for a in _written(e)}
        return {v for region in eqn.regions for v in free_vars(region) if v in inside}
    return set()


def _readers(equations: list, k: int, written: set) -> list:
    """Positions behind k, in order, of the equations that read what k writes, with all they need; none that needs what k makes."""
    seen, made = set(written), {v: j for j, e in enumerate(equations) for v in e.outputs}
    chosen: set[int] = set()
    for j, eqn in enumerate(equations):
        used = [a for a in eqn.inputs if isinstance(a, Var)]
        if eqn.op.name in _VIEWS and used and used[0] in seen and eqn.outputs[0].type.shape:
            seen.update(eqn.outputs)
        elif j > k and any(a in seen for a in used):
            needed = _needed(equations, k, j, made)
            chosen |= needed or set()
    return sorted(chosen)


def _needed(equations: list, k: int, j: int, made: dict) -> "set | None":
    """Positions behind k of what equation j needs, itself among them; None if it needs k, or something that must stay where it is."""
    found, waiting = set(), [j]
    while waiting:
        at = waiting.pop()
        eqn = equations[at]
        if at == k or eqn.regions or eqn.op.effect:
            return None
        found.add(at)
        used = [a for a in eqn.inputs if isinstance(a, Var)] + [n for v in eqn.outputs for n in v.type.shape if isinstance(n, Var)]
        waiting += [made[a] for a in used if made.get(a, -1) >= k and made[a] not in found]
    return found
