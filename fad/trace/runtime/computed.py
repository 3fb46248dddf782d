"""Attributes that methods of the user's compute: descriptors and __getattr__, of objects and of classes.

They are captured, and called as often as Python calls them.
"""
import functools
from collections.abc import Callable
from types import MemberDescriptorType, ModuleType

from ...ir.build import Value
from ...util.errors import UnstageableError
from ...util.own import own_attribute, own_dict
from ..frontend.functions import is_user_function
from ..guards.guard import in_class
from ..guards.kinds import MISSING
from ..values import text
from .builtin import hasattr_
from .calls import is_tracing
from .parts import RuntimePart
from .special_methods import PLAIN


class ComputedAttributes(RuntimePart):
    """The part of the data model (see datamodel.py) that asks methods for attributes."""

    def computing(self, owner: object, name: str) -> "Callable | None":
        """A function without arguments that computes owner.name by a method of the user's: of a descriptor, or of the
        owner's class. None of other attributes. Properties are captured where they are read (see attributes.py).
        """
        cls = type(owner)
        if cls in PLAIN or isinstance(owner, Value):
            return None
        if is_tracing() and is_user_function(in_class(cls, "__getattribute__"), self.capture.packages):
            raise UnstageableError(f"{cls.__name__} has a __getattribute__",
                                   why="it is called at each use, by Python itself",
                                   do="write a __getattr__ or properties, which fad calls as captured code")
        found = in_class(cls, name)
        own = in_class(owner, name) if isinstance(owner, type) else (own_dict(owner) or {}).get(name, MISSING)
        get = self._getter_of(found)
        is_data = hasattr(type(found), "__set__") or hasattr(type(found), "__delete__")
        if get is not None and (own is MISSING or is_data):
            self.capture.descriptor(owner, name)
            return functools.partial(get, found, owner, cls)
        if own is not MISSING:
            get = self._getter_of(own) if isinstance(owner, type) else None
            if get is not None:
                self.capture.descriptor(owner, name)
                return functools.partial(get, own, None, owner)
            return None
        is_empty = type(found) is MemberDescriptorType and own_attribute(owner, name, MISSING) is MISSING
        ask = self.special(owner, "__getattr__") if found is MISSING or is_empty else None
        if ask is None:
            return None
        self.capture.absence(owner, name)
        return lambda: ask(owner, name)

    def _getter_of(self, descriptor: object) -> "Callable | None":
        return self.special(descriptor, "__get__") if hasattr(type(descriptor), "__get__") else None

    def _getattr(self, owner: object, name: str, *default: object) -> object:
        name = text.resolved(name)
        if not default or self._is_computed(owner, name):
            return self._answered(owner, name, *default) if default else self.attribute(owner, name)
        return self.attribute(owner, name) if self._hasattr(owner, name) else default[0]

    def _hasattr(self, owner: object, name: str) -> bool:
        name = text.resolved(name)
        if self._is_computed(owner, name):
            return self._answered(owner, name, MISSING) is not MISSING
        if type(owner) is ModuleType and self.capture.assigned_name(vars(owner), name) is not MISSING:
            return True
        found = hasattr_(self.capture.copy_of(owner), name)
        self.capture.presence(owner, name, found)
        return found

    def _is_computed(self, owner: object, name: str) -> bool:
        """Whether to ask for an attribute is to call a method of the user's."""
        is_plain = isinstance(owner, (type, Value)) or type(owner) in PLAIN
        return not is_plain and isinstance(in_class(type(owner), name), property) or (
            self.computing(owner, name) is not None)

    def _answered(self, owner: object, name: str, default: object) -> object:
        """An attribute that a user's method computes, or the default."""
        try:
            with self.caught_plainly(lambda: [AttributeError]):
                return self.attribute(owner, name)
        except AttributeError:
            self.pass_on()
            return default
