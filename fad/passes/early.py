"""early: readers of an array move in front of a write to it, so that the write can be done in place.

It is list scheduling in program order: each write pulls its readers, and what these need, in front of itself. Each
equation moves at most once.
"""
from collections.abc import Iterable, Iterator
from typing import Any

from ..ir.graph import Equation, Func, Var, free_vars
from .rewrite import Scope, rewrite

_VIEWS = {"index", "reshape", "transpose", "broadcast_to"}
_WRITES = {"update", "index_add", "resize"}


def early(func: Func) -> Func:
    """Readers of an array (or of its parts) behind a write move in front of the write, if they do not need its result.

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
    """The equations, each write behind the reads that can come before it."""
    place, made, readers = {e: k for k, e in enumerate(equations)}, {v: e for e in equations for v in e.outputs}, _readers_of(equations)
    done: dict[Equation, None] = {}
    for eqn in equations:
        written = [] if eqn in done else _written(eqn)
        moved = {e for reader in _reading(written, readers) if reader not in done for e in _needed(reader, eqn, made, done)}
        done.update(dict.fromkeys([*sorted(moved, key=place.__getitem__), eqn]))
    return list(done)


def _readers_of(equations: list) -> dict:
    """{variable: the equations that have it among their operands}"""
    readers: dict[Var, list] = {}
    for eqn in equations:
        for a in set(eqn.inputs):
            if isinstance(a, Var):
                readers.setdefault(a, []).append(eqn)
    return readers


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


def _reading(arrays: Iterable, readers: dict) -> Iterator:
    """The equations that read these arrays, or parts of them; those that only make views of them are not among them."""
    seen = list(arrays)
    for array in seen:
        for eqn in readers.get(array, ()):
            if eqn.op.name in _VIEWS and eqn.inputs[0] is array and eqn.outputs[0].type.shape:
                seen += eqn.outputs
            else:
                yield eqn


def _needed(reader: Equation, write: Equation, made: dict, done: dict) -> set:
    """The equations that a reader needs, itself included; none if they need the write, or one that must stay in place.
    """
    found, waiting = set(), [reader]
    while waiting:
        eqn = waiting.pop()
        if eqn is write or eqn.regions or eqn.op.effect:
            return set()
        found.add(eqn)
        used = [*eqn.inputs, *[n for v in eqn.outputs for n in v.type.shape]]
        waiting += [e for e in map(made.get, used) if e is not None and e not in done and e not in found]
    return found
