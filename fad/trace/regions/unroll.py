"""Loops that are tried as one region of the program, behind an iteration or two where these differ, and run iteration
by iteration where they cannot be one.
"""
import copy
import functools
import operator
from collections.abc import Callable, Iterator
from typing import Any

from ...ir import stack
from ...ir.build import Value, current
from ...ir.op import registry
from ...util.defects import for_user, is_expected
from ...util.errors import ConcreteValueError, FadError, UnstageableError
from ...util.interrupts import is_interrupt
from ...util.where import Where
from ..heap.percall import steps_here
from ..heap.state import Trial
from ..heap.suspended import close_generators
from ..lists.items import NeedsRows
from ..objects.draws import put_back_states, states_now
from ..values.aliases import disentangle, settle_twins
from ..values.iterate import Drawn, Floats, Steps, drawn
from .branch import choose
from .carried import CarryPlan
from .recall import Memory, memory_here
from .roll import roll_for
from .widening import WideningError

MOST_UNROLLED = 5000                                         # iterations; a loop of more is not unrolled
MOST_PEELED = 2                                              # iterations of their own before a loop that is one region
MOST_BRANCHES = 50  # iterations of an unrolled loop that traced conditions may end, one in the other
FEW = 4                                                       # floats that are no region
_END = object()
ITERATORS: tuple[type, ...] = (type(iter([])), type(iter(())))


class Plainly(Exception):
    """Nothing in the loop is traced."""


def note_unrolled(body: Callable, why: object) -> None:
    """Remember why a loop is not one region of the program, for those who ask (fad.explain)."""
    if stack.builders() and not isinstance(why, Plainly):
        code = body.__code__
        current().trace.unrolled.setdefault(Where(code.co_filename, code.co_firstlineno, code.co_name), why)


def attempted(roll: Callable, cells: dict, undone: type[BaseException] = Exception) -> Any:
    """The result of roll(). If it fails by such an error, the program is restored (iterations that were peeled off
    before stay), with these variables and all containers: it may fail after its regions, where it delivers what they
    have made.

    So are the arrays: a view that was read meanwhile looked at its base by equations that are taken back.
    """
    builder, made = current(), Trial(cells, is_region=False)
    region, steps, states = builder.region, steps_here(), states_now()
    mark, twins, marks, count = len(builder.equations), len(region.twins), len(region.entangled), len(steps)
    forks = [(path, len(path.met)) for path in builder.trace.paths]
    before, region.mutated = region.mutated, {}
    try:
        return roll()
    except undone as error:
        if made.mark.has_taken and not is_interrupt(error):
            spent = UnstageableError("an iterator goes on in what is traced in another way than at first",
                                     why="the items that it gave are gone", do="loop over a list or an array")
            builder.root.trace.refusals.lasting = spent
            raise spent from error
        close_generators(made.mark.serial)
        settle_twins(builder, twins)
        disentangle(builder, marks)
        for tracer, var in region.mutated.values():
            tracer.put_back(var)
        made.put_back_names()
        builder.take_back(mark)
        del steps[count:]
        for path, met in forks:
            del path.met[met:]
        put_back_states(states)
        raise
    finally:
        made.end()
        region.mutated = {**region.mutated, **before}         # what an array held first


def roll_or_peel(steps: Steps, body: Callable, plan: CarryPlan, facts: tuple) -> bool:
    """Roll the loop; peel off the first iteration, or two, if their types differ from the rest. facts: see Plan."""
    memory = memory_here(current()).next_of(body.__code__, plan.cells)
    return _roll_after(0, memory, steps, body, plan, facts)


def _roll_after(iterations: int, memory: Memory, steps: Steps, body: Callable, plan: CarryPlan, facts: tuple) -> bool:
    """Roll what is left of the loop after so many iterations of their own; one last iteration is no loop."""
    if iterations and is_short(steps):
        note_unrolled(body, memory.refused[iterations - 1])
        attempted(lambda: run_plainly(steps, body, plan), plan.cells)
        steps.start = steps.stop
        return True
    if iterations == len(memory.refused):
        part = memory.part(iterations, plan.cells)
        try:
            return attempted(lambda: roll_for(steps, body, CarryPlan(plan.cells, *facts, memory=part)), plan.cells)
        except NeedsRows as need:
            if need.owner.home is not current():              # a loop or branch further out moves the list
                raise
            memory.refused.append(need)
        except FadError as error:
            if not is_expected(error):
                raise
            memory.refused.append(error)
    if iterations == MOST_PEELED:
        raise memory.refused[-1]
    why = memory.refused[iterations]
    if not isinstance(why, WideningError):
        _peel(steps, body, plan, why)
        return _roll_after(iterations + 1, memory, steps, body, plan, facts)

    def iteration_and_rest(left: Steps) -> bool:
        _peel(left, body, plan, why)
        return only_if(
            _not(has_ended(plan)), left, lambda left: _roll_after(iterations + 1, memory, left, body, plan, facts)
        )

    def only_if(test: object, left: Steps, rest: Callable) -> bool:
        """rest(left), which may say that nothing is traced; in a branch, what fails leaves the steps as they are."""
        if not isinstance(test, Value):
            return bool(rest(left)) if test else True
        inside = left.take()
        _choose(test, plan, lambda: None if rest(inside) else run_plainly(inside, body, plan))
        return True
    more = steps.has_iterations() or (steps.start < steps.stop if steps.step > 0 else steps.start > steps.stop)
    return only_if(more, steps, iteration_and_rest)


def is_short(steps: Steps, most: int = 1) -> bool:
    """Whether it is known that there is one item at most, or so many."""
    count = steps.count()
    return isinstance(count, int) and count <= most


def _not(test: object) -> Any:
    return registry["logical_not"](test) if isinstance(test, Value) else not test


def _choose(test: Value, plan: CarryPlan, run: Callable) -> None:
    """run() where the test holds; what it says does not matter."""
    def taken() -> None:
        run()
    choose(test, taken, lambda: None, plan.cells, [s.name for s in (*plan.names, *plan.stops)], plan.own)


def peel_while(go_on: Value, body: Callable, plan: CarryPlan, rest: Callable) -> None:
    """An iteration of a while loop by itself, if there is one, and the rest of them."""
    def iteration_and_rest() -> None:
        body()
        ended = has_ended(plan)
        if isinstance(ended, Value):
            _choose(_not(ended), plan, rest)
        elif not ended:
            rest()
    _choose(go_on, plan, iteration_and_rest)


def _peel(steps: Steps, body: Callable, plan: CarryPlan, why: Exception) -> None:
    """Run the first iteration by itself; where that fails, nothing has happened. `why` is raised where it may be that
    there is none, or no other.
    """
    if not steps.has_iterations() and not isinstance(why, WideningError):
        raise why
    attempted(lambda: body(steps.item(steps.start)), plan.cells)
    steps.start = steps.start + steps.step
    if any(s.read() is not False for s in plan.stops) and not isinstance(why, WideningError):
        raise why


@for_user
def run_plainly(items: Any, body: Callable, plan: CarryPlan) -> None:
    """The loop as plain Python runs it; the iterations that follow one after which a traced condition may end it are a
    branch, in which floats of a list are the items of a region.
    """
    _run_rest(drawn(items), body, plan, MOST_BRANCHES)


def endless() -> ConcreteValueError:
    """The error of a loop that is no region, where nobody knows which iteration is the last."""
    return ConcreteValueError("a loop that cannot be one region of the program ends by a traced condition",
                              do="let it run over a range or an array")


def _run_rest(items: Iterator, body: Callable, plan: CarryPlan, branches: int) -> None:
    """The iterations that are left, unless the loop has ended (an iteration that was peeled off may have ended it,
    too).
    """
    ended = has_ended(plan)
    if not isinstance(ended, Value):
        if not ended:
            _run_iterations(items, body, plan, branches)
        return
    if not branches or not isinstance(items, Drawn):
        raise endless()

    def rest() -> None:
        left = items.again()                                  # a branch may be tried more than once
        if not _roll_floats(left, body, plan):
            _run_iterations(left, body, plan, branches - 1)
    _choose(_not(ended), plan, rest)
    items.clobber()


def _roll_floats(items: Drawn, body: Callable, plan: CarryPlan) -> bool:
    """Whether the items that are left are a region now, which takes Python's floats from a list or tuple."""
    if type(items.items) not in ITERATORS or not plan.rolls_floats:
        return False
    left = [*items.again()]
    plan.rolls_floats = len(left) >= FEW and all(type(x) is float for x in left)
    if not plan.rolls_floats:
        return False
    try:
        attempted(lambda: roll_or_peel(Floats(left), body, CarryPlan(plan.cells, *plan.facts), plan.facts), plan.cells)
    except FadError as error:
        if not is_expected(error):
            raise
        plan.rolls_floats = False
        return False
    if [*map(id, items.again())] != [*map(id, left)]:
        raise UnstageableError("a list changes while a loop runs over it", why="a program takes its numbers before",
                               do="loop over a copy of the list")
    return True


def _run_iterations(items: Iterator, body: Callable, plan: CarryPlan, branches: int) -> None:
    while (item := _taken(items)) is not _END:
        body(item)
        if has_ended(plan) is not False:
            _run_rest(items, body, plan, branches)
            return


@for_user
def _taken(items: Iterator) -> Any:
    return next(items, _END)


def has_ended(plan: CarryPlan) -> Any:
    """Whether a flag has ended the loop: a traced value if that depends on one."""
    flags = [slot.read() for slot in plan.stops]
    if any(flag is True for flag in flags):
        return True
    traced = [flag for flag in flags if isinstance(flag, Value)]
    return functools.reduce(registry["logical_or"], traced) if traced else False


def unrolled_items(steps: Steps, why: Exception) -> Steps:
    """The items one by one, extents made concrete."""
    try:
        count = len(steps)
    except ConcreteValueError:
        raise why from None
    if count > MOST_UNROLLED and not isinstance(why, Plainly):
        raise why
    if isinstance(steps.start, Value):
        steps = copy.copy(steps)
        steps.start = operator.index(steps.start)
    return steps
