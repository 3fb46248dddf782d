"""Room for what the iterations of a loop append to lists (see lists/rows.py): which lists, how much an iteration, and
where an iteration's elements go.
"""
import operator
import weakref
from collections.abc import Callable, Iterable
from itertools import takewhile
from typing import Any

from ...ir.build import Builder, Value, current
from ...ir.graph import Atom, Equation, Var
from ...ir.types import INT
from ...ir.uses import defined_by, operands
from ...ops.carry import visible_extent
from ...ops.conditional import around
from ...ops.control import atom_of
from ...util.array import AnyArray, ArrayOrNumber
from ...util.errors import ConcreteValueError, UnstageableError
from ..heap.journal import journal, note
from ..heap.state import Array, Container, Name, TreeLayout, Trial
from ..objects.containers import containers_in
from ..values.place import roots_of
from ..values.tracer import Tracer, lies_here, never, serials, was_there
from .elements import Like
from .items import Items, NeedsRoom, NeedsRows, known_difference
from .rows import Growing
from .tails import additions

FIRST_ROOM = 16  # for elements of a list of unknown length


class Untraced(Exception):
    """A loop only fills lists with what is known: it is plain Python's."""


class FilledList:
    """A list that the iterations of a loop see, and what they do to it."""

    def __init__(self, owner: Items):
        self.owner, self.before, self.used = owner, owner.contents(), owner.used
        self.has_room = False                                 # whether the loop has made room in it
        self.most: Any = None  # for so many elements an iteration; None where the list sees to its own room
        self.growth: Any = None                               # the number of elements that it gets in every iteration
        self.varies = False                                   # whether there is no such number: its length is carried
        self.base: Any = 0                                    # its length at the start of an iteration
        # what iterations do to elements: replace, write to, share (see member.py)
        self.ties: tuple = (False, False, False)
        self.mark: tuple = (None, None)                       # the elements' record as an iteration began
        self.aliases: tuple = (None, [])  # the rows, and what was known of what is the same as they are

    @property
    def first(self) -> ArrayOrNumber:
        """The length before the loop."""
        return len(self.before.items) if self.before.rows is None else self.before.length

    @property
    def grown(self) -> Any:
        """The number of elements that an iteration has appended, if the program around can tell."""
        return visible_extent(atom_of(self.owner.length - self.base), current().parent)

    def enter(self) -> None:
        """An iteration, or what tells whether there is one, begins: what other iterations did to the elements."""
        if self.owner.rows is not None:
            self.owner.ties.begin(self.ties, self.owner.rows)
            self.mark = self.owner.ties, self.owner.ties.state()

    def finds_ties(self) -> bool:
        """Whether an iteration did what was not known to the elements."""
        c, before = self.owner, self.ties
        if c.rows is not None and self.mark[0] is c.ties:
            self.ties = tuple([a or x != y for a, x, y in zip(before, self.mark[1], c.ties.state())])
        return self.ties != before

    def begin(self, iteration: "AnyArray | None") -> None:
        """Count what the iteration of this number appends."""
        c = self.owner
        note(c)
        if self.growth is not None:
            if iteration is None:
                raise UnstageableError("a list grows in a loop whose iterations have no numbers")
            c.length = self.first + self.growth * iteration
        self.base, c.used, c.added = c.length, 0, []
        self.forget()

    def forget(self) -> None:
        """Arrays that were appended in an iteration that was tried belong to no iteration."""
        c, (rows, aliases) = self.owner, self.aliases
        if rows is not c.rows:
            self.aliases = c.rows, [row.aliases for row in c.rows or ()]
            return
        for row, before in zip(c.rows or (), aliases):
            stay = [k for k in row.aliases if k[2] is never or k[1] is None]  # given to a list; lost
            row.aliases = [*before, *[k for k in stay if not any(k is b for b in before)]]

    def end(self, iterations: Any, last: list, since: int) -> None:
        """After so many iterations: the list's length, and a bound for what it got in the present iteration of the loop
        around this one (any number but 0 if it sees to its own room); for the rest see AppendedLists.end_loop.
        """
        c, most = self.owner, self.most if self.has_room else self.owner.used
        if self.growth is not None:
            note(c)
            c.length = self.first + self.growth * iterations
        c.used = 1 if isinstance(c, Growing) else self.used if _is_zero(most) else self.used + most * iterations
        c.keeper = None if self.has_room else c.keeper
        given = [*last, *[r for x in c.added for r in roots_of(x) if was_there(r, since)]]
        self.forget()
        for row in c.rows or ():
            row.aliases = [*row.aliases, *[(x, x._var, lies_here) for x in given]]
        if c.rows is not None:
            c.ties.given = [*c.ties.given, *given]

    def put_back(self) -> None:
        """The loop is not to be: the list is as it was."""
        c = self.owner
        c.used = self.used
        if self.has_room or c.rows is not self.before.rows:
            if self.before.rows is None:  # else its elements have been entries since an earlier loop
                c.release()
            c.put(self.before)
            c.keeper = None


class AppendedLists:
    """The lists that one loop appends to."""

    def __init__(self, plan: Any):
        self._plan, self.serial = weakref.ref(plan), next(serials)                 # no cycle keeps the loop's variables
        values = [*[Name(n, cell).read() for n, cell in plan.cells.items()], *additions()]
        found = containers_in(values, journal().is_untouched)
        self.lists = {id(c): FilledList(c) for c in found if isinstance(c, Items)}
        self.are_iterations_known = False
        self.known: set[Var] = set()  # rows with what was known, of lists that were moved for this loop
        self.knows_all = True                                 # whether these are all that it has moved

    @property
    def plan(self) -> Any:
        return self._plan()

    def counts(self, slot: Array) -> bool:
        """Whether a list's length follows from the number of the iteration, so that it need not be carried."""
        found = self.lists.get(id(slot.owner)) if isinstance(slot, Container) else None
        return found is not None and found.growth is not None

    def recall(self, lists: dict) -> None:
        """Begin with what is known of the lists from trials of the loop around this one (see known_of_lists)."""
        for number, x in enumerate(self.lists.values()):
            if x.owner.rows is not None and number in lists:
                grows, growth, x.ties = lists[number]
                self._expect(x, grows, growth)

    def _expect(self, x: FilledList, grows: bool, growth: object) -> None:
        """A list in rows will be written to, and grow by so many elements in each iteration (None: by another number).
        If that is wrong, an iteration shows it.
        """
        if grows and isinstance(growth, int) and not x.varies:
            x.growth = growth if x.growth is None else x.growth
        elif grows:
            self._varies(x)
        for row in x.owner.rows:
            self.plan.add(Array(row))

    def _varies(self, x: FilledList) -> None:
        """A list's length does not follow from the number of the iteration: it is carried."""
        x.varies, x.growth = True, None
        self.plan.add(Container(x.owner))

    def known_of_lists(self) -> dict:
        """The number of each list that the iterations write to -> whether it grows, by how many elements, and what
        iterations do to its elements.
        """
        written = {id(s.tracer) for s in self.plan.found if isinstance(s, Array)}
        grow = [x.varies or x.growth is not None for x in self.lists.values()]
        return {number: (grows, x.growth, x.ties) for number, (grows, x) in enumerate(zip(grow, self.lists.values()))
                if grows or any(id(row) in written for row in x.owner.rows or ())}

    # -- iterations --------------------------------------------------------------------------------

    def enter(self) -> None:
        """An iteration, or what tells whether there is one, begins."""
        for x in self.lists.values():
            x.enter()

    def begin_iteration(self, iteration: "AnyArray | None") -> None:
        """Count what the iteration appends. iteration: its number, None where it has none."""
        self.are_iterations_known = iteration is not None
        for x in self.lists.values():
            x.begin(iteration)

    def end_iteration(self, made: Trial, initial: Iterable) -> bool:
        """See that there is room for what the iteration appended. Return whether it showed something new of the lists.
        """
        news = [self._shows_growth(x, made, initial) for x in self.lists.values()]
        changed = {id(t) for t in (*made.changed_arrays(), *made.changed_containers())}
        self.refuse_changes([x for x in self.added if id(x) in changed])
        return any([*news, *[x.finds_ties() for x in self.lists.values()]])

    def _shows_growth(self, x: FilledList, made: Trial, initial: Iterable) -> bool:
        """Whether it is news how many elements an iteration has appended to a list, for which there is room."""
        if not _is_zero(x.owner.used):
            self._require_room(x, made, initial)
            if not self.are_iterations_known or x.varies:
                return False
            grown = x.grown
            if x.growth is None and grown is not None:
                x.growth = current().value_of(grown) if isinstance(grown, Var) else grown
                return True
            if grown is not None and known_difference(grown, x.growth) == 0:
                return False
        elif x.growth is None:
            return False
        self._varies(x)
        return True

    def _require_room(self, x: FilledList, made: Trial, initial: Iterable) -> None:
        c: Any = x.owner
        if c.rows is None and x.has_room:  # it would be made plain in every iteration
            raise UnstageableError(
                "a list that a loop fills is changed other than at its end (insert, pop(0), sort, ...)",
                do="use an array, or append to one list and read another",
            )
        if c.rows is None:
            raise NeedsRoom(c, c.samples(len(x.before.items)), c.used, _uses_traced(made.builder, [*initial, *c]))
        if isinstance(c, Growing):
            # a loop within this iteration has moved it to rows
            if x.before.kind is not Growing and not (x.has_room and x.most is None):
                raise NeedsRoom(c, [c.like()], None)
        elif not self.are_iterations_known:  # the loop around this one has made room for iterations that it could count
            raise NeedsRoom(c, [c.like()], None)
        elif (x.has_room or c.keeper is None) and not (x.has_room and _at_most(c.used, x.most)):
            # an earlier loop, or one within this iteration, has moved it to rows, or to too few
            raise NeedsRoom(c, [c.like()], c.used, varies=x.grown is None)

    @property
    def added(self) -> list:
        """The arrays that lists got in the last iteration."""
        return [y for x in self.lists.values() for y in x.owner.added]

    def refuse_other_names(self, holders: Callable) -> None:
        """An array that a list got in one iteration, and that has a name in the next, must not be written to through
        the list. holders(arrays): the names that may be one of these.
        """
        if any(x.ties[1] and holders(x.owner.added) for x in self.lists.values()):
            raise UnstageableError(
                "an array that a list got in one iteration has a name in the next, and elements of the list are "
                "written to",
                do="put a copy into the list (out[k] = x.copy())",
            )

    def refuse_changes(self, arrays: list) -> None:
        """An array that a list got in one iteration must not be changed in the next."""
        if any(x is y for x in arrays for y in self.added):
            self.refuse()

    def refuse(self) -> None:
        raise UnstageableError("an array is written to in one iteration that a list got in the iteration before",
                               do="append a copy (out.append(x.copy()))")

    # -- loops -------------------------------------------------------------------------------------

    def make(self, need: Any, iterations: Any) -> None:
        """Make the room that was asked for, before the loop."""
        x, owner = self.lists.get(id(need.owner)), need.owner
        if x is None or (isinstance(need, NeedsRows) and owner.home is not current()):
            raise need
        if isinstance(need, NeedsRows):
            self._move(x, need.samples)
            return
        if not (need.is_traced or self.plan.is_traced) and (iterations is None or _is_known(iterations)):
            raise Untraced
        most = None if iterations is None or need.most is None else visible_extent(atom_of(need.most), current())
        owner.put(x.before)
        if most is None:                                      # its iterations, or what they append, cannot be counted
            owner.move_to_rows(need.samples, FIRST_ROOM, Growing)
            owner.keeper = None                               # nor this loop, if it has counted too few at first
        else:
            most = current().value_of(most) if isinstance(most, Var) else most
            owner.move_to_rows(need.samples, most * iterations)
            owner.keeper = self.plan
        x.has_room, x.most = True, most
        if not x.varies:
            self._expect(x, True, need.most if iterations is not None and not need.varies else None)

    def _move(self, x: FilledList, samples: list) -> None:
        """Let a list that an iteration indexes lie in rows, before the loop."""
        x.owner.put(x.before)
        x.owner.move_to_rows(samples, 0)
        x.has_room, x.most = True, x.most if x.has_room else 0
        if any(isinstance(leaf, Value) for leaf in TreeLayout(x.before.items).data) or x.before.rows:
            self.knows_all = False
        self.known.update(row.atom for row in x.owner.rows)

    def require_traced(self, eqn: Equation) -> None:
        """A loop that was given arrays for its lists, but computes with nothing that is traced, is plain Python's."""
        if self.known and self.knows_all and not any(a not in self.known and _is_traced(a) for a in operands(eqn)):
            raise Untraced

    def end_loop(self, iterations: object, last: list) -> None:
        """After so many iterations. last: arrays that names stand for and that a list got in the last iteration."""
        for x in self.lists.values():
            x.end(iterations, last, self.serial)

    def put_back(self) -> None:
        """The loop is not to be: the lists are as they were."""
        for x in self.lists.values():
            x.put_back()


def _is_known(iterations: Any) -> bool:
    """Whether Python can count the iterations: of extents, those at hand, which the program is then for."""
    try:
        return operator.index(iterations) >= 0
    except ConcreteValueError:
        return False


def _is_zero(n: object) -> bool:
    return isinstance(n, int) and n == 0


def _at_most(n: object, bound: object) -> bool:
    """Whether n <= bound can be proved, as it can of what is the same."""
    left = known_difference(bound, n)
    return left is not None and left >= 0


def make_rows(need: "NeedsRows | NeedsRoom", given_room: list) -> None:
    """Let a list that a branch indexes or appends to lie in rows, before the branch; no loop around counts them.

    given_room: the lists that got room before; one that asks again is made plain again on a side of the branch.
    """
    if need.owner.home is not current():
        raise need
    if isinstance(need, NeedsRows):
        need.owner.move_to_rows(need.samples, 0)
        return
    if any(need.owner is x for x in given_room):
        raise need
    need.owner.move_to_rows(need.samples, FIRST_ROOM, Growing)
    given_room.append(need.owner)


def require_alike(sides: list, owner: Items) -> None:
    """See that the branches of an `if` leave a list with as many elements, or else with its elements in rows."""
    lengths = {len(side.items) for side in sides}
    if len({side.kind for side in sides}) == 1 and len(lengths) == 1:
        return
    rows = [side for side in sides if side.rows is not None]
    more = [] if rows else max(sides, key=lambda side: len(side.items)).items[min(lengths):]
    regions = takewhile(lambda b: b.parent is not None and b is not owner.home, around(current()))
    is_traced = any(_uses_traced(region, more) for region in regions)
    samples = [*[Like(side.layout, side.types) for side in rows], *Items(more).samples()]
    raise NeedsRoom(owner, samples, owner.used, is_traced or bool(rows), varies=True)


def _uses_traced(builder: Builder, values: Iterable) -> bool:
    """Whether what an iteration computes depends on anything traced but sizes and the iteration's number."""
    leaves = [leaf for x in values for leaf in TreeLayout(x).data]
    own = {*builder.inputs, *defined_by(builder.equations)}
    used = [v for eqn in builder.equations for v in operands(eqn)] + [x.held for x in leaves if isinstance(x, Tracer)]
    outer = [x for x in leaves if isinstance(x, Value) and x.builder is not builder]
    return any(a not in own and _is_traced(a) for a in used) or any(x.shape or x.dtype != INT for x in outer)


def _is_traced(a: Atom) -> bool:
    """Whether an operand is a variable, and no size."""
    return isinstance(a, Var) and bool(a.type.shape or a.type.dtype != INT)
