"""Lists that loops fill, and lists that they read or write by a traced index: in a loop that is one region they lie in
arrays.

A list of captured code starts as `Items`, a list like any other. When a loop is found to append to it, or to ask for an
element by an index that is traced, its elements move into `rows`, one array for each leaf of an element, of which the
first `length` entries are in the list: it has become `Rows`. A list within it whose elements are alike is an entry (see
member.py). Which loop moves it, and how much room there is, is decided in roll.py; what cannot be done on rows makes
the list a plain one again, with its length pinned.
"""
import copy
from collections.abc import Iterator
from typing import Any

from ...ir import stack
from ...ir.build import Value, current
from ...ir.op import registry
from ...ir.types import Type
from ...ops.control import resize
from ...ops.extents import at_least
from ...ops.face import BY_NAME
from ...util import tree
from ...util.defects import door
from ...util.errors import ConcreteValueError, UnstageableError
from ..heap.journal import note
from ..heap.state import TreeLayout, is_array, lengthened
from ..objects.containers import Record
from ..values.excuses import lies_here
from ..values.iterate import Steps
from ..values.member import Member, Ties, as_member, is_fresh, member_of, refuse_write
from ..values.place import roots_of
from ..values.text import text_of_list
from ..values.tracer import Tracer, births
from ..values.twins import note_fixed
from .elements import (
    Fixed,
    Like,
    are_alike,
    as_number,
    common_kinds,
    common_type,
    element_type,
    laid_out,
    like,
    lists_in,
    require_fixed,
    wider_types,
)
from .listing import Contents, Elements, NeedsRoom, NeedsRows, atom_of
from .materialise import GUARDS, done_plainly


class Items(list, Record):
    """A list of captured code that has ordinary elements. `used` bounds the number of elements it got in the present
    iteration of a loop.
    """

    rows: Any = None
    layout: Any = None
    types: Any = None
    length: Any = 0
    used: Any = 0
    added: Any = ()                                           # arrays that it got in the present iteration
    keeper: Any = None  # the loop (its plan) that has made room for what its iterations append
    is_element = False                                        # of another list in rows
    ties: Any = None                                          # in rows: see member.py
    home: Any = None                                          # the part of the program in which it was made
    birth = 0                                                 # among those of what the trace makes (see journal.py)

    def __init__(self, items: Any = ()):
        super().__init__(items)
        self.home, self.birth = current() if stack.builders() else None, next(births)

    def append(self, x: Any) -> None:
        note(self)
        list.append(self, x)
        self.used = self.used + 1

    def extend(self, more: Any) -> None:
        for x in more:
            self.append(x)

    def __iadd__(self, more: Any) -> Any:  # type: ignore[misc]  # as of lists: of all that can be iterated over
        self.extend(more)
        return self

    @door
    def __getitem__(self, place: Any) -> Any:
        try:
            return list.__getitem__(self, place)
        except ConcreteValueError as error:
            self._ask_for_rows(error)
            return self[place]

    @door
    def __setitem__(self, place: Any, x: Any) -> None:
        note(self)
        try:
            list.__setitem__(self, place, x)
        except ConcreteValueError as error:
            self._ask_for_rows(error)
            self[place] = x

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, known: dict) -> Any:
        made = known[id(self)] = Items()
        made.extend([copy.deepcopy(x, known) for x in self])
        return made

    def _ask_for_rows(self, error: Exception) -> None:
        """Move to rows where the list was made: around the loops and branches that are being traced."""
        builder = current()
        while builder is not self.home and builder.region.is_retried:
            builder = builder.parent                          # type: ignore[assignment]
        if builder is not self.home or not len(self):
            raise error
        if builder is not current():
            raise NeedsRows(self, self.samples(len(self) - self.used) if isinstance(self.used, int) else [])
        self.move_to_rows([], 0)

    def samples(self, first: int = 0) -> list:
        """The forms in rows of the elements from this one on."""
        self.ties = self.ties or Ties()
        return [like(self._as_element(x)) for x in list.__getitem__(self, slice(first, None))]

    def contents(self) -> Contents:
        return Contents(
            type(self),
            [] if self.rows else list(list.__iter__(self)),
            self.rows,
            self.layout,
            self.types,
            self.length,
            self.is_element,
            self.ties,
        )

    def put(self, c: Contents) -> None:
        self.__class__ = c.kind
        list.__setitem__(self, slice(None), GUARDS if c.rows else c.items)
        self.rows, self.layout, self.types, self.length, self.is_element, self.ties = (
            c.rows, c.layout, c.types, c.length, c.is_element, c.ties,
        )

    def move_to_rows(self, samples: list, more: Any, kind: "type | None" = None) -> None:
        """Let the elements lie in arrays with room for `more`, which will be like the samples."""
        note(self)
        if self.rows is None:
            self.ties = Ties()
        before = self.length if self.rows else len(self)
        held = [] if self.rows else [like(self._as_element(x)) for x in list.__iter__(self)]
        found = [*([Like(self.layout, self.types)] if self.rows else []), *held, *samples]
        if not found or (held and not held[0].leaves):
            raise UnstageableError("a list without numbers or arrays is indexed by a traced integer")
        for x in found:
            require_fixed(x.layout.structure)
        layout, *others = [x.layout for x in found]
        for other in others:
            layout.require(other, "an element of a list")
        layout = layout.of_kinds(common_kinds([x.layout for x in found]))
        types = [common_type([element_type(x) for x in leaves]) for leaves in zip(*[x.leaves for x in found])]
        rows = laid_out(types, [x.leaves for x in held], self.rows, before, more)
        if self.rows:
            self.ties.written += 1                            # what was taken out looks at the new arrays
            for row, old in zip(rows, self.rows):
                row.kin = old.kin
        self.rows, self.layout, self.types, self.length = rows, layout, types, before
        list.__setitem__(self, slice(None), GUARDS)
        self.__class__ = kind or RowList
        for place, x in enumerate(held):
            self._adopt(place, x.leaves)

    def _as_element(self, x: Any) -> Any:
        """x as this list will hold it: a list whose elements are alike lies in rows, too."""
        if type(x) is tuple:
            return tuple(map(self._as_element, x))
        if not isinstance(x, list) or (not isinstance(x, RowList) and not are_alike(x)):
            return x
        if not isinstance(x, Items) or x.home is not current() or x.keeper is not None:
            note_fixed(x)                                     # the list keeps a copy of it
            self.ties.is_shared = True
            x = _copied(x) if isinstance(x, RowList) else Items(x)
        if not isinstance(x, RowList):
            x.move_to_rows([], 0)
        elif not x.is_element:
            x.rows = [x.own_entries(k) for k in range(len(x.rows))]
        note(x)
        x.is_element = True
        return x

    def _adopt(self, place: int, leaves: list) -> None:
        """Let the arrays of an element that the list has be entries of its rows, where they are nothing else yet."""
        for k, leaf in enumerate(leaves):
            if is_array(leaf) and is_fresh(leaf):
                base = Member(self, k, place)
                leaf.as_view(base, base.read, base.write)     # type: ignore[arg-type]
                self.ties.adopted.append(leaf)
            elif is_array(leaf):
                self._give([leaf if n == k else None for n in range(len(leaves))])

    def release(self) -> None:
        """The list is not to lie in rows after all: its elements are arrays of their own again."""
        for x in self.ties.adopted if self.ties is not None else ():
            x.tie = None

    def _give(self, leaves: list) -> None:
        """Note which arrays the list got."""
        for row, leaf in zip(self.rows, leaves):
            if is_array(leaf):
                roots = roots_of(leaf)
                for own in roots_of(row):
                    own.kin = [*own.kin, *[(r, r._var, lies_here) for r in roots if r is not own]]
                self.ties.give(roots, leaf.tie is not None or self.is_element)
                self.added = [*self.added, leaf]


def fixed(x: Any, ties: "Ties | None" = None) -> Any:
    """An element with its lists: those in rows are entries of the list with these ties, others may only be read."""
    if type(x) is list:
        return Fixed([fixed(y, ties) for y in x])
    if isinstance(x, RowList):
        x.is_element, x.ties = True, ties or x.ties
    return tuple([fixed(y, ties) for y in x]) if type(x) is tuple else x


@done_plainly
class RowList(Items):
    """A list whose elements lie in arrays. What is not here is done on a plain list again."""

    def append(self, x: Any) -> None:
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
        for row, leaf in zip(self.rows, new.data):
            with lengthened(row):
                row[self.length] = leaf
        self._give(new.data)
        self.length, self.used = self.length + 1, self.used + 1

    def _make_room(self, x: Any) -> None:
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

    def entries(self, k: int, length: Any) -> Any:
        """The first entries of a row."""
        row = self.rows[k]
        facts = current().integers
        whole = facts.form(atom_of(row.shape[0])) - facts.form(atom_of(length))
        return row if whole.is_constant and whole.const == 0 else row[:length]

    def own_entries(self, k: int) -> Any:
        """The entries of a row that are in the list, as an array of their own."""
        y = self.entries(k, self.length)
        own = Tracer(y.builder, y.atom)
        own.kin = self.rows[k].kin
        return own

    def write_entry(self, member: Member, new: Any) -> None:
        """Give an element that is an array a new value in place."""
        self.ties.write([r for row in self.rows for r in roots_of(row)])
        self.entries(member.k, member.length)[member.place] = new

    def _element(self, leaves: list, place: Any) -> Any:
        values = [
            as_member(x, self, k, place, self.rows[k].kin) if kind else as_number(x, t)
            for k, (x, t, kind) in enumerate(zip(leaves, self.types_now(), self.kinds()))
        ]
        return fixed(self.layout.filled(iter(values)), self.ties)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return self._plain()[place] if any(self.kinds()) else self._part(place)
        # sure to be in the list: taken from the row itself
        if isinstance(place, int) and place < 0 and at_least(self.length, -place):
            place = self.length + place
            return self._element([row[place] for row in self.rows], place)
        return self._element([self.entries(k, self.length)[place] for k in range(len(self.rows))], place)

    def copy(self) -> Any:
        return self[:]

    def __radd__(self, other: Any) -> Any:
        return other + self._plain()

    def _part(self, place: slice) -> Any:
        """A list of some of the elements, which are numbers; elements that are arrays would have to be the same arrays.
        """
        return _with_rows(
            _RowListFrame(self), tuple([self.entries(k, self.length)[place].copy() for k in range(len(self.rows))])
        )

    def __setitem__(self, place: Any, x: Any) -> None:
        new = None if isinstance(place, slice) else like(self._as_element(x)).layout
        if new is None or not self.layout.fits(new):
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
        for k, leaf in enumerate(new.data):
            self.entries(k, self.length)[place] = leaf
        if any(kind is not False for kind in self.kinds()):
            for found in lists_in(x):
                note_fixed(found)
            self._give(new.data)
            self.ties.rebound += 1

    def _is_own(self, place: Any, leaves: list) -> bool:
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
        return Elements(self)

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


class Growing(RowList):
    """Rows that see to their own room, which doubles when it is used up: nobody knows how long the list will be."""

    def _make_room(self, x: Any) -> None:
        room = self.rows[0].shape[0]
        enough = registry["where"](self.length < room, room, 2 * self.length + 1)
        for row in self.rows:
            with lengthened(row):
                row.set(resize(row, enough))


tree.register(Items, lambda x: (tuple(x), None), lambda _, c: list(c), list)


class _RowListFrame:
    """The static part of a list in rows: the kind of its elements."""

    def __init__(self, rows: RowList):
        self.layout, self.types, self.is_element = rows.layout, rows.types, rows.is_element

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _RowListFrame) and self.is_element is other.is_element and self.layout.fits(other.layout)
        )

    def __hash__(self) -> int:
        return hash(self.layout.structure)


def _with_rows(frame: _RowListFrame, rows: tuple) -> Any:
    made = RowList()
    list.extend(made, GUARDS)
    made.rows, made.layout, made.types, made.is_element, made.ties = (
        list(rows),
        frame.layout,
        frame.types,
        frame.is_element,
        Ties(),
    )
    # no Value: a list that has none yet, or is only described
    made.length = rows[0].shape[0] if isinstance(rows[0], Value) else 0
    return made


def _copied(x: RowList) -> RowList:
    return _with_rows(_RowListFrame(x), tuple([x.own_entries(k) for k in range(len(x.rows))]))


def _row_values(x: RowList) -> tuple:
    """The arrays that hold the elements. An element of another list is a view of its entry there, like an array with
    two names.
    """
    return tuple([x.rows[k] if x.is_element else x.own_entries(k) for k in range(len(x.rows))])


tree.register(RowList, lambda x: (_row_values(x), _RowListFrame(x)), _with_rows)
