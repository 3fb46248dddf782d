"""All that can be reached from some things."""
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def reached(start: Iterable[T], parts: Callable[[T], Iterable[T]]) -> Iterator[T]:
    """These things and what parts(x) tells of each, at any depth, each thing once.

    >>> tree = [1, [2, [3]]]
    >>> [x for x in reached([tree], lambda x: x if isinstance(x, list) else ()) if isinstance(x, int)]
    [3, 2, 1]
    """
    seen: dict[int, T] = {}
    queue = list(start)
    while queue:
        x = queue.pop()
        if id(x) not in seen:
            seen[id(x)] = x
            yield x
            queue += parts(x)
