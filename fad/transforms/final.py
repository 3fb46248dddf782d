"""What a loop reads of an array and never writes to again: on the way back it is in the array that the loop leaves, and need not be saved.

An elimination reads row k in its turn k, n^3 / 3 numbers in all, and writes to the rows behind k alone. So do substitutions, factorizations and
tables that are filled in some order. That no write follows is shown by bounds: in each later turn of a loop, and in the same turn too, the indices
that are written to along some axis lie all above, or all below, those that were read.
"""
import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ..ir.graph import Equation, Func, Literal, Var
from ..ir.integers import Affine
from ..ops.selection import walk_spec
from .undo import WRITES, trail_to
from .weights import bytes_of, turns_guess

ONE = Affine((), 1)
MOST_PAIRS = 10_000                                          # of reads and writes that are compared; unrolled code may have more


class Access(NamedTuple):
    """An equation that reads or writes a part of an array, and the loops around it, outermost first."""

    eqn: Equation
    loops: tuple


def final_reads(loop: Equation, trails: dict, active: set) -> dict:
    """{equation that reads a part of an array: number of the carry}, of what a counted loop reads so, where that is more than the whole array."""
    if not trails:
        return {}
    nest, found = _Nest(loop), {}
    for k in trails:
        versions, writes = set(), []
        for kind, x in _trail(loop, k, active):
            writes.append(x) if kind == "write" else versions.update(x)
        reads = [r for r in nest.reads if r.eqn.inputs[0] in versions]
        if len(reads) * len(writes) <= MOST_PAIRS and _are_many(reads, loop.outputs[k]):
            reads = [r for r in reads if all(nest.is_last(r, w, 0) for w in writes)]
            found.update({r.eqn: k for r in reads if _are_many(reads, loop.outputs[k])})
    return found


def _are_many(reads: list, array: Var) -> bool:
    return sum(map(_volume, reads)) > bytes_of(array)


def _volume(read: Access) -> int:
    return bytes_of(read.eqn.outputs[0]) * math.prod(map(turns_guess, read.loops))


def _trail(loop: Equation, k: int, active: set, around: tuple = ()) -> Iterator[tuple]:
    """("versions", ...) and ("write", access) of what a loop makes of its carry number k."""
    yield from _steps(loop.regions[-1], loop.regions[-1].outputs[k], active, (*around, loop))


def _steps(region: Func, end: Any, active: set, loops: tuple) -> Iterator[tuple]:
    versions = trail_to(region, end, active).versions          # type: ignore[union-attr]  # the trail around it is made of such
    made = {v: eqn for eqn in region.equations for v in eqn.outputs}
    yield "versions", versions
    for v in versions[1:]:
        eqn = made[v]
        if eqn.op.name in WRITES:
            yield "write", Access(eqn, loops)
        elif eqn.op.name == "cond":
            for branch in eqn.regions:
                yield from _steps(branch, branch.outputs[eqn.outputs.index(v)], active, loops)
        else:
            yield from _trail(eqn, eqn.outputs.index(v), active, loops)


class _Nest:
    """A loop with all that is in it: what reads parts of arrays, and what its integers are made of."""

    def __init__(self, loop: Equation):
        self.made: dict[Var, Equation] = {}
        self.place: dict[Equation, int] = {}
        self.inside: set[Var] = set()
        self.reads: list[Access] = []
        self.indices: set = set()
        self._enter((loop,))

    def _enter(self, loops: tuple) -> None:
        region = loops[-1].regions[-1]
        self.indices.add(_index_of(loops[-1]))
        self.inside.update(region.inputs)
        self._look_at(region.equations, loops)

    def _look_at(self, equations: Iterable, loops: tuple) -> None:
        for eqn in equations:
            self.place[eqn] = len(self.place)
            self.made.update(dict.fromkeys(eqn.outputs, eqn))
            self.inside.update(eqn.outputs)
            if eqn.op.name == "index":
                self.reads.append(Access(eqn, loops))
            elif eqn.op.name in ("for", "while"):
                self._enter((*loops, eqn))
            elif eqn.op.name == "cond":
                for branch in eqn.regions:
                    self._look_at(branch.equations, loops)

    # -- which comes last -----------------------------------------------------------------------------------------------------

    def is_last(self, read: Access, write: Access, level: int) -> bool:
        """Whether, in any one turn of the loops around this level, nothing that was read is written to later."""
        if not self._apart(read, write, level, later=True):
            return False
        inner = level + 1
        if inner < min(len(read.loops), len(write.loops)) and read.loops[inner] is write.loops[inner]:
            return self.is_last(read, write, inner)
        return self.place[write.eqn] < self.place[read.eqn] or self._apart(read, write, level, later=False)

    def _apart(self, read: Access, write: Access, level: int, later: bool) -> bool:
        """Whether some axis keeps them apart in one turn of the loop at this level, or what is read in one from what is written in later ones."""
        loops = read.loops[:level + 1]
        for r, w in zip(self._spans(read), self._spans(write)):
            for sign in (1, -1) if r is not None and w is not None else ():     # the write lies above, or below
                last = self._extreme(r[sign > 0], read.loops[level + 1:], sign)
                if last is not None and any(self._is_positive((first - last).scaled(sign), loops) for first in self._firsts(w[sign < 0], write, level, sign, later)):
                    return True
        return False

    def _firsts(self, end: Affine, write: Access, level: int, sign: int, later: bool) -> Iterator[Affine]:
        """What the end of a span that is nearer to what was read comes to in the same turn, or at the nearest in any later one."""
        here = self._extreme(end, write.loops[level + 1:], -sign)
        moved = 0 if here is None or not later else self._moved(here, write.loops[level])
        if here is not None and moved * sign >= 0:
            yield here + Affine((), moved)
        anywhere = self._extreme(end, write.loops[level:], -sign) if later else None
        if anywhere is not None:
            yield anywhere

    def _moved(self, form: Affine, loop: Equation) -> int:
        """How far a form moves from a turn to the next one."""
        i = _index_of(loop)
        return next((c * loop.inputs[2].value for v, c in form.terms if v is i), 0)      # type: ignore[union-attr]

    def _is_positive(self, form: Affine, loops: tuple) -> bool:
        least = self._extreme(form, loops, -1)
        return least is not None and least.is_constant and least.const >= 1

    # -- bounds ---------------------------------------------------------------------------------------------------------------

    def _spans(self, access: Access) -> list:
        """The first and the last index along each axis of the array, None where that is not known."""
        eqn = access.eqn
        operands = eqn.inputs[1:] if eqn.op.name == "index" else eqn.inputs[2:]
        return [self._span(entry, given) for _, entry, given in walk_spec(eqn.params["spec"], operands)]

    def _span(self, entry: Any, given: tuple) -> "tuple | None":
        if entry == "i":
            return self._form(given[0]), self._form(given[0])
        if entry[0] != "s":
            return None
        start, end = self._form(given[0]), self._form(given[0]) + (self._form(given[1]) - ONE).scaled(entry[1])
        return (start, end) if entry[1] > 0 else (end, start)

    def _form(self, a: Any) -> Affine:
        """An integer in terms of indices of loops and of what has no such form."""
        if isinstance(a, (int, Literal)):
            return Affine((), int(getattr(a, "value", a)))
        eqn = self.made.get(a)
        if eqn is not None and eqn.op.name in ("add", "sub"):
            x, y = map(self._form, eqn.inputs)
            return x + y if eqn.op.name == "add" else x - y
        if eqn is not None and eqn.op.name == "mul" and any(isinstance(x, Literal) for x in eqn.inputs):
            x, y = map(self._form, eqn.inputs)
            return x.scaled(y.const) if y.is_constant else y.scaled(x.const)
        if eqn is not None and eqn.op.name == "neg":
            return self._form(eqn.inputs[0]).scaled(-1)
        return Affine(((a, 1),), 0)

    def _extreme(self, form: Affine, loops: tuple, sign: int) -> "Affine | None":
        """The largest (sign 1) or the smallest value (-1) in any turns of these loops, None where a bound is not known; in it remain indices
        of the loops around."""
        for loop in reversed(loops):
            i = _index_of(loop)
            c = next((c for v, c in form.terms if v is i), 0)
            if c:
                bound = self._bounds(loop)[0 if c * sign < 0 else 1]
                form = form - Affine(((i, c),), 0) + bound.scaled(c)             # type: ignore[arg-type]
        return form if all(v in self.indices or v not in self.inside for v, _ in form.terms) else None

    def _bounds(self, loop: Equation) -> tuple:
        """The smallest and the largest value of a loop's index."""
        start, stop, step = loop.inputs[:3]
        first, last = self._form(start), self._form(stop) - ONE.scaled(1 if step.value > 0 else -1)       # type: ignore[union-attr]
        return (first, last) if step.value > 0 else (last, first)                                       # type: ignore[union-attr]


def _index_of(loop: Equation) -> "Var | None":
    """The index of a loop whose step is a number."""
    return loop.regions[0].inputs[0] if loop.op.name == "for" and isinstance(loop.inputs[2], Literal) else None
