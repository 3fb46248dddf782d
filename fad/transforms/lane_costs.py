"""Whether lanes pay: the arithmetic that they speed up, beside the reads that they make slower.

Compilers already make vector instructions of a long innermost loop whose iterations are independent, and read its
arrays in order. In lanes such a loop reads every array with a stride, up to six times as slowly (measured). Lanes pay
where an iteration has arithmetic that compilers leave in scalars: recurrences, short loops, functions around them.

Measured, values and gradients of 200,000 elements, time in lanes by time without: logistic regression with 4 features
0.3 and 0.5 (with 300 features 2.5 and 4.6), distances in 4 dimensions 0.3 and 0.5 (in 300: 1.9 and 3.6), Horner's rule
of degree 300 0.5 and 0.8 (of degree 4: 1.2), a Gaussian mixture in 10 dimensions 0.15 and 0.25.
"""
import math
from collections.abc import Collection

from ..ir.graph import Equation, Func, has_loop, is_branch, is_counted, traced_value
from ..ir.uses import operands
from ..ir.views import LoopView
from .independence import OWN, Role, roles_of
from .save_or_recompute import is_cheap
from .varying import find_varying

WORTH = 12                                                   # operations for each strided read
LONG, SHORT = 16, 4                                          # iterations of loops that become vectors, or one vector
DEAR = 20                                                    # cheap operations that take as long as exp, in scalars


def pays(loop: LoopView, roles: "list[Role]", varying: Collection, uses: Collection) -> "list | None":
    """None if the loop had better not run in lanes; else the inner loops which are short, and should be.

    uses: what the program reads (see roles_of).
    """
    costs = _Costs(varying, uses)
    costs.add(loop.body, [])
    for carry, role in zip(loop.carries, roles):
        if role.kind == OWN:
            costs.reads += size_of(role.part_of(carry))
    return costs.short if costs.arithmetic >= WORTH * max(costs.reads, 1) else None


class _Nest:
    """An inner loop: its estimated iterations, what differs between them, and whether it becomes vectors anyway."""

    def __init__(self, loop: LoopView, uses: Collection):
        self.iterations = iterations_of(loop)
        self.moving = find_varying(loop.body, {loop.index, *loop.carries})
        is_innermost = not any(map(has_loop, loop.body.equations))
        self.is_independent = is_innermost and roles_of(loop, uses) is not None


class _Costs:
    """The work of an iteration, as far as sizes are known."""

    def __init__(self, varying: Collection, uses: Collection):
        self.varying, self.uses = varying, uses
        self.arithmetic, self.reads = 0.0, 0.0
        self.short: list[LoopView] = []
        self.seen: set[tuple] = set()                        # reads: the array and the operands of the subscripts

    def add(self, region: Func, nests: "list[_Nest]") -> None:
        """Add what a region does within these loops."""
        for eqn in region.equations:
            if is_counted(eqn):
                loop = LoopView(eqn)
                nest = _Nest(loop, self.uses)
                self.short += [loop] if nest.is_independent and nest.iterations < LONG else []
                self.add(loop.body, [*nests, nest])
            elif is_branch(eqn):
                for branch in eqn.regions:
                    self.add(branch, nests)
            elif any(v in self.varying for v in operands(eqn)):
                self._equation(eqn, nests)

    def _equation(self, eqn: Equation, nests: "list[_Nest]") -> None:
        if eqn.reads_part and eqn.inputs[0] not in self.varying:
            if eqn.inputs in self.seen:
                return
            self.seen.add(eqn.inputs)
            read = operands(eqn)                             # the same element is read again from the first cache
            self.reads += math.prod([n.iterations for n in nests if any(v in n.moving for v in read)])
        elif eqn.op.kind in ("elementwise", "reduce", "contract"):
            times = math.prod([n.iterations for n in nests])
            self.arithmetic += times * self._work(eqn, nests)

    def _work(self, eqn: Equation, nests: "list[_Nest]") -> float:
        """The operations of one iteration that are left in scalars."""
        elements = size_of(tuple([n for v in (*eqn.inputs, *eqn.outputs) for n in v.type.shape]))
        inner = nests[-1].iterations if nests and nests[-1].is_independent else 1
        if max(elements, inner) >= LONG:
            return 0
        return elements if is_cheap(eqn) or max(elements, inner) >= SHORT else DEAR * elements


def iterations_of(loop: LoopView) -> float:
    """The number of a loop's iterations, half of its bound where it begins or ends at the index of a loop around."""
    ends = [traced_value(a) for a in loop.bounds[:2]]
    known = [n for n in ends if n is not None]
    if not known:
        return LONG
    step = abs(loop.step or 1)
    return max((abs(ends[1] - ends[0]) if len(known) == 2 else known[0] / 2) / step, 1)      # type: ignore[operator]


def size_of(shape: tuple, unknown: int = LONG) -> int:
    """The elements of an array when the function was traced; unknown: the estimate of an extent that was not known."""
    return math.prod([unknown if n is None else n for n in map(traced_value, shape)])
