"""Lists that loops fill, and lists that they read or write by a traced index: in a loop that is one region they lie in
arrays.

A list of captured code starts as `Items`, a list like any other. When a loop is found to append to it, or to ask for an
element by an index that is traced, its elements move into `rows`, one array for each leaf of an element. The first
`length` entries are in the list: it has become a `RowList`. A list within it whose elements are alike is an entry (see
member.py). roll.py decides which loop moves it, and how much room there is. A method that rows do not have makes the
list a plain one again, with its length pinned.
"""
import operator
from collections.abc import Callable, Iterator
from typing import Any

from ...ir.build import Value, current
from ...ir.op import registry
from ...ir.types import Type, type_of
from ...ops.control import resize
from ...ops.extents import assume_at_least
from ...ops.literals import python_int
from ...ops.override import BY_NAME
from ...util import tree
from ...util.array import ArrayOrNumber
from ...util.errors import UnstageableError
from ..heap.journal import note
from ..heap.state import TreeLayout, lengthened
from ..values.aliases import note_fixed
from ..values.iterate import ArrayRows, Steps
from ..values.member import Member, Ties, as_member, member_of, refuse_write
from ..values.place import roots_of
from ..values.text import text_of_list
from ..values.tracer import Tracer
from .elements import (
    Fixed,
    Like,
    as_number,
    common_kinds,
    have_shapes,
    like,
    lists_in,
    note_doubtful,
    note_types,
    wider_types,
)
from .items import Contents, Items, NeedsRoom, NeedsRows, known_difference

FAR = 1000  # a loop that reads so far is taken for one without an end


def fixed(x: object, ties: "Ties | None" = None) -> Any:
    """An element with its lists: those in rows are entries of the list with these ties, others may only be read."""
    if type(x) is list:
        return Fixed([fixed(y, ties) for y in x])
    if isinstance(x, RowList):
        x.is_element, x.ties = True, ties or x.ties
    return tuple([fixed(y, ties) for y in x]) if type(x) is tuple else x


def _as_list_index(place: object) -> Any:
    """The index of an element: True and False of Python's are 1 and 0, where an array would take them for a mask."""
    given: Any = place if isinstance(place, Tracer) else None
    if given is None or (given.dtype.kind in "iu" and not given.ndim):
        return place
    if given.dtype.kind == "b" and given.type.weak and not given.ndim:
        return python_int(given)
    raise TypeError(f"list indices must be integers or slices, not numpy.{given.dtype}")


class RowList(Items):
    """A list whose elements lie in arrays. All other methods make it a plain list again."""

    __hash__ = None                                           # type: ignore[assignment]

    def append(self, x: object) -> None:
        if self.rows is None:                                 # it became a plain list while x was computed
            return Items.append(self, x)
        note(self)
        self._may_change()
        x = self._as_element(x)
        new = like(x).layout
        self.layout.require(new, "an element of a list")
        if self.keeper is None:
            self._make_room(x)
        for found in lists_in(x):
            note_fixed(found)
        if wider_types(self.types_now(), new.data) is not None or self._is_of_other_kind(new):
            raise NeedsRoom(self, [like(x), self.like()], self.used + 1)
        note_types(self.seen, map(type_of, new.data))
        for row, leaf in zip(self.rows, new.data):
            with lengthened(row):
                row[self.length] = leaf
        self._give(new.data)
        self.length, self.used = self.length + 1, self.used + 1

    def _make_room(self, x: object) -> None:
        """Room for one more; in the iteration of a loop it is the loop's to make."""
        if self.rows[0].builder is not current():
            raise NeedsRoom(self, [like(x), self.like()], self.used + 1)
        self.move_to_rows([like(x)], 1)

    def _may_change(self) -> None:
        if self.is_element:
            refuse_write()

    def _is_of_other_kind(self, new: TreeLayout) -> bool:
        """Whether numbers are arrays without axes here, or the other way round."""
        return common_kinds([self.layout, new]) != self.layout.zero_dim

    def types_now(self) -> list:
        """The types of an element's leaves; the arrays that hold an element may have become wider."""
        return [t if t.dtype == row.dtype else Type(row.dtype, t.shape) for t, row in zip(self.types, self.rows)]

    def _widen(self, types: list) -> None:
        """Let the leaves lie in arrays of these types; those of an element are entries of its owner's."""
        if not self.is_element:
            if self.home is not current():
                raise NeedsRows(self, [Like(self.layout, types)])
            self.move_to_rows([Like(self.layout, types)], 0)
            return
        members = [member_of(row) for row in self.rows]
        if any(m is None for m in members):
            refuse_write()
        owner = members[0].owner                              # type: ignore[union-attr]
        wider = owner.types_now()
        for m, t in zip(members, types):
            wider[m.k] = Type(t.dtype, wider[m.k].shape, False)                      # type: ignore[union-attr]
        owner._widen(wider)

    def kinds(self) -> list:
        """Whether the leaves of an element are arrays (True), numbers (False), or one or the other (None)."""
        numbers = [k for k in range(len(self.layout.leaves)) if k not in self.layout.statics]
        return [self.layout.zero_dim.get(k, False) for k in numbers]

    def like(self) -> Like:
        return Like(self.layout, self.types)

    def entries(self, k: int, length: ArrayOrNumber) -> Any:
        """The first entries of a row."""
        row = self.rows[k]
        return row if known_difference(row.shape[0], length) == 0 else row[:length]

    def own_entries(self) -> list:
        """The entries of each row that are in the list, as an array of their own."""
        made = []
        for k, row in enumerate(self.rows):
            y = self.entries(k, self.length)
            made.append(own := Tracer(y.builder, y.atom))
            own.aliases = row.aliases
        return made

    def own_copy(self) -> Items:
        """A list in rows of its own with the same elements."""
        return _with_rows(_RowListFrame(self), tuple(self.own_entries()))

    def write_entry(self, member: Member, new: object) -> None:
        """Give an element that is an array a new value in place."""
        self.ties.write([r for row in self.rows for r in roots_of(row)])
        self.entries(member.k, member.length)[member.place] = new

    def _element(self, leaves: list, place: object) -> Any:
        values = [
            as_member(x, self, k, place, self.rows[k].aliases) if kind else note_doubtful(as_number(x, t), self.seen[k])
            for k, (x, t, kind) in enumerate(zip(leaves, self.types_now(), self.kinds()))
        ]
        return fixed(self.layout.filled(iter(values)), self.ties)

    def __getitem__(self, place: object) -> Any:
        if isinstance(place, slice):
            return self._plain()[place] if any(self.kinds()) else self._part(place)
        place = _as_list_index(place)
        # sure to be in the list: taken from the row itself
        if isinstance(place, int) and place < 0 and assume_at_least(self.length, -place):
            place = self.length + place
            return self._element([row[place] for row in self.rows], place)
        if isinstance(place, int) and place >= FAR and not assume_at_least(self.length, place + 1):
            raise UnstageableError("a list whose length depends on data is read far behind its beginning",
                                   why="a loop that is to end by Python's IndexError does not end in a program",
                                   do="loop over the list, or over range(len(items))")
        return self._element([self.entries(k, self.length)[place] for k in range(len(self.rows))], place)

    def copy(self) -> Any:
        return self[:]

    def __radd__(self, other: Any) -> Any:
        return other + self._plain()

    def _part(self, place: slice) -> Any:
        """A list of some of the elements, which are numbers; elements that are arrays would have to be the same arrays.
        """
        parts = [self.entries(k, self.length)[place].copy() for k in range(len(self.rows))]
        return _with_rows(_RowListFrame(self), tuple(parts))

    def __setitem__(self, place: object, x: object) -> None:
        place = _as_list_index(place)
        new = None if isinstance(place, slice) else like(self._as_element(x)).layout
        if new is None or not self.layout.fits(new) or not have_shapes(self.types, new.data):
            self._may_change()
            self._plain()[place] = x
            return
        if self._is_own(place, new.data):
            return
        wider = wider_types(self.types_now(), new.data)
        if wider is not None:
            self._widen(wider)
        if self._is_of_other_kind(new):
            self.layout = self.layout.of_kinds(common_kinds([self.layout, new]))
        note_types(self.seen, map(type_of, new.data))
        for k, leaf in enumerate(new.data):
            self.entries(k, self.length)[place] = leaf
        if any(kind is not False for kind in self.kinds()):
            for found in lists_in(x):
                note_fixed(found)
            self._give(new.data)
            self.ties.rebound += 1

    def _is_own(self, place: object, leaves: list) -> bool:
        """Whether these leaves are those of the element at this place, as after `out[k] += v`."""
        members = [member_of(x) for x in leaves]
        return bool(members) and all(m is not None and m.is_at(self, k, place) for k, m in enumerate(members))

    def pop(self, *place: Any) -> Any:
        if place and place != (-1,):
            return self._plain().pop(*place)
        note(self)
        self._may_change()
        last = self[-1]
        self.length = self.length - 1
        self.ties.rebound += 1
        return last

    def __len__(self) -> int:
        return self.length.__index__()

    def __bool__(self) -> bool:
        return bool(self.length != 0)

    def __iter__(self) -> Iterator:
        for k in range(len(self)):
            yield self[k]

    __repr__ = text_of_list

    def steps(self) -> Steps:
        """The range of a loop over the list."""
        return ArrayRows(self, self.length)

    def array(self) -> Any:
        """The list as one array, or None where its elements have no common shape."""
        leaves = [self.entries(k, self.length) for k in range(len(self.rows))]
        if self.layout.statics or not leaves:
            return None
        structure = self.layout.structure
        flat = all(c.cls is None for c in structure.children) and len({t.rank for t in self.types}) == 1
        if structure.cls is None or (structure.cls is RowList and len(leaves) == 1):
            return Tracer(leaves[0].builder, leaves[0].atom)
        return BY_NAME["numpy.stack"].call(leaves, axis=1) if flat and structure.cls in (list, tuple) else None

    def _plain(self) -> "Items":
        """The list with its elements one by one, for as many as there are."""
        elements = list(self)
        note(self)
        list.__setitem__(self, slice(None), elements)
        self.__class__ = Items  # type: ignore[assignment]
        self.rows, self.layout, self.types, self.length = None, None, None, 0
        return self


Items.kind_in_rows = RowList


def _on_plain(f: Callable) -> Callable:
    """A method that rows lack: it runs on a plain list of the elements, and so do other lists in rows among its
    arguments.
    """
    def method(self: RowList, *args: Any, **kwargs: Any) -> Any:
        return f(self._plain(), *[x._plain() if isinstance(x, RowList) else x for x in args], **kwargs)
    method.__name__ = f.__name__
    return method


for _name in "insert remove clear index count sort reverse __rmul__ __reversed__".split():
    setattr(RowList, _name, _on_plain(getattr(list, _name)))
for _name in "delitem add mul imul contains eq ne lt le gt ge".split():  # as operators, which ask both operands
    setattr(RowList, f"__{_name}__", _on_plain(getattr(operator, f"__{_name}__")))


class Growing(RowList):
    """Rows that see to their own room, which doubles when it is used up: nobody knows how long the list will be."""

    def _make_room(self, x: object) -> None:
        room = self.rows[0].shape[0]
        enough = registry["where"](self.length < room, room, 2 * self.length + 1)
        for row in self.rows:
            with lengthened(row):
                row.set(resize(row, enough))


class _RowListFrame:
    """The static part of a list in rows: the kind of its elements."""

    def __init__(self, rows: RowList):
        self.layout, self.types, self.is_element, self.seen = rows.layout, rows.types, rows.is_element, rows.seen

    def __eq__(self, other: object) -> bool:
        is_one_kind = isinstance(other, _RowListFrame) and self.is_element is other.is_element
        return is_one_kind and self.layout.fits(other.layout)  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(self.layout.structure)


def _with_rows(frame: _RowListFrame, rows: tuple) -> "RowList":
    # no Value: a list that has none yet, or is only described
    length = rows[0].shape[0] if isinstance(rows[0], Value) else 0
    made = RowList()
    made.put(Contents(RowList, [], list(rows), frame.layout, frame.types, length, frame.is_element, Ties(),
                      frame.seen))
    return made


def _row_values(x: RowList) -> tuple:
    """The arrays that hold the elements, and no copies: what regions note of these is noted of the list. An element of
    another list is a view of its entry there, like an array with two names.
    """
    return tuple([x.rows[k] if x.is_element else x.entries(k, x.length) for k in range(len(x.rows))])


tree.register(RowList, lambda x: (_row_values(x), _RowListFrame(x)), _with_rows)
