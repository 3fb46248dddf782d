"""Containers that may be one and are not known to be, which must not be changed; see identity.py, which finds them."""
from collections.abc import Callable
from typing import Any, NamedTuple

from ...ir.build import Builder, current
from ...util.errors import UnstageableError
from ...util.where import Where, here
from ..objects.containers import contents, same_contents


class Twin(NamedTuple):
    """Two containers that may be one, with what they held when that was found; excuse() says later that they are two.
    """

    one: Any
    other: Any
    held: tuple
    excuse: "Callable | None"
    where: "Where | None"                                     # the user's line that left it open

    @property
    def is_changed(self) -> bool:
        return not all(_is_as_held(c, before) for c, before in zip((self.one, self.other), self.held))


def _held(container: Any) -> tuple:
    """The present contents of a container, and the arrays that hold a list's elements (see lists/rows.py)."""
    return contents(container), [row._var for row in getattr(container, "rows", None) or ()]


def _is_as_held(container: Any, before: tuple) -> bool:
    now, rows = _held(container)
    return same_contents(now, before[0]) and all(x is y for x, y in zip(rows, before[1]))


def note_twins(one: Any, other: Any, excuse: "Callable | None" = None) -> None:
    if one is not other:
        current().region.twins.append(Twin(one, other, (_held(one), _held(other)), excuse, here()))


def note_fixed(container: Any) -> None:
    """The container must not be changed any more: a list in rows got a copy of it as an element."""
    current().region.twins.append(Twin(container, container, (_held(container),) * 2, None, here()))


def fixed_in(builder: Builder) -> list:
    return [t.one for t in builder.region.twins if t.one is t.other]


def check(builder: Builder) -> None:
    """An error if a container was changed that may be another one, too."""
    for twin in builder.region.twins:
        if twin.is_changed and not (twin.excuse is not None and twin.excuse()):
            refuse(twin.where)


def refuse(where: "Where | None" = None) -> None:
    raise UnstageableError(
        "a list, dict or object is changed that is known by two names",
        why="which one a name stands for after a branch or a loop on traced values depends on the way taken",
        do="copy it where it gets its second name (best = list(cur)), or keep the numbers in one array",
        where=where,
    )


def may_be(container: Any) -> list:
    """The container, and those that it may be as well by what earlier branches and loops left open."""
    found, queue = {}, [container]
    while queue:
        x = queue.pop()
        if id(x) in found:
            continue
        found[id(x)] = x
        builder = current()
        while builder is not None:
            queue += [b for t in builder.region.twins for a, b in ((t.one, t.other), (t.other, t.one)) if a is x]
            builder = builder.parent
    return list(found.values())
