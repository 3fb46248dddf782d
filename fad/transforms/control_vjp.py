"""Reverse mode of loops and branches.

    for i in range(n): c = body(i, c)      ->      for i in range(n): save; c = body(i, c)
                                                   for i in reversed(range(n)): restore; gc = pullback(i, gc)

division.py chooses what the forward loop saves, and tape.py where. The reverse loop carries the cotangents of the
carries and of the variables around the loop, and the arrays that it restores (undo.py).
"""
from collections.abc import Callable
from typing import Any

from ..ir.build import current
from ..ir.graph import Equation, Func, has_loop
from ..ir.op import registry
from ..ir.views import BranchView, LoopView
from ..ir.walk import bind_outputs, closure, run_equation
from ..ops.carry import UNDEFINED
from ..ops.control import COND, FOR, WHILE, integer, loop_index, trip_count, turn_number
from .activity import activate
from .blocks import Blocks, again_in_blocks
from .budget import for_the_body, is_small, plan_for, share_of
from .counters import counters
from .division import Division
from .final import final_reads
from .inputs import zeros_like
from .joint import Joint, atoms
from .segments import vjp_in_segments
from .tape import FIRST_EXTENT, Tape, Turns, is_inside_a_loop
from .undo import carried_trails, trail_to
from .weights import bytes_of, turns_guess


def _active_outputs(sweep: Any, eqn: Equation) -> list:
    """Indices of the outputs that a derivative flows through."""
    activate(eqn, sweep.active)
    return [k for k, v in enumerate(eqn.outputs) if v in sweep.active]


def _demanded(sweep: Any, eqn: Equation) -> list:
    """Indices of the outputs whose arrays are to be restored to what they were before the equation."""
    return [k for k, v in enumerate(eqn.outputs) if v in sweep.demanded]


def _take(sweep: Any, eqn: Equation, given: list) -> "list | None":
    """The cotangents of these outputs, None if all are zero and nothing else is asked for."""
    gs = [sweep.cotangents.pop(eqn.outputs[k], None) for k in given]
    if all(g is None for g in gs) and not _demanded(sweep, eqn):
        return None
    return [zeros_like(sweep.env.read(eqn.outputs[k])) if g is None else g for k, g in zip(given, gs)]


def _totals(sweep: Any, joint: Joint) -> list:
    """The cotangents so far of the variables around a region."""
    return [_total(sweep, v) for v in joint.totals_out]


def _total(sweep: Any, v: Any) -> Any:
    g = sweep.cotangents.get(v)
    return zeros_like(sweep.env.read(v)) if g is None else g


# -- loops --------------------------------------------------------------------------------------------------------------------


class _Loop:
    """The reverse mode of one loop: its joint program, divided, and its tape."""

    def __init__(self, sweep: Any, eqn: Equation, given: list, index: Any, turns: "Turns | None"):
        self.sweep, self.eqn, self.given = sweep, eqn, given
        self.view = LoopView(eqn)
        self.body, self.count = self.view.body, len(eqn.outputs)
        self.carried = [k for k, v in enumerate(self.view.carries) if v in sweep.active]
        self.counters = counters(self.view)
        self.share, self.inner = share_of(sweep.loops), None
        self._divide(index)
        if self.share is not None and any(has_loop(e) for e in self.body.equations) and not is_small(eqn, self.division.saved, self.share):
            self.inner = self.share
            self._divide(index)
        kept = [eqn.outputs[k] for k in self.division.kept_carries()]
        self.plan = plan_for(eqn, self.division.saved, kept, None if turns is None else turns.count, self.share)
        self.blocks: Any = None
        if self.plan is None and (turns is None or not self._runs_in_blocks(index, turns)):
            known = None if turns is None else turns._replace(index=self.joint.lead[0].atom)
            self.tape = Tape(self.division.saved, known, self._lines())

    def _runs_in_blocks(self, index: Any, turns: Turns) -> bool:
        """Whether the loop should run in blocks, which compute arrays again in place of restoring them."""
        joint, division = self.joint, self.division
        if division.restored and not any(has_loop(e) for e in self.body.equations) and not is_inside_a_loop(current()):
            joint, division = self._divided(index, {}, set())
        known = turns._replace(index=joint.lead[0].atom)
        again = again_in_blocks(division, self.eqn, known)
        if again is not None:
            self.joint, self.division = joint, division
            self.blocks = Blocks(self, again, known, self._lines())
        return again is not None

    def _lines(self) -> dict:
        """The user's line of each value of the body; a carry's is the loop's."""
        lines = dict.fromkeys(self.joint.builder.inputs, self.eqn.where)
        return lines | {v: e.where for e in self.division.equations for v in e.outputs}

    def _divide(self, index: Any) -> None:
        """Trace and divide the body; once more, with inner loops that restore more arrays, if that saves less."""
        with for_the_body(self.eqn, self.inner):
            trails = carried_trails(self.view, self.sweep.active)
            self.final = self._final_reads(trails)
            wanted = set(_demanded(self.sweep, self.eqn))
            self.joint, self.division = self._divided(index, trails, wanted)
            missing = trails.keys() - self.joint.histories.keys()
            if missing and self.division.would_gain([trails[k] for k in missing]):
                joint, division = self._divided(index, trails, wanted | missing)
                if division.cost < self.division.cost:
                    self.joint, self.division = joint, division

    def _divided(self, index: Any, trails: dict, wanted: set) -> tuple:
        """The joint program and its division; wanted: numbers of the carries that the loops and branches in the body restore."""
        joint = Joint(self.sweep, self.eqn, self.body, self.carried, index, trails=trails, restoring=trails, counters=self.counters, final=self.final,
                      demanded=[v for k in wanted & trails.keys() for v in trails[k].versions])
        return joint, Division(joint, _demanded(self.sweep, self.eqn), self._states(trails))

    def _final_reads(self, trails: dict) -> dict:
        """{equation: the part of the final array that holds the values it reads}"""
        if self.view.index is None:
            return {}
        changed = [k for k in trails if self.eqn.outputs[k] in self.sweep.trails]
        found = final_reads(self.eqn, trails, self.sweep.active, changed, self.sweep.env).items()
        return {eqn: part for eqn, part in found if eqn not in self.sweep.finals}

    def _states(self, trails: dict) -> dict:
        """{number of a carry: an iteration's share of the cost of its last value in the reverse sweep}.

        At the top it costs nothing. If the loop around restores it, it costs what is overwritten outside this loop.
        """
        if not is_inside_a_loop(current()):
            return {}
        turns, costs = turns_guess(self.eqn), {}
        for k, trail in trails.items():
            v = self.eqn.outputs[k]
            total = self.sweep.trails[v] - trail.cost * turns if v in self.sweep.trails else bytes_of(v)
            costs[k] = max(total // max(turns, 1), 1)
        return costs

    def forward_step(self, lead: list, carries: tuple, k: Any) -> list:
        """One iteration forward: carries and tape."""
        env = self.division.environment(lead, carries[:self.count])
        outputs, values = self.division.run_forward(env)
        return outputs + self.tape.push(list(carries[self.count:]), values, k)

    def finish_forward(self, results: tuple) -> None:
        bind_outputs(self.eqn, results[:self.count], self.sweep.env)
        self.tape_end = list(results[self.count:])

    def names(self) -> tuple:
        return self.eqn.params["names"]

    def links(self, offset: int) -> tuple:
        return self.eqn.params["extents"] + self.tape.links(offset)

    def start_reverse(self) -> "list | None":
        """The reverse loop's carries: cotangents of the carries, of the variables around, arrays to be restored, the stacks' pointers."""
        gs = _take(self.sweep, self.eqn, self.carried)
        if gs is None:
            return None
        self.ends = {part: part.of(self.sweep.env.read(self.eqn.outputs[part.number]), self.sweep.env) for part in self.joint.finals}
        arrays = [self.sweep.env.read(self.eqn.outputs[k]) for k in self.division.restored]
        stacks = self.tape.start_reverse(self.tape_end) if self.blocks is None else []
        return gs + _totals(self.sweep, self.joint) + arrays + stacks

    def counted(self, k: Any) -> dict:
        """The counters in the iteration number k."""
        read = self.sweep.env.read
        carries, init = self.joint.carries, self.view.init
        return {carries[j].atom: c.at(k, read(init[j]), read(c.step)) for j, c in self.counters.items()}

    def reverse_step(self, lead: list, carries: tuple, k: Any) -> list:
        """One iteration backward: carries and the stacks' pointers."""
        count = len(carries) - len(self.tape.pointers)
        reader = self.tape.reader(carries[count:], k)
        return self.pulled_back(lead, carries[:count], k, reader) + reader.state

    def pulled_back(self, lead: list, carries: tuple, k: Any, reader: Callable) -> list:
        """The carries after one iteration of the reverse loop; reader: see Division.run_reverse."""
        division, joint = self.division, self.joint
        env = division.environment(lead, ())
        env.update(self.counted(k))
        inputs = [g.atom for g in joint.gs] + [joint.totals[v].atom for v in joint.totals_out]
        inputs += [joint.histories[k].state.atom for k in division.restored]
        env.update(zip(inputs, carries))
        env.update((end.atom, self.ends[part]) for part, end in joint.finals.items())
        gxs, totals, arrays = division.run_reverse(env, reader)
        return gxs + totals + arrays

    def reverse_links(self) -> tuple:
        """The links of the cotangents' extents that change from iteration to iteration: those of the forward loop."""
        place = {k: j for j, k in enumerate(self.carried)}
        return tuple([(place[k], axis, None) for k, axis, _ in self.eqn.params["extents"] if k in place])

    def pull(self, sweep_back: Callable) -> None:
        """Run the reverse sweep, if anything is asked of it."""
        carries = self.start_reverse()
        if carries is not None:
            self.finish_reverse(sweep_back(carries))

    def finish_reverse(self, results: tuple) -> None:
        n, m = len(self.carried), len(self.carried) + len(self.joint.totals_out)
        self.sweep.cotangents.update(zip(self.joint.totals_out, results[n:m]))
        for k, g in zip(self.carried, results):
            self.sweep.add(self.view.init[k], g)
        for k, array in zip(self.division.restored, results[m:]):
            _note_restored(self.sweep, self.view.init[k], self.eqn.outputs[k], array)


def _note_restored(sweep: Any, before: Any, after: Any, array: Any) -> None:
    """Tell the region around, if it follows the array's trail, that its earlier version is there again."""
    if after in sweep.trails:
        current().notes.restore(sweep.env.read(before), sweep.env.read(after), array)      # type: ignore[attr-defined]


def vjp_for(sweep: Any, eqn: Equation) -> None:
    given = _active_outputs(sweep, eqn)
    if not given:
        run_equation(eqn, sweep.env)
        return
    view = LoopView(eqn)
    start, stop, step = [integer(sweep.env.read(a)) for a in view.bounds]
    init = [sweep.env.read(a) for a in view.init]
    turns = trip_count(start, stop, step)
    def index(builder: Any) -> tuple:
        return (loop_index(builder, start, stop, step),)
    loop = _Loop(sweep, eqn, given, index, Turns(turns, start, step))
    if loop.plan is not None:
        vjp_in_segments(sweep, eqn, loop.plan, loop.inner)
        return
    if loop.blocks is not None:
        loop.finish_forward(loop.blocks.forward(tuple(init), loop.names()))
        sweep.pullbacks.append(lambda: loop.pull(loop.blocks.backward))
        return

    def forward(i: Any, *carries: Any) -> list:
        return loop.forward_step([i], carries, turn_number(i, start, step))
    loop.finish_forward(FOR.run_regions([start, stop, step, *init, *loop.tape.init], (forward,), names=loop.names(),
                                        extents=loop.links(loop.count)))

    def backward(i: Any, *carries: Any) -> list:
        return loop.reverse_step([i], carries, turn_number(i, start, step))

    def sweep_back(carries: list) -> tuple:
        first = stop - step if isinstance(step, int) and abs(step) == 1 else start + (turns - 1) * step
        return FOR.run_regions([first, start - step, -step, *carries], (backward,), extents=loop.reverse_links())
    sweep.pullbacks.append(lambda: loop.pull(sweep_back))


def _at_once(loop: _Loop, test: Callable, turn: Callable, args: list) -> tuple:
    """A while loop forward: its carries, the count of its iterations, its tape."""
    n = loop.count
    return WHILE.run_regions([*args, 0, *loop.tape.init], (lambda *carries: test(*carries[:n]), turn), names=loop.names(), extents=loop.links(n + 1))


def _in_stretches(loop: _Loop, test: Callable, turn: Callable, args: list) -> tuple:
    """The same as a loop of stretches; before each, the rows double."""
    n, tape, names = loop.count, loop.tape, loop.names()

    def stretch(*carries: Any) -> tuple:
        count, room = carries[n:n + 2]
        room = registry["where"](count < room, room, room * 2)

        def more(*inner: Any) -> Any:
            return registry["logical_and"](inner[n] < room, test(*inner[:n])[0])
        kept = tape.grown(list(carries[n + 2:]), room)
        done = WHILE.run_regions([*carries[:n + 1], *kept], (more, turn), names=names, extents=loop.links(n + 1))
        return *done[:n + 1], room, *done[n + 1:]
    extents = loop.eqn.params["extents"] + tape.links(n + 2, room=n + 1)
    results = WHILE.run_regions([*args, 0, FIRST_EXTENT, *tape.init], (lambda *carries: test(*carries[:n]), stretch), names=names, extents=extents)
    return *results[:n + 1], *results[n + 2:]


def vjp_while(sweep: Any, eqn: Equation) -> None:
    """As for `for`, with a count of the iterations among the carries."""
    given = _active_outputs(sweep, eqn)
    if not given:
        run_equation(eqn, sweep.env)
        return
    args = [sweep.env.read(a) for a in eqn.inputs]
    loop = _Loop(sweep, eqn, given, None, None)
    if loop.plan is not None:
        vjp_in_segments(sweep, eqn, loop.plan, loop.inner)
        return
    n, test = loop.count, closure(loop.view.test, sweep.env)

    def turn(*carries: Any) -> list:
        done = loop.forward_step([], carries[:n] + carries[n + 1:], carries[n])
        return done[:n] + [carries[n] + 1] + done[n:]
    sweep_forward = _in_stretches if loop.tape.grows else _at_once
    results = sweep_forward(loop, test, turn, args)
    turns = results[n]
    kept = loop.tape.used(results[n + 1:], turns) if loop.tape.grows and is_inside_a_loop(current()) else results[n + 1:]
    loop.finish_forward((*results[:n], *kept))

    def backward(k: Any, *carries: Any) -> list:
        return loop.reverse_step([], carries, k)

    sweep.pullbacks.append(lambda: loop.pull(lambda carries: FOR.run_regions([turns - 1, -1, -1, *carries], (backward,), extents=loop.reverse_links())))


# -- branches -----------------------------------------------------------------------------------------------------------------


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


def vjp_cond(sweep: Any, eqn: Equation) -> None:
    given = _active_outputs(sweep, eqn)
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
    results = COND.run_regions([selector], tuple([forward(k) for k in range(len(divisions))]), names=eqn.params["names"], extents=eqn.params["extents"])
    bind_outputs(eqn, results[:count], sweep.env)
    _note_kept(sweep, eqn, divisions, slots, results[count:])
    sweep.pullbacks.append(lambda: _pull_cond(sweep, eqn, given, selector, divisions, slots, results[count:]))


def _divided_branch(sweep: Any, eqn: Equation, region: Func, given: list) -> Division:
    """A branch restores the arrays that it changes, if the loop around asks for it."""
    demanded = _demanded(sweep, eqn)
    trails = {k: trail_to(region, region.outputs[k], sweep.active) for k, v in enumerate(eqn.outputs) if v in sweep.trails}
    joint = Joint(sweep, eqn, region, given, trails=trails, restoring=demanded, demanded=[v for k in demanded for v in trails[k].versions])
    return Division(joint, demanded)


def _note_kept(sweep: Any, eqn: Equation, divisions: list, slots: _Slots, saved: tuple) -> None:
    """Tell the region around, if it may restore an array, which saved values are that array in a branch."""
    for division, chosen in zip(divisions, slots.of_branch):
        joint, kept = division.joint, division.joint.notes.kept
        for k, trail in joint.trails.items():
            versions, after = set(atoms(map(joint.env.read, trail.versions))), sweep.env.read(eqn.outputs[k]).atom
            for v, slot in zip(division.saved, chosen):
                if v in versions or not versions.isdisjoint(kept.get(v, ())):
                    current().notes.kept.setdefault(saved[slot].atom, set()).add(after)      # type: ignore[attr-defined]


def _pull_cond(sweep: Any, eqn: Equation, given: list, selector: Any, divisions: list, slots: _Slots, saved: tuple) -> None:
    """Each branch adds to the cotangents of the variables around it."""
    gs = _take(sweep, eqn, given)
    if gs is None:
        return
    moved = list(dict.fromkeys(v for division in divisions for v in division.joint.totals_out))
    totals = {v: _total(sweep, v) for v in moved}
    restored = [k for k in _demanded(sweep, eqn) if all(k in division.restored for division in divisions)]

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
        _note_restored(sweep, trail_to(eqn.regions[0], eqn.regions[0].outputs[k], sweep.active).versions[0], eqn.outputs[k], array)
