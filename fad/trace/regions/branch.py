"""Branches on traced values: both sides are traced into regions, and what they change becomes results of a cond."""
import functools
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ...ir import stack
from ...ir.build import Value, current
from ...ir.op import registry
from ...ops.carry import UNDEFINED
from ...ops.control import trace_branches
from ...ops.override import METHODS
from ...util.array import ArrayOrNumber
from ...util.interrupts import is_interrupt
from ...util.profiled import unprofiled
from ..guards.snapshot import is_same
from ..heap.state import Array, Container, Name, TreeLayout, Trial, frozen, is_array, trial, write_all
from ..lists.appending import make_rows, require_alike
from ..lists.items import Items, NeedsRoom, NeedsRows
from ..lists.rows import RowList
from ..objects.containers import holding
from ..values.aliases import check, fixed_in, lose, may_be, may_be_one, note_fixed
from ..values.choice import ChosenThing, is_choice, number_of
from ..values.place import Direct, Place, place_of, roots_of
from ..values.tracer import Tracer, was_there
from ..values.zero_dim import kind_of
from . import optional
from .branch_aliases import BranchAliases, Column
from .forms import Form
from .handlers import is_pythons, raised_here
from .identity import containers_of, note_parts

RESULT = "the result"


def truth(x: object) -> Any:
    """A truth value: Python's own, or a traced bool."""
    if isinstance(x, RowList):
        return truth(x.length)
    if type(x) is ChosenThing:
        return x.truth
    if is_choice(x):
        return registry["not_equal"](number_of(x), number_of(""))
    if not isinstance(x, Tracer):
        return bool(x)
    if stack.is_live() and current().is_known(x):
        return bool(x)
    given = optional.given(x)
    if isinstance(given, Value):
        return registry["logical_and"](given, truth(optional.bare(x)))
    if x.ndim and all(n == 1 for n in x.type.shape):          # an extent of 1 is always a constant
        return truth(METHODS["reshape"](x, ()))
    if x.ndim:
        raise ValueError("the truth value of an array with more than one element is ambiguous; use a.any() or a.all()")
    return x if x.dtype.kind == "b" else x != 0


class SlotEnd(NamedTuple):
    """A slot at the end of one branch: its value, the layout of that (None: the branch has left the slot alone), its
    containers by their paths, and whether the name is bound.
    """

    slot: Any
    value: Any
    layout: "TreeLayout | None"
    containers: dict
    is_bound: Any


class BranchEnd:
    """The state at the end of one branch: values, contents, and the places of its arrays."""

    @unprofiled
    def __init__(self, made: Trial, result: "ArrayOrNumber | None", live: Iterable, own: Iterable):
        self.slots: dict[Any, SlotEnd] = {}
        self.open: dict[int, list] = {}  # id of a container -> those that it may be by what regions in here left open
        self.places: dict[int, Any] = {}                      # id of an array -> where it lies
        self.ends: dict[int, tuple] = {}  # id of a leaf -> it, and what it is at the end of the branch
        # id of a new array -> those that it may be by what loops in the branch left open
        self.aliases: dict[int, list] = {}
        # id of a leaf that may be None -> whether it is there, as is known in this branch
        self.given: dict[int, Any] = {}
        self.serial, self.lost = made.serial, made.lost_arrays()
        # ids of arrays that were written to, and of views whose contents at the end of the branch are not known here
        self.written = {id(t) for t in made.changed_arrays()}
        self.stale: set[int] = set()
        # rows of lists that got entries at their ends at most
        self.longer = {id(t) for t, var in made.builder.region.mutated.values() if t.is_still(var)}
        # ids of arrays that are unknown at the end of the branch
        self.unknown = self._find_unknown(made)
        self.is_outer, self.fixed = made.is_outer, fixed_in(made.builder)
        self._note(RESULT, None, result)
        for slot in [*[s for s in made.names if s.name in live], *made.changed_names(own)]:
            self._note(slot.name, slot, slot.read())
        for t in made.changed_arrays():
            self._note(id(t), Array(t), frozen(t))
            self.ends[id(t)] = (t, frozen(t))
        self.changed = [(c, Container(c).read()) for c in made.changed_containers()]
        for c, inside in self.changed:
            self._note(id(c), Container(c), inside)

    def slot_end(self, key: Any, slot: Any) -> SlotEnd:
        """A slot at the end of this branch, which may have left it alone."""
        return self.slots.get(key) or _slot_end(slot, slot.read(), None)

    def layout(self, end: SlotEnd, kept: set) -> TreeLayout:
        """The layout of a slot's value at the end of this branch, whose changes are undone by now: its containers hold
        for a moment what the branch left in them. Its leaves are those that were noted: a list in rows gives new ones
        each time.
        """
        with holding(self.changed):
            layout = TreeLayout(end.value, kept, with_none=True)
        return layout if end.layout is None else layout.with_data_of(end.layout)

    def _find_unknown(self, made: Trial) -> set:
        """Arrays of unknown contents, and those that may alias an array that was written to. An array from before the
        branch that may alias one of the branch's own stays unknown: nobody knows the branch's array behind it.
        """
        unknown = set(map(id, self.lost))
        for array, _ in made.builder.region.mutated.values():
            found = [x for x in array.live_aliases() if x.is_unknown]
            unknown.update(map(id, found))
            self.lost += [] if was_there(array, made.serial) else [x for x in found if was_there(x, made.serial)]
        return unknown

    def _note(self, key: object, slot: object, value: "ArrayOrNumber | None") -> None:
        layout = TreeLayout(value, with_none=True)
        leaves, numbers = layout.data, [number_of(x) for x in layout.statics.values() if is_choice(x)]
        self.ends.update({id(x): (x, _end(x)) for x in (*leaves, *numbers)})
        unsure = [x for x in leaves if isinstance(x, Tracer) and x.optional is not None]
        self.given.update({id(x): optional.given(x) for x in unsure})
        self.slots[key] = _slot_end(slot, value, layout)
        self.open.update({id(c): may_be(c) for c in self.slots[key].containers.values()})
        for x in leaves if not isinstance(slot, Array) else ():
            if is_array(x):
                self._place(x)

    def _place(self, x: Tracer) -> None:
        self.places[id(x)] = found = place_of(x, self.serial)
        for t in (x, *found.arrays):
            self.ends.setdefault(id(t), (t, _end(t)))
            self.aliases.setdefault(id(t), may_be(t, lambda y: was_there(y, self.serial))[1:])

    def lets_grow(self, array: Tracer) -> bool:
        """Whether this branch writes behind the entries of a list's row at most."""
        return id(array) in self.longer or id(array) not in self.slots

    def place(self, x: Any) -> Place:
        """The place of the array that a name stands for at the end of this branch."""
        if not isinstance(x, Tracer):
            x = current().watch(x)
        return self.places.get(id(x)) or Direct(x)

    def end(self, x: Any) -> ArrayOrNumber:
        """The value, at the end of this branch, of a leaf that it did not bind anew. The elements of a view of an array
        that was written to are read outside (see BranchAliases).
        """
        if id(x) in self.ends:
            return self.ends[id(x)][1]
        if is_array(x) and not self.written.isdisjoint(map(id, roots_of(x))):
            self.stale.add(id(x))
        return optional.bare(x)

    def is_given(self, x: object) -> ArrayOrNumber:
        """Whether a leaf is there at the end of this branch, and not None."""
        if isinstance(x, Tracer) and x.optional is not None:
            return self.given.get(id(x), x.optional.flag)
        return x is not UNDEFINED and self.given.get(id(x), True)


def _slot_end(slot: Any, value: Any, layout: "TreeLayout | None") -> SlotEnd:
    return SlotEnd(slot, value, layout, containers_of(slot, value), slot.is_bound if isinstance(slot, Name) else True)


def _end(x: Any) -> ArrayOrNumber:
    """The present contents of an array. An array of unknown contents stays itself, and is refused where it is needed.
    """
    return x if is_array(x) and x.is_unknown else frozen(x)


def _one_number(column: tuple) -> Any:
    """The number of Python's that a leaf is on each side where its name has a value, if it is not on some."""
    found = [x for x in column if x is not UNDEFINED]
    is_known = 0 < len(found) < len(column) and all(is_same(x, found[0]) for x in found)
    return found[0] if is_known and type(found[0]) in (bool, int, float, complex) else None


class _Join:
    """The results of both branches side by side: what differs goes through the cond, the rest stays what it is."""

    @unprofiled
    def __init__(self, sides: list, slots: dict):
        self.sides, self.slots = sides, slots
        self.keys = list(slots)
        self.layouts: list = []
        self.plans: list = []
        self.columns: list[Column] = []
        self.twins: dict[Any, list] = {}  # key -> paths in its value, and what containers a branch has there
        # flags (or Columns of flags) that say whether names and leaves are there, with those who are told
        self.doubts: list[tuple] = []
        for key in self.keys:
            ends = [s.slot_end(key, slots[key]) for s in sides]
            if isinstance(slots[key], Container) and isinstance(slots[key].owner, Items):
                require_alike([end.value for end in ends], slots[key].owner)
            self._add(key, ends, self._kept(key, ends))
        self.joint = BranchAliases(sides, self.columns)

    def _kept(self, key: object, ends: "list[SlotEnd]") -> set:
        """The containers in a value that are one object in both branches."""
        first, *others = [end.containers for end in ends]
        kept = {id(c) for path, c in first.items() if all(found.get(path) is c for found in others)}
        for end in ends:
            note_parts(end.value, kept)
        self.twins[key] = [(path, c) for end in ends for path, c in end.containers.items() if id(c) not in kept]
        return kept

    def _add(self, key: object, slot_ends: "list[SlotEnd]", kept: set) -> None:
        layouts = [s.layout(end, kept) for s, end in zip(self.sides, slot_ends)]
        name = key if isinstance(key, str) and key != RESULT else ""
        shown, slot = "" if name.startswith("_fad_") else name, self.slots[key]
        if shown:
            self._doubt([end.is_bound for end in slot_ends], slot.doubt)
        known = next((x for x in layouts if not x.is_undefined), layouts[0])
        layouts = [known.undefined() if x.is_undefined else x for x in layouts]
        form = functools.reduce(lambda form, x: form.join(known, x), layouts, Form())
        known, *layouts = map(form.of, (known, *layouts))
        for x in layouts:
            known.require(x, key if isinstance(key, str) else "")
        numbers = [k for k in range(len(known.leaves)) if k not in known.statics]
        ends = [map(s.end, x.data) for s, x in zip(self.sides, layouts)]
        plan = []
        for k, column, end in zip(numbers, zip(*[x.data for x in layouts]), zip(*ends)):
            number = None if k in form.absent else _one_number(column)
            plan.append(self._column(name, column, end, isinstance(slot, Array)) if number is None else number)
        for found in [x for k, x in zip(numbers, plan) if k in form.absent and isinstance(x, Column)]:
            self._doubt([s.is_given(x) for s, x in zip(self.sides, found.leaves)],
                        lambda flag, found=found: optional.note(found.result, flag, shown))
        self.layouts.append(known)
        self.plans.append(plan)

    def _doubt(self, flags: list, tell: Callable) -> None:
        """Something is there where the flags of the sides say so; tell(flag) notes it of what the branch leaves."""
        flag: Any = flags[0]
        if any(f is not flag for f in flags):
            flag = Column("", tuple(flags), tuple(flags), None)
            self.columns.append(flag)
        self.doubts.append((flag, tell))

    def _column(self, name: str, column: tuple, ends: tuple, is_storage: bool) -> Column:
        """The join of one leaf: the same thing on both sides, or a Column of results."""
        if all(is_same(x, column[0]) for x in column):
            return column[0]
        are_arrays = not is_storage and all(x is UNDEFINED or kind_of(x) is not False for x in column)
        ids = tuple(map(id, column)) if are_arrays else None
        known = next((c for c in self.columns if ids is not None and c.ids == ids), None)
        if known is None:
            known = Column(name, column, ends, ids)
            self.columns.append(known)
        return known

    def rows(self) -> list:
        return [[c.ends[k] for c in self.columns] for k in range(len(self.sides))]

    def names(self) -> tuple:
        return tuple(c.name for c in self.columns)

    def deliver(self, results: tuple) -> list:
        """The joined value of each key."""
        for c, y in zip(self.columns, results):
            c.result = y
        out = []
        for layout, plan in zip(self.layouts, self.plans):
            data = [p.result if isinstance(p, Column) else p for p in plan]
            out.append(layout.filled(iter(data)))
        return out

    @unprofiled
    def note_twins(self, values: list) -> None:
        """Note which containers the joined values may be."""
        seen: dict[int, Any] = {}
        for key, value in zip(self.keys, values):
            now = containers_of(self.slots[key], value)
            for path, c in self.twins[key]:
                if path not in now:
                    continue
                for x in {id(x): x for s in self.sides for x in s.open.get(id(c)) or may_be(c)}.values():
                    if all(s.is_outer(x) for s in self.sides):
                        may_be_one(now[path], x)
                    may_be_one(now[path], seen.setdefault(id(x), now[path]))
                if any(c is x for s in self.sides for x in s.fixed):
                    note_fixed(now[path])
        for c in [x for s in self.sides for x in s.fixed if s.is_outer(x)]:
            note_fixed(c)

    def tie_views(self, selector: Value) -> None:
        """Names that may be one array share it; names that may have no value, or one that nobody knows, are marked."""
        for flag, tell in self.doubts:
            flag = flag.result if isinstance(flag, Column) else flag
            if isinstance(flag, Value):
                tell(flag)
        self.joint.tie_views(selector)
        for column in self.columns:
            if is_array(column.result) and any(id(x) in s.unknown for s, x in zip(self.sides, column.leaves)):
                lose(column.result)


def run_side(f: Callable) -> Any:
    """The result of one side of a branch. Its frame tells the statements of the side from those of functions that the
    side calls (see runtime/handling.py).
    """
    return f()


def choose(*branch: Any, **names: Any) -> Any:
    """The result of the chosen function, with its changes of variables, arrays and containers. See _chosen."""
    given_room: list[Items] = []
    while True:
        try:
            return _chosen(*branch, **names)
        except (NeedsRows, NeedsRoom) as need:
            make_rows(need, given_room)


def _chosen(test: Tracer, if_true: Callable, if_false: Callable, cells: dict, live: Iterable = (),
            own: Iterable = ()) -> Any:
    """Trace both sides of a test and join them. cells: variables of both sides. own: variables that their code binds;
    only the live ones matter.
    """
    sides: list[BranchEnd] = []
    joined: list[_Join] = []
    raising: list[bool] = []  # the side on which Python raises an error, of which only that is left
    selector = frozen(test)

    def region(f: Callable, side: bool) -> Callable:
        def run() -> list:
            current().region.side, current().region.is_retried = (selector, side), True
            try:
                sides.append(left_behind(f))
            except Exception as error:
                if raising or is_interrupt(error) or not is_pythons(error):
                    raise
                raising.append(side)
                sides.append(left_behind(lambda error=error: raised_here(error)))
                for key, end in sides[-1].slots.items():      # nothing is read behind the error
                    sides[-1].slots[key] = end._replace(is_bound=True)
            return []
        return run

    def left_behind(f: Callable) -> BranchEnd:
        with trial(cells) as made:
            result = run_side(f)
            check(current())
            return BranchEnd(made, result, live, own)

    def align(_: list) -> list:
        joined.append(_Join(sides, {key: end.slot for side in sides for key, end in side.slots.items()}))
        return joined[0].rows()

    results = trace_branches(
        selector, (region(if_false, False), region(if_true, True)), align, lambda: joined[0].names(), is_users=True
    )
    values = joined[0].deliver(results)
    slots = [joined[0].slots[key] for key in joined[0].keys[1:]]
    arrays = [s for s in slots if isinstance(s, Array)]
    write_all(slots, values[1:], [s for s in arrays if all(side.lets_grow(s.tracer) for side in sides)])
    joined[0].note_twins(values)
    for array in [t for side in sides for t in side.lost]:
        lose(array)
    joined[0].tie_views(selector)
    return values[0]
