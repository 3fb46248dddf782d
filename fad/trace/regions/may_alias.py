"""May-alias analysis of loops: which of the arrays, lists, dicts and objects that iterations hand on may be one, or one
from before the loop.

A loop carries values; in Python it carries things, and a name that starts as x may still be x in the third iteration,
or be what another name was in the iteration before. As long as nothing is written to, that does not matter. Where it
would (an array is written to, and then another is read that may be the same; a list is changed that may be another),
the function is refused there, and the loop has to be unrolled. See values/aliases.py.
"""
import itertools
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ...util.errors import UnstageableError
from ..heap.journal import was_there
from ..heap.state import Trial, is_array
from ..values.aliases import may_be, may_be_one
from ..values.place import are_compatible, roots_of, ways_to
from ..values.tracer import Tracer, serials


class Way(NamedTuple):
    """The identity of what iterations hand on at the end of one: the thing that a key stands for at the iteration's
    start (the key, or None), one of these things from before the loop, or a new one (its id, or None). branches: those
    that the iteration takes.
    """

    carried: Any = None
    outer: frozenset = frozenset()
    new: "int | None" = None
    branches: Mapping = MappingProxyType({})


_KEPT = object()  # the key of what keeps arrays
End = tuple  # of Ways: one for each path through an iteration on which it is another thing


class MayAlias:
    """The relation between what iterations hand on, by keys, and things from before the loop, by their ids: true of the
    start of every iteration.
    """

    def __init__(self) -> None:
        self.serial = next(serials)
        self.things: dict[int, Any] = {}                      # those from before the loop
        self.outer: dict[Any, set] = {}                       # key -> ids of things from before that it may be
        self.pairs: set[frozenset] = set()                    # keys that may be one thing

    def begin(self, first: dict) -> None:
        """The facts that follow from what the keys stand for before the loop."""
        ids = {key: self._outside(roots_of(x) if isinstance(x, Tracer) else [x]) for key, x in first.items()}
        for key, found in ids.items():
            self.outer.setdefault(key, set()).update(found)
        self.pairs.update(frozenset((a, b)) for a in ids for b in ids if a != b and ids[a] & ids[b])

    def _outside(self, things: list) -> frozenset:
        """The ids of things from before the loop. Of arrays also of those that they may be by what earlier loops left
        open; what a trial of this loop was about is no array.
        """
        known = [k for x in things if isinstance(x, Tracer) for k in x.live_aliases(unchanged=True)
                 if was_there(k, self.serial)]
        found = {id(x): x for x in (*things, *known)}
        self.things.update(found)
        return frozenset(found)

    def end_of(self, x: object, fresh: dict, since: int) -> End:
        """The identity of a thing at the end of an iteration. fresh: id of what a key stands for at the start -> it."""
        def is_known(y: object) -> bool:
            return id(y) in fresh or (isinstance(y, Tracer) and was_there(y, since))
        ways = ways_to(x) if isinstance(x, Tracer) else [({}, x)]
        return tuple([self._way(branches, y, fresh, was_there(y, since))
                      for branches, root in ways for y in may_be(root, is_known)])

    def _way(self, branches: dict, x: object, fresh: dict, is_outer: bool) -> Way:
        if id(x) in fresh:
            return Way(fresh[id(x)], branches=branches)
        return Way(outer=self._outside([x]), branches=branches) if is_outer else Way(new=id(x), branches=branches)

    def add(self, ends: dict) -> bool:
        """Extend the relation so that it holds of every iteration that ends thus; whether it grew. Sweeps go both ways,
        since a list that loses its first element hands each thing on to the place before.
        """
        before, size = self._size(), -1
        keys, pairs = list(ends), list(itertools.combinations(ends, 2))
        while size != self._size():
            size = self._size()
            for key in (*keys, *reversed(keys)):
                self.outer.setdefault(key, set()).update(self._outer_of(ends[key]))
            for a, b in (*pairs, *reversed(pairs)):
                if frozenset((a, b)) not in self.pairs and self._may_be_one(ends[a], ends[b]):
                    self.pairs.add(frozenset((a, b)))
        return self._size() != before

    def after_an_iteration(self, ends: dict) -> "MayAlias":
        """The relation after a last iteration that ends thus."""
        after = MayAlias()
        after.things, after.outer = self.things, {key: self._outer_of(end) for key, end in ends.items()}
        after.pairs = {frozenset((a, b)) for a, b in itertools.combinations(ends, 2)
                       if self._may_be_one(ends[a], ends[b])}
        return after

    def _outer_of(self, end: End) -> set:
        return {k for way in end for k in (*way.outer, *self.outer.get(way.carried, ()))}

    def _may_be_one(self, a: End, b: End) -> bool:
        return any(are_compatible(v.branches, w.branches) and self._meet(v, w) for v in a for w in b)

    def _meet(self, v: Way, w: Way) -> bool:
        """Whether two keys that went these ways may be one thing."""
        if v.carried is not None and w.carried is not None:
            return v.carried == w.carried or frozenset((v.carried, w.carried)) in self.pairs
        if v.new is not None or w.new is not None:
            return v.new == w.new
        return bool(self._outer_of((v,)) & self._outer_of((w,)))

    def _size(self) -> int:
        return len(self.pairs) + sum(map(len, self.outer.values()))

    def things_of(self, keys: Iterable) -> list:
        """The things from before the loop that these keys may stand for."""
        return [self.things[k] for k in {k: None for key in keys for k in self.outer.get(key, ())}]

    def entangle(self, now: dict, unless: "MayAlias | None" = None, exempt: "Callable | None" = None) -> None:
        """Note what the things that the keys stand for now may be. Pairs that are not in the relation `unless` are
        excused where exempt() holds.
        """
        for pair in self.pairs:
            a, b = [now.get(key) for key in pair]
            if a is not None and b is not None:
                may_be_one(a, b, exempt if unless is not None and pair not in unless.pairs else None)
        for key, x in now.items():
            for k in self.outer.get(key, ()):
                is_excused = unless is not None and k not in unless.outer.get(key, ())
                may_be_one(x, self.things[k], exempt if is_excused else None)

    def holders(self, ends: dict, fresh: dict, since: int, arrays: Iterable) -> set:
        """The names that may be one of these arrays of an iteration, at its end or at that of a later one; the rest as
        for end_of(). A container that keeps them keeps those of all iterations.
        """
        ways = [way for x in arrays for way in self.end_of(x, fresh, since) if not way.outer]
        if not ways:
            return set()
        kept = MayAlias()
        kept.outer, kept.pairs = {key: set(found) for key, found in self.outer.items()}, set(self.pairs)
        kept.add({**ends, _KEPT: (Way(_KEPT), *ways)})
        return {key for pair in kept.pairs if _KEPT in pair for key in pair} - {_KEPT}


def arrays_among(slots: Iterable, leaves: Iterable) -> dict:
    """The arrays among the leaves of each slot, as {(slot, position): array}."""
    return {(key, k): x for key, row in zip(slots, leaves) for k, x in enumerate(row) if is_array(x)}


def refuse_doubtful_writes(made: Trial, fresh: dict) -> None:
    """Refuse a write to an array that an inner loop left under a name and that may be from before this loop: the
    next iteration's contents would be unknown.
    """
    for array, _ in made.builder.region.mutated.values():
        is_own = not (array.is_clobbered or was_there(array, made.serial))
        left = id(array) not in fresh and array.view_of is None and is_own
        if left and any(was_there(other, made.serial) and other.is_unknown for other in array.live_aliases()):
            raise UnstageableError("an array is written to that may be one from before the loop",
                                   why="which array a name stands for after an inner loop depends on its iterations",
                                   do="write to it under the name that it had before")


def refuse_stale_reads(written: Iterable, read: Iterable) -> None:
    """Refuse a loop that reads an array to which an iteration may write under a name that it carries: the next
    iteration would read what the array held before the loop.
    """
    ids = {id(x) for x in read}
    if any(id(x) in ids for x in written):
        raise UnstageableError("an array is read in a loop, and iterations may write to it under another name",
                               why="which array that name stands for differs from iteration to iteration",
                               do="read it under the name that is written to, or copy it (x = y.copy())")
