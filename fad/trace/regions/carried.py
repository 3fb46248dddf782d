"""The carries of a loop on traced values, found as a fixpoint by trials of its body.

Only a trial shows which variables, which arrays and containers an iteration changes. A trial that finds something new
(an array written to, a variable that changed its object, a flag that may end the loop, a name that may be None) asks
for another with what it found, until nothing is new.
"""
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from ...ir.build import Value, current
from ...ir.types import type_of
from ...ops.carry import UNDEFINED, Supposed, atom_type, widened
from ...ops.mixed import in_kind, of_kinds
from ...util.array import AnyArray, ArrayOrNumber
from ...util.defects import is_expected
from ..heap.state import Array, Container, Name, TreeLayout, Trial, changing, frozen, is_array, write_all
from ..lists.appending import AppendedLists
from ..lists.items import NeedsRoom, NeedsRows
from ..objects.containers import contents, same_contents
from ..values.aliases import check, fixed_in, lose, note_fixed, refuse
from ..values.place import roots_of
from ..values.tracer import was_there
from .forms import WHOLE, Form, doubt, is_bound, is_given, is_there
from .identity import Standing
from .may_alias import MayAlias, arrays_among, refuse_doubtful_writes, refuse_stale_reads
from .recall import Memory
from .widening import require_same_iterations


class PlanChanged(Exception):
    """A trial found something new; the plan knows it by now."""


class CarryPlan:
    """The known carries of a loop: names that iterations hand on, names that are rebound, names whose arrays are
    written to, flags that end the loop. own: all names that its code binds.
    """

    def __init__(self, cells: dict, names: Iterable, rebound: Iterable, written: Iterable, stops: Iterable,
                 own: Iterable = (), *, memory: "Memory | None" = None):
        self.memory, self.facts = memory or Memory(), (names, rebound, written, stops, own)
        self.forms, self.replaced = self.memory.forms, self.memory.replaced
        self.replaced.update((name, 0) for name in rebound)
        self.own = {*own, *names, *stops}
        self.cells, self.stops = cells, [Name(n, cells[n]) for n in stops]
        self.names = [Name(n, cells[n]) for n in names if n in cells and n not in stops]
        self.found: list[Any] = []                            # arrays and containers
        self.has_iterations: Callable = lambda: False              # whether there is a first iteration
        self.aliases = MayAlias()                                 # what iterations hand on that may be one
        self.lost: list = []                                  # arrays from before that no iteration but the first knows
        self.room = AppendedLists(self)                                # the lists that the iterations append to
        self.iterations = 0
        self.is_traced = False  # whether it is known that the iterations depend on traced values
        for name in written:
            if name in cells and (name, 0) not in self.replaced:  # else it is not one array that is written to
                self._expect(Name(name, cells[name]).read())
        self.rolls_floats = True                              # whether a loop over a list of floats may be a region
        self.given = len(self.names)
        self.memory.tell(self)
        self.room.recall(self.memory.lists)

    def _expect(self, value: Any) -> None:
        """An array that the body writes to, going by its source."""
        if is_array(value) and not any(s.name == "" and getattr(s, "tracer", None) is value for s in self.found):
            for root in roots_of(value):
                self.add(Array(root))

    def add(self, slot: Array) -> None:
        if not self.room.counts(slot) and not any(changing(s) is changing(slot) for s in self.found):
            self.found.append(slot)

    def slots(self) -> list:
        """The slots whose values the loop carries."""
        return self.names + (self.stops if self.memory.early else []) + self.found


class Roll:
    """One attempt at a loop under a plan. `enter` puts the carries in place, `leave` reads what an iteration made of
    them.
    """

    def __init__(self, plan: CarryPlan):
        self.plan, self.slots = plan, plan.slots()
        self.keys = [plan.memory.place(s) for s in self.slots]
        self.standing = Standing(dict(zip(self.keys, self.slots)), plan.replaced)
        self.layouts = [self._first_layout(s, key) for s, key in zip(self.slots, self.keys)]
        # position of a container that is handed on by value -> it, and what it holds at the start of an iteration
        self.starts: dict = {}
        self.lead: list = []  # what the loop carries besides, in front: the index of a loop that may end early
        self.is_begun = False                                 # whether an iteration was traced
        self.fixed: list = []  # positions of those that a list in rows has got, and those from outside
        self.fixed_outside: list = []
        self.lost: list = []  # arrays of which nobody knows what they hold after the loop
        self.begun_as: list = []  # the arrays that are written to, and what they are at the start of an iteration
        self.one_as: list = []                                # for each carry the first that ends as the same array
        self.longer: list = []  # those of them that are rows of lists, which only get entries at their ends
        self.ends_as: dict = {}                               # what the carried arrays were at the end of an iteration
        self.listed: set = set()  # those that a list may have got, in this iteration or before
        self.doubts = [(j, k) for j, (key, layout) in enumerate(zip(self.keys, self.layouts))
                       for k in (*(plan.forms[key].absent & {WHOLE}), *sorted(layout.optional))]
        self.flags = [is_there(self.slots[j], self.layouts[j].leaves, k) for j, k in self.doubts]
        self.places = [(key, k) for key, layout in zip(self.keys, self.layouts) for k in range(len(layout.data))]
        known = plan.memory.types
        begun = [frozen(x) for layout in self.layouts for x in layout.data]
        self.first = begun                                    # what the first iteration begins with
        has_types = plan.memory.is_settled(begun)
        self.begun = [widened(x, known.get(place)) if has_types or x is UNDEFINED else x
                      for x, place in zip(begun, self.places)]
        self.iterations: list = []  # traces of iterations in other types than the loop comes to
        self.may_write: list = []                             # arrays from before the loop that iterations may write to
        self.reads = len(current().trace.read)
        plan.aliases.begin({**self._arrays(layout.data for layout in self.layouts), **self.standing.handed()})

    def _first_layout(self, slot: Any, key: object) -> TreeLayout:
        """The layout of a slot's value before the loop, in the form that it has in all iterations, as far as is known.
        """
        form, layout, bound = self.plan.forms.get(key, Form()), self.standing.layout(key), is_bound(slot)
        if isinstance(bound, Value) or not (bound or WHOLE in form.absent or self.plan.has_iterations()):
            form = form.with_absent(WHOLE)
        self.plan.forms[key] = form = form.join(form.of(layout), form.of(layout))
        return form.of(layout)

    def initial(self) -> list:
        return self.lead + self.begun + self.flags

    def names(self) -> tuple:
        names = [s.name for s, layout in zip(self.slots, self.layouts) for _ in layout.data]
        return tuple([""] * len(self.lead) + names + [""] * len(self.flags))

    def _arrays(self, rows: Iterable) -> dict:
        """The arrays among these leaves, but for what an array that is written to holds."""
        return arrays_among(self.keys, [() if isinstance(s, Array) else row for s, row in zip(self.slots, rows)])

    def enter(self, leaves: Iterable) -> None:
        current().region.is_retried = True
        self.plan.room.enter()
        rest = iter(leaves)
        values = [_value(slot, layout, list(islice(rest, len(layout.data))))
                  for slot, layout in zip(self.slots, self.layouts)]
        for slot, value in zip(self.slots, values):
            slot.write(value)
        self._doubt(rest)
        self.starts = {at: (c, contents(c)) for at, c in self.standing.handed().items()}
        self.fresh = self._arrays(x.data for x in self._layouts_now())
        self.fresh.update({at: c for at, (c, _) in self.starts.items()})
        self.plan.aliases.entangle(self.fresh)
        for array in self.plan.lost:
            lose(array)
        self.begun_as = [(s, s.tracer._var) for s in self.slots if isinstance(s, Array)]

    def _doubt(self, flags: Iterable) -> None:
        """Names and leaves that may be absent are there where these flags hold."""
        layouts = self._layouts_now() if self.doubts else []
        for (j, k), flag in zip(self.doubts, flags):
            doubt(self.slots[j], layouts[j].leaves, k, flag)

    def _layouts_now(self) -> list:
        """The layouts of the slots' values now, their leaves in the places that they have before the loop."""
        return [self.plan.forms[key].of(self.standing.layout(key)) for key in self.keys]

    def begin(self, leaves: Iterable, iteration: "AnyArray | None" = None) -> None:
        """An iteration begins, which is numbered where that is known."""
        current().region.memory = self.plan.memory.begin()
        self.is_begun = True
        self.enter(leaves)
        self.plan.room.begin_iteration(iteration)

    def run(self, made: Trial, body: Callable) -> None:
        """Run an iteration's body. It may fail on a value of the first iteration (a list's length, say) that the plan
        does not expect to change.
        """
        try:
            body()
        except (PlanChanged, NeedsRoom, NeedsRows):
            raise
        except Exception as error:
            if is_expected(error):
                self._discover(made)
            raise

    def leave(self, made: Trial) -> list:
        """The carries after an iteration; Again if the plan lacks something."""
        grew = self.plan.room.end_iteration(made, self.begun + self.flags)
        self._discover(made)
        if grew:
            raise PlanChanged
        self.lost = made.lost_arrays()
        self._relate(made)
        layouts = self._join()
        ends = [x for layout in layouts for x in layout.data]
        seen: dict[int, int] = {}
        self.one_as = [seen.setdefault(id(x), k) if is_array(x) else k for k, x in enumerate(ends)]
        out = [frozen(x) for x in ends]
        there = [is_there(self.slots[j], layouts[j].leaves, k) for j, k in self.doubts]
        check(made.builder)
        self.longer = [s for s, var in self.begun_as if s.tracer.is_still(var) and not self.plan.memory.test_changes]
        self._find_fixed(made)
        return out + there

    def _join(self) -> list:
        """The layouts after an iteration, in the forms of those before it; Again if a form has no room for one."""
        is_news, ends = False, []
        for j, (slot, key, layout) in enumerate(zip(self.slots, self.keys, self.layouts)):
            form = self.plan.forms[key]
            new = form.numbered(self.standing.layout(key))
            new = layout.undefined() if new.is_undefined else new
            found = form.after(layout, new)
            if is_bound(slot) is not True:
                found = found.with_absent(WHOLE)
            elif found.absent != form.absent and self._is_for_first(found.absent - form.absent, layout, new):
                found = found._replace(absent=form.absent)
            is_news = is_news or found.differs(form, layout)
            self.plan.forms[key] = found
            self.layouts[j] = layout.of_kinds(found.arrays)
            ends.append(new.opened(layout.optional))
        if is_news:
            raise PlanChanged
        for slot, layout, new in zip(self.slots, self.layouts, ends):
            layout.require(new, slot.name)
        return ends

    def _is_for_first(self, found: Iterable, layout: TreeLayout, new: TreeLayout) -> bool:
        """Whether these leaves are None before the first iteration only, which is peeled off then, so that the loop
        goes on with plain values.
        """
        is_set = all(k in layout.statics and is_given(new.leaves[k]) is True for k in found)
        return is_set and not self.plan.memory.early and self.plan.has_iterations()

    def _discover(self, made: Trial) -> None:
        new: list[Any] = [Array(t) for t in made.changed_arrays()] + [Container(c) for c in made.changed_containers()]
        before = len(self.plan.found)
        for slot in new:
            self.plan.add(slot)
        for slot in made.changed_names(self.plan.own):
            self.plan.own.add(slot.name)
            self.plan.names.append(slot)
            self.plan.replaced.add((slot.name, 0))
            before = -1
        if self.standing.finds_others() or len(self.plan.found) > before:
            raise PlanChanged
        if not self.plan.memory.early and any(s.read() is not False for s in self.plan.stops):
            self.plan.memory.early = True
            raise PlanChanged

    def _relate(self, made: Trial) -> None:
        """Find which arrays and containers may be one; Again if that is news, and one of them is written to."""
        fresh = {id(x): key for key, x in self.fresh.items()}
        ends = self._arrays(x.data for x in self._layouts_now())
        ends.update({at: c for at, c in self.standing.handed().items() if at in self.starts})
        self.ends_as = {key: self.plan.aliases.end_of(x, fresh, made.serial) for key, x in ends.items()}

        def holders(arrays: list) -> set:
            return self.plan.aliases.holders(self.ends_as, fresh, made.serial, arrays)
        refuse_doubtful_writes(made, fresh)
        grew = self.plan.aliases.add(self.ends_as)
        self.listed = holders(self.plan.room.added)
        written = {id(t) for t, var in made.builder.region.mutated.values() if t._var is not var}
        names = [key for k, key in fresh.items() if k in written or k in map(id, self.lost)]
        self.plan.room.refuse_other_names(holders)
        self.plan.room.refuse_changes([x for key, x in ends.items() if key in names])
        if not self.listed.isdisjoint(names):
            self.plan.room.refuse()
        changed = written | {id(c) for c in made.changed_containers()}
        if grew and (names or not changed.isdisjoint(self.plan.aliases.things) or self._has_changed_starts):
            raise PlanChanged
        found = [x for x in self.lost if was_there(x, made.serial) and not any(x is y for y in self.plan.lost)]
        if found:
            self.plan.lost += found
            raise PlanChanged
        self.may_write = self.plan.aliases.things_of(names)
        self.lost += self.may_write

    @property
    def _has_changed_starts(self) -> bool:
        return not all(same_contents(contents(c), held) for c, held in self.starts.values())

    def _find_fixed(self, made: Trial) -> None:
        """Find the containers that must not change in later iterations; an error if they have in this one."""
        fixed, changed = fixed_in(made.builder), {id(c) for c in made.changed_containers()}
        self.fixed = [at for at, c in self.standing.handed().items() if any(c is x for x in fixed)]
        self.fixed_outside = [x for x in fixed if made.is_outer(x)]
        if any(id(x) in changed for x in self.fixed_outside) or (self.fixed and self._has_changed_starts):
            refuse()

    def varying(self) -> tuple:
        """The extents that are known to change. Steps are supposed from the first iteration on once two traces have
        found them: a loop within loops is not traced twice each time."""
        known = [self.plan.memory.extents.get(place, ()) for place in self.places]
        types = map(atom_type, self.begun)
        steps = {at: Supposed(found[-1]) for at, found in self.plan.memory.steps.items() if len(found) > 1}
        return tuple([(len(self.lead) + k, axis, steps.get((place, axis)))
                      for k, (place, axes, t) in enumerate(zip(self.places, known, types))
                      for axis in axes if t is not None and axis < t.rank])

    def compare(self) -> None:
        """An error if the loop just recorded computes something else than its first iterations in their types."""
        require_same_iterations(current().equations[-1], self.iterations, self.names())
        place = dict(enumerate(self.places, len(self.lead)))
        for iteration in self.iterations[-1:]:
            found = iteration.carries.steps_found()
            for (k, axis), step in found.items():
                self.plan.memory.steps.setdefault((place.get(k), axis), []).append(step)
        self.plan.memory.settle(self.first)

    def _in_kinds(self, results: tuple) -> tuple:
        """The results of the loop, which may be of other kinds if no iteration runs. A trace that supposes kinds (see
        ops/mixed.py) gets these.
        """
        supposed, first = self.iterations[-1].supposed if self.iterations else {}, len(self.lead)
        results = tuple([in_kind(y, supposed[k]) if k in supposed else y for k, y in enumerate(results, first)])
        may_stay = self.plan.has_iterations is None or not self.plan.has_iterations()
        begun = [[x] if x is not UNDEFINED and (may_stay or self._may_keep(k, x)) else []
                 for k, x in enumerate((*self.first, *self.flags), first)]
        return tuple([of_kinds(y, name, xs) for y, name, xs in zip(results, self.names()[first:], begun)])

    def _may_keep(self, k: int, x: ArrayOrNumber) -> bool:
        """Whether an iteration may leave what it found in the k-th place, where x stood at first, of x's kind."""
        t, mixed = type_of(x), current().trace.mixed
        ends = [iteration.body.outputs[k:k + 1] for iteration in self.iterations]
        left = [y.atom for found in ends for y in found if isinstance(y, Value)]
        return any(kind.own == (t.dtype, t.weak) for v in left if v in mixed for kind in mixed[v][1])

    def deliver(self, results: tuple, iterations: object, has_iterations: "Callable | None" = None) -> None:
        """After a loop of so many iterations: the variables, arrays and containers as it left them. has_iterations()
        tells whether there is a first iteration.
        """
        results = results[len(self.lead):]
        if self.is_begun and not self.plan.memory.early and has_iterations is not None and has_iterations():
            results = (*[results[k] for k in self.one_as], *results[len(self.one_as):])
        refuse_stale_reads(self.may_write, current().trace.read[self.reads:])
        # None: there was no iteration to trace
        made = current().equations[-1].outputs if self.is_begun else ()
        self.plan.memory.note(self.plan, dict(zip(self.places, results)), made)
        self.plan.memory.lists.update(self.plan.room.known_of_lists())
        rest = iter(self._in_kinds(results))
        values = [layout.filled(rest) for layout in self.layouts]
        write_all(self.slots, values, self.longer)
        self._doubt(rest)
        for array in self.lost:
            lose(array)
        after, handed = self._arrays(x.data for x in self._layouts_now()), self.standing.handed()
        for c in [*[handed[at] for at in self.fixed if at in handed], *self.fixed_outside]:
            note_fixed(c)
        self.plan.room.end_loop(iterations, [after[key] for key in self.listed if key in after])
        aliases = self.plan.aliases
        aliases.entangle({**after, **handed}, aliases.after_an_iteration(self.ends_as), has_iterations)


def _value(slot: object, layout: TreeLayout, data: list) -> Any:
    """The contents of a slot at the start of an iteration. A name without a value is unbound, whatever it will hold
    later.
    """
    unbound = isinstance(slot, Name) and data and not layout.nones and all(x is UNDEFINED for x in data)
    return UNDEFINED if unbound else layout.filled(iter(data))
