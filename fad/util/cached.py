"""Attributes that are computed when they are first read; tables that keep the latest."""
from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class cached_attribute(Generic[T]):
    """functools.cached_property without a lock. Below Python 3.12 functools' own has a lock for each attribute of a
    class. A child of a fork finds it locked for ever where another thread was computing. Two threads may compute twice
    here.

    >>> class Circle:
    ...     @cached_attribute
    ...     def area(self):
    ...         print("computed")
    ...         return 3.14
    >>> circle = Circle()
    >>> circle.area, circle.area
    computed
    (3.14, 3.14)
    """

    def __init__(self, compute: Callable[[Any], T]):
        self.compute, self.__doc__ = compute, compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, owner: object, kind: object = None) -> T:
        if owner is None:
            return self  # type: ignore[return-value]  # of the class: the descriptor
        value = self.compute(owner)
        owner.__dict__[self.name] = value
        return value


def drop_oldest(table: dict, most: int) -> list:
    """Keep so many entries of a table, those that were put in last. Returns the keys of the others.

    >>> table = {1: "a", 2: "b", 3: "c"}
    >>> drop_oldest(table, 2), table
    ([1], {2: 'b', 3: 'c'})
    """
    old = list(table)[:-most]
    for key in old:
        table.pop(key, None)                                  # another thread may have dropped it
    return old
