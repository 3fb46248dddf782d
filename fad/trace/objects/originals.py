"""Stand-ins for a library's classes, modules and objects in captured code, and the originals behind them.

Captured code sees functions as they are: a call leads to what fad has in their place (see Runtime.call). Classes of
numbers and arrays, modules with overrides, and objects whose methods have overrides have stand-ins, since Python itself
asks them (isinstance) or they are asked for many names.
"""
from typing import Any

from ...util.defects import for_user


class StandIn(type):
    """A class that captured code sees in place of an original one: equal to it, with its hash and its attributes."""

    original: Any

    def __new__(mcls, name: str, bases: tuple, body: dict, **options: object) -> Any:
        """A class that captured code derives from stand-ins is derived from the originals."""
        if any(isinstance(base, StandIn) for base in bases):
            return type(name, tuple(map(original_of, bases)), body, **options)
        return super().__new__(mcls, name, bases, body)

    def __instancecheck__(cls, x: object) -> bool:
        return isinstance(x, cls.original)

    @for_user
    def __subclasscheck__(cls, other: object) -> bool:
        return issubclass(original_of(other), cls.original)

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is cls.original

    def __hash__(cls) -> int:
        return hash(cls.original)

    def __repr__(cls) -> str:
        return repr(cls.original)

    def __getattr__(cls, name: str) -> Any:
        return getattr(cls.original, name)


def original_of(x: object) -> Any:
    """The original behind a stand-in; x itself if it is none."""
    if isinstance(x, StandIn):
        return x.original
    return x.__dict__["_original"] if type(x).__dict__.get("is_stand_in") else x
