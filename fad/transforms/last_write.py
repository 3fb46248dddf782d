"""Last-write analysis: reads of an array that no later iteration overwrites. The reverse sweep reads the final array.

    for k in range(n):                      # iteration k reads row k, and writes to the rows below
        for i in range(k + 1, n): A[i] -= A[i, k] / A[k, k] * A[k]

Elimination reads n^3 / 3 numbers of these rows, and saves none of them. The same holds for substitutions,
factorizations and tables that are filled in some order. Bounds of indices are the proof (passes/value_ranges.py): all
later writes, of this iteration and of those that follow, lie above, or all below, the read along some axis, or a
condition before the write keeps them apart. The analysis compares at most MOST_PAIRS pairs of a read and a write.

If the loop around changes the array afterwards, the final array is gone. Then a row or an element that all iterations
of this loop read is kept: once, not in each iteration.
"""
import math
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any, NamedTuple

from ..ir.affine import Affine
from ..ir.build import current
from ..ir.graph import Atom, Equation, Func, Var, is_branch, is_loop
from ..ir.op import registry
from ..ir.spec import walk_spec
from ..ir.traits import Comparison
from ..ir.uses import DefUse
from ..ir.views import BranchView, LoopView
from ..ir.walk import Environment
from ..ops.index import index
from ..passes.value_ranges import Ranges, index_of
from ..util.array import AnyArray, ArrayOrNumber
from .cost_model import bytes_of, extent_guess, iterations_guess
from .undo_log import trail_to

MOST_PAIRS = 10_000  # reads and writes that are compared; unrolled code may have more


class FinalPart(NamedTuple):
    """A part of an array that a loop leaves: the number of the output, and (axis, index) for each axis with one fixed
    index."""

    number: int
    fixed: tuple = ()

    def of(self, array: AnyArray, env: Environment) -> AnyArray:
        """The part of an array; env: what the indices are."""
        axes = dict(self.fixed)
        spec = tuple("i" if axis in axes else ":" for axis in range(len(array.shape)))
        return index(array, *map(env.read, axes.values()), spec=spec, at=0) if axes else array

    def rest(self, eqn: Equation) -> tuple:
        """The selection, and its operands, with which a reader of the array reads the part."""
        axes = dict(self.fixed)
        entries = [(entry, given) for axis, entry, given in walk_spec(eqn.params["spec"], eqn.inputs[1:])
                   if axis not in axes]
        return tuple(entry for entry, _ in entries), [a for _, given in entries for a in given]


class LoopAccess(NamedTuple):
    """An equation that reads or writes a part of an array. `loops` are the loops around it, outermost first,
    `branches` pairs (selector, number)."""

    eqn: Equation
    loops: tuple
    branches: tuple = ()

    @property
    def around(self) -> frozenset:
        """The indices of the loops."""
        return frozenset(i for i in map(index_of, self.loops) if i is not None)


def final_reads(loop: Equation, trails: dict, active: set, changed: Iterable, env: Environment) -> dict:
    """{equation that reads a part of an array: the final Part that holds it}, for reads of a counted loop that are
    larger than the part.

    trails: those of its outputs, by number; changed: the numbers of the outputs that the loop around changes further;
    env: values of the variables around.
    """
    if not trails:
        return {}
    nest, found = _Nest(loop, env), {}
    for k in trails:
        versions, writes = set(), []
        for kind, x in _trail(loop, k, active):
            writes.append(x) if kind == "write" else versions.update(x)
        for part, reads in nest.parts(k, loop.outputs[k], versions, k in changed).items():
            if len(reads) * len(writes) <= MOST_PAIRS and _are_many(reads, part, loop.outputs[k]):
                reads = [r for r in reads if all(nest.is_last(r, w, 0) for w in writes)]
                found.update({r.eqn: part for r in reads if _are_many(reads, part, loop.outputs[k])})
    return found


def _are_many(reads: list, part: FinalPart, array: Var) -> bool:
    """Whether more is read than the part holds."""
    fixed = math.prod(max(extent_guess(array.type.shape[axis]), 1) for axis, _ in part.fixed)
    return sum(map(_volume, reads)) * fixed > bytes_of(array)


def _volume(read: LoopAccess) -> int:
    return bytes_of(read.eqn.outputs[0]) * math.prod(map(iterations_guess, read.loops))


def _trail(loop: Equation, k: int, active: set, around: tuple = (), branches: tuple = ()) -> Iterator[tuple]:
    """("versions", ...) and ("write", access) of what a loop makes of its carry number k."""
    view = LoopView(loop)
    yield from _steps(view.body, view.next[k], active, (*around, loop), branches)


def _steps(region: Func, end: Var, active: set, loops: tuple, branches: tuple) -> Iterator[tuple]:
    versions = trail_to(region, end, active).versions  # type: ignore[union-attr]
    chains = DefUse.of(region)
    yield "versions", versions
    for v in versions[1:]:
        eqn: Any = chains.definition(v)
        if eqn.writes_part:
            yield "write", LoopAccess(eqn, loops, branches)
        elif is_branch(eqn):
            view = BranchView(eqn)
            for number, (branch, end) in enumerate(zip(view.branches, view.yielded(v))):
                yield from _steps(branch, end, active, loops, (*branches, (view.selector, number)))
        else:
            yield from _trail(eqn, eqn.outputs.index(v), active, loops, branches)


class _Nest:
    """A loop with everything in it: readers of parts of arrays, and the equations that make its integers."""

    def __init__(self, loop: Equation, env: Environment):
        self.ranges = Ranges(lambda a: _form(env.read(a)), current().integers)
        self.place: dict[Equation, int] = {}
        self.born: dict[Var, tuple] = {}  # variable -> (number of loops around it, the place of what comes next)
        self.reads: list[LoopAccess] = []
        self._enter((loop,))

    def _enter(self, loops: tuple) -> None:
        self.ranges.enter(loops[-1], loops[:-1])
        body = LoopView(loops[-1]).body
        self._note(body.inputs, loops)
        self._look_at(body.equations, loops)

    def _note(self, variables: Iterable, loops: tuple) -> None:
        self.born.update(dict.fromkeys(variables, (len(loops), len(self.place))))

    def _look_at(self, equations: Iterable, loops: tuple) -> None:
        for eqn in equations:
            self.place[eqn] = len(self.place)
            self.ranges.add(eqn)
            if eqn.reads_part:
                self.reads.append(LoopAccess(eqn, loops))
            elif is_loop(eqn):
                self._enter((*loops, eqn))
            elif is_branch(eqn):
                for branch in eqn.regions:
                    self._look_at(branch.equations, loops)
            self._note(eqn.outputs, loops)

    def parts(self, k: int, array: Var, versions: set, changed: bool) -> dict:
        """{part of array number k: its readers}: the whole array, or, if it is changed afterwards, parts with fewer
        axes.
        """
        found: dict = {}
        for read in self.reads:
            if read.eqn.inputs[0] in versions:
                given = walk_spec(read.eqn.params["spec"], read.eqn.inputs[1:])
                fixed = tuple((axis, a[0]) for axis, entry, a in given if changed and entry == "i"
                              and self._is_there(a[0], array.type.shape[axis]))
                if fixed or not changed:
                    found.setdefault(FinalPart(k, fixed), []).append(read)
        return found

    def _is_there(self, i: Atom, extent: object) -> bool:
        """Whether an index is the same in all iterations, and in range even if no iteration reads."""
        place, end = self.ranges.exact(i, frozenset()), self.ranges.exact(extent, frozenset())
        if i in self.ranges.inside or place is None or end is None:
            return False
        return self.ranges.is_at_least(0, place, ()) and self.ranges.is_at_least(1, end - place, ())

    # -- which comes last --------------------------------------------------------------------------

    def is_last(self, read: LoopAccess, write: LoopAccess, level: int) -> bool:
        """Whether, in any one iteration of the loops around this level, nothing that was read is written to after the
        version was there that is read.

        The read itself may come later: a copy is the version of then.
        """
        if not self._apart(read, write, level, later=True):
            return False
        inner, (depth, born) = level + 1, self.born[read.eqn.inputs[0]]
        if inner < min(depth, len(write.loops)) and read.loops[inner] is write.loops[inner]:
            return self.is_last(read, write, inner)
        return self.place[write.eqn] < born or self._apart(read, write, level, later=False)

    def _apart(self, read: LoopAccess, write: LoopAccess, level: int, later: bool) -> bool:
        """Whether some axis keeps them apart in one iteration of the loop at this level, or what is read in one from
        what is written in later ones.
        """
        def lie_apart(r: tuple, w: tuple) -> bool:
            return (self._is_beyond(r, w, read, write, level, later)
                    or self._is_kept_apart(r, w, read, write, level, later))
        spans = zip(*[self.ranges.spans(access.eqn, access.around) for access in (read, write)])
        return any(rs and ws and all(lie_apart(r, w) for r, w in product(rs, ws)) for rs, ws in spans)

    def _is_beyond(self, r: tuple, w: tuple, read: LoopAccess, write: LoopAccess, level: int, later: bool) -> bool:
        """Whether all that is written to lies above what was read, or all below."""
        for sign in (1, -1):
            last = self.ranges.extreme(r[sign > 0], read.loops[level + 1:], sign)
            firsts = self._firsts(w[sign < 0], write, level, sign, later)
            if last is not None and any(self.ranges.is_at_least(1, (first - last).scaled(sign), read.loops[:level + 1])
                                        for first in firsts):
                return True
        return False

    def _firsts(self, end: "Affine | None", write: LoopAccess, level: int, sign: int, later: bool) -> Iterator[Affine]:
        """The end of a span nearer to the read: its value in the same iteration, or its nearest value in any later one.
        """
        here = self.ranges.extreme(end, write.loops[level + 1:], -sign)
        moved = 0 if here is None or not later else self._moved(here, write.loops[level])
        if here is not None and moved * sign >= 0:
            yield here.shifted(moved)
        anywhere = self.ranges.extreme(end, write.loops[level:], -sign) if later else None
        if anywhere is not None:
            yield anywhere

    def _moved(self, form: Affine, loop: Equation) -> int:
        """The distance that a form moves from an iteration to the next one."""
        i = index_of(loop)
        return 0 if i is None else form.coefficient(i) * LoopView(loop).step     # type: ignore[operator]

    # -- conditions --------------------------------------------------------------------------------

    def _is_kept_apart(self, r: tuple, w: tuple, read: LoopAccess, write: LoopAccess, level: int, later: bool) -> bool:
        """Whether a condition around the write keeps its index apart from the read one, which is the same in all these
        iterations.
        """
        if None in (*r, *w) or r[0] != r[1] or w[0] != w[1]:
            return False
        steady = set(map(index_of, read.loops[:level if later else level + 1]))
        if any(v in self.ranges.inside and v not in steady for v, _ in r[0].terms):
            return False
        apart = w[0] - r[0]
        facts = [fact for selector, number in write.branches for fact in self._facts(selector, number, write.around)]
        return any(_follows(apart, fact) or _follows(apart.scaled(-1), fact) for fact in facts)

    def _facts(self, selector: Any, holds: int, around: frozenset) -> Iterator[tuple]:
        """("nonzero" or "positive", form): the facts that follow if a condition holds, or does not hold."""
        eqn = self.ranges.made.get(selector)
        if eqn is None:
            return
        if eqn.op.name == "logical_not":
            yield from self._facts(eqn.inputs[0], not holds, around)
        elif eqn.op.name == ("logical_and" if holds else "logical_or"):
            for a in eqn.inputs:
                yield from self._facts(a, holds, around)
        relation = _relation(eqn, bool(holds))
        x, y = [self.ranges.exact(a, around) for a in eqn.inputs] if relation is not None else (None, None)
        if relation is not None and x is not None and y is not None:
            difference = (x - y).scaled(relation.sign or 1).shifted(int(relation.or_equal))
            yield "positive" if relation.is_order else "nonzero", difference


def _relation(eqn: Equation, holds: bool) -> "Comparison | None":
    """The comparison that holds if this one does, or does not; None for equal integers, which keeps no two of them
    apart."""
    found = eqn.op.traits.comparison
    if found is not None and not holds:
        found = registry[found.negation].traits.comparison
    return found if found is not None and (found.is_order or not found.or_equal) else None


def _form(x: ArrayOrNumber) -> Affine:
    """The form of an integer in the program that is being built."""
    return current().integers.form(x.atom if hasattr(x, "atom") else int(x))


def _follows(form: Affine, fact: tuple) -> bool:
    """Whether a form is not zero, as follows from a fact."""
    kind, known = fact
    return form == known if kind == "nonzero" else (form - known).is_constant and (form - known).const >= 0
