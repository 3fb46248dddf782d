"""Array contraction: an axis that every use subscripts by the loops around all uses needs no storage.

An array whose every axis is like that lives in a register. One that keeps some axes is a row that each iteration
overwrites.

An array that blocks of points write to, and that is read across its rows afterwards, lies in the order of the loops
that read it: the writes of a block meet again in the cache, and the reads are contiguous.
"""
from typing import Any, NamedTuple

from ...ir.graph import Var
from .conflicts import READ
from .fuse import Scheduler
from .indexmap import Index
from .loop_ir import Begin, Loop, Step
from .simd_blocking import BlockLoop


class Use(NamedTuple):
    """One use of an array: the loops around it, the place (None: all of it), the step, and whether it only reads."""

    path: tuple
    place: Any
    step: Step
    reads: bool


class Home(NamedTuple):
    """The axes of a root that are kept, in their order in memory."""

    root: Var
    kept: tuple
    lanes: Any = None  # (axis, start): the axis that holds only the lanes of a block, which begins at start

    @property
    def is_register(self) -> bool:
        return not self.kept


def uses(nodes: list, scheduler: Scheduler) -> dict:
    """root -> its uses in the tree."""
    found: dict[Var, list] = {}

    def walk(nodes: list, path: tuple) -> None:
        for node in nodes:
            if isinstance(node, Loop):
                walk(node.nodes, path + (node,))
                continue
            step = node.step if isinstance(node, Begin) else node
            for root, place, mode in scheduler.accesses(step):
                if isinstance(node, Begin) and root not in [scheduler.storage.root(v) for v in step.outs]:
                    continue
                found.setdefault(root, []).append(Use(path, place, step, mode == READ))
    walk(nodes, ())
    return found


def homes(found: dict, pinned: set) -> dict:
    """root -> its Home; pinned roots keep every axis."""
    return {root: _home(root, uses_of, root in pinned) for root, uses_of in found.items()}


def is_stored(root: Var, homes: dict) -> bool:
    """Whether all of an array is in memory (homes: those known so far)."""
    home = homes.get(root)
    return bool(root.type.shape) and (home is None or len(home.kept) == len(root.type.shape))


def _home(root: Var, uses_of: list, pinned: bool) -> Home:
    kept = _kept(root, uses_of, pinned)
    if pinned or any(use.place is None for use in uses_of):
        return Home(root, kept)
    starts = {loop.start for loop in common_path([use.path for use in uses_of]) if isinstance(loop, BlockLoop)}
    for k in kept:
        for start in starts:
            if all((start, 1) in use.place[k].terms for use in uses_of):
                return Home(root, tuple([j for j in kept if j != k]) + (k,), (k, start))
    return Home(root, (_order_of_reads(uses_of) if len(kept) == len(root.type.shape) > 1 else None) or kept)


def _order_of_reads(uses_of: list) -> "tuple | None":
    """The axes of an array in the order of the loops that read it, where blocks write to it and no innermost loop runs
    along the last of its axes.
    """
    def depths(use: Use) -> list:
        return [max([k for k, loop in enumerate(use.path) if loop.axis in i.axes()], default=-1) for i in use.place]
    if not all(use.place for use in uses_of):                 # an array that is made as a whole has its own order
        return None
    last = [depths(use)[-1] == len(use.path) - 1 for use in uses_of]
    blocks = [use.reads or any(isinstance(loop, BlockLoop) for loop in use.path) for use in uses_of]
    orders = {tuple(depths(use)) for use in uses_of if use.reads}
    if any(last) or not all(blocks) or len(orders) != 1:
        return None
    (found,) = orders
    moving = [use.place[found.index(max(found))].moves_only_with(use.path[-1].axis)
              for use in uses_of if use.reads and use.path]
    return tuple(sorted(range(len(found)), key=found.__getitem__)) if moving and all(moving) else None


def _kept(root: Var, uses_of: list, pinned: bool) -> tuple:
    every = tuple(range(len(root.type.shape)))
    if pinned or any(use.place is None for use in uses_of) or any(len(use.place) != len(every) for use in uses_of):
        return every
    shared = {loop.axis for loop in common_path([use.path for use in uses_of])}
    return tuple([k for k in every if not _is_private([use.place[k] for use in uses_of], shared)])


def _is_private(places: list, shared: set) -> bool:
    first = places[0]
    return all(p == first for p in places) and all(a in shared for a in first.axes())


def common_path(paths: list) -> tuple:
    """The loops around all of the paths."""
    common = paths[0]
    for path in paths[1:]:
        k = 0
        while k < min(len(common), len(path)) and common[k] is path[k]:
            k += 1
        common = common[:k]
    return common


def kept_index(place: tuple, k: int, home: "Home | None") -> Index:
    """The subscript of a kept axis; among the lanes of a block it counts from the block's start."""
    if home is None or not home.lanes or home.lanes[0] != k:
        return place[k]
    return place[k] - Index.of(home.lanes[1])
