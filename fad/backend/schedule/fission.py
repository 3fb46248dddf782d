"""Loop fission: a loop that fills several arrays becomes several loops, where that costs nothing.

Processors write to memory in the order of the program. Stores that go to two arrays alternately wait for a cache line
each time, once the arrays are larger than the first cache. One array after the other takes half the time (measured on
x86: loops over 2,000 to 1,000,000 elements), and no longer where they are small. Steps that hand numbers to each other
in registers stay together. So do additions to elements found by the same index array: each waits for what it has stored
there before, and two of them wait side by side.
"""
from collections.abc import Callable
from typing import Any

from .array_contraction import is_stored
from .conflicts import READ, in_order
from .fuse import Scheduler
from .loop_ir import Loop, Step
from .loop_reversal import ascending
from .shifted_loop import ShiftedLoop
from .simd_blocking import BlockLoop, is_scattered

FEW_READS = 2                                                # arrays that two loops may both read


def separated(nodes: list, scheduler: Scheduler, homes: dict) -> list:
    """The nodes, with their innermost loops taken apart, each in the direction in which it writes."""
    found: list[Any] = []
    for node in nodes:
        if not isinstance(node, Loop) or isinstance(node, (BlockLoop, ShiftedLoop)):
            found.append(node)
        elif all(isinstance(n, Step) and n.kind in ("map", "add", "reduce") for n in node.nodes):
            found += [
                ascending(Loop(node.axis, part.steps), scheduler, homes)
                for part in _parts(node.nodes, scheduler, homes)
            ]
        else:
            node.nodes = separated(node.nodes, scheduler, homes)
            found.append(node)
    return found


class _Part:
    """Steps that share a loop: their accesses, and the arrays that they fill and read."""

    def __init__(self, step: Step, accesses: list, homes: dict):
        self.steps, self.accesses = [step], list(accesses)
        self.numbers = {a.root for a in accesses if not is_stored(a.root, homes)}
        self.filled = {a.root for a in accesses if a.mode != READ and is_stored(a.root, homes)}
        self.read = {a.root for a in accesses if a.mode == READ and is_stored(a.root, homes)}

    def join(self, other: "_Part") -> None:
        self.steps += other.steps
        self.accesses += other.accesses
        for mine, theirs in ((self.numbers, other.numbers), (self.filled, other.filled), (self.read, other.read)):
            mine |= theirs

    def is_tied_to(self, other: "_Part", made: set) -> bool:
        """Whether the two must share a loop; made: the numbers that the loop computes."""
        return bool(self.numbers & other.numbers & made or self.filled & other.filled)

    def belongs_to(self, other: "_Part") -> bool:
        """Whether the two should share a loop."""
        if self.filled and other.filled:
            few = 0 if any(map(is_scattered, self.steps)) and any(map(is_scattered, other.steps)) else FEW_READS
            return len(self.read & other.read) > few
        return not (self.read | self.filled).isdisjoint(other.read | other.filled)

    def waits_for(self, other: "_Part") -> bool:
        """Whether the two must stay in their order."""
        return any(a.root is b.root and in_order(b, a) for a in self.accesses for b in other.accesses)


def _parts(steps: list, scheduler: Scheduler, homes: dict) -> list:
    """The steps of a loop in parts, in an order that keeps all dependences."""
    touched = [scheduler.accesses(s) for s in steps]
    made = {a.root for found in touched for a in found if a.mode != READ}
    tied = _together(
        [_Part(*both, homes) for both in zip(steps, touched)], lambda one, other: one.is_tied_to(other, made)
    )
    return _together(tied, _Part.belongs_to)


def _together(parts: list, belongs: Callable) -> list:
    """The parts, those joined that belong together."""
    found: list[_Part] = []
    for part in parts:
        found.append(part)
        _gather(found, [k for k, other in enumerate(found[:-1]) if belongs(part, other)])
    return found


def _gather(parts: list, friends: list) -> None:
    """Let the last part join its friends at the first one's place, with the parts between that one of them must wait
    for.
    """
    if not friends:
        return
    together = [*friends, len(parts) - 1]
    for k in range(len(parts) - 2, friends[0], -1):
        if k not in together and any(parts[j].waits_for(parts[k]) for j in together if j > k):
            together.append(k)
    for k in sorted(together)[1:]:
        parts[friends[0]].join(parts[k])
    parts[:] = [part for k, part in enumerate(parts) if k == friends[0] or k not in together]
