"""Lists of captured code with ordinary elements, which a loop may come to fill, or to index by a traced integer.

Then the elements move into arrays, and the list becomes a RowList (rows.py).
"""
import copy
from typing import Any, NamedTuple

from ...ir import stack
from ...ir.build import current
from ...ops.control import atom_of
from ...util import tree
from ...util.defects import for_user
from ...util.errors import ConcreteValueError, UnstageableError
from ..heap.journal import note
from ..heap.state import is_array
from ..objects.containers import Record
from ..values.absent import refuse_methods
from ..values.aliases import note_fixed
from ..values.member import Member, Ties, is_fresh
from ..values.place import roots_of
from ..values.tracer import lies_here, serials
from .elements import (
    Like,
    are_alike,
    common_kinds,
    common_type,
    element_type,
    laid_out,
    like,
    note_types,
    require_fixed,
)


class NeedsRoom(UnstageableError):
    """A list gets elements in an iteration of a loop: how many at most (None: nobody knows), what they are like, and
    whether anything traced has a part in it; varies: whether some iterations are known to add fewer.
    """

    def __init__(self, owner: Any, samples: list, most: object, is_traced: bool = True, varies: bool = False):
        super().__init__("a list grows in a loop or branch on traced values",
                         why="a loop or a branch on traced values gives a name one structure")
        self.owner, self.samples, self.most, self.is_traced, self.varies = owner, samples, most, is_traced, varies


class NeedsRows(UnstageableError):
    """A list from outside of a region is read or written there by a traced index, and has to lie in rows; samples: what
    its elements may be like.
    """

    def __init__(self, owner: Any, samples: list):
        super().__init__("a list is indexed by a traced integer",
                         why="it cannot be kept in an array here", do="use an array")
        self.owner, self.samples = owner, samples


class Contents(NamedTuple):
    """The contents of a list at a moment."""

    kind: type
    items: list
    rows: Any
    layout: Any
    types: Any
    length: Any
    is_element: bool
    ties: Any
    seen: list

    def same(self, other: "Contents") -> bool:
        is_one_length = len(self.items) == len(other.items) and atom_of(self.length) is atom_of(other.length)
        return is_one_length and self.rows is other.rows and all(x is y for x, y in zip(self.items, other.items))


IN_ROWS = Contents._fields[2:]                                # attributes of a list that are there in rows only


def known_difference(a: object, b: object) -> "int | None":
    """a - b, where that can be proved to be one number."""
    facts = current().integers
    difference = facts.form(atom_of(a)) - facts.form(atom_of(b))
    return difference.const if difference.is_constant else None


class _Held:
    """The static part of a list's contents: all but its elements, or (in rows, which are data) its length."""

    def __init__(self, contents: Contents):
        self.contents = contents

    def __eq__(self, other: object) -> bool:
        found = other.contents if isinstance(other, _Held) else None
        return found is not None and found.rows is self.contents.rows and found.kind is self.contents.kind

    def __hash__(self) -> int:
        return id(self.contents.rows)


tree.register(
    Contents,
    lambda c: ((c.items if c.rows is None else c.length,), _Held(c)),
    lambda held, inside: held.contents._replace(**{"items" if held.contents.rows is None else "length": inside[0]}),
)


class _Guard:
    """Stands in a list whose elements lie elsewhere: code written in C may look straight into a list's memory, past the
    methods of its class (heapq, operator.concat).
    """


def _refuse(*args: object) -> Any:
    raise UnstageableError("a list whose elements lie in arrays is read by code that knows plain lists only",
                           do="pass it list(items), or read the elements one by one")


refuse_methods(_Guard, _refuse, "lt le gt ge eq ne add radd sub rsub mul rmul truediv rtruediv pow rpow neg abs bool "
               "float complex int index len iter getitem call getattr array repr hash")
tree.register(_Guard, _refuse, _refuse)                       # type: ignore[arg-type]
GUARDS = [_Guard(), _Guard()]                                 # of one alone code may take it that it is in order


class Items(list, Record):
    """A list of captured code that has ordinary elements. `used` bounds the number of elements it got in the present
    iteration of a loop.
    """

    kind_in_rows: type  # the class of lists in rows (see rows.py)
    rows: Any = None
    layout: Any = None
    types: Any = None
    length: Any = 0
    used: Any = 0
    added: Any = ()                                           # arrays that it got in the present iteration
    keeper: Any = None  # the loop (its plan) that has made room for what its iterations append
    is_element = False                                        # of another list in rows
    ties: Any = None                                          # in rows: see member.py
    seen: list[set] = []                                      # in rows: dtypes and strengths of each leaf's numbers
    home: Any = None                                          # the part of the program in which it was made
    birth = 0                                                 # among those of what the trace makes (see journal.py)

    def __init__(self, items: Any = ()):
        super().__init__(items)
        self.home, self.birth = current() if stack.builders() else None, next(serials)

    def append(self, x: object) -> None:
        note(self)
        list.append(self, x)
        self.used = self.used + 1

    def extend(self, more: Any) -> None:
        for x in list(more) if more is self else more:
            self.append(x)

    def __iadd__(self, more: object) -> Any:  # type: ignore[misc]  # as of lists: of all that can be iterated over
        self.extend(more)
        return self

    @for_user
    def __getitem__(self, place: Any) -> Any:
        try:
            return list.__getitem__(self, place)
        except ConcreteValueError as error:
            self._ask_for_rows(error)
            return self[place]

    @for_user
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

    def own_copy(self) -> "Items":
        """Another list with the same elements."""
        return Items(self)

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
        inside = [] if self.rows else list(list.__iter__(self))
        return Contents(type(self), inside, *[getattr(self, name) for name in IN_ROWS])

    def put(self, c: Contents) -> None:
        self.__class__ = c.kind
        list.__setitem__(self, slice(None), GUARDS if c.rows else c.items)
        for name in IN_ROWS:
            setattr(self, name, getattr(c, name))

    def move_to_rows(self, samples: list, more: object, kind: "type | None" = None) -> None:
        """Let the elements lie in arrays with room for `more`, which will be like the samples."""
        note(self)
        if self.rows is None:
            self.ties = Ties()
        before = self.length if self.rows else len(self)
        held = [] if self.rows else [like(self._as_element(x)) for x in list.__iter__(self)]
        found = [*([Like(self.layout, self.types)] if self.rows else []), *held, *samples]
        if not found or not found[0].leaves:
            raise UnstageableError("a list without numbers is indexed by a traced integer, or data decide its length")
        for x in found:
            require_fixed(x.layout.structure)
        layout, *others = [x.layout for x in found]
        for other in others:
            layout.require(other, "an element of a list")
        layout = layout.of_kinds(common_kinds([x.layout for x in found]))
        types = [common_type([element_type(x) for x in leaves]) for leaves in zip(*[x.leaves for x in found])]
        seen = self.seen if self.rows else [set() for _ in types]
        for x in found:
            note_types(seen, map(element_type, x.leaves))
        rows = laid_out(types, [x.leaves for x in held], self.rows, before, more)
        if self.rows:
            self.ties.written += 1                            # what was taken out looks at the new arrays
            for row, old in zip(rows, self.rows):
                row.aliases = old.aliases
        self.rows, self.layout, self.types, self.length, self.seen = rows, layout, types, before, seen
        list.__setitem__(self, slice(None), GUARDS)
        self.__class__ = kind or self.kind_in_rows
        for place, x in enumerate(held):
            self._adopt(place, x.leaves)

    def _as_element(self, x: Any) -> Any:
        """x as this list will hold it: a list whose elements are alike lies in rows, too."""
        if type(x) is tuple:
            return tuple(map(self._as_element, x))
        is_in_rows = isinstance(x, Items) and x.rows is not None
        if not isinstance(x, list) or (not is_in_rows and not are_alike(x)):
            return x
        if not isinstance(x, Items) or x.home is not current() or x.keeper is not None:
            note_fixed(x)                                     # the list keeps a copy of it
            self.ties.is_shared = True
            x = x.own_copy() if isinstance(x, Items) else Items(x)
        if not is_in_rows:
            x.move_to_rows([], 0)
        elif not x.is_element:
            x.rows = x.own_entries()
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
            x.view_of = None

    def _give(self, leaves: list) -> None:
        """Note which arrays the list got."""
        for row, leaf in zip(self.rows, leaves):
            if is_array(leaf):
                roots = roots_of(leaf)
                for own in roots_of(row):
                    own.aliases = [*own.aliases, *[(r, r._var, lies_here) for r in roots if r is not own]]
                self.ties.give(roots, leaf.view_of is not None or self.is_element)
                self.added = [*self.added, leaf]


tree.register(Items, lambda x: (tuple(x), None), lambda _, c: list(c), list)
