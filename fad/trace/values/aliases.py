"""Things that are left open: two arrays, or two lists, dicts or objects, may be one thing and are not known to be.

Branches and loops note it (see regions/may_alias.py, identity.py, branch_aliases.py). As long as neither of the two is
written to, it makes no difference. Once an array is, the other one must not be read any more (Tracer.aliases). A
container must not be changed at all.
"""
from collections.abc import Callable
from typing import Any, NamedTuple

from ...ir import stack
from ...ir.build import Builder, current
from ...ir.records import RegionState
from ...ops.conditional import around
from ...util.errors import UnstageableError
from ...util.reach import reached
from ...util.where import Where, here
from ..objects.containers import contents, keeps_record, same_contents
from .place import roots_of
from .tracer import Tracer


def may_be_one(x: Any, y: Any, exempt: "Callable | None" = None) -> None:
    """From now on, what is written to one of the two leaves the other unknown; unless exempt() then says that they are
    two.
    """
    if x is y:
        return
    region = current().region
    if not isinstance(x, Tracer):
        _leave_open(region, Twin(x, y, (_held(x), _held(y)), exempt, here()))
    elif not any(k is y and var is y._var and known is exempt for k, var, known in x.aliases):
        for a, b in ((x, y), (y, x)):
            mark = (b, b._var, exempt)
            a.aliases = [*a.aliases, mark]
            region.entangled.append((a, mark))


def disentangle(builder: Builder, since: int) -> None:
    """Take back what was left open of arrays since so many marks. The arguments of a region are older than its trial,
    and do not outlive it: so the marks themselves are taken back, and not those of arrays younger than the trial.
    """
    gone = {id(mark) for _, mark in builder.region.entangled[since:]}
    for tracer in {id(x): x for x, _ in builder.region.entangled[since:]}.values():
        tracer.aliases = [k for k in tracer.aliases if id(k) not in gone]
    del builder.region.entangled[since:]


def may_be(x: Any, is_known: Callable = lambda _: False) -> list:
    """The array or container x, and those that it may be as well by what branches and loops have left open. Of one that
    is_known no others are told.
    """
    return list(reached([x], lambda y: () if is_known(y) else _others(y)))


def _others(x: Any) -> list:
    if isinstance(x, Tracer):
        return [root for other in x.live_aliases(unchanged=True) for root in roots_of(other)]
    return [t.other if t.one is x else t.one for t in _twins_of(x)]


# -- arrays ----------------------------------------------------------------------------------------


def reach_of(array: Tracer) -> list:
    """The arrays that this one may be, or be a part of."""
    return [x for root in roots_of(array) for x in may_be(root)]


def lose(array: Tracer) -> None:
    """After a loop that wrote to an array under changing names, what its first object holds is not known."""
    mark = (array, None, None)                                # it is no variable that it ever was
    array.aliases = [*array.aliases, mark]
    current().region.entangled.append((array, mark))


# -- lists, dicts, objects -------------------------------------------------------------------------


class Twin(NamedTuple):
    """Two containers that may be one, with what they held when that was found; exempt() says later that they are two.
    """

    one: Any
    other: Any
    held: tuple
    exempt: "Callable | None"
    where: "Where | None"                                     # the user's line that left it open

    @property
    def is_excused(self) -> bool:
        return self.exempt is not None and bool(self.exempt())

    @property
    def is_changed(self) -> bool:
        return not all(_is_as_held(c, before) for c, before in zip((self.one, self.other), self.held))


def _held(container: Any) -> tuple:
    """The present contents of a container, and the arrays that hold a list's elements (see lists/rows.py)."""
    rows = container.rows if keeps_record(container) else None
    return contents(container), [row._var for row in rows or ()]


def _is_as_held(container: object, before: tuple) -> bool:
    now, rows = _held(container)
    return same_contents(now, before[0]) and all(x is y for x, y in zip(rows, before[1]))


def note_fixed(container: object) -> None:
    """The container must not be changed any more: a list in rows got a copy of it as an element."""
    _leave_open(current().region, Twin(container, container, (_held(container),) * 2, None, here()))


def _leave_open(region: RegionState, twin: Twin) -> None:
    region.twins.append(twin)
    for key in {id(twin.one), id(twin.other)}:
        region.twins_of.setdefault(key, []).append(twin)


def settle_twins(builder: Builder, since: int) -> None:
    """Take back what was left open of containers since so many twins."""
    region = builder.region
    while len(region.twins) > since:
        twin = region.twins.pop()
        for key in {id(twin.one), id(twin.other)}:
            region.twins_of[key].pop()


def fixed_in(builder: Builder) -> list:
    return [t.one for t in builder.region.twins if t.one is t.other]


def check(builder: Builder) -> None:
    """An error if a container was changed that may be another one, too."""
    for twin in builder.region.twins:
        if twin.is_changed and not twin.is_excused:
            refuse(twin.where)


def refuse(where: "Where | None" = None) -> None:
    raise UnstageableError(
        "a list, dict or object is changed that is known by two names",
        why="which one a name stands for after a branch or a loop on traced values depends on the way taken",
        do="copy it where it gets its second name (best = list(cur)), or keep the numbers in one array",
        where=where,
    )


def has_twins(x: object) -> bool:
    """Whether x is what a region has handed on by value, so that nobody knows which of several things it is."""
    return any(t.one is x and not t.is_excused for t in _twins_of(x))


def may_be_same(x: object, y: object) -> bool:
    """Whether two lists, dicts or objects, which are two here, may be one in Python."""
    return x is not y and not _candidates(x).isdisjoint(_candidates(y))


def _candidates(x: object) -> set:
    """The ids of the things that x may be: of one that a region has handed on, those that it was made of."""
    return set(map(id, reached([x], lambda x: [t.other for t in _twins_of(x) if t.one is x and not t.is_excused])))


def _twins_of(x: object) -> list:
    """The twins that x is one of, here and in the regions around."""
    builders = around(current()) if stack.builders() else ()
    return [t for builder in builders for t in builder.region.twins_of.get(id(x), ())]


def unknown_identity() -> UnstageableError:
    """The error where it makes a difference which of several things one is."""
    return UnstageableError("a program asks which list, dict or object a name stands for",
                            why="after a branch or a loop on traced values that depends on the way taken",
                            do="keep a number beside it that tells, or compare what it holds")
