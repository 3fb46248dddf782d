"""The elements of an array that a region reads and writes: all accesses, and reads before writes."""
from typing import Any, NamedTuple

from ..ir.graph import Atom, Equation, Func, Literal, Var, free_vars, is_branch, is_counted
from ..ir.spec import subscripts_of
from ..ir.uses import operands
from ..ir.views import BranchView, LoopView


class Accesses:
    """The reads and writes of a carried array in a region, and the variables that hold its versions.

    are_parts: whether all of them are of elements, rows and slices, so that the array as a whole is read nowhere
    """

    def __init__(self, region: Func, carry: Var):
        self.versions: set[Any] = {carry}
        self.equations: list[Equation] = []
        self.are_parts = True
        self._collect(region)

    def all_at(self, fixed: dict) -> bool:
        """Whether every access is at these indices: {axis: index}."""
        return self.are_parts and bool(self.equations) and all(
            entry == "i" and given[0] is fixed[axis]
            for eqn in self.equations for axis, (entry, given) in enumerate(subscripts_of(eqn)) if axis in fixed)

    def _collect(self, region: Func) -> None:
        for eqn in region.equations:
            if is_counted(eqn):
                self._loop(LoopView(eqn))
            elif is_branch(eqn):
                self._branches(BranchView(eqn))
            elif not self.versions.isdisjoint(operands(eqn)):
                self._access(eqn)

    def _access(self, eqn: Equation) -> None:
        if not (eqn.reads_part or eqn.writes_part) or "a" in eqn.params["spec"]:
            self.are_parts = False
            return
        whole, *others = eqn.inputs
        self.are_parts &= whole in self.versions and self.versions.isdisjoint(others)
        self.equations.append(eqn)
        if eqn.writes_part and whole in self.versions:
            self.versions.update(eqn.outputs)

    def _loop(self, loop: LoopView) -> None:
        held, is_done = [k for k, a in enumerate(loop.init) if a in self.versions], False
        while not is_done:
            self.versions.update(x for k in held for x in (loop.carries[k], loop.results[k]))
            self._collect(loop.body)
            self.are_parts &= all((a in self.versions) == (c in self.versions) for a, c in zip(loop.next, loop.carries))
            # an iteration may hand an array on to another carry
            held = [k for k, a in enumerate(loop.next) if a in self.versions and loop.carries[k] not in self.versions]
            is_done = not held

    def _branches(self, branch: BranchView) -> None:
        for region in branch.branches:
            self._collect(region)
        for out in branch.results:
            held = {a in self.versions for a in branch.yielded(out)}
            self.are_parts &= len(held) == 1
            if True in held:
                self.versions.add(out)


class Written(NamedTuple):
    """Whether elements may be read before they are written, and whether all are written in the end."""

    is_exposed: bool
    is_complete: bool


EXPOSED = Written(True, False)


class Coverage:
    """Reads before writes: whether a region reads elements of an array that it has not written before.

    fixed: {axis: index} of the elements that are looked at, the others do not matter.
    """

    def __init__(self, fixed: dict):
        self.fixed = fixed

    def of(self, region: Func, version: Var) -> Written:
        """The reads and writes of the array in a region that begins with this version of it."""
        is_complete, overwritten = False, set[Any]()
        for eqn in region.equations:
            read = operands(eqn)
            if not overwritten.isdisjoint(read):
                return EXPOSED
            if is_complete or version not in read:
                continue
            before = version
            found, version = self._after(eqn, version)
            if found.is_exposed:
                return EXPOSED
            is_complete = found.is_complete
            if version is not before:
                overwritten.add(before)
        return EXPOSED if any(a in overwritten for a in region.outputs) else Written(False, is_complete)

    def _after(self, eqn: Equation, version: Var) -> tuple:
        """The reads and writes of the array by an equation, and the version behind it."""
        if is_counted(eqn):
            return self._after_loop(LoopView(eqn), version)
        if is_branch(eqn):
            return self._after_branches(BranchView(eqn), version)
        if eqn.replaces_part and eqn.inputs[0] is version:
            return Written(False, self._is_whole(eqn)), eqn.outputs[0]
        return EXPOSED, version

    def _is_whole(self, eqn: Equation) -> bool:
        """Whether a write to a part writes to all that is looked at."""
        return all(_is_all(entry, given, n) or (entry == "i" and axis in self.fixed and given[0] is self.fixed[axis])
                   for axis, ((entry, given), n) in enumerate(zip(subscripts_of(eqn), eqn.inputs[0].type.shape)))

    def _after_loop(self, loop: LoopView, version: Var) -> tuple:
        places = [k for k, a in enumerate(loop.init) if a is version]
        if len(places) != 1 or version in free_vars(loop.body):
            return EXPOSED, version
        carry, result = loop.carries[places[0]], loop.results[places[0]]
        versions = Accesses(loop.body, carry).versions
        if [k for k, a in enumerate(loop.next) if a in versions] != places:
            return EXPOSED, version                           # an iteration hands it on to another carry
        for axis in range(carry.type.rank):
            if axis not in self.fixed and runs_over(loop, carry, axis):
                inner = Coverage({**self.fixed, axis: loop.index})
                found = inner.of(loop.body, carry)
                if found.is_complete and not found.is_exposed and Accesses(loop.body, carry).all_at(inner.fixed):
                    return found, result
        return Written(self.of(loop.body, carry).is_exposed, False), result

    def _after_branches(self, branch: BranchView, version: Var) -> tuple:
        found = [self.of(region, version) for region in branch.branches]
        following = [out for out in branch.results if _holds(branch, out, version)]
        if len(following) > 1:
            return EXPOSED, version
        done = Written(any(w.is_exposed for w in found), all(w.is_complete for w in found))
        return done, following[0] if following else version


def _holds(branch: BranchView, out: Var, version: Var) -> bool:
    """Whether a result of a cond is a version of the array that begins as this one."""
    return any(a in Accesses(region, version).versions for region, a in zip(branch.branches, branch.yielded(out)))


def _is_all(entry: object, given: tuple, n: object) -> bool:
    """Whether an entry of a spec selects a whole axis."""
    return entry == ":" or (entry == ("s", 1) and _is_number(given[0], 0) and _is_extent(given[1], n))


def _is_number(a: Atom, value: int) -> bool:
    return isinstance(a, Literal) and a.value == value


def _is_extent(a: Atom, n: object) -> bool:
    """Whether an operand is this extent."""
    return a is n or (isinstance(a, Literal) and a.value == n)


def runs_over(loop: LoopView, array: Var, axis: int) -> bool:
    """Whether the loop's index takes each place along an axis once."""
    start, stop, step = loop.bounds
    return _is_extent(stop, array.type.shape[axis]) and _is_number(start, 0) and _is_number(step, 1)
