"""Operations that lists in rows lack: they run on a plain list of the elements.

Code written in C may look straight into a list's memory, past the methods of its class (heapq, operator.concat). A list
in rows has its elements elsewhere; in their place it holds guards, which refuse whatever is asked of them. Two, since
code may take one element to be in order already.
"""
from collections.abc import Callable
from typing import Any

from ...util import tree
from ...util.errors import UnstageableError


class _Guard:
    """Stands in a list whose elements lie elsewhere."""


def _refuse(*args: object) -> Any:
    raise UnstageableError("a list whose elements lie in arrays is read by code that knows plain lists only",
                           do="pass it list(items), or read the elements one by one")


for _name in (
    "lt", "le", "gt", "ge", "eq", "ne", "add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "pow",
    "rpow", "neg", "abs", "bool", "float", "complex", "int", "index", "len", "iter", "getitem", "call", "getattr",
    "array", "repr", "hash",
):
    setattr(_Guard, f"__{_name}__", _refuse)
tree.register(_Guard, _refuse, _refuse)                       # type: ignore[arg-type]
GUARDS = [_Guard(), _Guard()]

_METHODS = (
    "insert", "remove", "clear", "index", "count", "sort", "reverse", "__delitem__", "__add__", "__mul__", "__rmul__",
    "__imul__", "__contains__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__reversed__",
)


def done_plainly(cls: Any) -> Any:
    """A class of lists in rows, with the methods that plain lists have besides. Other lists in rows among the arguments
    become plain as well.
    """
    def on_plain(name: str) -> Callable:
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            plain = self._plain()
            return getattr(plain, name)(*[x._plain() if isinstance(x, cls) else x for x in args], **kwargs)
        method.__name__ = name
        return method
    for name in _METHODS:
        setattr(cls, name, on_plain(name))
    cls.__hash__ = None                                       # type: ignore[assignment]
    return cls
