"""Liveness: where a function in Numba's representation releases its variables.

Numba computes sets of all variables that reach a block, for each block and six times over; that grows with the square
of the text. Most variables live within one block, so only the others are followed from block to block (backward
dataflow with a worklist).
"""
import functools

from numba.core import ir
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.runtime.context import NRTContext
from numba.core.transforms import canonicalize_cfg

from fad.kernels.variables import names_in

__all__ = ["ReferenceCounts", "insert_releases"]


class ReferenceCounts(NRTContext):
    """Numba's code that counts references, without that which takes values apart that hold none: an array is a dozen
    numbers beside one reference, and LLVM would read them all, to throw them away.
    """

    def get_meminfos(self, builder, ty, val):
        """As Numba's."""
        model = self._context.data_model_manager[ty]
        found = [(ty, model.get_nrt_meminfo(builder, val))] if model.has_nrt_meminfo() else []
        for kind, part in model.traverse(builder):
            if self.are_counted(kind):
                found += self.get_meminfos(builder, kind, part(val))
        return found

    @functools.cached_property
    def are_counted(self):
        """are_counted(type): whether references in values of this type are counted."""
        return functools.cache(lambda kind: self._context.data_model_manager[kind].contains_nrt_meminfo())


def insert_releases(function):
    """Put a `del` behind the last use of each variable, on every way through the function.

    Returns, for each block, the variables that are live at its end, and those that arrive at its start.
    """
    function.blocks = blocks = canonicalize_cfg(function.blocks)
    cfg = compute_cfg_from_blocks(blocks)
    reads = {label: [names_in(statement) for statement in block.body] for label, block in blocks.items()}
    made = {label: {s.target.name for s in block.body if isinstance(s, ir.Assign)} for label, block in blocks.items()}
    needed = _needed(blocks, cfg, reads, made)
    leaving = {
        label: set(reads[label][-1]).union(*[needed[after] for after, _ in cfg.successors(label)]) for label in blocks
    }
    arriving = {label: set().union(*[leaving[before] for before, _ in cfg.predecessors(label)]) for label in blocks}
    for label, block in blocks.items():
        block.body = [
            *_releases(arriving[label] - needed[label] - made[label], block.loc),
            *_body(block, reads[label], set(leaving[label])),
        ]
    return leaving, arriving


def _needed(blocks, cfg, reads, made):
    """For each block, the variables that it, or a block behind it, reads as they were before it."""
    needed = {label: _read_first(block, reads[label]) for label, block in blocks.items()}
    waiting = list(blocks)
    while waiting:
        label = waiting.pop()
        for before, _ in cfg.predecessors(label):
            new = needed[label] - made[before] - needed[before]
            if new:
                needed[before] |= new
                waiting.append(before)
    return needed


def _read_first(block, reads):
    """The variables that a block reads before it makes them."""
    found, made = set(), set()
    for statement, names in zip(block.body, reads):
        found.update(name for name in names if name not in made)
        if isinstance(statement, ir.Assign):
            made.add(statement.target.name)
    return found


def _body(block, reads, alive):
    """The statements of a block, each with the releases behind it; alive: the variables that are needed at its end."""
    *statements, last = block.body
    parts = [[last]]
    for statement, names in zip(reversed(statements), reads[-2::-1]):
        mentioned = {*names, statement.target.name} if isinstance(statement, ir.Assign) else set(names)
        parts.append([statement, *_releases(mentioned - alive, statement.loc)])
        alive |= mentioned
    return [statement for part in reversed(parts) for statement in part]


def _releases(names, loc):
    return [ir.Del(name, loc=loc) for name in sorted(names)]
