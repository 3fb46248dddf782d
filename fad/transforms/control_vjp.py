"""Reverse mode of branches, and what it has in common with that of loops (see loop_vjp.py).

The branch that is taken saves what its reverse half needs (see save_or_recompute.py). The pullback is a branch on the
same selector.
"""
from collections.abc import Callable

from ..ir.build import current
from ..ir.graph import Equation, Func, Var
from ..ir.views import BranchView
from ..ir.walk import bind_outputs, run_equation
from ..ops.carry import UNDEFINED
from ..ops.control import COND
from ..util.array import AnyArray, ArrayOrNumber
from .activity import activate
from .inputs import zeros_like
from .joint import JointProgram, atoms
from .save_or_recompute import Division
from .sweeps import ReverseSweep
from .undo_log import trail_to


def active_outputs(sweep: ReverseSweep, eqn: Equation) -> list:
    """Indices of the outputs that a derivative flows through."""
    activate(eqn, sweep.active)
    return [k for k, v in enumerate(eqn.outputs) if v in sweep.active]


def demanded(sweep: ReverseSweep, eqn: Equation) -> list:
    """Indices of the outputs whose arrays are to be restored to what they were before the equation."""
    return [k for k, v in enumerate(eqn.outputs) if v in sweep.demanded]


def take(sweep: ReverseSweep, eqn: Equation, given: list) -> "list | None":
    """The cotangents of these outputs, None if all are zero and nothing else is asked for."""
    gs = [sweep.cotangents.pop(eqn.outputs[k], None) for k in given]
    if all(g is None for g in gs) and not demanded(sweep, eqn):
        return None
    return [zeros_like(sweep.env.read(eqn.outputs[k])) if g is None else g for k, g in zip(given, gs)]


def total(sweep: ReverseSweep, v: Var) -> ArrayOrNumber:
    g = sweep.cotangents.get(v)
    return zeros_like(sweep.env.read(v)) if g is None else g


def note_restored(sweep: ReverseSweep, before: Var, after: Var, array: AnyArray) -> None:
    """Tell the region around, if it follows the array's trail, that its earlier version is there again."""
    if after in sweep.trails:
        current().notes.restore(sweep.env.read(before), sweep.env.read(after), array)


class _Slots:
    """Results of a cond for values that its branches save; values of one type from different branches share one."""

    def __init__(self) -> None:
        self.types: list = []
        self.of_branch: list = []

    def add(self, saved: list) -> None:
        """The slots of one more branch's values."""
        free = list(range(len(self.types)))
        chosen = []
        for v in saved:
            key = (v.type.dtype, tuple([n == 1 for n in v.type.shape]))
            slot = next((k for k in free if self.types[k] == key), None)
            if slot is None:
                slot = len(self.types)
                self.types.append(key)
            else:
                free.remove(slot)
            chosen.append(slot)
        self.of_branch.append(chosen)

    def spread(self, branch: int, values: tuple) -> list:
        """One branch's saved values in their slots."""
        out: list = [UNDEFINED] * len(self.types)
        for slot, x in zip(self.of_branch[branch], values):
            out[slot] = x
        return out


def vjp_cond(sweep: ReverseSweep, eqn: Equation) -> None:
    given = active_outputs(sweep, eqn)
    if not given:
        run_equation(eqn, sweep.env)
        return
    selector = sweep.env.read(BranchView(eqn).selector)
    divisions = [_divided_branch(sweep, eqn, region, given) for region in eqn.regions]
    slots = _Slots()
    for division in divisions:
        slots.add(division.saved)

    def forward(branch: int) -> Callable:
        def run() -> list:
            outputs, values = divisions[branch].run_forward(divisions[branch].environment((), ()))
            return list(outputs) + slots.spread(branch, values)
        return run
    count = len(eqn.outputs)
    results = COND.run_regions([selector], tuple([forward(k) for k in range(len(divisions))]),
                               names=eqn.params["names"], extents=eqn.params["extents"])
    bind_outputs(eqn, results[:count], sweep.env)
    _note_kept(sweep, eqn, divisions, slots, results[count:])
    sweep.pullbacks.append(lambda: _pull_cond(sweep, eqn, given, selector, divisions, slots, results[count:]))


def _divided_branch(sweep: ReverseSweep, eqn: Equation, region: Func, given: list) -> Division:
    """Restore what a branch changes where the loop around asks for it."""
    wanted = demanded(sweep, eqn)
    trails = {k: trail_to(region, region.outputs[k], sweep.active) for k, v in enumerate(eqn.outputs)
              if v in sweep.trails}
    joint = JointProgram(sweep, eqn, region, given, trails=trails, restoring=wanted,
                         demanded=[v for k in wanted if (trail := trails[k]) for v in trail.versions])
    return Division(joint, wanted)


def _note_kept(sweep: ReverseSweep, eqn: Equation, divisions: list, slots: _Slots, saved: tuple) -> None:
    """Tell the region around, if it may restore an array, which saved values are that array in a branch."""
    for division, chosen in zip(divisions, slots.of_branch):
        joint, kept = division.joint, division.joint.notes.kept
        for k, trail in joint.trails.items():
            versions, after = set(atoms(map(joint.env.read, trail.versions))), sweep.env.read(eqn.outputs[k]).atom
            for v, slot in zip(division.saved, chosen):
                if v in versions or not versions.isdisjoint(kept.get(v, ())):
                    current().notes.kept.setdefault(saved[slot].atom, set()).add(after)


def _pull_cond(sweep: ReverseSweep, eqn: Equation, given: list, selector: AnyArray, divisions: list, slots: _Slots,
               saved: tuple) -> None:
    """Each branch adds to the cotangents of the variables around it."""
    gs = take(sweep, eqn, given)
    if gs is None:
        return
    moved = list(dict.fromkeys(v for division in divisions for v in division.joint.totals_out))
    totals = {v: total(sweep, v) for v in moved}
    restored = [k for k in demanded(sweep, eqn) if all(k in division.restored for division in divisions)]

    def backward(branch: int) -> Callable:
        def run() -> list:
            joint, division = divisions[branch].joint, divisions[branch]
            env = division.environment((), ())
            env.update((g.atom, value) for g, value in zip(joint.gs, gs))
            env.update((joint.totals[v].atom, totals[v]) for v in joint.totals_out)
            env.update((joint.histories[k].state.atom, sweep.env.read(eqn.outputs[k])) for k in division.restored)
            chosen = slots.of_branch[branch]
            _, out, arrays = division.run_reverse(env, lambda number, _: saved[chosen[number]])
            new, again = dict(zip(joint.totals_out, out)), dict(zip(division.restored, arrays))
            return [new.get(v, totals[v]) for v in moved] + [again[k] for k in restored]
        return run
    results = COND.run_regions([selector], tuple([backward(k) for k in range(len(divisions))]))
    sweep.cotangents.update(zip(moved, results))
    for k, array in zip(restored, results[len(moved):]):
        before = divisions[0].joint.trails[k].versions[0]
        note_restored(sweep, before, eqn.outputs[k], array)
