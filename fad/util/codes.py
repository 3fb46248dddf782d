"""Facts about code objects, kept for as long as these live.

A process that makes functions for days (exec, eval, cells of a notebook) has ever more code. The facts about a code
object go with it.
"""
import functools
import weakref
from collections.abc import Callable
from types import CodeType
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class CodeFacts(Generic[T]):
    """A table of facts about code objects, by identity. It keeps no code alive, so no fact may hold its own code.

    >>> facts = CodeFacts()
    >>> f = lambda: 1
    >>> facts.of(f.__code__, lambda: "found out"), facts.of(f.__code__, lambda: "never asked"), len(facts)
    ('found out', 'found out', 1)
    >>> del f
    >>> len(facts)
    0
    """

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref, T]] = {}

    def __len__(self) -> int:
        return len(self._known)

    def of(self, code: CodeType, make: Callable[[], T]) -> T:
        """The fact about this code; make() finds it out, once."""
        known = self._known.get(id(code))
        if known is not None and known[0]() is code:
            return known[1]
        fact = make()
        # dict.pop(place, reference): a callback in Python would swallow a KeyboardInterrupt that arrives within it
        forget = functools.partial(self._known.pop, id(code))
        self._known[id(code)] = weakref.ref(code, forget), fact
        return fact


def once_for_each_code(f: Callable[[CodeType], T]) -> Callable[[CodeType], T]:
    """f, a function of a code object, which is called once for each that lives."""
    facts: CodeFacts[T] = CodeFacts()

    @functools.wraps(f)
    def known(code: CodeType) -> Any:
        return facts.of(code, lambda: f(code))
    return known
