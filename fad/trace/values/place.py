"""Points-to sets of arrays: a name may be one array on one path through a branch and another array on the other path.

After `z = x if c else A[i]`, what is written to z is written to x where c holds and to the row of A where it does not,
and z sees what is written to either. So z becomes a view whose base is a place: it reads and writes the arrays that it
may be, each under its condition.
"""
from collections.abc import Callable, Iterable
from typing import Any

from ...ir.build import Builder, as_atom, current
from ...ir.graph import Equation, Literal, Var
from ...ops.control import COND
from ...util.array import AnyArray
from ...util.errors import SideEffectError, UnstageableError
from .member import Member
from .mutation import along, in_shape_of, written_along
from .tracer import Tracer, was_there

MOST_WAYS = 64                                               # in which a name may be an array


class Place:
    """Elements of these arrays, or nothing of them (a copy); nobody knows which. As soon as one of them is written to,
    or what has this place, the others are unknown (see aliases.py).

    The subclasses know: read(like) is the elements' value, of the shape of a variable that held it before, and
    written(x, y) what array x is with y in them.
    """

    is_known = False

    def __init__(self, arrays: tuple):
        self.arrays = arrays

    def through(self, links: tuple) -> "Place":
        """The place of a view of what is here."""
        return self

    def atoms(self) -> Iterable:
        """Variables that tell where it is."""
        return ()

    def mapped(self, array_of: Callable, atom_of: Callable) -> "Place":
        """This place around the branch in which it was found."""
        return Place(tuple(map(array_of, self.arrays)))


class Direct(Place):
    """An array, or a view of it by these equations."""

    is_known = True

    def __init__(self, array: Tracer, links: tuple = ()):
        super().__init__((array,))
        self.links = links

    def _values(self) -> list:
        return along(self.links, current().value_of(self.arrays[0].held))

    def read(self, like: Var) -> AnyArray:
        return self._values()[-1]

    def written(self, array: Tracer, y: AnyArray) -> AnyArray:
        values = self._values()
        if array is not self.arrays[0]:
            return current().value_of(array.held)
        return written_along(self.links, values, in_shape_of(y, values[-1]))

    def through(self, links: tuple) -> Place:
        return Direct(self.arrays[0], (*self.links, *links))

    def atoms(self) -> Iterable:
        return [a for eqn in self.links for a in eqn.inputs[1:] if isinstance(a, Var)]

    def mapped(self, array_of: Callable, atom_of: Callable) -> Place:
        return Direct(array_of(self.arrays[0]), tuple([_with_operands(eqn, atom_of) for eqn in self.links]))


class Selected(Place):
    """One of several places, by a selector that is a variable of the program. As the base of a view it has a version,
    and can be given a value.

    `writes` is how many arrays are written to where it is given one: those of its arrays that are such views themselves
    pass it on to theirs, so that names which are exchanged in one branch after the other would double them each time.
    """

    writes = 0

    def __init__(self, selector: Any, places: tuple):
        super().__init__(tuple({id(x): x for p in places for x in p.arrays}.values()))
        self.selector, self.places, self.is_known = selector, places, all(p.is_known for p in places)

    def _chosen(self, compute: Callable, like: object) -> Any:
        if not isinstance(self.selector, Var):
            return compute(self.places[int(self.selector)])
        for x in self.arrays:
            _ = x.held  # a view looks at its base here: what it sees in a region stays in there
        regions = tuple([lambda p=p: [in_shape_of(compute(p), like)] for p in self.places])
        return COND.run_regions([current().value_of(self.selector)], regions)[0]

    def read(self, like: Var) -> AnyArray:
        return self._chosen(lambda p: p.read(like), like)

    def written(self, array: Tracer, y: Any) -> Any:
        return self._chosen(lambda p: p.written(array, y), current().value_of(array.held))

    def through(self, links: tuple) -> Place:
        return Selected(self.selector, tuple([p.through(links) for p in self.places]))

    def atoms(self) -> Iterable:
        own = [self.selector] if isinstance(self.selector, Var) else []
        return own + [a for p in self.places for a in p.atoms()]

    def mapped(self, array_of: Callable, atom_of: Callable) -> Place:
        return Selected(atom_of(self.selector), tuple([p.mapped(array_of, atom_of) for p in self.places]))

    @property
    def version(self) -> tuple:
        """The contents of its arrays. (After a trial they are restored.)"""
        return tuple([x.held for x in self.arrays])

    def set(self, y: Any) -> None:
        for x in self.arrays:
            if x._var.type.dtype != y.dtype:
                raise SideEffectError("an array that is of one dtype or of another, as a branch decides, is written to",
                                      do="make the branches' arrays of one dtype, or copy them")
        for x in self.arrays:
            x.set(self.written(x, y))


def _writes(array: Tracer) -> int:
    """The number of arrays that a write to this one changes or passes through."""
    base = None if array.view_of is None else array.view_of.base
    return base.writes if isinstance(base, Selected) else 1 + _writes(base) if isinstance(base, Tracer) else 1


def stand_for(array: Tracer, place: Selected) -> None:
    """Make an array the view of a place that it holds the value of."""
    place.writes = sum(map(_writes, place.arrays))
    if place.writes > MOST_WAYS:
        raise UnstageableError(
            "an array is one of others as many branches decide, one after the other",
            why=f"a write to it would be {place.writes} writes",
            do="exchange the elements (a[:], b[:] = b.copy(), a.copy()), or copy the arrays in the branches",
        )
    array.as_view(place, lambda base: base.read(array._var), lambda base, y: y)               # type: ignore[arg-type]


def roots_of(array: Tracer) -> list:
    """The arrays that are no views and whose elements these are."""
    return list({id(r): r for _, r in ways_to(array)}.values())


def bases_of(x: Tracer, root: Builder) -> list:
    """The arrays that are no views and that x may be, or lie in."""
    own = root.trace.alternatives.get(id(x))
    found = [b for base in roots_of(x) for b in [base, *base.live_aliases()]]
    return found if own is None else [*found, *own[1]]


def ways_to(array: Tracer) -> list:
    """Each base array that may hold these elements, with the branches under which it does: {selector: side}.

    The branches are left out where there are very many paths.
    """
    if array.view_of is None:
        return [({}, array)]
    base = array.view_of.base
    if isinstance(base, Member):
        return [({}, array)] if base.row is None else ways_to(base.row)
    if isinstance(base, Tracer):
        return ways_to(base)
    if not isinstance(base, Selected):
        return [({}, array)]
    found = _ways_within(base)
    return found if len(found) <= MOST_WAYS else [({}, r) for r in {id(r): r for _, r in found}.values()]


def _ways_within(place: Place) -> list:
    if not isinstance(place, Selected):
        return [way for x in place.arrays for way in ways_to(x)]
    if not isinstance(place.selector, Var):
        return _ways_within(place.places[int(place.selector)])
    selector = place.selector
    return [({**under, selector: k}, r) for k, p in enumerate(place.places) for under, r in _ways_within(p)
            if under.get(selector, k) == k]


def are_compatible(a: dict, b: dict) -> bool:
    """Whether a run may take both of these ways."""
    return all(b.get(selector, side) == side for selector, side in a.items())


def place_of(array: Tracer, since: int) -> Place:
    """The place of an array in arrays from before `since`, or in new base arrays."""
    view = array.view_of
    if view is None or was_there(array, since):
        return Direct(array)
    if isinstance(view.base, Selected):
        return _within(view.base, since)
    chain = view.chain
    if chain is None or not chain.is_writeable or not chain.fits_source:
        return Place(tuple(roots_of(array)))
    try:
        shared = chain.is_view()
    except SideEffectError:
        return Place(place_of(chain.source, since).arrays)
    return place_of(chain.source, since).through(tuple(chain.links)) if shared else Direct(array)


def _within(place: Place, since: int) -> Place:
    if isinstance(place, Selected):
        return Selected(place.selector, tuple([_within(p, since) for p in place.places]))
    if isinstance(place, Direct):
        return place_of(place.arrays[0], since).through(place.links)
    return place


def _with_operands(eqn: Equation, atom_of: Callable) -> Equation:
    found = [a if isinstance(a, Literal) else atom_of(a) for a in eqn.inputs[1:]]
    inputs = [x if isinstance(x, (Literal, Var)) else as_atom(x) for x in found]
    return Equation(eqn.op, (eqn.inputs[0], *inputs), eqn.outputs, eqn.params, eqn.regions, eqn.where)
