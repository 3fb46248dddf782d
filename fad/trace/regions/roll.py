"""Loops on traced values: the body is traced once, with a symbolic index, and what it changes becomes what the loop
carries (see carried.py).
"""
from collections.abc import Callable
from typing import Any

from ...ir.build import Value, current
from ...ir.graph import Literal, free_vars
from ...ir.op import registry
from ...ops.control import FOR, WHILE, iteration_number
from ...util.array import AnyArray, ArrayOrNumber
from ...util.errors import UnstageableError
from ..heap.percall import repeat
from ..heap.state import trial
from ..lists.appending import Untraced
from ..lists.items import NeedsRoom, NeedsRows
from ..values.iterate import Steps
from .branch import choose, truth
from .carried import CarryPlan, PlanChanged, Roll
from .growth import check_growth


def roll_for(steps: Steps, body: Callable, plan: CarryPlan) -> bool:
    """The loop as a region; False if nothing in it is traced, so that it is plain Python's."""
    plan.has_iterations = steps.has_iterations
    return _until_complete(
        plan, lambda roll: (_early_for if plan.memory.early else _plain_for)(roll, steps, body), steps.count()
    )


def _iteration(roll: Roll, leaves: tuple, number: "AnyArray | None", body: Callable) -> list:
    """The carried values after an iteration that begins with these leaves."""
    with trial(roll.plan.cells) as made:
        roll.begin(leaves, number)
        roll.run(made, body)
        return roll.leave(made)


def _plain_for(roll: Roll, steps: Steps, body: Callable) -> bool:
    def iteration(i: AnyArray, *leaves: object) -> list:
        region, number = current().region, iteration_number(i, steps.start, steps.step)
        region.runs, recorded[:] = (number, steps.count()), [region.steps]
        return _iteration(roll, leaves, number, lambda: body(steps.item(i)))
    recorded: list = []                                       # the steps of the latest trace of the body
    before = len(current().equations)
    results = FOR.run_regions([steps.start, steps.stop, steps.step, *roll.initial()], (iteration,), names=roll.names(),
                              extents=roll.varying(), checkpoint=steps.checkpoint, iterations=roll.iterations)
    if _is_plain(before, roll):
        return False
    if len(current().equations) > before:
        roll.plan.room.require_traced(current().equations[-1])
        roll.compare()
        check_growth(current().equations[-1])
    repeat(steps.count(), recorded[0] if recorded else [])
    roll.deliver(results, steps.count(), steps.has_iterations)
    return True


def _run_while(roll: Roll, test: Callable, iteration: Callable, **facts: Any) -> tuple:
    return WHILE.run_regions(roll.initial(), (test, iteration), names=roll.names(), extents=roll.varying(),
                             iterations=roll.iterations, **facts)


def _early_for(roll: Roll, steps: Steps, body: Callable) -> bool:
    """A loop that a flag may end: it counts its index, and goes on for as long as there is an item and no flag is up.
    """
    def iteration(i: Any, *leaves: Any) -> list:
        _note_bounds(i, steps)
        number = iteration_number(i, steps.start, steps.step)
        return [i + steps.step, *_iteration(roll, leaves, number, lambda: body(steps.item(i)))]

    def test(i: AnyArray, *leaves: object) -> Any:
        with trial(roll.plan.cells):
            roll.enter(leaves)
            return _go_on(roll.plan, i < steps.stop if steps.step > 0 else i > steps.stop)

    roll.lead = [steps.start]
    results = _run_while(roll, test, iteration, checkpoint=steps.checkpoint)
    roll.compare()
    roll.deliver(results, iteration_number(results[0], steps.start, steps.step))
    return True


def _note_bounds(i: Value, steps: Steps) -> None:
    """Note the bounds of the index in the body."""
    facts = current().integers
    start, stop = [facts.form(getattr(n, "atom", n)) for n in (steps.start, steps.stop)]
    one = facts.form(1)
    if steps.step > 0:
        facts.high[i.atom] = stop - one
        if start.is_constant:
            facts.low[i.atom] = start.const
    elif stop.is_constant:
        facts.low[i.atom] = stop.const + 1
        facts.high[i.atom] = start


def _go_on(plan: CarryPlan, more: ArrayOrNumber) -> ArrayOrNumber:
    """more and not (any of the flags)"""
    for slot in plan.stops:
        flag = slot.read()
        if isinstance(flag, Value):
            more = registry["logical_and"](more, registry["logical_not"](flag))
        elif flag:
            return False
    return more


def _is_plain(before: int, roll: Roll) -> bool:
    """Whether the loop just recorded uses nothing traced; then it is taken back."""
    builder = current()
    new = builder.equations[before:]
    if len(new) != 1 or not new[0].regions or roll.plan.found:
        return False
    if all(isinstance(a, Literal) for a in new[0].inputs) and not any(free_vars(r) for r in new[0].regions):
        builder.take_back(before)
        return True
    return False


def roll_while(first: object, test: Callable, body: Callable, plan: CarryPlan) -> bool:
    """The loop as a region, `first` being what its test said at first; False if nothing in it is traced."""
    def run(roll: Roll) -> bool:
        before = len(current().equations)
        results = (_told_while if plan.memory.test_changes else _plain_while)(roll, first, test, body)
        if _is_plain(before, roll):
            return False
        roll.compare()
        roll.deliver(results, None)
        return True
    return _until_complete(plan, run)


def _plain_while(roll: Roll, first: object, test: Callable, body: Callable) -> tuple:
    def go_on(*leaves: AnyArray) -> Any:
        with trial(roll.plan.cells):
            roll.enter(leaves)
            with trial(roll.plan.cells) as made:
                said = _unless_stopped(roll.plan, test)
                roll.plan.memory.test_changes = made.has_changes
        if roll.plan.memory.test_changes:
            raise PlanChanged
        return said
    return _run_while(roll, go_on, lambda *leaves: _iteration(roll, leaves, None, body))


def _told_while(roll: Roll, first: object, test: Callable, body: Callable) -> tuple:
    """A loop whose condition changes something: it is looked at once an iteration, at the end of the iteration before.
    """
    def iteration(_: object, *leaves: ArrayOrNumber) -> list:
        carried = _iteration(roll, leaves, None, body_and_test)
        return [*said, *carried]

    def body_and_test() -> None:
        body()
        said[:] = [_unless_stopped(roll.plan, test)]
    said: list = []
    roll.lead = [first]
    return _run_while(roll, lambda said, *_: said, iteration)


def _unless_stopped(plan: CarryPlan, test: Callable) -> Any:
    """The test, unless a flag has ended the loop."""
    flags = _go_on(plan, True) if plan.memory.early else True
    if flags is True or flags is False:
        return flags and truth(test())
    return choose(flags, lambda: truth(test()), lambda: False, plan.cells)


def _until_complete(plan: CarryPlan, run: Callable, iterations: "ArrayOrNumber | None" = None) -> Any:
    """run(Roll(plan)) until the plan is complete, for a loop of so many iterations (None: nobody knows how many)."""
    try:
        while True:
            plan.iterations += 1
            if plan.iterations > 40:
                raise UnstageableError("what a loop carries cannot be found",
                                       why="each trial of its body finds something new")
            try:
                return run(Roll(plan))
            except PlanChanged:
                continue
            except (NeedsRoom, NeedsRows) as need:
                plan.room.make(need, iterations)
    except Exception as error:
        plan.room.put_back()
        if isinstance(error, Untraced):
            return False
        raise
