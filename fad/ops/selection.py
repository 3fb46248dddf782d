"""The description of a selection (see index.py): its extents, and the same selection as NumPy writes it."""
import numpy as np

from ..ir.spec import walk_spec
from .kinds import shape_of


def selected_shape(shape: tuple, operands: tuple, spec: tuple, at: int) -> tuple:
    """The extents of a selection."""
    kept: list = []
    gathered: tuple = ()
    for axis, entry, given in walk_spec(spec, operands):
        if entry == ":":
            kept.append(shape[axis])
        elif entry[0] == "s":
            kept.append(given[1])
        elif entry == "a":
            gathered = shape_of(given[0])
    return tuple(kept[:at]) + tuple(gathered) + tuple(kept[at:])


def _as_slice(start: int, extent: int, step: int) -> slice:
    stop = start + step * extent
    return slice(start, stop if stop >= 0 else None, step) if extent else slice(0, 0)


def numpy_index(operands: tuple, spec: tuple) -> "tuple[tuple, tuple]":
    """The selection as two NumPy subscripts: the first one of slices and places, the second one of arrays, for what
    the first one leaves."""
    basic: list = []
    arrays: list = []
    for _, entry, given in walk_spec(spec, operands):
        if entry == ":":
            basic.append(slice(None))
            arrays.append(slice(None))
        elif entry[0] == "s":
            basic.append(_as_slice(int(given[0]), int(given[1]), entry[1]))
            arrays.append(slice(None))
        elif entry == "i":
            basic.append(int(given[0]))
        else:
            basic.append(slice(None))
            arrays.append(np.asarray(given[0]))
    return tuple(basic), tuple(arrays)


def natural_place(arrays: tuple) -> int:
    """The place where NumPy puts the axes of the index arrays: at the first of them if they are neighbours, else in
    front.
    """
    places = [k for k, a in enumerate(arrays) if not isinstance(a, slice)]
    if not places:
        return 0
    return places[0] if places[-1] - places[0] + 1 == len(places) else 0


def array_rank(arrays: tuple) -> int:
    return next((a.ndim for a in arrays if not isinstance(a, slice)), 0)


def move_axes(y: np.ndarray, rank: int, source: int, target: int) -> np.ndarray:
    if source == target or rank == 0:
        return y
    return np.moveaxis(y, range(source, source + rank), range(target, target + rank))
