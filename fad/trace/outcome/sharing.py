"""Arguments that share memory, of a function that writes to one of them: its derivative would take each of them for an
array by itself.

Where they are views that the traced code made, that is known; where a loop has left open whether they are one, that is
refused. Where they come from outside, the program notes which of its inputs must lie apart, and looks at the arrays of
each call (see backend/running/executable.py); the tape looks at once.
"""
from collections.abc import Sequence
from typing import Any

from ...ir.build import Builder, current
from ...ir.graph import Func, free_vars
from ...ir.live import LiveBuilder
from ...ops.extents import assume_at_least
from ...util.errors import UnstageableError
from ...util.memory import overlap, shared_memory
from ..values.aliases import may_be, reach_of
from ..values.layout import producer
from ..values.mutation import operands
from ..values.place import roots_of
from ..values.tracer import Tracer


def keep_apart(args: Sequence, written: Sequence, func: Func) -> None:
    """See to it that no argument to which a function writes shares memory with another one, or with what it reads from
    outside.

    args: what the function is given in the present program; written: the places of those it writes to; func: its
    program.
    """
    outside = {_source(v) for v in free_vars(func)} if written else set()
    for k in written:
        others = [x for j, x in enumerate(args) if j != k and isinstance(x, Tracer) and x.is_array]
        if isinstance(args[k], Tracer) and args[k].is_array:
            _keep_from(args[k], others)
            _keep_from_outside(args[k], outside)


def _keep_from(a: Tracer, others: list) -> None:
    root, own = current().root, {id(r) for r in roots_of(a)}
    if any(not own.isdisjoint(map(id, roots_of(b))) and not _are_disjoint(a, b) for b in others):
        raise shared_memory()
    aliases = {id(k) for r in roots_of(a) for k in may_be(r)[1:]}
    if any(not aliases.isdisjoint(map(id, roots_of(b))) for b in others):
        raise UnstageableError(
            "an argument is written to that may be another one",
            why="which array a name stands for after a loop depends on its iterations",
            do="copy one of them (x = x.copy())",
        )
    for v in _inputs_of(a, current()):
        apart = root.trace.apart.setdefault(v, {})
        apart.update(dict.fromkeys(w for b in others for w in _inputs_of(b, current()) if w is not v))
        if root.live:
            _look(root, v, apart)


def _keep_from_outside(a: Tracer, outside: set) -> None:
    """outside: the variables that hold what the function reads of the program around it."""
    if any(_source(x.held) in outside for x in reach_of(a)):
        raise shared_memory()


def _source(v: Any) -> Any:
    """The variable of the array that this one is part of, or all of in another shape."""
    eqn = producer(v)
    return v if eqn is None or eqn.op.traits.view != "write" else _source(eqn.inputs[0])


def _look(root: LiveBuilder, v: Any, apart: dict) -> None:
    """On the tape: whether the array of an input lies apart from those of others, and from what was captured."""
    x = root.arrays.get(v)
    near = [root.arrays.get(w) for w in apart] + [array for array, _, _ in root.outside.values()]
    if x is not None and any(y is not None and overlap(x, y) for y in near):
        raise shared_memory()


def _inputs_of(x: object, builder: Builder) -> list:
    """The inputs of the whole program in whose memory an array lies."""
    if builder is None or not isinstance(x, Tracer):
        return []
    if builder.parent is None:
        return [r.origin for r in roots_of(x) if r.origin in builder.inputs]
    given = dict(zip(builder.inputs, builder.given))
    return [v for r in roots_of(x) for v in _inputs_of(given.get(r.origin, r), builder.parent)]


def _are_disjoint(a: Tracer, b: Tracer) -> bool:
    """Whether two views of one array are different rows of it, or slices that are known not to overlap."""
    if a.view_of is None or b.view_of is None:
        return False
    chains = a.view_of.chain, b.view_of.chain
    if (
        None in chains
        or chains[0].source is not chains[1].source
        or not all(c.links and c.links[0].reads_part for c in chains)
    ):
        return False
    spans = [_spans(c.links[0]) for c in chains]
    return any(assume_at_least(q, p + n) or assume_at_least(p, q + m)
               for (p, n), (q, m) in zip(*spans) if n is not None and m is not None)


def _spans(eqn: Any) -> list:
    """For each axis of an array where a selection begins and how much it takes; None for how much where it is no slice
    of step 1.
    """
    values = iter(operands(eqn))
    spans: list[tuple] = []
    for entry in eqn.params["spec"]:
        if entry == "i":
            spans.append((next(values), 1))
        elif isinstance(entry, tuple):
            start, extent = next(values), next(values)
            spans.append((start, extent if entry[1] == 1 else None))
        else:
            spans.append((0, None))
            if entry == "a":
                next(values)
    return spans
