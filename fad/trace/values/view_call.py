"""Calls of NumPy's functions and methods that give views, as the tracer sees them."""
from collections.abc import Callable
from functools import lru_cache
from operator import attrgetter
from typing import Any

from ...ir.build import Value, current
from ...ir.graph import Atom
from ...ops.face import PROPERTIES
from ...util.array import AnyArray
from .standin import UNKNOWN, ResultMemory, ask

# Functions whose results are views in most calls: whether they are is looked at when one of the two is written to.
# NumPy is asked about all others at once.
VIEWS = {
    "__getitem__", "reshape", "ravel", "transpose", "permute_dims", "matrix_transpose", "T", "mT", "swapaxes",
    "moveaxis", "rollaxis", "expand_dims", "squeeze", "atleast_1d", "atleast_2d", "atleast_3d", "split", "array_split",
    "hsplit", "vsplit", "dsplit", "unstack", "flip", "fliplr", "flipud", "rot90", "real", "imag", "trim_zeros",
}


def is_tracer(x: object) -> bool:
    return isinstance(x, Value) and hasattr(x, "as_view")


class ViewCall:
    """One call of a function that may return views: the function and its arguments."""

    __slots__ = ("name", "call", "args", "kwargs", "original", "start", "arrays", "atoms")

    def __init__(self, name: str, call: Callable, args: tuple, kwargs: dict, original: object):
        self.name, self.call, self.args, self.kwargs, self.original = name, call, args, kwargs, original
        self.start = len(current().equations)
        self.arrays = [x for x in (*args, *kwargs.values()) if is_tracer(x) and x.is_array]
        self.atoms = {x.atom for x in self.arrays}

    def is_scalar(self, y: AnyArray) -> bool:
        """Whether y is an element, which NumPy hands out by value."""
        if self.name == "unstack":                            # it goes over the rows, as Python does
            return not y.ndim
        if self.name != "__getitem__" or y.ndim:
            return False
        subscript = self.args[1]
        return not (subscript is Ellipsis or isinstance(subscript, tuple) and any(s is Ellipsis for s in subscript))

    @property
    def is_view(self) -> bool:
        """Whether NumPy's result is known to be a view, if its reshaping needs no copy."""
        return self.name in VIEWS and "copy" not in self.kwargs

    def answer(self, source: object, place: int, layout: "tuple | None") -> ResultMemory:
        """NumPy's answer for one of the results, given this memory layout of the argument."""
        if self.original is None:
            return UNKNOWN
        found = ask(self.asked, self.args, self.kwargs, source, layout)
        return found[place] if place < len(found) else UNKNOWN

    @property
    def asked(self) -> Any:
        """The function that NumPy is asked about."""
        return attribute(self.name) if self.call is PROPERTIES.get(self.name) else self.original

    def source(self, atom: Atom, place: int) -> Any:
        """The argument that holds this variable; of several, the one at the result's place."""
        found = [x for x in self.arrays if x._var is atom]
        beside = self.args[place] if place < len(self.args) else None
        return next((x for x in found if x is beside), found[0])


@lru_cache(None)
def attribute(name: str) -> Callable:
    """The function that reads an array's property."""
    return attrgetter(name)
