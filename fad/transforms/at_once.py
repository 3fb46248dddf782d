"""Reverse sweeps within the iteration, of loops that only add to one number.

    for i in range(n): s = s + f(x, i)      ->      for i in range(n): s = s + f(x, i); gx = gx + pullback(f)(x, i, 1)
                                                    ...                the cotangent g of s is known only here
                                                    gx * g

All iterations have the same cotangent, the sum's, and reverse sweeps are linear in it. So an iteration does not wait
for it. Nothing is saved, and nothing is computed twice (L. Hascoët, S. Fidanova, C. Held, "Adjoining independent
computations", in: Automatic Differentiation of Algorithms, Springer 2002).

Blocks of lanes are reversed at once, and loops whose tape would leave the caches. With a small tape processors do
better: they run several short iterations of one sweep side by side, and not an iteration's two sweeps.
"""
from ..ir.build import current
from ..ir.graph import Equation, all_equations, free_vars
from ..ir.uses import defined_by
from ..ir.views import LoopView
from ..ir.walk import bind_outputs
from ..ops.carry import convert
from ..ops.control import FOR
from ..ops.kinds import guarding, product
from ..passes.reduction_recognition import is_summed
from ..util.array import AnyArray
from .activity import is_continuous
from .blocks import LARGE, operations
from .control_vjp import demanded, take
from .cost_model import USUAL_EXTENT, bytes_of, iterations_guess
from .inputs import zeros_like
from .lane_costs import iterations_of, size_of
from .lane_parts import NAME
from .masks import chooses, is_masked
from .sweeps import ReverseSweep
from .tape import is_repeated

PASS = 4                                                     # operations that take as long as a cotangent's g * gx


class AtOnce:
    """A loop that adds to its carry number `place`, and whose iterations are reversed at once.

    shared: the variables around the loop whose cotangents its iterations add to
    """

    def __init__(self, sweep: ReverseSweep, eqn: Equation, place: int, shared: list):
        self.sweep, self.eqn, self.place, self.shared = sweep, eqn, place, shared
        self.view = LoopView(eqn)
        self.is_guarded = chooses(eqn) or is_masked(eqn, sweep.masked)

    @classmethod
    def of(cls, sweep: ReverseSweep, eqn: Equation) -> "AtOnce | None":
        """The loop as one whose iterations are reversed at once, None if it is none, or had better not be."""
        params, body = eqn.params, LoopView(eqn).body
        if is_repeated(current()) or params["extents"] or params.get("checkpoint") is not None:
            return None
        place = _the_sum(sweep, eqn)
        if place is None or any(e.op.name == "custom" for e in all_equations(body)):
            return None                                      # a rule of the user's own may not be linear
        shared = [v for v in free_vars(body) if v in sweep.active and is_continuous(v)]
        scaled = sum(size_of(v.type.shape, USUAL_EXTENT) for v in shared if v.type.shape)
        pays = PASS * scaled <= iterations_of(LoopView(eqn)) * sum(map(operations, body.equations))
        return cls(sweep, eqn, place, shared) if pays else None

    @property
    def is_of_lanes(self) -> bool:
        """Whether an iteration is a block of lanes."""
        return any(e.params.get("name") == NAME for e in self.view.body.equations)

    def is_better_than(self, saved: list) -> bool:
        """Whether the tape would be large. saved: the variables that each iteration would save."""
        return iterations_guess(self.eqn) * sum(map(bytes_of, saved)) > LARGE

    def run(self, bounds: list, init: tuple) -> None:
        """Run the loop with its reverse sweeps, and note its pullback."""
        count, names = len(init), self.eqn.params["names"]
        starts = [zeros_like(self.sweep.env.read(v)) for v in self.shared]
        results = FOR.run_regions([*bounds, *init, *starts], (self._iteration,),
                                  names=(*names, *[f"g{v.name}" for v in self.shared]) if names else ())
        bind_outputs(self.eqn, results[:count], self.sweep.env)
        self.sweep.pullbacks.append(lambda: self._pull(results[count:]))

    def _iteration(self, index: AnyArray, *values: AnyArray) -> list:
        """The carries and the cotangents of what is shared, after an iteration."""
        sweep, loop, count = self.sweep, self.view, len(self.view.carries)
        inner = sweep.inner(sweep.active)
        current().at_once = True
        if self.is_guarded:
            inner.masked.update(defined_by(loop.body.equations))
        inner.env[loop.index] = index
        inner.env.update(zip(loop.carries, values))
        inner.forward(loop.body)
        following = [inner.env.read(a) for a in loop.next]
        inner.cotangents.update(zip(self.shared, values[count:]))
        inner.add(loop.next[self.place], convert(1.0, loop.carries[self.place].type))
        with guarding(self.is_guarded):
            inner.backward()
        return following + [inner.cotangents[v] for v in self.shared]

    def _pull(self, totals: tuple) -> None:
        gs = take(self.sweep, self.eqn, [self.place])
        if gs is None:
            return
        (g,) = gs
        self.sweep.add(self.view.init[self.place], g)
        for v, total in zip(self.shared, totals):
            self.sweep.add(v, product(g, total))


def _the_sum(sweep: ReverseSweep, eqn: Equation) -> "int | None":
    """The number of the only carry that a derivative flows through, if iterations only add to it and write to no array.
    """
    loop = LoopView(eqn)
    moved = [k for k, c in enumerate(loop.carries) if c in sweep.active]
    if len(moved) != 1 or demanded(sweep, eqn):
        return None
    (k,) = moved
    carry = loop.carries[k]
    if any(c.type.shape and following is not c for c, following in zip(loop.carries, loop.next)):
        return None                                          # what it overwrites would be copied for its reverse sweep
    is_real = not carry.type.shape and carry.type.dtype.kind == "f"
    return k if is_real and is_summed(loop.body, carry, loop.next[k]) else None
