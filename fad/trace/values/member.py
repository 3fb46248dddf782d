"""Arrays and lists within lists in rows: they have names of their own and may be written to.

An element that is taken out of a list in rows is a view of its entry there: what is written to it is written to the
list. An array that is put into such a list is copied to an entry, though in Python the list then holds the array
itself. As long as neither is written to, that makes no difference; once one is, the other must not be read any more
(see Tracer.aliases).
"""
from typing import Any

from ...ir.build import current
from ...util.array import AnyArray
from ...util.errors import SideEffectError
from .tracer import Tracer, never


class Ties:
    """Facts about the elements of a list in rows, and about the lists within it.

    adopted   arrays that it had when it was moved to rows, which are views of their entries from then on
    given     arrays that it got, which have names of their own
    is_shared whether one of them may be in the list twice, or in another one: then none is written to through the list
    rebound   counts how often an element was replaced by another
    written   counts how often an element was written to
    """

    def __init__(self) -> None:
        self.adopted: list[Tracer] = []
        self.given: list[Tracer] = []
        self.is_shared = False
        self.rebound = self.written = 0

    def give(self, roots: list, is_view: bool) -> None:
        """Note that the list got an array with these roots."""
        is_again = any(r is g for r in roots for g in self.given)
        self.is_shared = self.is_shared or is_view or is_again or not all(map(is_fresh, roots))
        self.given = [*self.given, *roots]

    def write(self, rows: list) -> None:
        """Note that an element is written to, before it is: what the list was given must not be read any more. rows:
        where the elements lie.
        """
        for x in self.given:
            x.aliases = [*x.aliases, *[(row, row._var, never) for row in rows if row is not x]]
        self.given, self.written = [], self.written + 1
        current().region.ties[id(self)] = [self, False]

    def begin(self, known: tuple, rows: list) -> None:
        """Begin an iteration; the plan knows whether it replaces elements, writes to them or shares them."""
        replaces, writes, shares = known
        self.rebound += replaces
        self.is_shared = self.is_shared or shares
        if writes:
            self.write(rows)

    def state(self) -> tuple:
        return self.rebound, self.written, self.is_shared


def is_fresh(x: Tracer) -> bool:
    """Whether an array was made in the part of the program that is being traced: each iteration and each branch makes
    another one.
    """
    builder, var = current(), x.origin
    return x.builder is builder and x.view_of is None and not x.aliases and builder.region.side is None and (
        var not in builder.inputs or var in builder.trace.fresh_constants)


class Member:
    """The base of an array that is an element of a list in rows: which entry it is. It has a version, as a view's base
    has.
    """

    def __init__(self, owner: Any, k: int, place: Any):
        self.owner, self.k, self.place = owner, k, place
        self.ties, self.length, self.rebound = owner.ties, owner.length, owner.ties.rebound

    @property
    def version(self) -> int:
        """Counts the changes of elements; an element that is replaced does not change."""
        return self.ties.written

    @property
    def row(self) -> "Tracer | None":
        """The array in which it lies; None if the list is none in rows any more."""
        return self.owner.rows[self.k] if self.owner.rows is not None and self.owner.ties is self.ties else None

    def set(self, _: object) -> None:
        """The list was given its value already."""

    def read(self, _: Any) -> AnyArray:
        if self.row is None or self.rebound != self.ties.rebound:
            raise SideEffectError(
                "an element of a list is read after elements of the list were replaced, and elements were written to",
                why="whether it still is in the list depends on how the program runs",
                do="read it from the list again, or copy it first",
            )
        return self.owner.entries(self.k, self.length)[self.place]

    def write(self, _: object, new: AnyArray) -> None:
        if self.row is None or self.ties.is_shared or self.rebound != self.ties.rebound:
            refuse_write()
        self.owner.write_entry(self, new)

    def is_at(self, owner: object, k: int, place: object) -> bool:
        """Whether it is this entry of this list, now."""
        same = self.place is place or (type(self.place) is type(place) is int and self.place == place) or (
            isinstance(place, Tracer) and isinstance(self.place, Tracer) and place.held is self.place.held)
        return same and self.owner is owner and self.k == k and self.rebound == self.ties.rebound


def refuse_write(*_: object) -> Any:
    """The stand-in for each method that would change an element with unknown aliases: it refuses."""
    raise SideEffectError(
        "an element of a list is changed which may have another name, or which a loop has put into the list",
        why="the list holds copies of its elements",
        do="copy the element first (y = out[k].copy()), or change it before it is put into the list",
    )


def as_member(y: object, owner: object, k: int, place: object, aliases: object) -> Any:
    """An element that is an array, as a view of its entry; aliases: arrays that it may be."""
    if not isinstance(y, Tracer):
        return y
    own, base = Tracer(y.builder, y.atom), Member(owner, k, place)
    own.aliases = aliases
    return own.as_view(base, base.read, base.write)           # type: ignore[arg-type]


def member_of(x: object) -> "Member | None":
    """The entry of a list that an array is known to be."""
    base = x.view_of.base if isinstance(x, Tracer) and x.view_of is not None else None
    return base if isinstance(base, Member) else None


def read_only(y: object, aliases: object) -> Any:
    """An element that is a copy, and may not be written to; aliases: arrays that it may be."""
    if not isinstance(y, Tracer):
        return y
    own = Tracer(y.builder, y.atom)
    own.aliases = aliases
    return own.as_view(Tracer(y.builder, y.atom), lambda base: base, refuse_write)
