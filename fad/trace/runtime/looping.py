"""Loops and comprehensions of rewritten functions.

A loop over a range or an array, or a `while`, is tried as one region. If its body needs concrete values (a dict's key
that is the loop's variable), it is unrolled; if nothing traced is in it, it is run.
"""
import copy
import functools
from collections.abc import Callable
from typing import Any

from ...ir.build import Value, current
from ...util.array import ArrayOrNumber
from ...util.defects import for_user, ignore_expected
from ..guards.kinds import VIEWS
from ..heap.state import cells_of
from ..lists.items import Items, NeedsRows
from ..regions import optional
from ..regions.carried import CarryPlan
from ..regions.failing_loops import ended_by_errors
from ..regions.paths import path_here
from ..regions.recall import memory_here
from ..regions.recursion import EndsBySize
from ..regions.roll import roll_while
from ..regions.unroll import (
    MOST_PEELED,
    MOST_UNROLLED,
    Plainly,
    attempted,
    endless,
    has_ended,
    is_short,
    note_unrolled,
    peel_while,
    roll_or_peel,
    run_plainly,
    unrolled_items,
)
from ..regions.widening import WideningError
from ..values.aliases import check
from ..values.constants import of_sizes
from ..values.iterate import Drawn, range_, steps_of
from .calls import is_tracing, keep
from .library import has_traced
from .parts import RuntimePart

LISTED = (list, tuple, Drawn, *VIEWS)
SHORT = 8                                                     # a comprehension over so few items is written out
CHECKED = 64  # iterations of a plain loop after which lists are looked at that are known by two names


class SharedScope:
    """The element (or the condition) of a comprehension that makes functions, which share the comprehension's
    variables: they see the last item.
    """

    def __init__(self, part: Callable):
        self.part = part  # part(item): the element, and a function that has the variables of this item
        self.variables: list = []

    def __call__(self, item: object) -> tuple:
        made, variables = self.part(item)
        self.variables.append(variables.__closure__)
        return made

    def share(self, every: Any) -> None:
        """The items are over; `every` has seen the last one."""
        for cells in self.variables:
            for cell, last in zip(cells, every.variables[-1]):
                cell.cell_contents = last.cell_contents


class LoopRuntime(RuntimePart):
    """The part of the runtime (see control.py) that sees to loops."""

    # -- lists -------------------------------------------------------------------------------------

    def list_(self, items: object) -> Any:
        """A list as captured code makes it: one that a loop may come to fill, or to index."""
        return Items(items) if type(items) is list and is_tracing() else items

    shared = SharedScope

    @for_user
    def comprehension(self, items: object, element: Callable, *conditions: Callable) -> list:
        """[element(x) for x in items if all conditions hold of x]"""
        made = self._comprehension(items, element, *conditions)
        if isinstance(element, SharedScope):
            element.share(conditions[0] if conditions else element)
        return made

    @for_user
    def _comprehension(self, items: Any, element: Callable, *conditions: Callable) -> list:
        items = self.iterated(items)
        steps = steps_of(items) if is_tracing() else None
        if conditions and steps is None and is_tracing() and isinstance(items, LISTED):
            items = self.list_(list(items))
            if has_traced(items):
                return self._selected(items, element, *conditions)
        count = 0 if steps is None else steps.count()
        is_written_out = isinstance(count, int) and count <= (1 if conditions else SHORT)
        if is_written_out and not (conditions and is_tracing()):
            return self.list_([element(x) for x in items if all(c(x) for c in conditions)])
        made = Items()

        def iteration(x: object) -> None:
            if len(conditions):
                self.if_(self._all_hold(conditions, x), lambda: made.append(element(x)), None, ())
            else:
                made.append(element(x))
        if is_written_out:
            for x in items:
                iteration(x)
        else:
            self.for_(items, iteration, (), (), (), (), ())
        return made

    def _all_hold(self, conditions: tuple, x: object) -> ArrayOrNumber:
        return self.all_hold(conditions[0](x), *[functools.partial(c, x) for c in conditions[1:]])

    def _selected(self, items: list, element: Callable, *conditions: Callable) -> list:
        """The same of a list with traced values: which are taken depends on data, or is known."""
        made = Items()

        def iteration(k: ArrayOrNumber) -> None:
            x = self.item(items, k)
            test = self._all_hold(conditions, x)
            if isinstance(k, Value) and not isinstance(test, Value):
                raise Plainly
            self.if_(test, lambda: made.append(element(x)), None, ())
        self.for_(range_(len(items)), iteration, (), (), (), (), ())
        return made

    # -- loops -------------------------------------------------------------------------------------

    def for_(self, items: object, body: Callable, *facts: tuple) -> None:
        """facts: names, rebound, written, stops and own, as Plan takes them."""
        keep(items)
        optional.need(items)
        items = self.iterated(items)
        cells = cells_of(body)
        plan = CarryPlan(cells, *facts)
        steps = steps_of(items) if is_tracing() else None
        most = MOST_PEELED if body.__code__ in self.peeled else 1
        if steps is None or (not isinstance(items, Value) and is_short(steps, most)):
            run_plainly(items, body, plan)
            return
        steps = left = steps.take()

        def rolled(body: Callable, cells: dict, facts: tuple) -> "Exception | None":
            nonlocal left
            left = copy.copy(steps)                           # iterations that are peeled off are taken from it
            return self._try(body, lambda: roll_or_peel(left, body, CarryPlan(cells, *facts), facts))
        why = ended_by_errors(path_here(), body, cells, facts, rolled)
        if why is not None:
            note_unrolled(body, why)
            run_plainly(unrolled_items(left, why), body, plan)
        elif is_short(left, 0):                               # nothing was left for a region
            self.peeled.add(body.__code__)

    def while_(self, test: Callable, body: Callable, *facts: tuple) -> None:
        def rolled(body: Callable, cells: dict, facts: tuple) -> None:
            self._while(lambda: self.asked_truth(test()), body, cells, facts, 0)
        ended_by_errors(path_here(), body, cells_of(test, body), facts, rolled)

    def _while(self, test: Callable, body: Callable, cells: dict, facts: tuple, peeled: int) -> bool:
        """Run the loop after so many iterations that stand by themselves; True."""
        stops = CarryPlan(cells, *facts).stops
        iterations = 0
        while True:
            if any(s.read() is True for s in stops):
                return True
            go_on = self.truth(test())
            if go_on is False:
                return True
            if not is_tracing() and not isinstance(go_on, Value):
                body()
                continue
            plan = CarryPlan(cells, *facts, memory=memory_here(current()).next_of(body.__code__, cells))
            plan.is_traced = isinstance(go_on, Value)
            roll = functools.partial(roll_while, go_on, test, body, plan)
            why = self._try(body, functools.partial(attempted, roll, cells))
            if why is None:
                return True
            if isinstance(why, WideningError) and isinstance(go_on, Value) and peeled < MOST_PEELED:
                peel_while(go_on, body, plan, lambda: self._while(test, body, cells, facts, peeled + 1))
                return True
            known = of_sizes(go_on) if isinstance(go_on, Value) else go_on
            if known is None or isinstance(has_ended(plan), Value):
                raise endless() if isinstance(why, Plainly) else why
            note_unrolled(body, why)
            if not known:
                return True
            body()
            iterations += 1
            if iterations % CHECKED == 0:                     # what the condition asks about may be another list by now
                check(current())
            if iterations > MOST_UNROLLED and not isinstance(why, Plainly):
                raise why

    def _try(self, body: Callable, roll: Callable) -> "Exception | None":
        """None if the loop is now a region of the program, else why it is not."""
        known = self.unrolled.get(body.__code__)
        if known is not None:
            return known
        try:
            return None if roll() else Plainly()
        except EndsBySize:                                    # says nothing of the loop
            raise
        except WideningError as error:                        # nor does this, once an iteration stands by itself
            return error
        except NeedsRows as need:
            if need.owner.home is current():
                self.unrolled[body.__code__] = need
                return need
            raise
        except Exception as error:  # whatever it was, the plain loop will meet it again if it is the user's
            ignore_expected(error, "a loop is not one region of the program")
            self.unrolled[body.__code__] = error
            return error
