"""An object's own attributes, read past the methods of its class: a __getattr__ of the user's is not called."""
from types import WrapperDescriptorType
from typing import Any

from .interrupts import let_through


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
    except AttributeError as error:
        let_through(error)
        return default


def own_dict(x: object) -> "dict | None":
    """The dict of an object's own attributes; None if it has none."""
    return own_attribute(x, "__dict__")
