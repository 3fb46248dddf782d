"""Lists that loops fill: in a loop that is one region, `out.append(y)` writes into an array with room for every turn.

A list of captured code starts as `Items`, a list like any other. When a loop is found to append to it, its elements move into `rows`, one array
for each leaf of an element, of which the first `length` entries are in the list: it has become `Rows`. Which loop makes the room, and how much,
is decided in roll.py; what cannot be done on rows makes the list a plain one again, with its length pinned.
"""
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ..ir.build import Value, current
from ..ir.op import registry
from ..ir.types import promoted, type_of
from ..ops.carry import convert
from ..ops.control import resize
from ..ops.extents import at_least
from ..ops.face import BY_NAME
from ..util import tree
from ..util.errors import UnstageableError
from .elements import Fixed, Like, common_type, element_type, like, read_only, refuse_write
from .iterate import Steps
from .state import Layout
from .tracer import Tracer
from .twins import note_fixed


class NeedsRoom(UnstageableError):
    """A list gets elements in a turn of a loop: how many at most (None: nobody knows), what they are like, and whether anything traced has a
    part in it.
    """

    def __init__(self, owner: "Items", samples: list, most: Any, is_traced: bool = True):
        super().__init__("a list grows in a loop or branch on traced values", why="a loop or a branch on traced values gives a name one structure")
        self.owner, self.samples, self.most, self.is_traced = owner, samples, most, is_traced


class Contents(NamedTuple):
    """What a list holds at a moment."""

    kind: type
    items: list
    rows: Any
    layout: Any
    types: Any
    length: Any

    def same(self, other: "Contents") -> bool:
        return self.rows is other.rows and _same_all(self.items, other.items) and atom_of(self.length) is atom_of(other.length)


def atom_of(n: Any) -> Any:
    return n.atom if isinstance(n, Value) else n


def _same_all(a: list, b: list) -> bool:
    return len(a) == len(b) and all(x is y for x, y in zip(a, b))


class _Held:
    """What of a list's contents is no data: all but its elements, or (in rows, which are data of their own) its length."""

    def __init__(self, contents: Contents):
        self.contents = contents

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held) and self.contents.rows is other.contents.rows and self.contents.kind is other.contents.kind

    def __hash__(self) -> int:
        return id(self.contents.rows)


tree.register(Contents, lambda c: ((c.items if c.rows is None else c.length,), _Held(c)),
              lambda held, inside: held.contents._replace(**{"items" if held.contents.rows is None else "length": inside[0]}))


class Items(list):
    """A list of captured code that has ordinary elements. `used` bounds the number of elements it got in the present turn of a loop."""

    rows: Any = None
    layout: Any = None
    types: Any = None
    length: Any = 0
    used: Any = 0
    added: Any = ()                                           # arrays that it got in the present turn
    keeper: Any = None                                        # the loop (its plan) that has made room for what its turns append

    def append(self, x: Any) -> None:
        list.append(self, x)
        self.used = self.used + 1

    def extend(self, more: Any) -> None:
        for x in more:
            self.append(x)

    def __iadd__(self, more: Any) -> Any:
        self.extend(more)
        return self

    def contents(self) -> Contents:
        return Contents(type(self), list(list.__iter__(self)), self.rows, self.layout, self.types, self.length)

    def put(self, c: Contents) -> None:
        self.__class__ = c.kind
        list.__setitem__(self, slice(None), c.items)
        self.rows, self.layout, self.types, self.length = c.rows, c.layout, c.types, c.length

    def move_to_rows(self, samples: list, more: Any, kind: "type | None" = None) -> None:
        """Let the elements lie in arrays with room for `more`, which will be like the samples."""
        before, held = self.length if self.rows else len(self), [] if self.rows else list(self)
        known = [Like(self.layout, self.types)] if self.rows else []
        for x in samples:
            require_fixed(x.layout.structure)
        layout, *others = [x.layout for x in (*known, *map(like, held), *samples)]
        for other in others:
            layout.require(other, "an element of a list")
        types = [common_type([element_type(x) for x in column]) for column in zip(*[x.leaves for x in (*known, *map(like, held), *samples)])]
        rows = [registry["full"](0, before + more, *[current().value_of(n) for n in t.shape], dtype=t.dtype) for t in types]
        for k, row in enumerate(rows):
            if self.rows:
                row[:before] = self.rows[k][:before]
            for n, x in enumerate(held):
                row[n] = Layout(x).data[k]
        list.clear(self)
        self.__class__ = kind or Rows
        self.rows, self.layout, self.types, self.length = rows, layout, types, before


def require_fixed(structure: tree.Structure) -> None:
    """An element of rows may be made of tuples and lists; other objects are ones that may change."""
    cls = structure.cls
    if not (cls in (None, list, type(None), Rows) or issubclass(cls, tuple)):        # type: ignore[arg-type]
        raise UnstageableError(f"a list gets objects of class {cls.__name__} in a loop", why="they may change later")   # type: ignore[union-attr]
    for child in structure.children:
        require_fixed(child)


def fixed(x: Any) -> Any:
    """An element with its lists fixed."""
    if type(x) is list:
        return Fixed(map(fixed, x))
    if isinstance(x, Rows):
        x.is_element = True
    return tuple(map(fixed, x)) if type(x) is tuple else x


def lists_in(x: Any) -> list:
    """The lists that an element is made of."""
    if isinstance(x, Rows):
        return [x]
    if isinstance(x, list):
        return [x, *[found for y in x for found in lists_in(y)]]
    return [found for y in x for found in lists_in(y)] if isinstance(x, tuple) else []


class Rows(Items):
    """A list whose elements lie in arrays. What is not here is done on a plain list again."""

    def append(self, x: Any) -> None:
        if self.rows is None:                                 # it became a plain list while x was computed
            return Items.append(self, x)
        self._may_change()
        new = Layout(x)
        self.layout.require(new, "an element of a list")
        if self.keeper is None:
            self._make_room(x)
        for found in lists_in(x):
            note_fixed(found)
        for row, t, leaf in zip(self.rows, self.types, new.data):
            if promoted([t, type_of(leaf)]) != t.dtype or len(t.shape) != type_of(leaf).rank:
                raise NeedsRoom(self, [like(x), self.like()], self.used + 1)
            row[self.length] = leaf
            if isinstance(leaf, Tracer) and leaf.ndim:        # the list holds the array itself: not to be read once that was changed
                row.kin = [*row.kin, (leaf, leaf._var, None)]
                self.added = [*self.added, leaf]
        self.length, self.used = self.length + 1, self.used + 1

    def _make_room(self, x: Any) -> None:
        """Room for one more; in the turn of a loop it is the loop's to make."""
        if self.rows[0].builder is not current():
            raise NeedsRoom(self, [like(x), self.like()], self.used + 1)
        self.move_to_rows([like(x)], 1)

    is_element = False                                        # of another list in rows

    def _may_change(self) -> None:
        if self.is_element:
            refuse_write()

    def like(self) -> Like:
        return Like(self.layout, self.types)

    def _entries(self, k: int) -> Any:
        """The entries of a row that are in the list."""
        row = self.rows[k]
        facts = current().integers
        whole = facts.form(atom_of(row.shape[0])) - facts.form(atom_of(self.length))
        return row if whole.is_constant and whole.const == 0 else row[:self.length]

    def _element(self, leaves: list) -> Any:
        values = [read_only(convert(x, t)) if not t.shape else read_only(x, row.kin) for x, t, row in zip(leaves, self.types, self.rows)]
        return fixed(self.layout.filled(iter(values)))

    def _at(self, k: int, place: Any) -> Any:
        """The entry at a place; taken from the row itself where that is sure to be in the list."""
        if isinstance(place, int) and place < 0 and at_least(self.length, -place):
            return self.rows[k][self.length + place]
        return self._entries(k)[place]

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return self._plain()[place] if any(t.shape for t in self.types) else self._part(place)
        return self._element([self._at(k, place) for k in range(len(self.rows))])

    def _part(self, place: slice) -> Any:
        """A list of some of the elements, which are numbers; elements that are arrays would have to be the same arrays."""
        return _with_rows(_Frame(self), tuple([self._entries(k)[place].copy() for k in range(len(self.rows))]))

    def __setitem__(self, place: Any, x: Any) -> None:
        self._may_change()
        new = Layout(x)
        if isinstance(place, slice) or not self.layout.fits(new):
            self._plain()[place] = x
            return
        for k, leaf in enumerate(new.data):
            self._entries(k)[place] = leaf

    def pop(self, *place: Any) -> Any:
        if place and place != (-1,):
            return self._plain().pop(*place)
        self._may_change()
        last = self[-1]
        self.length = self.length - 1
        return last

    def __len__(self) -> int:
        return self.length.__index__()

    def __bool__(self) -> bool:
        return bool(self.length != 0)

    def __iter__(self) -> Iterator:
        for k in range(len(self)):
            yield self[k]

    def __repr__(self) -> str:
        return f"<traced list of {self.length!r}>"

    def steps(self) -> Steps:
        """What a loop over the list runs over."""
        return Elements(self)

    def array(self) -> Any:
        """The list as one array, or None where its elements have no common shape."""
        leaves = [self._entries(k) for k in range(len(self.rows))]
        if self.layout.statics or not leaves:
            return None
        structure = self.layout.structure
        flat = all(c.cls is None for c in structure.children) and len({t.rank for t in self.types}) == 1
        if structure.cls is None or (structure.cls is Rows and flat and len(leaves) == 1):
            return Tracer(leaves[0].builder, leaves[0].atom)
        return BY_NAME["numpy.stack"].call(leaves, axis=1) if flat and structure.cls in (list, tuple) else None

    def _plain(self) -> "Items":
        """The list with its elements one by one, for as many as there are."""
        elements = list(self)
        list.__setitem__(self, slice(None), elements)
        self.__class__, self.rows, self.layout, self.types, self.length = Items, None, None, None, 0
        return self


class Growing(Rows):
    """Rows that see to their own room, which doubles when it is used up: nobody knows how long the list will be."""

    def _make_room(self, x: Any) -> None:
        room = self.rows[0].shape[0]
        enough = registry["where"](self.length < room, room, 2 * self.length + 1)
        for row in self.rows:
            row.set(resize(row, enough))


def _on_plain(name: str) -> Callable:
    def method(self: Rows, *args: Any, **kwargs: Any) -> Any:
        return getattr(self._plain(), name)(*args, **kwargs)
    method.__name__ = name
    return method


for _name in ("insert", "remove", "clear", "index", "count", "sort", "reverse", "copy", "__delitem__", "__add__", "__mul__", "__rmul__", "__imul__",
              "__contains__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__reversed__"):
    if hasattr(list, _name):
        setattr(Rows, _name, _on_plain(_name))
Rows.__hash__ = None                                          # type: ignore[assignment]


class Elements(Steps):
    """The elements of a list that lies in rows."""

    def __init__(self, rows: Rows):
        self.rows = rows
        self.stop = rows.length

    def item(self, i: Any) -> Any:
        return self.rows[i]


def plain(result: Any) -> Any:
    """A result in which lists that lie in rows are lists of their elements."""
    leaves, structure = tree.flatten(result, is_leaf=lambda x: isinstance(x, Rows))
    if not any(isinstance(x, Rows) for x in leaves):
        return result
    return structure.unflatten([plain(list(x)) if isinstance(x, Rows) else x for x in leaves])


def as_array(x: Any) -> Any:
    """x, or the array that NumPy makes of it if it is a list that lies in rows."""
    found = x.array() if isinstance(x, Rows) else None
    return x if found is None else found


def as_arrays(x: Any) -> Any:
    """Arguments of NumPy's functions: as_array of them, at any depth of lists and tuples."""
    if type(x) in (list, tuple, Items):
        return type(x)([as_arrays(a) for a in x])
    return as_array(x)


tree.register(Items, lambda x: (tuple(x), None), lambda _, c: list(c), list)


class _Frame:
    """What of a list that lies in rows is no data: the kind of its elements."""

    def __init__(self, rows: Rows):
        self.layout, self.types = rows.layout, rows.types

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Frame) and self.layout.fits(other.layout) and len(self.types) == len(other.types)

    def __hash__(self) -> int:
        return hash(self.layout.structure)


def _with_rows(frame: _Frame, rows: tuple) -> Any:
    made = Rows()
    made.rows, made.layout, made.types = list(rows), frame.layout, frame.types
    made.length = rows[0].shape[0] if isinstance(rows[0], Value) else 0      # no Value: a list that has none yet, or is only described
    return made


def _row_values(x: Rows) -> tuple:
    entries = [x._entries(k) for k in range(len(x.rows))]
    return tuple([Tracer(y.builder, y.atom) for y in entries])


tree.register(Rows, lambda x: (_row_values(x), _Frame(x)), _with_rows)
