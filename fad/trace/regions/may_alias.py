"""May-alias analysis of loops: which of the arrays that iterations hand on may be one array, or one from before the
loop.

A loop carries values; in Python it carries arrays, and a name that starts as x may still be x in the third iteration,
or be what another name was in the iteration before. As long as nothing is written to, that does not matter. Where it
would (an array is written to, and then another is read that may be the same), the reader is refused, and the loop has
to be unrolled. See Tracer.kin.
"""
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ..heap.state import is_array, may_be_one
from ..values.place import are_compatible, roots_of, ways_to
from ..values.tracer import Tracer, births, was_there


class Way(NamedTuple):
    """The identity of a carried name at the end of an iteration that takes these branches: the array of a name at the
    iteration's start (its key, or None), one of these arrays from before the loop, or a new one (its id, or None).
    """

    branches: dict
    carried: Any
    outer: frozenset
    new: "int | None"


End = tuple  # of Ways: one for each path through an iteration on which it is another array


class Kin:
    """The relation between carried names, by their keys, and arrays from outside, by their ids: true of the start of
    every iteration.
    """

    def __init__(self) -> None:
        self.born = next(births)
        self.arrays: dict[int, Tracer] = {}                   # those from outside
        self.outer: dict[Any, set] = {}                       # name -> ids of arrays from outside that it may be
        self.pairs: set[frozenset] = set()                    # names that may be one array
        self.first: dict[Any, set] = {}                       # what the names are before the first iteration

    def begin(self, names: dict) -> None:
        """The facts that follow from the names' values before the loop."""
        for key, x in names.items():
            roots = [r for root in roots_of(x) for r in (root, *self._known_before(root))]
            self.arrays.update((id(r), r) for r in roots)
            self.first[key] = {id(r) for r in roots}
        self._grow({}, self.first)

    def _known_before(self, root: Tracer) -> list:
        """Arrays that may be this one by what earlier loops left open; what a trial of this loop was about is no array.
        """
        return [k for k in root.unchanged_kin() if was_there(k, self.born)]

    def end_of(self, x: Tracer, fresh: dict, since: int) -> End:
        """The identity of an array at the end of an iteration. fresh: id of a name's array at the start -> the name."""
        return tuple([self._way(branches, r, fresh, since) for branches, root in ways_to(x)
                      for r in (root, *kin_of(root, lambda y: id(y) in fresh or was_there(y, since)))])

    def _way(self, branches: dict, root: Tracer, fresh: dict, since: int) -> Way:
        if id(root) in fresh:
            return Way(branches, fresh[id(root)], frozenset(), None)
        if not was_there(root, since):
            return Way(branches, None, frozenset(), id(root))
        outer = {id(r): r for r in (root, *self._known_before(root))}
        self.arrays.update(outer)
        return Way(branches, None, frozenset(outer), None)

    def add(self, ends: dict) -> bool:
        """Extend the relation so that it holds of every iteration that ends thus; whether it grew."""
        before = self._size()
        size = -1
        while size != self._size():
            size = self._size()
            self._grow(ends, {})
        return self._size() != before

    def after_an_iteration(self, ends: dict) -> "Kin":
        """The relation of the names after a last iteration that ends thus."""
        after = Kin()
        after.arrays, after.outer = self.arrays, {key: self._outer_of(e) for key, e in ends.items()}
        after.pairs = {
            frozenset((a, b)) for a in ends for b in ends if a is not b and self._may_be_one(ends[a], ends[b])
        }
        return after

    def _grow(self, ends: dict, first: dict) -> None:
        for key in (*ends, *first):
            self.outer.setdefault(key, set()).update(first.get(key, ()), self._outer_of(ends.get(key, ())))
        for a in ends:
            self.pairs.update(frozenset((a, b)) for b in ends if a != b and self._may_be_one(ends[a], ends[b]))
        for a in first:
            self.pairs.update(frozenset((a, b)) for b in first if a != b and first[a] & first[b])

    def _outer_of(self, end: End) -> set:
        return {k for way in end for k in (*way.outer, *self.outer.get(way.carried, ()))}

    def _may_be_one(self, a: End, b: End) -> bool:
        return any(are_compatible(v.branches, w.branches) and self._meet(v, w) for v in a for w in b)

    def _meet(self, v: Way, w: Way) -> bool:
        """Whether two names that went these ways may be one array."""
        if v.carried is not None and w.carried is not None:
            return v.carried == w.carried or frozenset((v.carried, w.carried)) in self.pairs
        if v.new is not None or w.new is not None:
            return v.new == w.new
        return bool((v.outer | self.outer.get(v.carried, set())) & (w.outer | self.outer.get(w.carried, set())))

    def holders(self, ends: dict, fresh: dict, arrays: Iterable) -> set:
        """The names that may be one of these arrays of an iteration, at its end or at that of a later one; fresh: as
        for end_of().
        """
        reached = [r for x in arrays for r in reach_of(x)]
        made, begun = {id(r) for r in reached}, {fresh[id(r)] for r in reached if id(r) in fresh}

        def is_one(way: Way) -> bool:
            return (
                way.new in made
                or way.carried in begun
                or any(frozenset((way.carried, key)) in self.pairs for key in begun)
            )
        found: set = set()
        more = {key for key, end in ends.items() if any(map(is_one, end))}
        while more:
            found |= more
            more = {key for key, end in ends.items() if key not in found and any(way.carried in found for way in end)}
        return found

    def _size(self) -> int:
        return len(self.pairs) + sum(map(len, self.outer.values()))

    def arrays_of(self, names: Iterable) -> list:
        """Arrays from outside that one of these names may be."""
        return [self.arrays[k] for k in {k: None for key in names for k in self.outer.get(key, ())}]

    def entangle(self, names: dict, unless: "Kin | None" = None, excuse: "Callable | None" = None) -> None:
        """Mark the arrays that these names are now. What is not in the relation `unless` is excused where excuse()
        holds.
        """
        for pair in self.pairs:
            a, b = [names.get(key) for key in pair]
            if a is not None and b is not None and a is not b:
                may_be_one(a, b, excuse if unless is not None and pair not in unless.pairs else None)
        for key, found in self.outer.items():
            for k in found:
                if key in names and names[key] is not self.arrays[k]:
                    may_be_one(
                        names[key],
                        self.arrays[k],
                        excuse if unless is not None and k not in unless.outer.get(key, ()) else None,
                    )


def kin_of(array: Tracer, is_known: Callable) -> list:
    """Arrays that this one may be by what loops have left open. Of one that is_known no kin are told."""
    found, queue = {id(array): array}, [array]
    while queue:
        x = queue.pop()
        kin = [] if is_known(x) else [r for k in x.unchanged_kin() for r in roots_of(k) if id(r) not in found]
        found.update((id(r), r) for r in kin)
        queue += kin
    return list(found.values())[1:]


def reach_of(array: Tracer) -> list:
    """The arrays that this one may be, or be a part of."""
    return [x for root in roots_of(array) for x in (root, *kin_of(root, lambda _: False))]


def arrays_among(slots: Iterable, leaves: Iterable) -> dict:
    """The arrays among the leaves of each slot, as {(slot, position): array}."""
    return {(key, k): x for key, row in zip(slots, leaves) for k, x in enumerate(row) if is_array(x)}
