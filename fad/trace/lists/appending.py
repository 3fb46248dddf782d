"""Room for what the iterations of a loop append to lists (see lists/rows.py): which lists, how much an iteration, and
where an iteration's elements go.
"""
import operator
import weakref
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ...ir.build import Builder, Value, current
from ...ir.graph import Equation, Var
from ...ir.types import INT
from ...ir.uses import defined_by, operands
from ...ops.carry import visible_extent
from ...ops.conditional import around
from ...util.array import AnyArray, ArrayOrNumber
from ...util.errors import ConcreteValueError, UnstageableError
from ..heap.journal import journal, note
from ..heap.state import Array, Container, Name, TreeLayout, Trial
from ..objects.containers import containers_in
from ..values.excuses import lies_here, never
from ..values.place import roots_of
from ..values.tracer import Tracer, births, was_there
from .elements import Like
from .items import Items
from .listing import NeedsRoom, NeedsRows, atom_of
from .rows import Growing
from .tails import additions

FIRST_ROOM = 16  # for elements of a list of unknown length


class Untraced(Exception):
    """A loop only fills lists with what is known: it is plain Python's."""


class AppendedList(NamedTuple):
    """A list that a loop has made room for: the most elements that an iteration appends."""

    owner: Items
    most: Any                                                 # None where the list sees to its own room


class AppendedLists:
    """The lists that one loop appends to."""

    def __init__(self, plan: Any):
        self._plan, self.born = weakref.ref(plan), next(births)                 # no cycle keeps the loop's variables
        self.outer = {
            id(c): c
            for c in containers_in(
                [*[Name(n, cell).read() for n, cell in plan.cells.items()], *additions()],
                journal().is_untouched,
            )
            if isinstance(c, Items)
        }
        self.before = {key: (c.contents(), c.used) for key, c in self.outer.items()}
        self.kept: dict[int, AppendedList] = {}
        self.steady: dict[int, Any] = {}                      # lists that get so many elements in every iteration
        self.changing: set[int] = set()                       # lists for which that does not hold
        self.base: dict[int, Any] = {}                        # lengths at the start of an iteration
        self.are_iterations_known = False
        self.known: set[Var] = set()  # rows with what was known, of lists that were moved for this loop
        self.knows_all = True                                 # whether these are all that it has moved
        self.ties: dict[int, tuple] = {}  # what iterations do to elements: replace, write to, share (see member.py)
        self.marks: dict[int, tuple] = {}
        self.kin: dict[int, tuple] = {}  # the rows, and what was known of what is the same as they are

    @property
    def plan(self) -> Any:
        return self._plan()

    def counts(self, slot: Array) -> bool:
        """Whether a list's length follows from the number of the iteration, so that it need not be carried."""
        return isinstance(slot, Container) and id(slot.owner) in self.steady

    def recall(self, lists: dict) -> None:
        """Begin with what is known of the lists from trials of the loop around this one (see known_of_lists)."""
        for number, (key, c) in enumerate(self.outer.items()):
            if c.rows is not None and number in lists:
                self._expect(key, c, *lists[number])

    def _expect(self, key: int, c: Items, grows: bool, growth: object, ties: tuple = (False,) * 3) -> None:
        """A list in rows will be written to, and grow by so many elements in each iteration (None: by another number).
        If that is wrong, an iteration shows it.
        """
        if grows and isinstance(growth, int) and key not in self.changing:
            self.steady.setdefault(key, growth)
        elif grows:
            self._varies(key, c)
        self.ties.setdefault(key, ties)
        for row in c.rows:
            self.plan.add(Array(row))

    def _varies(self, key: int, c: Items) -> None:
        """A list's length does not follow from the number of the iteration: it is carried."""
        self.changing.add(key)
        self.steady.pop(key, None)
        self.plan.add(Container(c))

    def known_of_lists(self) -> dict:
        """The number of each list that the iterations write to -> whether it grows, by how many elements, and what
        iterations do to its elements.
        """
        written = {id(s.tracer) for s in self.plan.found if isinstance(s, Array)}
        found = {}
        for number, (key, c) in enumerate(self.outer.items()):
            grows = key in self.steady or key in self.changing
            if grows or any(id(row) in written for row in c.rows or ()):
                found[number] = grows, self.steady.get(key), self.ties.get(key, (False,) * 3)
        return found

    # -- elements ----------------------------------------------------------------------------------

    def enter(self) -> None:
        """An iteration, or what tells whether there is one, begins: what other iterations did to the lists' elements.
        """
        for key, c in self.outer.items():
            if c.rows is not None:
                c.ties.begin(self.ties.get(key, (False,) * 3), c.rows)
                self.marks[key] = (c.ties, c.ties.state())

    def _finds_ties(self, key: int, c: Items) -> bool:
        """Whether an iteration did what was not known to an outer list's elements."""
        if c.rows is None or key not in self.marks or self.marks[key][0] is not c.ties:
            return False
        before = self.ties.get(key, (False,) * 3)
        self.ties[key] = tuple([a or x != y for a, x, y in zip(before, self.marks[key][1], c.ties.state())])
        return self.ties[key] != before

    def refuse_other_names(self, holders: Callable) -> None:
        """An array that a list got in one iteration, and that has a name in the next, must not be written to through
        the list. holders(arrays): the names that may be one of these.
        """
        if any(self.ties.get(key, (False,) * 3)[1] and holders(c.added) for key, c in self.outer.items()):
            raise UnstageableError(
                "an array that a list got in one iteration has a name in the next, and elements of the list are "
                "written to",
                do="put a copy into the list (out[k] = x.copy())",
            )

    # -- iterations --------------------------------------------------------------------------------

    def begin_iteration(self, iteration: "AnyArray | None") -> None:
        """Count what the iteration appends. iteration: its number, None where it has none."""
        self.are_iterations_known = iteration is not None
        for key, c in self.outer.items():
            note(c)
            if key in self.steady and iteration is None:
                raise UnstageableError("a list grows in a loop whose iterations have no numbers")
            if key in self.steady:
                c.length = self._first(key) + self.steady[key] * iteration
            self.base[key] = c.length
            c.used, c.added = 0, []
            self._forget(key, c)

    def _forget(self, key: int, c: Items) -> None:
        """Arrays that were appended in an iteration that was tried belong to no iteration."""
        rows, kin = self.kin.get(key, (None, []))
        if rows is not c.rows:
            self.kin[key] = c.rows, [row.kin for row in c.rows or ()]
        else:
            for row, before in zip(c.rows or (), kin):
                stay = [k for k in row.kin if k[2] is never or k[1] is None]  # given to a list; lost
                row.kin = [*before, *[k for k in stay if not any(k is b for b in before)]]

    def _first(self, key: int) -> ArrayOrNumber:
        """A list's length before the loop."""
        before = self.before[key][0]
        return len(before.items) if before.rows is None else before.length

    def end_iteration(self, made: Trial, initial: Iterable) -> bool:
        """See that there is room for what the iteration appended. Return whether it showed something new of how long
        the lists are.
        """
        news = [
            self._end_iteration(key, c, made, initial) if not _is(c.used, 0) else self._stays(key, c)
            for key, c in self.outer.items()
        ]
        self._refuse_changed(made)
        return any([*news, *[self._finds_ties(key, c) for key, c in self.outer.items()]])

    def _stays(self, key: int, c: Items) -> bool:
        """Whether it is news that an iteration appends nothing."""
        is_news = key in self.steady
        if is_news:
            self._varies(key, c)
        return is_news

    def _refuse_changed(self, made: Trial) -> None:
        changed = {id(t) for t in (*made.changed_arrays(), *made.changed_containers())}
        self.refuse_changes([x for x in self.added if id(x) in changed])

    def _end_iteration(self, key: int, c: Any, made: Trial, initial: Iterable) -> bool:
        if c.rows is None and key in self.kept:  # it would be made plain in every iteration
            raise UnstageableError(
                "a list that a loop fills is changed other than at its end (insert, pop(0), sort, ...)",
                do="use an array, or append to one list and read another",
            )
        if c.rows is None:
            raise NeedsRoom(
                c, c.samples(len(self.before[key][0].items)), c.used, _uses_traced(made.builder, [*initial, *c])
            )
        if isinstance(c, Growing):
            # a loop within this iteration has moved it to rows
            if self.before[key][0].kind is not Growing and not self._lets_grow(key):
                raise NeedsRoom(c, [c.like()], None)
        elif not self.are_iterations_known:  # the loop around this one has made room for iterations that it could count
            raise NeedsRoom(c, [c.like()], None)
        elif (key in self.kept or c.keeper is None) and not (
            key in self.kept and _at_most(c.used, self.kept[key].most)
        ):
            varies = visible_extent(atom_of(c.length - self.base[key]), current().parent) is None
            # an earlier loop, or one within this iteration, has moved it to rows, or to too few
            raise NeedsRoom(c, [c.like()], c.used, varies=varies)
        return self.are_iterations_known and key not in self.changing and self._shows_growth(key, c)

    def _lets_grow(self, key: int) -> bool:
        """Whether this loop has made a list one that sees to its own room."""
        return key in self.kept and self.kept[key].most is None

    def _shows_growth(self, key: int, c: Items) -> bool:
        grown = visible_extent(atom_of(c.length - self.base[key]), current().parent)
        known = self.steady.get(key)
        if known is not None and grown is not None and _is_zero(grown, known):
            return False
        if known is None and grown is not None:
            self.steady[key] = current().value_of(grown) if isinstance(grown, Var) else grown
        else:
            self._varies(key, c)
        return True

    @property
    def added(self) -> list:
        """The arrays that lists got in the last iteration."""
        return [x for c in self.outer.values() for x in c.added]

    def refuse_changes(self, arrays: list) -> None:
        """An array that a list got in one iteration must not be changed in the next."""
        if any(x is y for x in arrays for y in self.added):
            self.refuse()

    def refuse(self) -> None:
        raise UnstageableError(
            "an array is written to in one iteration that a list got in the iteration before",
            do="append a copy (out.append(x.copy()))",
        )

    # -- loops -------------------------------------------------------------------------------------

    def make(self, need: Any, iterations: Any) -> None:
        """Make the room that was asked for, before the loop."""
        if isinstance(need, NeedsRows):
            self._move(need)
            return
        key, owner = id(need.owner), need.owner
        if key not in self.outer:
            raise need
        if not (need.is_traced or self.plan.is_traced) and (iterations is None or _is_known(iterations)):
            raise Untraced
        most = None if iterations is None or need.most is None else visible_extent(atom_of(need.most), current())
        owner.put(self.before[key][0])
        if most is None:                                      # its iterations, or what they append, cannot be counted
            owner.move_to_rows(need.samples, FIRST_ROOM, Growing)
            owner.keeper = None                               # nor this loop, if it has counted too few at first
        else:
            most = current().value_of(most) if isinstance(most, Var) else most
            owner.move_to_rows(need.samples, most * iterations)
            owner.keeper = self.plan
        self.kept[key] = AppendedList(owner, most)
        if key not in self.changing:
            self._expect(key, owner, True, need.most if iterations is not None and not need.varies else None)

    def _move(self, need: NeedsRows) -> None:
        """Let a list that an iteration indexes lie in rows, before the loop."""
        key, owner = id(need.owner), need.owner
        if key not in self.outer or owner.home is not current():
            raise need
        before = self.before[key][0]
        owner.put(before)
        owner.move_to_rows(need.samples, 0)
        self.kept.setdefault(key, AppendedList(owner, 0))
        if any(isinstance(leaf, Value) for leaf in TreeLayout(before.items).data) or before.rows:
            self.knows_all = False
        self.known.update(row.atom for row in owner.rows)

    def require_traced(self, eqn: Equation) -> None:
        """A loop that was given arrays for its lists, but computes with nothing that is traced, is plain Python's."""
        if (
            self.known
            and self.knows_all
            and not any(
                isinstance(a, Var) and a not in self.known and (a.type.shape or a.type.dtype != INT)
                for a in operands(eqn)
            )
        ):
            raise Untraced

    def end_loop(self, iterations: object, last: list) -> None:
        """After so many iterations: the lists' lengths. last: arrays that names stand for and that a list got in the
        last iteration.
        """
        for key, c in self.outer.items():
            if key in self.steady:
                note(c)
                c.length = self._first(key) + self.steady[key] * iterations
            c.used = self._used_after(key, c, iterations)
            if key in self.kept:
                c.keeper = None
            outer = [r for x in c.added for r in roots_of(x) if was_there(r, self.born)]
            self._forget(key, c)
            for row in c.rows or ():
                row.kin = [*row.kin, *[(x, x._var, lies_here) for x in (*last, *outer)]]
            if c.rows is not None:
                c.ties.given = [*c.ties.given, *last, *outer]

    def _used_after(self, key: int, c: Items, iterations: object) -> ArrayOrNumber:
        """A bound for what a list got in the present iteration of the loop around this one; any number but 0 for one
        that sees to its own room.
        """
        used = self.before[key][1]
        if isinstance(c, Growing):
            return 1
        if key in self.kept:
            most = self.kept[key].most
            return used if _is(most, 0) else used + most * iterations
        return used if _is(c.used, 0) else used + c.used * iterations

    def put_back(self) -> None:
        """The loop is not to be: the lists are as they were."""
        for key, c in self.outer.items():
            contents, c.used = self.before[key]
            if key in self.kept or c.rows is not contents.rows:
                if contents.rows is None:  # else its elements have been entries since an earlier loop
                    c.release()
                c.put(contents)
                c.keeper = None


def _is_known(iterations: Any) -> bool:
    """Whether Python can count the iterations: of extents, those at hand, which the program is then for."""
    try:
        return operator.index(iterations) >= 0
    except ConcreteValueError:
        return False


def _is(n: object, number: int) -> bool:
    return isinstance(n, int) and n == number


def _is_zero(a: object, b: object) -> bool:
    facts = current().integers
    difference = facts.form(a) - facts.form(atom_of(b))
    return difference.is_constant and difference.const == 0


def _at_most(n: object, bound: object) -> bool:
    """Whether n <= bound can be proved, as it can of what is the same."""
    if isinstance(n, int) and isinstance(bound, int):
        return n <= bound
    facts = current().integers
    difference = facts.form(atom_of(bound)) - facts.form(atom_of(n))
    return difference.is_constant and difference.const >= 0


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
    is_traced = any(_uses_traced(builder, more) for builder in around(current()) if builder.parent is not None)
    samples = [*[Like(side.layout, side.types) for side in rows], *Items(more).samples()]
    raise NeedsRoom(owner, samples, owner.used, is_traced or bool(rows), varies=True)


def _uses_traced(builder: Builder, values: Iterable) -> bool:
    """Whether what an iteration computes depends on anything traced but sizes and the iteration's number."""
    leaves = [leaf for x in values for leaf in TreeLayout(x).data]
    own = {*builder.inputs, *defined_by(builder.equations)}
    used = [v for eqn in builder.equations for v in operands(eqn)] + [x.held for x in leaves if isinstance(x, Tracer)]
    return any(isinstance(a, Var) and a not in own and (a.type.shape or a.type.dtype != INT) for a in used) or any(
        isinstance(x, Value) and x.builder is not builder and (x.shape or x.dtype != INT) for x in leaves)
