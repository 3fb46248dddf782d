"""Keys of dicts for things that are told apart by what they are, and not by what they hold."""
from typing import Any


class ById:
    """A thing as a key: the thing itself is meant, which the key keeps alive."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ById) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)
