"""Special methods of Python's and NumPy's own that code calls by their names: L.__setitem__(0, v), list.append(L, v),
object.__setattr__(o, "rate", v).

Where the class of the object has no other method under the name, such a call means what the statement means, L[0] = v.
A class of the user's with a method of its own calls Python's by its name to get past that: then it is Python's.
"""
import functools
from collections.abc import Callable
from types import MethodDescriptorType, MethodType, MethodWrapperType, WrapperDescriptorType

import numpy as np

from ...ir import stack
from ...ops.records import Record, Records
from ...util.defects import for_user
from ..guards.guard import in_class
from ..lists.items import Items
from ..lists.rows import RowList
from ..values.tracer import Tracer
from .name_dicts import NameDict
from .parts import RuntimePart
from .special_methods import BINARY

STATEMENTS: dict[str, tuple] = {                              # special method -> method of the runtime, its operator
    "__setitem__": ("put_item",),
    "__delitem__": ("delete_item",),
    "__setattr__": ("put_attribute",),
    "__delattr__": ("delete_attribute",),
    **{f"__i{name}__": ("inplace", op) for op, (_, operation, name, _) in BINARY.items() if operation is not None},
}
# of arrays, lists and dicts: they have methods of fad's
STAND_INS = (Tracer, Records, Record, Items, RowList, NameDict)
_OF_CLASSES = (WrapperDescriptorType, MethodDescriptorType)


class NamedMethods(RuntimePart):
    """The part of the data model (see datamodel.py) that sees to these calls."""

    def named_method(self, f: object) -> "Callable | None":
        """The function that is called for a special method of C code that is found in an object, or in its class; None
        of any other function.
        """
        if type(f) is MethodType and type(f.__self__) is Tracer and f.__name__ == "__array__":
            return functools.partial(self.call(np.asarray), f.__self__)
        if not stack.builders() or not isinstance(f, (MethodWrapperType, *_OF_CLASSES)):
            return None
        if isinstance(f, _OF_CLASSES):
            is_known = f.__name__ in STATEMENTS or f.__name__ == "__call__" or issubclass(f.__objclass__, np.ndarray)
            return functools.partial(self._of_class, f) if is_known or f.__objclass__ in (list, dict) else None
        if f.__name__ == "__get__" and isinstance(f.__self__, _OF_CLASSES):
            return lambda x, cls=None: lambda *args, **kwargs: self._of_class(f.__self__, x, *args, **kwargs)
        if f.__name__ == "__call__":
            return None if isinstance(f.__self__, type) else self.call(f.__self__)
        return self._statement(f, f.__self__)

    def _statement(self, f: "MethodWrapperType | WrapperDescriptorType | MethodDescriptorType",
                   x: object) -> "Callable | None":
        """The function that does for x what the statement does; None where the class of x has another method."""
        own = in_class(type(x), f.__name__)
        if f.__name__ not in STATEMENTS or not (isinstance(x, STAND_INS) or (
                type(own) is WrapperDescriptorType and own.__objclass__ is f.__objclass__)):
            return None
        name, *op = STATEMENTS[f.__name__]
        return functools.partial(getattr(self, name), *op, x)

    @for_user
    def _of_class(self, f: "WrapperDescriptorType | MethodDescriptorType", *args: object, **kwargs: object) -> object:
        """A method of a class of Python's or NumPy's, called with the object as its first argument."""
        if not args:
            return f(*args, **kwargs)
        x, *rest = args
        found = self._statement(f, x)
        if found is None and f.__name__ == "__call__" and not isinstance(x, type):
            found = self.call(x)
        if found is None and isinstance(x, STAND_INS) and not (type(x) is Items and issubclass(f.__objclass__, list)):
            found = self.call(getattr(x, f.__name__))
        return self.known_builtin(f)(*args, **kwargs) if found is None else found(*rest, **kwargs)

    def put_item(self, c: object, k: object, value: object) -> None:
        """operator.setitem(c, k, value)"""
        self.set_item(value, c, k)

    def put_attribute(self, owner: object, name: str, value: object) -> None:
        """setattr(owner, name, value)"""
        self.set_attribute(value, owner, name)
