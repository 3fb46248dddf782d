"""hoist_checks: a loop checks an affine index once, at both ends of its range, in front of the loop.

An affine function takes its extremes at the ends of an interval. One walk over the program.
"""
from typing import Any

from ..ir.graph import Atom, Equation, Func, Literal, Var, all_equations, is_counted
from ..ir.op import registry
from ..ir.types import BOOL, INT, Type
from ..ir.uses import defined_in
from ..ir.views import LoopView
from .dependence_test import Places
from .rewrite import Scope, rewrite
from .value_ranges import Ranges

_NUMBER = Type(INT, (), True)


def hoist_checks(func: Func) -> Func:
    """Checks of an index that is affine in a loop's counter (of step 1 or -1), or the same in all iterations, move in
    front of the loop, if every iteration makes them.

        for i in range(n): check 2 * i + 1   ->   if n > 0: check 1, check 2 * (n - 1) + 1; for i in range(n): ...
    """
    if not any(eqn.op.name == "check_index" for eqn in all_equations(func)):
        return func
    ranges = Places(func).ranges
    return rewrite(func, lambda eqn, scope: _visit(eqn, scope, ranges))


def _visit(eqn: Equation, scope: Scope, ranges: Ranges) -> "Equation | None":
    loop = LoopView(eqn) if is_counted(eqn) else None
    if loop is None or loop.step not in (1, -1):
        return None
    lines = _Lines(loop)
    checks = [e for e in loop.body.equations if e.op.name == "check_index" and lines.serves(e)]
    if not checks:
        return None
    ends, groups = _Ends(loop, scope, ranges.is_less(*loop.ends)), dict[Any, list]()
    for check in checks:
        groups.setdefault(lines.group(check), []).append(check)
    for group in groups.values():
        least, most = (choose(group, key=lambda check: lines.shifts.get(check.inputs[0], 0)) for choose in (min, max))
        ends.check(least, most, lines)
    return loop.replace(body=loop.body.replace(equations=[e for e in loop.body.equations if e not in checks]))


class _Lines:
    """The integers of a loop's body that are affine in its index."""

    def __init__(self, loop: LoopView):
        self.index, region = loop.index, loop.body
        self.inside = defined_in(region)
        self.equations: dict[Var, Equation] = {}
        self.shifts: dict[Any, int] = {loop.index: 0}        # of an integer: what is added to the index
        for eqn in region.equations:
            if self._is_affine(eqn):
                self.equations[eqn.outputs[0]] = eqn
                self._note_shift(eqn)

    def _note_shift(self, eqn: Equation) -> None:
        i, more = (*eqn.inputs, None)[:2]
        if eqn.op.name in ("add", "sub") and i in self.shifts and isinstance(more, Literal):
            self.shifts[eqn.outputs[0]] = self.shifts[i] + (more.value if eqn.op.name == "add" else -more.value)

    def _is_affine(self, eqn: Equation) -> bool:
        if not eqn.op.traits.affine or eqn.outputs[0].type.shape or eqn.outputs[0].type.dtype != INT:
            return False
        moving = [a for a in eqn.inputs if a in self.inside]
        return all(map(self.moves, moving)) and (eqn.op.name != "mul" or len(moving) < 2)

    def moves(self, atom: Var) -> bool:
        """Whether an atom is the index, or computed from it along a line."""
        return atom is self.index or atom in self.equations

    def group(self, check: Equation) -> tuple:
        """A key that the checks of an index and its neighbours share, if one line of the user's makes them along one
        axis: the smallest neighbour at its smallest place and the largest at its largest are enough.
        """
        i, n = check.inputs
        return (n, check.params["axis"], check.where) if i in self.shifts else (check,)

    def serves(self, check: Equation) -> bool:
        """Whether the check may be made at the ends alone: its index is affine or stays, and its extent comes from
        outside the loop.
        """
        i, n = check.inputs
        stays = i not in self.inside and not i.type.shape and i.type.dtype == INT
        return (self.moves(i) or stays) and n not in self.inside


class _Ends:
    """The first and the last iteration of a loop, in the program in front of it. runs: whether it is known to have any.
    """

    def __init__(self, loop: LoopView, scope: Scope, runs: bool):
        self.scope, self.where = scope, loop.eqn.where
        start, stop, step = loop.bounds
        self.runs = None if runs else self._emit("less", loop.ends, Type(BOOL))
        self.iterations: list = [{}, {}]
        self.counters = [start, self._emit("sub", (stop, step))]
        self.goes_up = step.value > 0

    def _emit(self, name: str, inputs: tuple, type: Type = _NUMBER) -> Any:
        if type is _NUMBER and all(isinstance(a, Literal) for a in inputs):
            return Literal(int(registry[name].run(*[a.value for a in inputs])), _NUMBER)
        return self.scope.emit(registry[name], inputs, type, {}, self.where)

    def check(self, least: Equation, most: Equation, lines: _Lines) -> None:
        """The checks at both ends, if the loop has any iteration: of the lesser one where the index is least, and of
        the larger one.
        """
        checks = (least, most) if self.goes_up else (most, least)
        extent = self._if_it_runs(least.inputs[1], 1)
        found = {self._value(check.inputs[0], lines, iteration, counter): check
                 for check, iteration, counter in zip(checks, self.iterations, self.counters)}
        for end, check in found.items():
            is_zero = isinstance(end, Literal) and end.value == 0
            place = end if is_zero else self._if_it_runs(end, 0)
            self.scope.add(check.replace(inputs=(place, extent)))

    def _if_it_runs(self, n: Atom, otherwise: int) -> Atom:
        """An integer if the loop has any iteration, else another one."""
        return n if self.runs is None else self._emit("where", (self.runs, n, Literal(otherwise, _NUMBER)))

    def _value(self, atom: Atom, lines: _Lines, iteration: dict, counter: object) -> Any:
        """The value of an atom in that iteration."""
        if atom is lines.index:
            return counter
        if atom not in lines.equations:
            return atom
        if atom not in iteration:
            eqn = lines.equations[atom]
            iteration[atom] = self._emit(eqn.op.name,
                                         tuple([self._value(a, lines, iteration, counter) for a in eqn.inputs]))
        return iteration[atom]
