"""Subscripts: reading parts of arrays and writing them."""
from typing import Any

from ...ir.op import registry
from ...util.array import AnyArray, ArrayLike
from ..assign import assigned
from ..kinds import shape_of
from ..literals import numpy_number
from ..override import override
from ..subscript import read_subscript, with_axes_of_flags


@override(method="__getitem__")
def getitem(x: ArrayLike, subscript: object) -> AnyArray:
    y, subscript = with_axes_of_flags(x, subscript)
    return read_subscript(y, subscript).read(y)


@override(method="__setitem__")
def setitem(x: Any, subscript: object, value: ArrayLike) -> None:
    y, subscript = with_axes_of_flags(x, subscript)
    new = assigned(y, subscript, value)
    x.set(numpy_number(new) if y is x else registry["reshape"](new, *shape_of(x)))
