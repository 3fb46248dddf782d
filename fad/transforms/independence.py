"""Loops whose iterations are independent of each other, and the part that an iteration has in each carry.

    for i in range(n):                          sum      s: iterations only add to it
        for j in range(m):                      private  t: an iteration reads what it has written itself, and
            t[j] = x[i, j] * w[j]                           nobody reads the array behind the loop
        s += t[0]                               own      y: each iteration has its own part, at the loop's index
        y[i] = t[m - 1]

These are the conditions for privatisation and for parallel reductions (R. Allen, K. Kennedy, "Optimizing Compilers for
Modern Architectures", 2001, sections 5.3 and 6.2). A loop with any other carry is not independent.
"""
from collections.abc import Collection
from typing import NamedTuple

from ..ir.graph import Var
from ..ir.views import LoopView
from ..passes.coverage import Accesses, Coverage
from ..passes.reduction_recognition import is_summed

SUM, PRIVATE, OWN, SAME = "sum", "private", "own", "same"


class Role(NamedTuple):
    """The use that the iterations of a loop make of a carry.

    Of own arrays, axis: the one that the loop's index selects from; is_new: whether an iteration writes to all of its
    part before it reads any of it; versions: the variables that hold the array within an iteration.
    """

    kind: str
    axis: int = 0
    is_new: bool = True
    versions: frozenset = frozenset()

    def part_of(self, carry: Var) -> tuple:
        """The extents of what an iteration has of the carry."""
        return tuple([n for axis, n in enumerate(carry.type.shape) if self.kind != OWN or axis != self.axis])


def roles_of(loop: LoopView, used: Collection) -> "list[Role] | None":
    """The role of each carry; None if the iterations depend on each other. used: what is read behind the loop."""
    roles: list[Role] = []
    for carry, following, result in zip(loop.carries, loop.next, loop.results):
        role = _role(loop, carry, following, result in used)
        if role is None:
            return None
        roles.append(role)
    return roles


def _role(loop: LoopView, carry: Var, following: Var, is_used: bool) -> "Role | None":
    if following is carry:
        return Role(SAME)
    if not carry.type.shape:
        is_sum = carry.type.dtype.kind in "fc" and is_summed(loop.body, carry, following)
        return Role(SUM) if is_sum else None
    accesses = Accesses(loop.body, carry)
    for axis in range(carry.type.rank):
        if following in accesses.versions and accesses.all_at({axis: loop.index}):
            written = Coverage({axis: loop.index}).of(loop.body, carry)
            return Role(OWN, axis, written.is_complete and not written.is_exposed, frozenset(accesses.versions))
    return None if is_used or Coverage({}).of(loop.body, carry).is_exposed else Role(PRIVATE)
