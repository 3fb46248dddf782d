"""Reading and writing parts of arrays, and what NumPy has for it besides subscripts: take, choose, compress, np.add.at, put, ..."""
from typing import Any

from ...ir.op import registry
from ..assign import assigned
from ..face import face
from ..literals import as_array
from ..subscript import read_subscript


@face(method="__getitem__")
def getitem(x: Any, subscript: Any) -> Any:
    return read_subscript(x, subscript).read(x)


@face(method="__setitem__")
def setitem(x: Any, subscript: Any, value: Any) -> None:
    x.set(assigned(x, subscript, value))


__all__ = ["registry", "as_array"]
