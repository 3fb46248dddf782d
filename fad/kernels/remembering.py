"""A memo of Numba's search for the types of a call, which tries every definition of a function each time."""
import operator

from numba.core import types

__all__ = ["Remembering"]

ALIKE = operator.getitem, "getiter", "iternext"  # what is looked up as functions are


class Remembering:
    """A typing context that looks up functions, and subscripts, once for given types."""

    def __init__(self, context):
        self._context, self._known = context, {}

    def __getattr__(self, name):
        return getattr(self._context, name)

    def _remembered(self, lookup, *key):
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = lookup()
        return found

    def resolve_function_type(self, func, args, kws):
        if kws or not (isinstance(func, types.Function) or func in ALIKE):
            return self._context.resolve_function_type(func, args, kws)
        return self._remembered(lambda: self._context.resolve_function_type(func, args, kws), func, args)

    def resolve_getitem(self, target, index):
        return self._remembered(lambda: self._context.resolve_getitem(target, index), operator.getitem, target, index)

    def resolve_setitem(self, target, index, value):
        return self._remembered(
            lambda: self._context.resolve_setitem(target, index, value), operator.setitem, target, index, value
        )
