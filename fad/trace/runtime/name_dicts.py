"""Dicts of names as captured code sees them, `vars(o)` and `globals()`: each item is a second name of a variable.

    vars(o)["rate"] = v; o.rate     ->     o.rate is v, in the trace and when the call has ended

The dict itself would show arrays as they stand outside, and a copy of it would show what they were.
"""
import copy
from collections.abc import ItemsView, Iterator, KeysView, Mapping, MutableMapping, ValuesView
from typing import Any

from ...util.defects import for_user
from ..guards.kinds import MISSING
from ..heap.effects import as_stored
from ..heap.journal import note


class NameDict(MutableMapping):
    """A dict whose items are variables. `_original` is the dict itself."""

    _original: dict
    owner: object
    capture: Any

    def __init__(self, original: dict, owner: object, capture: object):
        self.__dict__.update(_original=original, owner=owner, capture=capture)

    def read(self, name: object) -> object:
        """The value of a name, MISSING if there is none."""
        raise NotImplementedError

    def note_names(self) -> None:
        """Captured code asks which names there are."""
        raise NotImplementedError

    @for_user
    def __getitem__(self, name: object) -> object:
        value = self.read(name)
        if value is MISSING:
            raise KeyError(name)
        return value

    def __contains__(self, name: object) -> bool:
        return self.read(name) is not MISSING

    def __iter__(self) -> Iterator:
        self.note_names()
        return iter(list(self._original))

    def __len__(self) -> int:
        self.note_names()
        return len(self._original)

    def copy(self) -> dict:
        """A dict of the captured code's own."""
        return {name: self[name] for name in self}

    __copy__ = copy

    def __deepcopy__(self, memo: dict) -> dict:
        return copy.deepcopy(self.copy(), memo)

    def keys(self) -> KeysView:
        return self.copy().keys()

    def values(self) -> ValuesView:
        return self.copy().values()

    def items(self) -> ItemsView:
        return self.copy().items()

    def __or__(self, other: Mapping) -> dict:
        return self.copy() | dict(other)

    def __ror__(self, other: dict) -> dict:
        return other | self.copy()

    def __ior__(self, other: Mapping) -> "NameDict":
        self.update(other)
        return self

    def __repr__(self) -> str:
        return repr(self.copy())


class AttributeDict(NameDict):
    """`o.__dict__` of an object of the user's."""

    is_stand_in = True

    def read(self, name: object) -> object:
        return self.capture.own_attribute(self.owner, name)

    def note_names(self) -> None:
        self.capture.note_own_names(self.owner)

    def __setitem__(self, name: str, value: object) -> None:
        note(self.owner)
        self._original[name] = as_stored(self.owner, name, value)

    def __delitem__(self, name: str) -> None:
        if name not in self:
            raise KeyError(name)
        note(self.owner)
        del self._original[name]


class GlobalNames(NameDict):
    """`globals()`, or `vars(m)` of a module of the user's."""

    is_stand_in = True

    def read(self, name: object) -> object:
        return self.capture.global_name(self._original, name)

    def note_names(self) -> None:
        self.capture.note_global_names(self._original)

    def __setitem__(self, name: str, value: object) -> None:
        self.capture.assign(self._original, name, value)

    def __delitem__(self, name: str) -> None:
        self.capture.refuse_assigned(self._original)
        note(self._original)
        del self._original[name]
