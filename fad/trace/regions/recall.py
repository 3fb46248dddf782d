"""Memory of inner loops: the next trial of a body starts them where the last trial left them.

A loop is traced until nothing is new: a carry's type, an array that is written to, a flag that ends it. Each time the
loops in its body are traced too. If these began with nothing, a nest would cost the trials of one loop to the power of
its depth; so a loop begins with what it ended with in the trial before. That holds as long as what it can see has at
least the types it had then, since what a carry is grows with these. Where anything it sees is of another kind, or of a
narrower type, it begins with nothing.
"""
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ...ir.build import Builder
from ...ir.types import Type, type_of
from ...ops.carry import UNDEFINED, RankError, join
from ...util.array import ArrayOrNumber
from ...util.by_identity import ById
from ..heap.journal import journal
from ..heap.state import Array, Container, Name, changing, is_array, is_data
from ..objects.containers import containers_in, contents, keeps_record, values_of
from ..values.place import roots_of
from ..values.tracer import Tracer
from .forms import Form


class Seen(NamedTuple):
    """The view that a loop has of its surroundings: the kinds of its names' values and of their contents (a type, or
    the class of what is no data), and the mutable things among them: containers, then arrays. Outside containers, which
    are the same in all trials, count if they have changed.
    """

    kinds: list
    places: list
    outer: dict

    def place(self, x: object) -> Any:
        """By what something that can change is known: its number, or itself. A list of captured code has no place: what
        a loop does to it is found with its room (see lists/appending.py).
        """
        if keeps_record(x):
            return None
        if not isinstance(x, Tracer) and journal().is_outer(x):
            return ById(x)
        return next((k for k, y in enumerate(self.places) if x is y), None)

    def thing(self, place: Any) -> ArrayOrNumber:
        """The thing that goes by this key."""
        return place.value if isinstance(place, ById) else self.places[place]

    def is_within(self, other: "Seen") -> bool:
        """Whether the other is of the same kinds, or of wider types."""
        cells = {**self.outer, **other.outer}
        pairs = [(self.kinds, other.kinds), *[(self._kinds_in(c), other._kinds_in(c)) for c in cells]]
        are_within = all(len(a) == len(b) and all(map(_is_within, a, b)) for a, b in pairs)
        return are_within and len(self.places) == len(other.places)

    def _kinds_in(self, cell: ById) -> list:
        if cell in self.outer:
            return self.outer[cell]
        return list(map(_kind, _leaves(values_of(journal().begun_as(cell.value)))))


def seen(cells: dict) -> Seen:
    """The present view of a loop with these variables."""
    values = [Name(n, cell).read() for n, cell in cells.items()]
    found, book = containers_in(values, journal().is_untouched), journal()
    outer = {ById(c): list(_leaves(values_of(contents(c)))) for c in found if book.is_outer(c) and not keeps_record(c)}
    containers = [c for c in found if ById(c) not in outer]
    leaves = list(_leaves([*values, *[x for c in containers for x in _held(c)]]))
    arrays = [x for inside in (leaves, *outer.values()) for x in inside if is_array(x)]
    roots = {id(r): r for x in arrays for r in roots_of(x)}
    kinds = {c: list(map(_kind, inside)) for c, inside in outer.items()}
    return Seen(list(map(_kind, leaves)), [*containers, *roots.values()], kinds)


def _held(container: Any) -> Iterable:
    inside = contents(container)
    if keeps_record(container):
        return [inside.kind(), *inside.items, *(inside.rows or ())]
    return values_of(inside)


def _leaves(values: Iterable) -> Iterator:
    for x in values:
        if isinstance(x, tuple):
            yield from _leaves(x)
        else:
            yield x


def _kind(x: object) -> Any:
    """A leaf's type, with its rank for extents; None before it has a value; of what is no data, its class."""
    if x is UNDEFINED:
        return None
    if not is_data(x):
        return type(x)
    return sketch(x._var.type if isinstance(x, Tracer) else type_of(x))


def sketch(t: Type) -> Type:
    """A type whose extents do not matter."""
    return Type(t.dtype, (0,) * t.rank, t.weak)


def _is_within(a: "Type | None", b: "Type | None") -> bool:
    """Whether what was of the kind a can be of the kind b where its type grows."""
    if not isinstance(a, Type) or not isinstance(b, Type):
        return a is b or (a is None and isinstance(b, Type))
    try:
        both = join(a, b, "")
    except RankError:
        return False
    return both.dtype == b.dtype and both.weak == b.weak          # type: ignore[union-attr]


class Memory:
    """The findings of a loop's trials, and those of the loops inside it: the next trial of the loop around it begins
    with them. A slot goes by its place: its name, or the number of the mutable thing (see Seen).
    """

    def __init__(self) -> None:
        self.sight: Seen | None = None
        self.forms: dict[Any, Form] = {}                      # of the values at the places of slots
        # positions of containers and arrays that iterations put others in place of (see identity.py)
        self.replaced: set[tuple] = set()
        self.early = False                                    # whether a traced flag may end the loop
        self.test_changes = False                             # whether a while loop's condition changes something
        self.found: list = []                                 # what else the iterations write to
        self.bound_elsewhere: list = []                       # names that other functions bind
        self.types: dict = {}                                 # of the carries, each known by its place and its number
        self.extents: dict = {}                               # the axes along which these change their extents
        self.steps: dict[tuple, list[int]] = {}  # what traces found that iterations add to these (see ops/carry.py)
        self.refused: list[Exception] = []  # why the loop is no region before its first iteration, before its second
        self.inside: dict[Any, Memory] = {}
        self.met: Counter = Counter()
        # the number of a list among those that the loop can see -> what iterations append to it (see
        # lists/appending.py)
        self.lists: dict[int, Any] = {}
        # what the loop saw and began with when its first iterations were compared (see widening.py)
        self.settled: Any = None

    def of_lists(self) -> "Memory":
        """The facts about lists alone. Each trial finds out whether they hold."""
        made = Memory()
        made.lists, made.inside = self.lists, {key: part.of_lists() for key, part in self.inside.items()}
        return made

    def tell(self, plan: Any) -> None:
        """Let a loop's plan begin with what is known."""
        for name in self.bound_elsewhere:
            plan.own.add(name)
            plan.names.append(Name(name, plan.cells[name]))
        for k in self.found:
            x = self.sight.thing(k)                           # type: ignore[union-attr]
            plan.add(Array(x) if isinstance(x, Tracer) else Container(x))

    def place(self, slot: Any) -> Any:
        """By what a slot is known: its name, or the number of what changes; a tuple where only this trial knows it."""
        thing = changing(slot)
        known = None if self.sight is None else self.sight.place(thing)
        return slot.name or ((id(thing),) if known is None else known)

    def is_settled(self, begun: list) -> bool:
        """Whether the first iterations of the loop, which begins with these values, were found to be like the rest."""
        return self.settled is not None and self.settled == self._beginning(begun)

    def settle(self, begun: list) -> None:
        self.settled = self._beginning(begun)

    def _beginning(self, begun: list) -> Any:
        """The kinds of all that the loop sees, and what it begins with: numbers themselves, of others their types."""
        if self.sight is None:
            return None
        outer = [kind for kinds in self.sight.outer.values() for kind in kinds]
        first = [sketch(x._var.type) if isinstance(x, Tracer) else x for x in begun]
        return list(map(repr, [*self.sight.kinds, *outer, *first]))

    def note(self, plan: Any, results: dict, made: tuple) -> None:
        """Remember what a loop came to. results: its carries, each by its slot's key and its number there; made: the
        loop's variables.
        """
        types = {at: type_of(x) for at, x in results.items() if x is not UNDEFINED and type(at[0]) is not tuple}
        self.found = [k for k in map(self.place, plan.found) if type(k) is not tuple]
        self.bound_elsewhere = [s.name for s in plan.names[plan.given:]]
        self.types = {place: sketch(t) for place, t in types.items()}
        self.extents = {place: [axis for axis, n in enumerate(t.shape) if n in made] for place, t in types.items()}

    def begin(self) -> "Memory":
        """An iteration is traced anew: the loops in it are met from the first on."""
        self.met.clear()
        return self

    def next_of(self, code: object, cells: dict) -> "Memory":
        """That of the loop of this code which is met now."""
        self.met[code] += 1
        return self.part((code, self.met[code]), cells)

    def part(self, key: object, cells: dict) -> "Memory":
        """The memory under a key; empty unless the loop sees the same things as before, in types as wide or wider."""
        now, known = seen(cells), self.inside.get(key)
        if known is None or known.sight is None or not known.sight.is_within(now):
            known = self.inside[key] = Memory() if known is None else known.of_lists()
        known._see(now)
        return known

    def _see(self, sight: Seen) -> None:
        """Forget what only the trial before could know."""
        self.sight = sight
        self.forms = {at: form._replace(layout=None) for at, form in self.forms.items() if type(at) is not tuple}
        self.replaced = {p for p in self.replaced if type(p[0]) is not tuple}


def memory_here(builder: Builder) -> Memory:
    """That of the loop whose iteration is being traced; an empty one outside of iterations."""
    while builder.region.side is not None and builder.parent is not None:
        builder = builder.parent
    return builder.region.memory or Memory()
