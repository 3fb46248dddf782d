"""Lists from outside that get elements where data decide: in a branch, in a loop that data end.

    if x > limit:                        if x > limit:
        self.log.append(x)      ->           tail.append(x)       the program has the tail as it has lists of its own
                                                                  (rows.py); each call delivers it: log.extend(tail)

Captured code sees a Tail in place of such a list. It may append, and nothing else: what the list holds is another thing
at each call. A trace begins with the list itself; it is made once more, with tails, if a list got elements in a region
and the trace was refused.
"""
from collections.abc import Iterable
from types import BuiltinMethodType
from typing import Any

from ...ir import stack
from ...ir.build import Builder, current
from ...ir.records import EXAMPLE, ONCE
from ...ir.types import type_of
from ...util import tree
from ...util.attempts import Mode
from ...util.errors import StructureError, UnstageableError
from ..heap.journal import journal, standing_in
from ..heap.state import is_numeric
from ..values.absent import refuse_methods
from .elements import like
from .items import Items, NeedsRoom

GROWING = ("append", "extend")                                # methods of lists that add elements at the end


class Tailing(Mode):
    """Lists that got elements in regions have tails. wanted: id -> such a list."""


tailing = Tailing()


def note_growth(x: object) -> None:
    """Remember a list from outside that a region lets grow: x, or the list whose method x is."""
    if type(x) is BuiltinMethodType and x.__name__ in GROWING:
        x = x.__self__
    if type(x) is not list or not stack.builders() or current().parent is None:
        return
    if id(x) not in journal().made and journal().is_outer(x):
        tailing.wanted = {**(tailing.wanted or {}), id(x): x}


def tails() -> dict:
    """The tails of the lists that have one in the trace that begins now: id of a list -> the list, its tail."""
    found = {key: (owner, Tail(owner)) for key, owner in (tailing.wanted if tailing.is_on else {}).items()}
    current().trace.tails = [tail for _, tail in found.values()]
    return found


def additions() -> list:
    """The lists of what tails have got, while a function is traced."""
    return [tail.items for tail in current().trace.tails] if stack.builders() else []


class Tail:
    """A list from outside, as captured code sees it that only appends to it."""

    stands_for = list                                         # to those who ask for its class

    def __init__(self, owner: list):
        self.owner, self.items = owner, standing_in(Items())
        self.items.birth = 0                                  # it was there before all functions of the trace

    def append(self, x: object) -> None:
        """Let the list get one more element. Beside it stand its kind, since rows join ints and floats and a list
        outside does not, and a number, since rows have one at least."""
        self.items.home = _function_here()
        element = (x, kind_of(x), 0)
        self._leave_pythons_numbers(element)
        self.items.append(element)

    def _leave_pythons_numbers(self, element: tuple) -> None:
        """Ask for rows of NumPy's numbers where an element has one, and the rows are of Python's (as of a step that an
        earlier trial knew)."""
        rows = self.items
        new = like(element) if rows.rows is not None else None
        if new is not None and any(t.weak and not type_of(y).weak for t, y in zip(rows.types, new.layout.data)):
            raise NeedsRoom(rows, [new, rows.like()], rows.used + 1)

    def extend(self, more: Iterable) -> None:
        """Let the list get more elements."""
        for x in more:
            self.append(x)

    def __iadd__(self, more: Iterable) -> "Tail":
        if hasattr(type(more), "__radd__") and not isinstance(more, list):
            raise UnstageableError("a list from outside meets an array in +=", why="Python binds its name to an array",
                                   do="call the list's method extend")
        self.extend(more)
        return self


class ElementKind:
    """The kinds of numbers in an element."""

    def __init__(self, key: tuple):
        self.key = key


_kinds: dict[tuple, ElementKind] = {}


def kind_of(x: object) -> ElementKind:
    """The kind of an element: one object for all elements of a kind."""
    try:
        types = [type_of(y) if is_numeric(y) else None for y in tree.flatten(x)[0]]
    except StructureError as error:                           # it holds itself
        raise UnstageableError(str(error)) from error
    key = tuple([t and (t.dtype, len(t.shape)) for t in types])
    return _kinds.setdefault(key, ElementKind(key))


def _function_here() -> Builder:
    """The function that is being traced, around all branches and loops."""
    builder = current()
    while builder.region.runs not in (ONCE, EXAMPLE):
        builder = builder.parent                              # type: ignore[assignment]
    return builder


def refuse_reading(*args: object) -> Any:
    """An error: a list is read that has a tail."""
    raise UnstageableError("a list from outside is read that gets elements in a branch or a loop on traced values",
                           why="how many elements it has is another number at each call",
                           do="append to a list of the function, and extend the outer one in the end")


refuse_methods(Tail, refuse_reading, "len iter bool getitem setitem delitem contains add radd mul rmul imul eq ne lt "
               "le gt ge reversed hash repr str format copy deepcopy reduce_ex array",
               "insert remove clear index count sort reverse pop copy")
