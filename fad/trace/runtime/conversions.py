"""Users' objects where Python or NumPy does not know them: arrays, copies, keys of a dict."""
import copy
import functools
from collections import deque
from typing import Any

import numpy as np

from ...ops.literals import as_array
from ...util.defects import for_user
from ...util.foreign import remedy_of
from ..frontend.library_text import made_anew
from ..heap.journal import made
from ..heap.opaque import note_reach, note_reads
from ..lists.items import Items
from ..lists.rows import RowList
from ..values.aliases import has_twins, unknown_identity
from .library import has_traced
from .parts import RuntimePart
from .special_methods import ARRAYS, PLAIN, SEQUENCES


def beside_numbers(a: object, b: object) -> tuple:
    """Two operands. Beside a number of NumPy's a sequence that holds traced values is the array that NumPy makes of it.
    """
    if isinstance(a, np.generic) or isinstance(b, np.generic):
        return tuple([as_array(x) if isinstance(x, (list, tuple, deque)) and has_traced(x) else x
                      for x in (a, b)])
    return a, b


class Conversions(RuntimePart):
    """The part of the data model (see datamodel.py) that makes arrays and copies of objects, or asks which they are."""

    # -- arrays ------------------------------------------------------------------------------------

    def arrayed(self, x: Any) -> Any:
        """x as NumPy takes it: an object of the user's as the array that its __array__ makes of it, in lists too."""
        if type(x) in (list, tuple, Items):
            new = x if PLAIN.issuperset(map(type, x)) else [self.arrayed(y) for y in x]
            return x if all(y is before for y, before in zip(new, x)) else type(x)(new)
        cls, method = type(x), self.special(x, "__array__")
        is_asked = method is None or hasattr(cls, "__array_ufunc__") or hasattr(cls, "__array_function__")
        return x if is_asked or remedy_of(x) else method(x)

    def _beside(self, a: object, b: object) -> tuple:
        """Both operands. Where one is an array, NumPy makes an array of the other; an object says how often a sequence
        is repeated.
        """
        if isinstance(a, SEQUENCES):
            return a, self.as_index(b)
        return self.arrayed(a) if type(b) in ARRAYS else a, self.arrayed(b) if type(a) in ARRAYS else b

    # -- numbers -----------------------------------------------------------------------------------

    def as_index(self, k: object) -> object:
        """k as Python's sequences take it: what a user's __index__ says of an object, in a slice or a tuple, too."""
        if type(k) is slice:
            parts = k.start, k.stop, k.step
            return k if PLAIN.issuperset(map(type, parts)) else slice(*map(self.as_index, parts))
        if type(k) is tuple:
            return k if PLAIN.issuperset(map(type, k)) else tuple(map(self.as_index, k))
        method = self.special(k, "__index__")
        return k if method is None else method(k)

    def as_number(self, x: object, is_integer: bool) -> object:
        """x as the functions of the module math take it."""
        method = None if is_integer else self.special(x, "__float__")
        return self.as_index(x) if method is None else method(x)

    @for_user
    def _range(self, *args: object) -> object:
        return self.known_builtin(range)(*map(self.as_index, args))

    # -- copies ------------------------------------------------------------------------------------

    def _deepcopied(self, x: object, memo: object = None) -> Any:
        method = self.special(x, "__deepcopy__")
        if method is not None:
            return method(x, made({}) if memo is None else memo)
        return self.known_builtin(self._copies.deepcopy)(x, *[memo] if memo is not None else [])

    @functools.cached_property
    def _copies(self) -> Any:
        """Python's module `copy`, which finds captured methods in the objects within others."""
        def found(x: object, name: str, *default: object) -> Any:
            method, reduced = self.special(x, name), self.special(x, "__reduce__")
            if method is not None:
                return lambda *given: method(x, *map(made, given))      # the memo is the trace's own
            if name == "__reduce_ex__" and reduced is not None:
                return lambda protocol: reduced(x)
            return getattr(x, name, *default)

        def of_items(items: Items, memo: dict) -> Items:
            new = memo[id(items)] = Items()
            new.extend([module.deepcopy(x, memo) for x in items])
            return new
        module: Any = made_anew("copy", {"getattr": found}) or copy
        if module is not copy:
            module._deepcopy_dispatch.update(dict.fromkeys((Items, RowList), of_items))
        return module

    # -- identity ----------------------------------------------------------------------------------

    def hashed(self, key: object, keys: object = ()) -> None:
        """See to a key, which a dict finds by its hash: an object's identity, perhaps. Python compares it with the keys
        of the dict by methods that run as they stand.
        """
        if type(key) in PLAIN:
            return
        if type(key).__hash__ is object.__hash__:
            self._identified(key)
        elif self.special(key, "__eq__") is not None or self.special(key, "__hash__") is not None:
            note_reads(key, *(keys if isinstance(keys, (dict, set, frozenset)) else ()))
            note_reach([key])                                 # they may count

    @staticmethod
    def _identified(x: object) -> None:
        """See to an object whose identity is asked."""
        if has_twins(x):
            raise unknown_identity()

    @for_user
    def _by_identity(self, f: object, *args: object, **kwargs: object) -> Any:
        """A function that finds its arguments by their identity or their hash."""
        for x in args:
            if f is id:
                self._identified(x)
            self.hashed(x, getattr(f, "__self__", ()))
        return self.known_builtin(f)(*args, **kwargs)
