"""Iterables that a `for` may run over with a symbolic index: ranges, arrays, zip, enumerate, reversed. Each knows its
range and its i-th item.

As iterables they also serve plain Python code (a list(...) of them, a loop that has to be unrolled): then extents
become concrete.
"""
import copy
import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...ir import stack
from ...ir.build import Value, current
from ...ops.control import trip_count
from ...ops.extents import assume_at_least, minimum
from ...ops.literals import python_number
from ...ops.records import Records
from ...util.array import AnyArray
from ...util.defects import for_user
from ...util.errors import UnstageableError
from .tracer import Tracer


class Steps:
    """Items by index: item(start), item(start + step), ... before stop. checkpoint: what a loop over them asks of
    reverse mode (see ops/control.py).
    """

    start: Any = 0
    stop: Any = 0
    step: int = 1
    checkpoint: "bool | None" = None
    stands_for: Any = None  # the class of Python's whose object it is to captured code

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

    def take(self) -> Steps:
        if self.taken:
            raise _gone("a loop has taken from it")
        made = super().take()
        self.taken = True
        return made


class Drawn(Iterator):
    """zip, enumerate or reversed of lists, dicts and the like, which hold nothing that goes on elsewhere. The number of
    items that a loop took may come to depend on data: then nobody can take the rest.
    """

    def __init__(self, items: Iterator):
        self.items, self.is_clobbered, self.stands_for = items, False, type(items)

    def __next__(self) -> Any:
        if self.is_clobbered:
            raise _gone("a loop that ended by a traced condition")
        return next(self.items)


def _gone(what: str) -> UnstageableError:
    return UnstageableError(f"an iterator (zip, enumerate, reversed) goes on after {what}",
                            why="how many items are left is known only when the program runs",
                            do="make a new one for each loop")


class Range(Steps):
    """range(start, stop, step); a step that is not known goes into the item."""

    stands_for = range

    def __init__(self, start: Any, stop: object, step: object = 1):
        if isinstance(step, int) and not isinstance(step, bool):
            if step == 0:
                raise ValueError("range() arg 3 must not be zero")
            self.start, self.stop, self.step, self.scale = start, stop, step, None
        else:
            self.start, self.stop, self.scale = 0, -((start - stop) // step), (start, step)

    def item(self, i: Any) -> Any:
        return i if self.scale is None else self.scale[0] + i * self.scale[1]

    def __getitem__(self, k: object) -> Any:
        if isinstance(k, slice):
            return list(self)[k]
        return self.nth(k if not isinstance(k, int) or k >= 0 else self.count() + k)


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
        return Range(x.start, x.stop, x.step)
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
    return Range(0, args[0]) if len(args) == 1 else Range(*args)


def _all_steps(iterables: tuple) -> "list | None":
    """Each as Steps, if all can be and one of them is traced. On a tape, Python's own will do."""
    if stack.is_live() or not any(isinstance(x, (Steps, Tracer)) or hasattr(type(x), "steps") for x in iterables):
        return None
    steps = [steps_of(x) for x in iterables]
    return None if None in steps else [s.take() for s in steps]      # type: ignore[union-attr]


def _drawn(items: Iterator, iterables: tuple) -> Iterator:
    """An iterator over these, whose items a program may take."""
    is_traced = bool(stack.builders()) and not stack.is_live()
    goes_on = any(isinstance(x, Iterator) and not isinstance(x, Drawn) for x in iterables)
    return Drawn(items) if is_traced and not goes_on else items


@for_user
def zip_(*iterables: object, strict: bool = False) -> Any:
    steps = _all_steps(iterables)
    return _drawn(zip(*iterables, strict=strict), iterables) if steps is None or strict else Zip(steps)


@for_user
def enumerate_(iterable: Any, start: Any = 0) -> Any:
    steps = _all_steps((iterable,))
    return _drawn(enumerate(iterable, start), (iterable,)) if steps is None else Enumerate(steps[0], start)


@for_user
def reversed_(iterable: Any) -> Any:
    steps = _all_steps((iterable,))
    return _drawn(reversed(iterable), (iterable,)) if steps is None else Reversed(steps[0])
