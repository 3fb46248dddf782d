"""Snapshots of a list of captured code, and the errors by which it asks for another representation (see lists/rows.py).
"""
from typing import Any, NamedTuple

from ...ir.build import Value
from ...util import tree
from ...util.errors import UnstageableError
from ..values.iterate import Steps


class NeedsRoom(UnstageableError):
    """A list gets elements in an iteration of a loop: how many at most (None: nobody knows), what they are like, and
    whether anything traced has a part in it; varies: whether some iterations are known to add fewer.
    """

    def __init__(self, owner: Any, samples: list, most: object, is_traced: bool = True, varies: bool = False):
        super().__init__(
            "a list grows in a loop or branch on traced values",
            why="a loop or a branch on traced values gives a name one structure",
        )
        self.owner, self.samples, self.most, self.is_traced, self.varies = owner, samples, most, is_traced, varies


class NeedsRows(UnstageableError):
    """A list from outside of a region is read or written there by a traced index, and has to lie in rows; samples: what
    its elements may be like.
    """

    def __init__(self, owner: Any, samples: list):
        super().__init__(
            "a list is indexed by a traced integer", why="it cannot be kept in an array here", do="use an array"
        )
        self.owner, self.samples = owner, samples


class Contents(NamedTuple):
    """The contents of a list at a moment."""

    kind: type
    items: list
    rows: Any
    layout: Any
    types: Any
    length: Any
    is_element: bool
    ties: Any

    def same(self, other: "Contents") -> bool:
        return (
            self.rows is other.rows
            and _same_all(self.items, other.items)
            and atom_of(self.length) is atom_of(other.length)
        )


def atom_of(n: object) -> Any:
    return n.atom if isinstance(n, Value) else n


def _same_all(a: list, b: list) -> bool:
    return len(a) == len(b) and all(x is y for x, y in zip(a, b))


class _Held:
    """The static part of a list's contents: all but its elements, or (in rows, which are data) its length."""

    def __init__(self, contents: Contents):
        self.contents = contents

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Held)
            and self.contents.rows is other.contents.rows
            and self.contents.kind is other.contents.kind
        )

    def __hash__(self) -> int:
        return id(self.contents.rows)


tree.register(
    Contents,
    lambda c: ((c.items if c.rows is None else c.length,), _Held(c)),
    lambda held, inside: held.contents._replace(**{"items" if held.contents.rows is None else "length": inside[0]}),
)


class Elements(Steps):
    """The elements of a list that lies in rows."""

    def __init__(self, rows: Any):
        self.rows = rows
        self.stop = rows.length

    def item(self, i: Any) -> Any:
        return self.rows[i]
