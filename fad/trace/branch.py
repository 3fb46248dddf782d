"""Branches on traced values: both sides are traced into regions, and what they change becomes results of a cond."""
from collections.abc import Callable, Iterable
from typing import Any

from ..ops.control import trace_branches
from .state import Array, Container, Layout, Trial, frozen, lose, trial
from .tracer import Tracer

RESULT = "the result"


def truth(x: Any) -> Any:
    """A truth value: Python's own, or a traced bool."""
    if not isinstance(x, Tracer):
        return bool(x)
    if x.ndim:
        raise ValueError("the truth value of an array with more than one element is ambiguous; use a.any() or a.all()")
    return x if x.dtype.kind == "b" else x != 0


class _Side:
    """What one branch left behind."""

    def __init__(self, made: Trial, result: Any, live: Iterable):
        self.values: dict[Any, Any] = {}
        self.data: dict[Any, list] = {}                       # the values' leaves as they are at the end of the branch
        self.slots: dict[Any, Any] = {}
        self.lost = made.lost_arrays()
        self._note(RESULT, None, result)
        for slot in made.names:
            if slot.name in live:
                self._note(slot.name, slot, slot.read())
        for t in made.changed_arrays():
            self._note(id(t), Array(t), frozen(t))
        for c in made.changed_containers():
            self._note(id(c), Container(c), Container(c).read())

    def _note(self, key: Any, slot: Any, value: Any) -> None:
        self.slots[key], self.values[key] = slot, value
        self.data[key] = [frozen(x) for x in Layout(value).data]


class _Join:
    """The results of both branches side by side: what differs goes through the cond, the rest stays what it is."""

    def __init__(self, sides: list, slots: dict):
        self.keys = list(slots)
        self.layouts: list = []
        self.plans: list = []
        self.rows: list[list] = [[] for _ in sides]
        for key in self.keys:
            values = [s.values[key] if key in s.values else slots[key].read() for s in sides]
            self._add(key, [Layout(v) for v in values], [s.data.get(key) for s in sides])

    def _add(self, key: Any, layouts: list, data: list) -> None:
        known = next((x for x in layouts if not x.is_undefined), layouts[0])
        layouts = [Layout(known.undefined()) if x.is_undefined else x for x in layouts]
        for x in layouts[1:]:
            known.require(x, key if isinstance(key, str) else "")
        plan = []
        ends = [x.data if d is None or len(d) != len(x.data) else d for x, d in zip(layouts, data)]
        for column, end in zip(zip(*[x.data for x in layouts]), zip(*ends)):
            if all(x is column[0] or _same_number(x, column[0]) for x in column):
                plan.append(column[0])
            else:
                plan.append(None)
                for row, x in zip(self.rows, end):
                    row.append(x)
        self.layouts.append(known)
        self.plans.append(plan)

    def names(self) -> tuple:
        return tuple(key if isinstance(key, str) and key != RESULT else "" for key, plan in zip(self.keys, self.plans) for p in plan if p is None)

    def deliver(self, results: tuple) -> list:
        """The joined value of each key."""
        rest = iter(results)
        out = []
        for layout, plan in zip(self.layouts, self.plans):
            data = [next(rest) if p is None else p for p in plan]
            out.append(layout.filled(iter(data)))
        return out


def _same_number(a: Any, b: Any) -> bool:
    return type(a) is type(b) and isinstance(a, (bool, int, float, complex)) and a == b and str(a) == str(b)


def choose(test: Tracer, if_true: Callable, if_false: Callable, cells: dict, live: Iterable = ()) -> Any:
    """What the chosen function returns; variables, arrays and containers that it changes are changed."""
    sides: list[_Side] = []
    joined: list[_Join] = []

    def region(f: Callable) -> Callable:
        def run() -> list:
            with trial(cells) as made:
                result = f()
                sides.append(_Side(made, result, live))
            return []
        return run

    def align(_: list) -> list:
        slots = {key: slot for side in sides for key, slot in side.slots.items()}
        joined.append(_Join(sides, slots))
        return joined[0].rows
    results = trace_branches(test, (region(if_false), region(if_true)), align, lambda: joined[0].names())
    values = joined[0].deliver(results)
    slots = {key: slot for side in sides for key, slot in side.slots.items()}
    for key, value in list(zip(joined[0].keys, values))[1:]:
        slot = slots[key]
        slot.write(value)
    for array in [t for side in sides for t in side.lost]:
        lose(array)
    return values[0]


