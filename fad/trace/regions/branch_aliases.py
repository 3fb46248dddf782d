"""Aliases across a branch: which names may be one array after it, and what has to come out of the branch for writes to
reach it.

An array of a branch lies in one that was there before, or in a new one. New ones that only one name has are results of
the branch as they are. A name that is an old array on some path, or part of a new one that has other names too, becomes
the view of a place (place.py).
"""
from itertools import product
from typing import Any

from ...ir.build import Value, current
from ...ir.graph import Var
from ...ir.types import INT
from ...ops.carry import UNDEFINED, visible_extent
from ..heap.state import is_array
from ..values.aliases import lose, may_be_one, reach_of
from ..values.place import Direct, Place, Selected, roots_of, stand_for
from ..values.tracer import Tracer, was_there
from ..values.zero_dim import joined, kind_of


class Column:
    """One result of a branch: what it is in each of the branches, and at their ends. `ids` are those of the arrays,
    where they have names.
    """

    def __init__(self, name: str, leaves: tuple, ends: tuple, ids: "tuple | None"):
        self.name, self.leaves, self.ends, self.ids = name, leaves, ends, ids
        self.places: list = []                                # for each branch a Place, None where it has no value
        self.result: Any = None
        self.zero_dim = joined(*[kind_of(x) for x in leaves if x is not UNDEFINED])


class _New:
    """An array that is new in a branch: the columns it occurs in, and what will hold it after the branch."""

    def __init__(self, array: Tracer):
        self.array = array
        self.columns: list[Column] = []                       # where any of it is
        self.whole: list[Column] = []                         # where it is the result
        self.holder: Any = None                               # a Column, whose result is this array
        self.stored: Any = None                               # the array that it is from now on


class BranchAliases:
    """The aliases among the columns of a branch."""

    def __init__(self, sides: list, columns: list):
        self.sides, self.columns = sides, columns             # it adds further ones
        self.new: list[dict[int, _New]] = [{} for _ in sides]
        # (side, variable) -> variable or number outside, or the Column that hands it out
        self.atoms: dict[tuple, Any] = {}
        # a number on one side, and an array on the other, is in none of its arrays for sure
        self.shared = [c for c in columns if c.ids is not None or c.zero_dim is None]
        for c in self.shared:
            c.places = [self._place(k, x, c) for k, x in enumerate(c.leaves)]
        for c in self.shared:
            c.places = [self._whole(k, p, c) for k, p in enumerate(c.places)]
        self.tied = [c for c in self.shared if not self._is_plain(c)]
        for c in self.tied:
            for k, place in enumerate(c.places):
                self._provide(k, place, c)

    # -- before the branch's results are known -----------------------------------------------------

    def _place(self, k: int, x: object, column: Column) -> "Place | None":
        if x is UNDEFINED or (column.ids is None and not is_array(x)):
            return None
        place = self.sides[k].place(x)
        place = Place(place.arrays) if column.ids is None else place
        for t in place.arrays:
            if not was_there(t, self.sides[k].serial):
                entry = self.new[k].setdefault(id(t), _New(t))
                entry.columns.append(column)
                if isinstance(place, Direct) and not place.links:
                    entry.whole.append(column)
        return place

    def _whole(self, k: int, place: "Place | None", column: Column) -> "Place | None":
        """A part of a new array that has no other name is an array of its own, unless a loop has left its base open."""
        entry = self.new[k].get(id(place.arrays[0])) if isinstance(place, Direct) and place.links else None
        if entry is None or len(entry.columns) > 1 or self.sides[k].aliases.get(id(entry.array)):
            return place
        array = column.leaves[k]
        own = self.new[k][id(array)] = _New(array)
        own.columns, own.whole = [column], [column]
        return Direct(array)

    def _is_plain(self, column: Column) -> bool:
        """Whether the column is a new array in all branches, and simply holds it from now on."""
        entries = [self._own(k, place) for k, place in enumerate(column.places) if place is not None]
        if any(e is None or e.holder is not None for e in entries):
            return False
        for e in entries:
            e.holder = column                                 # type: ignore[union-attr]
        return True

    def _own(self, k: int, place: Place) -> "_New | None":
        """The new array that this is."""
        return self.new[k].get(id(place.arrays[0])) if isinstance(place, Direct) and not place.links else None

    def _provide(self, k: int, place: "Place | None", column: Column) -> None:
        """See to it that all that the place needs outside comes out of the branch."""
        if place is None:
            return
        for t in place.arrays:
            entry = self.new[k].get(id(t))
            if entry is not None and entry.holder is None:
                entry.holder = self._holder(k, entry, place, column)
        for a in place.atoms():
            if (k, a) not in self.atoms:
                seen = _visible(a)
                self.atoms[k, a] = seen if seen is not None else self._more(k, current().value_of(a))

    def _holder(self, k: int, entry: _New, place: Place, column: Column) -> Any:
        if entry.whole:
            return entry.whole[0]
        if len(entry.columns) == 1 and _is_bare(place, entry.array):
            return column
        return self._more(k, self.sides[k].ends[id(entry.array)][1])

    def _more(self, k: int, value: object) -> Column:
        """A further result of the branch: this value of the k-th side."""
        row = tuple([value if side == k else UNDEFINED for side in range(len(self.sides))])
        self.columns.append(Column("", row, row, None))
        return self.columns[-1]

    # -- after -------------------------------------------------------------------------------------

    def tie_views(self, selector: Value) -> None:
        """Make the results that may be one array views of where they lie."""
        for c in self.tied:
            if is_array(c.result):
                self._tie(c, selector.atom)
        for c in self.shared:
            if is_array(c.result):
                self._note_kin(c)

    def _note_kin(self, c: Column) -> None:
        """Aliases that a loop in a branch left open stay open after it."""
        for k, place in enumerate(c.places):
            arrays, aliases = place.arrays if place is not None else (), self.sides[k].aliases
            for y in [y for t in arrays for y in aliases.get(id(t), ())]:
                outside = y if was_there(y, self.sides[k].serial) else self._kept(k, y)
                for a, b in product(roots_of(c.result), [] if outside is None else roots_of(outside)):
                    may_be_one(a, b)

    def _kept(self, k: int, array: Tracer) -> "Tracer | None":
        """The thing that holds a new array after the branch, if any."""
        entry = self.new[k].get(id(array))
        return None if entry is None or entry.holder is None else self._stored(entry)

    def _tie(self, c: Column, selector: Var) -> None:
        places = tuple([self._outside(k, p, c) for k, p in enumerate(c.places)])
        place = Selected(selector, places)
        is_stale = any(id(x) in s.stale for s, x in zip(self.sides, c.leaves))
        if any(x.is_unknown for x in place.arrays) or (is_stale and not place.is_known):
            lose(c.result)
        elif not place.is_known:
            for x in [x for array in place.arrays for x in reach_of(array)]:
                may_be_one(c.result, x)
        else:
            stand_for(c.result, place)
            c.result.view_of.seen = None if is_stale else c.result.view_of.seen                # None: to be read again

    def _outside(self, k: int, place: "Place | None", c: Column) -> Place:
        if place is None:
            return Direct(_holding(c.result))

        def array_of(t: Tracer) -> Tracer:
            entry = self.new[k].get(id(t))
            return t if entry is None else self._stored(entry)

        def atom_of(a: object) -> Any:
            found = self.atoms.get((k, a), a)
            return found.result.atom if isinstance(found, Column) else found
        return place.mapped(array_of, atom_of)

    def _stored(self, entry: _New) -> Tracer:
        """The thing that holds a new array after the branch."""
        if entry.stored is None:
            result = entry.holder.result
            entry.stored = _holding(result) if entry.holder in self.tied else result
        return entry.stored


def _holding(y: Tracer) -> Tracer:
    """A new array of this value."""
    return Tracer(y.builder, y._var)


def _visible(a: Var) -> Any:
    """A variable of a branch as the program around it knows it, or None."""
    around = current()
    if around.sees(a):
        return a
    return visible_extent(a, around) if a.type.dtype == INT and not a.type.shape else None


def _is_bare(place: Place, array: Tracer) -> bool:
    """Whether the array is here only as a whole."""
    if isinstance(place, Selected):
        return all(_is_bare(p, array) for p in place.places)
    return not isinstance(place, Direct) or place.arrays[0] is not array or not place.links
