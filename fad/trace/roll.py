"""Loops on traced values: the body is traced once, with a symbolic index, and what it changes becomes what the loop carries.

What that is shows only in a trial: which variables, which arrays and containers. A trial that finds something new (an array written to,
a variable that changed its object, a flag that may end the loop) asks for another with what it found, until nothing is new.
"""
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from ..ir.build import Value, current
from ..ir.graph import Literal, free_vars
from ..ir.op import registry
from ..ops.carry import UNDEFINED, atom_type, widened
from ..ops.control import FOR, WHILE, turn_number
from ..ops.mixed import in_kind, of_kinds
from ..util.errors import UnstageableError
from .bound import flag_of, mark
from .branch import choose, truth
from .growth import check_growth
from .held import Held
from .identity import Handed, Standing
from .iterate import Steps
from .kin import arrays_among
from .listing import NeedsRoom, NeedsRows
from .plan import Plan, key_of
from .room import Untraced
from .state import Array, Container, Layout, Name, Trial, frozen, lose, trial
from .tracer import was_there
from .twins import check
from .widening import require_same_turns


class _Again(Exception):
    """A trial found something new; the plan knows it by now."""


class Roll:
    """One attempt at a loop under a plan. `enter` puts the carries in place, `leave` reads what a turn made of them."""

    def __init__(self, plan: Plan):
        self.plan, self.slots = plan, plan.slots()
        self.standing = Standing({key_of(s): s for s in self.slots}, plan.by_value)
        self.held = Held(plan.moved)
        for s in self.slots:
            self.held.begin(plan.place(s), s, self._read(s))
        self.layouts = [self._layout(s) for s in self.slots]
        self.kept = [(s, s.read()) for s in plan.names if plan.keeps_object(s)]
        self.handed: Handed | None = None                     # the containers that are handed on by value
        self.lost: list = []                                  # arrays of which nobody knows what they hold after the loop
        self.ends: dict = {}                                  # the carried arrays at the end of a turn
        self.ends_as: dict = {}                               # what the carried arrays were at the end of a turn
        self.keys = [key_of(s) for s in self.slots]
        unbound = {s.name for s in self.slots if isinstance(s, Name) and not s.name.startswith("_fad_") and Layout(s.read()).is_undefined}
        plan.unbound |= unbound if unbound - plan.unbound and not plan.has_turns() else set()
        self.marked = [s for s in self.slots if s.name in plan.unbound]
        self.flags = [_flag(s) for s in self.marked]
        self.places = [(plan.memory.key(s), k) for s, layout in zip(self.slots, self.layouts) for k in range(len(layout.data))]
        known = plan.memory.facts.types
        begun = [frozen(x) for layout in self.layouts for x in layout.data]
        self.first = begun                                    # what the first turn begins with
        has_types = plan.memory.is_settled(begun)
        self.begun = [widened(x, known.get(place)) if has_types or x is UNDEFINED else x for x, place in zip(begun, self.places)]
        self.turns: list = []                                 # traces of turns in other types than the loop comes to
        plan.kin.begin(self._arrays(layout.data for layout in self.layouts))

    def _layout(self, slot: Any) -> Layout:
        layout = self._layout_now(slot)
        return self.plan.shapes[slot.name] if layout.is_undefined and slot.name in self.plan.shapes else layout

    def _layout_now(self, slot: Any) -> Layout:
        return self.held.hold(self.plan.place(slot), self._read(slot))

    def _read(self, slot: Any) -> Layout:
        return Layout(slot.read(), self.standing.kept(key_of(slot)))

    def initial(self) -> list:
        return self.begun + self.flags

    def names(self) -> tuple:
        return tuple([s.name for s, layout in zip(self.slots, self.layouts) for _ in layout.data] + [""] * len(self.flags))

    def _arrays(self, rows: Iterable) -> dict:
        """The arrays among the leaves that names and containers have; what an array that is written to holds is none of them."""
        return arrays_among(self.keys, [() if isinstance(s, Array) else row for s, row in zip(self.slots, rows)])

    def enter(self, leaves: Iterable) -> dict:
        current().is_retried = True
        self.plan.room.enter()
        rest = iter(leaves)
        values = [_value(slot, layout, list(islice(rest, len(layout.data)))) for slot, layout in zip(self.slots, self.layouts)]
        for slot, value in zip(self.slots, values):
            slot.write(value)
        self._mark(rest)
        self.fresh = self._arrays(self._layout_now(s).data for s in self.slots)
        self.plan.kin.entangle(self.fresh)
        return dict(zip(self.keys, values))

    def _mark(self, flags: Iterable) -> None:
        for slot, flag in zip(self.marked, flags):
            if flag is not True:
                mark(slot.read(), flag, slot.name)

    def begin(self, leaves: Iterable, turn: Any = None) -> None:
        """A turn begins, which is numbered where that is known."""
        current().memory = self.plan.memory.begin()
        self.handed = Handed(self.standing.handed(self.enter(leaves)), self.standing.first)
        self.plan.room.begin_turn(turn)

    def run(self, made: Trial, body: Callable, *item: Any) -> None:
        """A turn's body. It may fail of a value that is none but the first turn's (a list's length, say): of what the plan does not know to change."""
        try:
            body(*item)
        except (_Again, NeedsRoom, NeedsRows):
            raise
        except Exception:
            self._discover(made)
            raise

    def leave(self, made: Trial) -> list:
        """The carries after a turn; _Again if the plan lacks something."""
        if self.plan.room.end_turn(made, self.initial()):
            raise _Again
        self._discover(made)
        moved = [self.held.finds_moved(self.plan.place(s), self._read(s)) for s in self.slots]
        if self.standing.finds_others() or any(moved):
            raise _Again
        self.lost = made.lost_arrays()
        self._relate(made)
        out: list = []
        for slot, layout in zip(self.slots, self.layouts):
            new = self._layout_now(slot)
            if layout.is_undefined and not new.is_undefined and (new.statics or new.structure != layout.structure):
                self.plan.shapes[slot.name] = new.undefined()
                raise _Again
            if new.is_undefined and not layout.is_undefined:
                new = layout.undefined()
            layout.require(new, slot.name)
            out += [frozen(x) for x in new.data]
        check(made.builder)
        self.handed.end(self.standing.handed(), made)
        return out + self._flags_after()

    def _flags_after(self) -> list:
        """Whether the names that may be unbound are bound at the end of a turn; _Again if there are others."""
        names = [s for s in self.slots if isinstance(s, Name) and s.name and not s.name.startswith("_fad_")]
        new = {s.name for s in names if _flag(s) is not True} - self.plan.unbound
        if new:
            self.plan.unbound |= new
            raise _Again
        return [_flag(s) for s in self.marked]

    def _discover(self, made: Trial) -> None:
        new: list[Any] = [Array(t) for t in made.changed_arrays()] + [Container(c) for c in made.changed_containers()]
        before = len(self.plan.found)
        for slot in new:
            self.plan.add(slot)
        for slot in made.changed_names(self.plan.own):
            self.plan.own.add(slot.name)
            self.plan.names.append(slot)
            self.plan.rebound.add(slot.name)
            before = -1
        changed = [s.name for s, value in self.kept if s.read() is not value]
        self.plan.rebound.update(changed)
        if changed or len(self.plan.found) > before:
            raise _Again
        if not self.plan.early and any(s.read() is not False for s in self.plan.stops):
            self.plan.early = True
            raise _Again

    def _relate(self, made: Trial) -> None:
        """Find which arrays may be one; _Again if that is news, and one of them is written to."""
        fresh = {id(x): key for key, x in self.fresh.items()}
        ends = self._arrays(self._layout_now(s).data for s in self.slots)
        self.ends = ends
        self.ends_as = {key: self.plan.kin.end_of(x, fresh, made.born) for key, x in ends.items()}
        self._refuse_doubtful_writes(made, fresh)
        grew = self.plan.kin.add(self.ends_as)
        written = {id(t) for t, var in made.builder.mutated.values() if t._var is not var}
        names = [key for k, key in fresh.items() if k in written]
        self.plan.room.refuse_other_names(ends.values())
        self.plan.room.refuse_changes([x for key, x in ends.items() if key in names])
        if grew and (names or any(k in written for k in self.plan.kin.arrays)):
            raise _Again
        self.lost += self.plan.kin.arrays_of(names)

    @staticmethod
    def _refuse_doubtful_writes(made: Trial, fresh: dict) -> None:
        """What an inner loop has left under a name may be an array from before this loop: written to, nobody knows what the next turn finds there."""
        for array, _ in made.builder.mutated.values():
            left = id(array) not in fresh and array.tie is None and not was_there(array, made.born)
            if left and any(was_there(other, made.born) and other.is_kin_changed for other in array.unexcused_kin()):
                raise UnstageableError("an array is written to that may be one from before the loop", why="which array a name stands for after an inner "
                                       "loop depends on its turns", do="write to it under the name that it had before")

    def varying(self, first: int = 0) -> tuple:
        """The extents of which it is known that they change; first: how many carries stand before those of the slots."""
        known = [self.plan.memory.facts.extents.get(place, ()) for place in self.places]
        types = map(atom_type, self.begun)
        return tuple([(first + k, axis, None) for k, (axes, t) in enumerate(zip(known, types)) for axis in axes if t is not None and axis < t.rank])

    def compare(self, names: tuple) -> None:
        """An error if the loop just recorded computes something else than its first turns do, in the types that these have."""
        require_same_turns(current().equations[-1], self.turns, names)
        self.plan.memory.settle(self.first)

    def _in_kinds(self, results: tuple, first: int) -> tuple:
        """What the loop leaves, as it may be of other kinds if it has no turn; where a trace supposes kinds (see ops/mixed.py), in these."""
        supposed = self.turns[-1].supposed if self.turns else {}
        results = tuple([in_kind(y, supposed[first + k]) if first + k in supposed else y for k, y in enumerate(results)])
        if self.plan.has_turns is not None and self.plan.has_turns():
            return results
        begun = [[] if x is UNDEFINED else [x] for x in (*self.first, *self.flags)]
        return tuple([of_kinds(y, name, xs) for y, name, xs in zip(results, self.names(), begun)])

    def deliver(self, results: tuple, turns: Any, has_turns: "Callable | None" = None, first: int = 0) -> None:
        """After a loop of so many turns: the variables, arrays and containers as it left them. has_turns() tells whether there is a first turn.
        first: as for varying().
        """
        made = current().equations[-1].outputs if self.handed is not None else ()   # None: there was no turn to trace
        self.plan.memory.note(self.plan, dict(zip(self.places, results)), made)
        rest = iter(self._in_kinds(results, first))
        values = [layout.filled(rest) for layout in self.layouts]
        for slot, value in zip(self.slots, values):
            slot.write(value)
        self._mark(rest)
        for array in self.lost:
            lose(array)
        if self.handed is not None:
            self.handed.deliver(self.standing.handed(), has_turns)
        after = self._arrays(x.data for x in map(self._layout_now, self.slots))
        self.plan.room.end_loop(turns, [after[key] for key, x in self.ends.items() if key in after and self.plan.room.has(x)])
        kin = self.plan.kin
        kin.entangle(after, kin.after_a_turn(self.ends_as), has_turns)


def _flag(slot: Name) -> Any:
    """Whether a name is bound now: True, False, or a truth value of the program."""
    value = slot.read()
    return False if Layout(value).is_undefined else flag_of(value)


def _attempt(plan: Plan, run: Callable, turns: Any = None) -> Any:
    """run(Roll(plan)) until the plan is complete, for a loop of so many turns (None: nobody knows how many)."""
    try:
        while True:
            plan.turns += 1
            if plan.turns > 40:
                raise UnstageableError("what a loop carries cannot be found", why="each trial of its body finds something new")
            try:
                return run(Roll(plan))
            except _Again:
                continue
            except (NeedsRoom, NeedsRows) as need:
                plan.room.make(need, turns)
    except Exception as error:
        plan.room.put_back()
        if isinstance(error, Untraced):
            return False
        raise


def _value(slot: Any, layout: Layout, data: list) -> Any:
    """What a slot holds at the start of a turn. A name without a value is unbound, whatever it will hold: no such list or object can be built."""
    unbound = isinstance(slot, Name) and data and all(x is UNDEFINED for x in data)
    return UNDEFINED if unbound else layout.filled(iter(data))


def roll_for(steps: Steps, body: Callable, plan: Plan) -> bool:
    """The loop as a region; False if nothing in it is traced, so that it is plain Python's."""
    plan.has_turns = steps.has_turns
    return _attempt(plan, lambda roll: (_early_for if plan.early else _plain_for)(roll, steps, body), steps.count())


def _plain_for(roll: Roll, steps: Steps, body: Callable) -> bool:
    def turn(i: Any, *leaves: Any) -> list:
        with trial(roll.plan.cells) as made:
            roll.begin(leaves, turn_number(i, steps.start, steps.step))
            roll.run(made, body, steps.item(i))
            return roll.leave(made)
    before = len(current().equations)
    results = FOR.run_regions([steps.start, steps.stop, steps.step, *roll.initial()], (turn,), names=roll.names(),
                              extents=roll.varying(), checkpoint=steps.checkpoint, turns=roll.turns)
    if _is_plain(before, roll):
        return False
    if len(current().equations) > before:
        roll.plan.room.require_traced(current().equations[-1])
        roll.compare(roll.names())
        check_growth(current().equations[-1])
    roll.deliver(results, steps.count(), steps.has_turns)
    return True


def _early_for(roll: Roll, steps: Steps, body: Callable) -> bool:
    """A loop that a flag may end: it counts its index, and goes on for as long as there is an item and no flag is up."""
    def turn(i: Any, *leaves: Any) -> list:
        _note_bounds(i, steps)
        with trial(roll.plan.cells) as made:
            roll.begin(leaves, turn_number(i, steps.start, steps.step))
            roll.run(made, body, steps.item(i))
            return [i + steps.step, *roll.leave(made)]

    def test(i: Any, *leaves: Any) -> Any:
        with trial(roll.plan.cells):
            roll.enter(leaves)
            more = i < steps.stop if steps.step > 0 else i > steps.stop
            return _go_on(roll.plan, more)
    results = WHILE.run_regions([steps.start, *roll.initial()], (test, turn), names=("", *roll.names()), extents=roll.varying(1),
                                checkpoint=steps.checkpoint, turns=roll.turns)
    roll.compare(("", *roll.names()))
    roll.deliver(results[1:], turn_number(results[0], steps.start, steps.step), first=1)
    return True


def _note_bounds(i: Value, steps: Steps) -> None:
    """What is known of the index in the body of a loop that has not ended."""
    facts = current().integers
    start, stop = [facts.form(getattr(n, "atom", n)) for n in (steps.start, steps.stop)]
    one = facts.form(1)
    if steps.step > 0:
        facts.high[i.atom] = stop - one
        if start.is_constant:
            facts.low[i.atom] = start.const
    elif stop.is_constant:
        facts.low[i.atom] = stop.const + 1
        facts.high[i.atom] = start


def _go_on(plan: Plan, more: Any) -> Any:
    """more and not (any of the flags)"""
    for slot in plan.stops:
        flag = slot.read()
        if isinstance(flag, Value):
            more = registry["logical_and"](more, registry["logical_not"](flag))
        elif flag:
            return False
    return more


def _is_plain(before: int, roll: Roll) -> bool:
    """Whether the loop just recorded uses nothing traced; then it is taken back."""
    builder = current()
    new = builder.equations[before:]
    if len(new) != 1 or not new[0].regions or roll.plan.found:
        return False
    if all(isinstance(a, Literal) for a in new[0].inputs) and not any(free_vars(r) for r in new[0].regions):
        builder.take_back(before)
        return True
    return False


def roll_while(first: Any, test: Callable, body: Callable, plan: Plan) -> bool:
    """The loop as a region, `first` being what its test said at first; False if nothing in it is traced."""
    def run(roll: Roll) -> bool:
        before = len(current().equations)
        results = (_told_while if plan.test_changes else _plain_while)(roll, first, test, body)
        if _is_plain(before, roll):
            return False
        roll.compare(("", *roll.names()) if plan.test_changes else roll.names())
        roll.deliver(results, None, first=int(plan.test_changes))
        return True
    return _attempt(plan, run)


def _plain_while(roll: Roll, first: Any, test: Callable, body: Callable) -> tuple:
    def turn(*leaves: Any) -> list:
        with trial(roll.plan.cells) as made:
            roll.begin(leaves)
            roll.run(made, body)
            return roll.leave(made)

    def go_on(*leaves: Any) -> Any:
        with trial(roll.plan.cells):
            roll.enter(leaves)
            with trial(roll.plan.cells) as made:
                said = _unless_stopped(roll.plan, test)
                roll.plan.test_changes = made.has_changes
        if roll.plan.test_changes:
            raise _Again
        return said
    return WHILE.run_regions(roll.initial(), (go_on, turn), names=roll.names(), extents=roll.varying(), turns=roll.turns)


def _told_while(roll: Roll, first: Any, test: Callable, body: Callable) -> tuple:
    """A loop whose condition changes something: it is looked at once a turn, at the end of the turn before."""
    def turn(_: Any, *leaves: Any) -> list:
        with trial(roll.plan.cells) as made:
            roll.begin(leaves)
            roll.run(made, body)
            said = _unless_stopped(roll.plan, test)
            return [said, *roll.leave(made)]
    return WHILE.run_regions([first, *roll.initial()], (lambda said, *_: said, turn), names=("", *roll.names()),
                             extents=roll.varying(1), turns=roll.turns)[1:]


def _unless_stopped(plan: Plan, test: Callable) -> Any:
    """What the test says, where no flag has ended the loop."""
    flags = _go_on(plan, True) if plan.early else True
    if flags is True or flags is False:
        return flags and truth(test())
    return choose(flags, lambda: truth(test()), lambda: False, plan.cells)
