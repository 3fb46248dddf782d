"""Subscripts: reading parts of arrays and writing them."""
from typing import Any

from ..assign import assigned
from ..face import face
from ..subscript import read_subscript


@face(method="__getitem__")
def getitem(x: Any, subscript: Any) -> Any:
    return read_subscript(x, subscript).read(x)


@face(method="__setitem__")
def setitem(x: Any, subscript: Any, value: Any) -> None:
    x.set(assigned(x, subscript, value))
