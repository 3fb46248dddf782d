"""An object's own attributes and items, read past the methods of its class: a __getattr__ of the user's is not called.
"""
from collections import deque
from types import GetSetDescriptorType, MemberDescriptorType, ModuleType, WrapperDescriptorType
from typing import Any

from .defects import for_user
from .interrupts import reraise_interrupt


def own_attribute(x: object, name: str, default: object = None) -> Any:
    """An attribute as Python finds it without the class's __getattr__ and __getattribute__.

    >>> class Asked:
    ...     __slots__ = ("a", "b")
    ...     def __getattr__(self, name): raise RuntimeError(name)
    >>> x = Asked()
    >>> x.a = 2.0
    >>> own_attribute(x, "a"), own_attribute(x, "b"), own_dict(x)
    (2.0, None, None)
    """
    read = type(x).__getattribute__
    if type(read) is not WrapperDescriptorType:               # the user's; a base in C may keep attributes its own way
        read = next(f for c in type(x).__mro__ if type(f := vars(c).get("__getattribute__")) is WrapperDescriptorType)
    try:
        return read(x, name)
    except (AttributeError, ReferenceError) as error:         # a weak proxy of what is gone
        reraise_interrupt(error)
        return default


def own_dict(x: object) -> "dict | None":
    """The dict of an object's own attributes; None if it has none. `super()` gives that of the object behind it."""
    return None if type(x) is super else own_attribute(x, "__dict__")


@for_user
def kept_attribute(x: object, name: str) -> object:
    """The value of an attribute where an object keeps it, past a descriptor of its class. Raises AttributeError."""
    own = own_dict(x)
    if own is not None and name in own:
        return own[name]
    found = _MISSING if _is_computed(x, name, "__get__") else own_attribute(x, name, _MISSING)
    if found is _MISSING:
        raise AttributeError(name)
    return found


def keeps_past_descriptor(x: object, name: str) -> bool:
    """Whether an object keeps an attribute in its dict, and a descriptor of its class has the same name: Python would
    ask the descriptor's __set__ or __delete__.
    """
    return _is_computed(x, name, "__set__", "__delete__") and type(own_dict(x)) is dict


def _is_computed(x: object, name: str, *methods: str) -> bool:
    """Whether the class of an object has a descriptor under this name, with one of these methods, that is no slot."""
    if isinstance(x, (type, ModuleType)):
        return False
    cls = type(next((vars(c)[name] for c in type(x).__mro__ if name in vars(c)), None))
    return cls not in (MemberDescriptorType, GetSetDescriptorType) and any(hasattr(cls, method) for method in methods)


def own_writer(x: object) -> type:
    """The class whose __setattr__ and __delattr__ write to the attributes of x themselves: the first in C, as the
    user's may do more. threading.local has its own.
    """
    return next(c for c in type(x).__mro__ if type(vars(c).get("__setattr__")) is WrapperDescriptorType)


def write_attribute(x: object, name: str, value: object) -> None:
    """Set an attribute where an object keeps it, past the user's methods and descriptors."""
    if keeps_past_descriptor(x, name):
        own_dict(x)[name] = value                             # type: ignore[index]
    else:
        own_writer(x).__setattr__(x, name, value)  # type: ignore[arg-type, call-arg]


def delete_attribute(x: object, name: str) -> None:
    """Delete an attribute where an object keeps it."""
    if keeps_past_descriptor(x, name):
        own_dict(x).pop(name)                                 # type: ignore[union-attr]
    else:
        own_writer(x).__delattr__(x, name)  # type: ignore[arg-type, call-arg]


@for_user
def kept_item(x: object, at: object) -> object:
    """An item of a container as Python's own class finds it. Raises LookupError."""
    base = next((c for c in (dict, list, tuple, deque) if issubclass(type(x), c)), None)
    if base is None or type(x) is base:
        return x[at]  # type: ignore[index]
    if base is not dict:
        return base.__getitem__(x, at)  # type: ignore[arg-type, call-overload, index]
    found = dict.get(x, at, _MISSING)  # type: ignore[call-overload]  # __getitem__ would ask __missing__
    if found is _MISSING:
        raise KeyError(at)
    return found


def owner_of(f: object) -> object:
    """The object whose method f is. Classes are not asked: their metaclass may have a __getattr__."""
    return None if isinstance(f, type) else getattr(f, "__self__", None)


_MISSING = object()
