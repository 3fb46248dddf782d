"""Branches of rewritten functions: if, conditional expressions, and, or, not, chains of comparisons.

A condition that is known while tracing decides at once. A traced one becomes a region for each side.
"""
from collections.abc import Callable
from typing import Any

from ...ir.build import Value
from ...ir.op import registry
from ...ops.literals import python_number
from ...util.array import ArrayOrNumber
from ...util.defects import for_user
from ..heap.state import cells_of
from ..regions import optional
from ..regions.branch import choose, truth
from ..regions.recursion import Branches
from ..values.constants import decided
from .parts import RuntimePart
from .sequences import contains


def _itself(value: object) -> object:
    return value


class BranchRuntime(RuntimePart):
    """The part of the runtime (see control.py) that sees to branches."""

    branches: Branches

    def if_(self, test: ArrayOrNumber, then: Callable, otherwise: "Callable | None", names: tuple,
            own: tuple = ()) -> None:
        test = decided(self.truth(test))
        otherwise = otherwise or _nothing
        if not isinstance(test, Value):
            (then if test else otherwise)()
            return
        cells = cells_of(then, otherwise)
        self.branches.choose(then, test, then, otherwise, cells, names, own)

    def ifexp(self, test: ArrayOrNumber, if_true: Callable, if_false: Callable) -> Any:
        test = decided(self.truth(test))
        if not isinstance(test, Value):
            return (if_true if test else if_false)()
        return self.branches.choose(if_true, test, if_true, if_false, cells_of(if_true, if_false))

    def and_(self, value: object, *rest: Callable) -> Any:
        return self._first(False, value, rest)

    def or_(self, value: object, *rest: Callable) -> Any:
        return self._first(True, value, rest)

    def all_hold(self, value: object, *rest: Callable) -> ArrayOrNumber:
        """Whether a and b and ..., as a test asks for it: an int on one way and a bool on another are all the same."""
        return self._first(False, value, rest, self._yes)

    def any_holds(self, value: object, *rest: Callable) -> ArrayOrNumber:
        return self._first(True, value, rest, self._yes)

    def _yes(self, value: object) -> ArrayOrNumber:
        test = decided(self.truth(value))
        return python_number(test) if isinstance(test, Value) else bool(test)

    def _first(self, wanted: bool, value: Any, rest: tuple, of: Callable = _itself) -> Any:
        """The first operand whose truth is this one, else the last. Each is computed when it is needed."""
        value = of(value)
        for k, later in enumerate(rest):
            test = decided(self.truth(value))
            if isinstance(test, Value):
                # both are called at once
                ways = [lambda: self._first(wanted, later(), rest[k + 1:], of), lambda: value]  # noqa: B023
                return choose(test, ways[wanted], ways[not wanted], cells_of(*rest))
            if bool(test) is wanted:
                return value
            value = of(later())
        return value

    def not_(self, value: ArrayOrNumber) -> ArrayOrNumber:
        test = self.truth(value)
        return python_number(registry["logical_not"](test)) if isinstance(test, Value) else not test

    is_, is_not = staticmethod(optional.is_), staticmethod(optional.is_not)

    @for_user
    def chain(self, left: Any, *parts: Any) -> Any:
        """a < b < c: each operand is computed once, and only as far as the comparisons hold."""
        right = parts[1]()
        first = self._compared(parts[0], left, right)
        if len(parts) == 2:
            return first
        return self.and_(first, lambda: self.chain(right, *parts[2:]))

    @for_user
    def holds(self, items: object, x: object) -> Any:
        """x in items"""
        self.compared(x, items)
        found = self.contains_(items, x)
        return contains(items, x) if found is None else truth(found)

    def _compared(self, op: str, a: object, b: object) -> Any:
        """One comparison of a chain."""
        if op in ("In", "NotIn"):
            found = self.holds(b, a)
            return found if op == "In" else self.not_(found)
        if op in ("Is", "IsNot"):
            return self.is_(a, b) if op == "Is" else self.is_not(a, b)
        return self.compare(op, a, b)


def _nothing() -> None:
    return None
