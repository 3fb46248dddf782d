"""Lists of captured code with ordinary elements, which a loop may come to fill, or to index by a traced integer.

Then the elements move into arrays, and the list becomes a RowList (rows.py).
"""
import copy
from typing import Any

from ...ir import stack
from ...ir.build import current
from ...util import tree
from ...util.defects import door
from ...util.errors import ConcreteValueError, UnstageableError
from ..heap.journal import note
from ..heap.state import is_array
from ..objects.containers import Record
from ..values.aliases import note_fixed
from ..values.excuses import lies_here
from ..values.member import Member, Ties, is_fresh
from ..values.place import roots_of
from ..values.tracer import births
from .elements import Like, are_alike, common_kinds, common_type, element_type, laid_out, like, require_fixed
from .listing import Contents, NeedsRows
from .materialise import GUARDS


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
    home: Any = None                                          # the part of the program in which it was made
    birth = 0                                                 # among those of what the trace makes (see journal.py)

    def __init__(self, items: Any = ()):
        super().__init__(items)
        self.home, self.birth = current() if stack.builders() else None, next(births)

    def append(self, x: object) -> None:
        note(self)
        list.append(self, x)
        self.used = self.used + 1

    def extend(self, more: Any) -> None:
        for x in more:
            self.append(x)

    def __iadd__(self, more: object) -> Any:  # type: ignore[misc]  # as of lists: of all that can be iterated over
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

    def move_to_rows(self, samples: list, more: object, kind: "type | None" = None) -> None:
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


tree.register(Items, lambda x: (tuple(x), None), lambda _, c: list(c), list)
