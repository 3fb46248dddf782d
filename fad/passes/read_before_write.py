"""read_before_write: readers of an array move in front of a write to it, so that the write can be done in place.

It is list scheduling in program order: each write pulls its readers, and what these need, in front of itself. Each
equation moves at most once. A check of an index guards what stands behind it, and reads nothing of that: an equation
takes the checks in front of it along.
"""
from bisect import bisect
from collections.abc import Iterable, Iterator

from ..ir.graph import Equation, Func
from ..ir.uses import DefUse, reads
from .rewrite import Scope, in_regions, rewrite
from .writes import written


def read_before_write(func: Func) -> Func:
    """Readers of an array (or of its parts) behind a write move in front of the write, if they do not need its result.

        y2 = update(y, v, k); t2 = update(t, index(y, k), k)   ->   t2 = update(t, index(y, k), k); y2 = update(y, v, k)
    """
    func = rewrite(func, _visit)
    return func.replace(equations=_ordered(func.equations))


def _visit(eqn: Equation, scope: Scope) -> "Equation | None":
    if not eqn.regions:
        return None
    return in_regions(eqn, lambda r: r.replace(equations=_ordered(r.equations)))


def _ordered(equations: list) -> list:
    """The equations, each write behind the reads that can come before it."""
    place, chains = {e: k for k, e in enumerate(equations)}, DefUse(equations)
    effects = _Effects(equations, place)
    done: dict[Equation, None] = {}
    for eqn in equations:
        arrays = () if eqn in done else written(eqn)
        moved = {e for reader in _reading(arrays, chains) if reader not in done
                 for e in _needed(reader, eqn, chains, effects, done)}
        done.update(dict.fromkeys([*sorted(moved, key=place.__getitem__), eqn]))
    return list(done)


class _Effects:
    """The equations with an effect, in order."""

    def __init__(self, equations: list, place: dict):
        self.equations, self.place = [e for e in equations if e.op.effect], place
        self.places = [place[e] for e in self.equations]

    def checks_between(self, write: Equation, eqn: Equation, done: dict) -> "list | None":
        """The checks that guard an equation behind a write, from the write on; None if another effect comes before one
        of them. An elementwise operation needs none.
        """
        if eqn.op.kind == "elementwise":
            return []
        first, last = (bisect(self.places, self.place[e]) for e in (write, eqn))
        between = [e for e in self.equations[first:last] if e not in done and e is not eqn]
        while between and between[-1].op.kind != "check":
            between.pop()
        return between if all(e.op.kind == "check" for e in between) else None


def _reading(arrays: Iterable, chains: DefUse) -> Iterator:
    """The equations that read these arrays, or parts of them; those that only make views of them are not among them."""
    seen = list(arrays)
    for array in seen:
        for eqn in chains.users(array):
            if (eqn.op.traits.view and eqn.op.kind != "elementwise" and eqn.inputs[0] is array
                    and eqn.outputs[0].type.shape):
                seen += eqn.outputs
            else:
                yield eqn


def _needed(reader: Equation, write: Equation, chains: DefUse, effects: _Effects, done: dict) -> set:
    """The equations that a reader needs, itself included; none if they need the write, or one that must stay in place.
    """
    found, waiting = set(), [reader]
    while waiting:
        eqn = waiting.pop()
        checks = effects.checks_between(write, eqn, done)
        if eqn is write or eqn.regions or (eqn.op.effect and eqn.op.kind != "check") or checks is None:
            return set()
        found.add(eqn)
        needed = [*checks, *map(chains.definition, reads(eqn))]
        waiting += [e for e in needed if e is not None and e not in done and e not in found]
    return found
