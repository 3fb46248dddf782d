"""Iterables that a `for` may run over with a symbolic index: ranges, arrays, zip, enumerate, reversed. Each knows its
range and its i-th item.

As iterables they also serve plain Python code (a list(...) of them, a loop that has to be unrolled): then extents
become concrete.
"""
import copy
import functools
import itertools
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...ir import stack
from ...ir.build import Value, current
from ...ir.op import registry
from ...ir.types import INT
from ...ops.control import trip_count
from ...ops.extents import assume_at_least, minimum
from ...ops.literals import python_number
from ...ops.records import Records
from ...util.array import AnyArray
from ...util.defects import for_user
from ...util.errors import UnstageableError
from .tracer import Tracer

STEP_OF_ZERO = "range() arg 3 must not be zero"


class Steps:
    """Items by index: item(start), item(start + step), ... before stop. checkpoint: what a loop over them asks of
    reverse mode (see ops/control.py).
    """

    start: Any = 0
    stop: Any = 0
    step: int = 1
    checkpoint: "bool | None" = None

    def item(self, i: object) -> Any:
        raise NotImplementedError

    def count(self) -> Any:
        return trip_count(self.start, self.stop, self.step)

    def has_iterations(self) -> bool:
        """Whether it is known that there is an item."""
        return assume_at_least(self.stop, self.start, 1) if self.step > 0 else assume_at_least(self.start, self.stop, 1)

    def take(self) -> "Steps":
        """The items for one loop, which may run the first of them by themselves."""
        return copy.copy(self)

    def nth(self, k: Any) -> Any:
        """The k-th item, counted from 0."""
        return self.item(self.start + k * self.step)

    def __len__(self) -> int:
        return operator.index(self.count())

    def __iter__(self) -> Iterator:
        steps = self.take()
        for k in range(len(steps)):
            yield steps.nth(k)


class Once(Steps):
    """An iterator: the items that a loop took are gone, and their number may depend on data."""

    taken = False
    stands_for: Any = None  # the class of Python's whose object it is to captured code

    def take(self) -> Steps:
        if self.taken:
            raise _gone("a loop has taken from it")
        made = super().take()
        self.taken = True
        return made


class Drawn(Iterator):
    """Items that are taken one by one, of what holds nothing that goes on elsewhere: a list, a dict, zip of such. The
    number of items that a loop took may come to depend on data: then nobody can take the rest.
    """

    def __init__(self, items: Iterator, stands_for: "type | None" = None):
        self.items, self.is_clobbered, self.stands_for = items, False, stands_for or type(items)

    @for_user
    def __next__(self) -> Any:
        if self.is_clobbered:
            raise _gone("a loop that ended by a traced condition")
        return next(self.items)

    def again(self) -> "Drawn":
        """The items that are left, for a trial that may be repeated: this iterator stays where it is."""
        raise NotImplementedError

    def clobber(self) -> None:
        self.is_clobbered = True


class DrawnOf(Drawn):
    """make(source), behind so many items that are taken: a source that can be asked for its items again."""

    @for_user
    def __init__(self, make: Callable, source: object, taken: int = 0):
        super().__init__(make(source))
        self.make, self.source, self.taken = make, source, taken
        for _ in range(taken):
            next(self.items, None)

    def __next__(self) -> object:
        item = super().__next__()
        self.taken += 1
        return item

    def again(self) -> "DrawnOf":
        made = DrawnOf(self.make, self.source, self.taken)
        if operator.length_hint(made.items) != operator.length_hint(self.items):
            raise UnstageableError("a container changes its size while a loop runs over it",
                                   why="Python ends such a loop by an error", do="loop over a copy of the container")
        return made


class DrawnTogether(Drawn):
    """make(*parts): items that are made of those of other iterators (zip, enumerate, map)."""

    @for_user
    def __init__(self, make: Callable, parts: list, stands_for: "type | None" = None):
        super().__init__(make(*parts), stands_for)
        self.make, self.parts = make, parts

    def again(self) -> "DrawnTogether":
        return DrawnTogether(self.make, [part.again() for part in self.parts], self.stands_for)

    def clobber(self) -> None:
        super().clobber()
        for part in self.parts:
            part.clobber()


def drawn(items: object) -> Iterator:
    """The items of a loop that runs as Python's do. An iterator is itself: who else takes from it is not known."""
    if isinstance(items, Steps):
        steps = items.take()
        return DrawnTogether(functools.partial(map, steps.nth), [DrawnOf(iter, range(len(steps)))])
    return items if isinstance(items, Iterator) else DrawnOf(iter, items)


def _gone(what: str) -> UnstageableError:
    return UnstageableError(f"an iterator (zip, enumerate, reversed) goes on after {what}",
                            why="how many items are left is known only when the program runs",
                            do="make a new one for each loop")


class Counted(Steps):
    """The numbers of a range; a step that is not known goes into the item."""

    def __init__(self, start: Any, stop: object, step: object = 1):
        if isinstance(step, int) and not isinstance(step, bool):
            self.start, self.stop, self.step, self.scale = start, stop, step, None
        else:
            self.start, self.stop, self.scale = 0, -((start - stop) // step), (start, step)

    def item(self, i: Any) -> Any:
        return i if self.scale is None else self.scale[0] + i * self.scale[1]


class Range:
    """range(start, stop, step) of traced integers. Its loops, its length and its elements are parts of a program. All
    else is asked of Python's range of the same numbers, which are known then, under a guard.
    """

    stands_for = range
    __slots__ = ("start", "stop", "step")

    def __init__(self, start: Any, stop: Any, step: Any = 1):
        if isinstance(step, Value):
            registry["check_that"](registry["equal"](step, 0), False, what=STEP_OF_ZERO, error="ValueError")
        elif step == 0:
            raise ValueError(STEP_OF_ZERO)
        self.start, self.stop, self.step = start, stop, step

    def steps(self) -> Steps:
        return Counted(self.start, self.stop, self.step)

    def known(self) -> range:
        return range(*map(operator.index, (self.start, self.stop, self.step)))

    def __len__(self) -> int:
        return len(self.steps())

    def __iter__(self) -> Iterator:
        return iter(self.steps())

    def __getitem__(self, k: Any) -> Any:
        is_traced = isinstance(k, Tracer) and k.dtype.kind in "iu" and not k.ndim
        if not is_traced and not isinstance(k, int):
            return self.known()[k]
        k, steps = (k if is_traced else int(k)), self.steps()
        if isinstance(k, int) and assume_at_least(steps.count(), k + 1 if k >= 0 else -k):
            return steps.nth(k if k >= 0 else steps.count() + k)
        return steps.nth(python_number(registry["iota"](steps.count(), dtype=INT)[k]))  # an index out of range raises

    def __contains__(self, x: object) -> bool:
        return x in self.known()

    def __reversed__(self) -> Iterator:
        return reversed(self.known())

    def __eq__(self, other: object) -> bool:
        return self.known() == (other.known() if isinstance(other, Range) else other)

    def __hash__(self) -> int:
        return hash(self.known())

    def __repr__(self) -> str:
        return repr(self.known())

    def __copy__(self) -> "Range":
        return self

    def __deepcopy__(self, memo: dict) -> "Range":
        return self

    def __getattr__(self, name: str) -> object:
        if name not in ("count", "index"):
            raise AttributeError(f"'range' object has no attribute '{name}'")
        return getattr(self.known(), name)


class ArrayRows(Steps):
    """The rows (or elements, or records) of an array, or the elements of a list in rows."""

    def __init__(self, array: Any, stop: Any = None):
        self.array, self.stop = array, array.shape[0] if stop is None else stop

    def item(self, i: Any) -> AnyArray:
        return self.array[i]


class Floats(ArrayRows):
    """Python's floats."""

    def __init__(self, items: list):
        super().__init__(current().constant(np.array(items)), len(items))

    def item(self, i: object) -> AnyArray:
        return python_number(super().item(i))


class Zip(Once):
    """zip(...): as long as the shortest."""

    stands_for = zip

    def __init__(self, parts: list):
        self.parts = parts
        self.stop = parts[0].count()
        for p in parts[1:]:
            self.stop = minimum(self.stop, p.count())

    def item(self, i: object) -> tuple:
        return tuple([p.nth(i) for p in self.parts])


class Enumerate(Once):
    """enumerate(items, first)"""

    stands_for = enumerate

    def __init__(self, items: Steps, first: Any):
        self.items, self.first, self.stop = items, first, items.count()

    def item(self, i: object) -> tuple:
        return self.first + i, self.items.nth(i)


class Reversed(Once):
    """reversed(items)"""

    stands_for = reversed

    def __init__(self, items: Steps):
        self.items, self.stop = items, items.count()

    def item(self, i: object) -> AnyArray:
        return self.items.nth(self.stop - 1 - i)


def steps_of(x: Any) -> "Steps | None":
    """x as something with a symbolic index; None for what is only an iterable."""
    if isinstance(x, Steps):
        return x
    if hasattr(type(x), "steps"):
        return x.steps()
    if isinstance(x, range):
        return Counted(x.start, x.stop, x.step)
    if isinstance(x, (Tracer, Records)) and x.ndim:
        return ArrayRows(x)
    if isinstance(x, np.ndarray) and x.ndim and x.dtype.kind in "biufc":
        return ArrayRows(current().watch(x))
    return None


def checkpointed(items: object) -> Any:
    """The same items, for a loop that is to save little: where they have a symbolic index, else as they are."""
    found = steps_of(items)
    if found is None:
        return items
    steps = found.take()
    steps.checkpoint = True
    return steps


@for_user
def range_(*args: Any) -> Any:
    """range, of traced integers too."""
    if not any(isinstance(a, Value) for a in args):
        return range(*args)
    for a in args:
        if isinstance(a, Value) and (a.dtype.kind not in "iu" or a.ndim):
            raise TypeError(f"{a.dtype} array cannot be interpreted as an integer")
    if stack.is_live():
        return range(*map(operator.index, args))
    return Range(0, args[0]) if len(args) == 1 else Range(*args)


def _all_steps(iterables: tuple) -> "list | None":
    """Each as Steps, if all can be and one of them is traced. On a tape, Python's own will do."""
    if stack.is_live() or not any(isinstance(x, (Steps, Tracer)) or hasattr(type(x), "steps") for x in iterables):
        return None
    steps = [steps_of(x) for x in iterables]
    return None if None in steps else [s.take() for s in steps]      # type: ignore[union-attr]


def _may_be_drawn(*iterables: object) -> bool:
    """Whether a program may take the items of these: nothing else does."""
    is_traced = bool(stack.builders()) and not stack.is_live()
    return is_traced and not any(isinstance(x, Iterator) and not isinstance(x, Drawn) for x in iterables)


def _drawn_from(x: object) -> Drawn:
    return x if isinstance(x, Drawn) else DrawnOf(iter, x)


@for_user
def zip_(*iterables: object, strict: bool = False) -> Any:
    steps = _all_steps(iterables)
    if steps is not None and not strict:
        return Zip(steps)
    make = functools.partial(zip, strict=strict)
    return DrawnTogether(make, [*map(_drawn_from, iterables)]) if _may_be_drawn(*iterables) else make(*iterables)


@for_user
def enumerate_(iterable: Any, start: Any = 0) -> Any:
    steps = _all_steps((iterable,))
    if steps is not None:
        return Enumerate(steps[0], start)
    if not _may_be_drawn(iterable):
        return enumerate(iterable, start)
    counted = DrawnOf(itertools.count, int(operator.index(start)))
    return DrawnTogether(zip, [counted, _drawn_from(iterable)], enumerate)


@for_user
def reversed_(iterable: Any) -> Any:
    steps = _all_steps((iterable,))
    if steps is not None:
        return Reversed(steps[0])
    return DrawnOf(reversed, iterable) if _may_be_drawn(iterable) else reversed(iterable)
