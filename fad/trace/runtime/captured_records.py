"""Record arrays from outside, as captured code sees them: each field is an array from outside."""
from typing import Protocol

import numpy as np

from ...ops.records import Records
from ..guards import guard as of
from ..values.tracer import Tracer


class Capture(Protocol):
    """The part of a trace's capture that record arrays need."""

    sources: list

    def swap(self, value: object) -> object: ...
    def read_as_is(self, value: object) -> object: ...


def records_from(array: np.ndarray, capture: Capture) -> Records:
    """The stand-in for a record array. The array itself does what the stand-in cannot, as long as nothing was written
    to it, under a guard for all that it holds.
    """
    fields = {name: capture.swap(array[name]) for name in array.dtype.names or ()}

    def use_outer() -> "np.ndarray | None":
        if any(_is_written(x, array[name]) for name, x in fields.items()):
            return None
        capture.sources.append(of.of_all_in(array))
        capture.read_as_is(array)
        return array
    return Records(array.dtype, array.ndim, fields, array, use_outer)


def _is_written(x: object, outer: np.ndarray) -> bool:
    """Whether captured code has written to what it sees of a field."""
    if isinstance(x, Records):
        return any(_is_written(part, outer[name]) for name, part in x.fields.items())
    return bool(x.version) if isinstance(x, Tracer) else not np.array_equal(np.asarray(x), outer)
