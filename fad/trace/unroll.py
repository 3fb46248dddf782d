"""Loops that are tried as one region of the program, and run turn by turn as plain Python runs them where they cannot be one."""
import operator
from collections.abc import Callable
from typing import Any

from ..ir import stack
from ..ir.build import Value, current
from ..util.errors import ConcreteValueError
from ..util.where import Where
from .iterate import Steps
from .roll import Plan

MOST_UNROLLED = 5000                                         # turns; a loop of more is not unrolled


class Plainly(Exception):
    """Nothing in the loop is traced."""


def note_unrolled(body: Callable, why: Any) -> None:
    """Remember why a loop is not one region of the program, for those who ask (fad.explain)."""
    if stack.builders() and not isinstance(why, Plainly):
        code = body.__code__
        current().root.unrolled.setdefault(Where(code.co_filename, code.co_firstlineno, code.co_name), why)


def attempted(roll: Callable) -> bool:
    """What roll() says; if it fails, the program is as it was before (turns peeled off before it stay).

    So are the arrays: a view that was read meanwhile looked at its base by equations that are taken back.
    """
    builder = current()
    mark, lost = len(builder.equations), len(builder.lost)
    before, builder.mutated = builder.mutated, {}
    try:
        return roll()
    except Exception:
        for tracer, view in reversed(builder.lost[lost:]):
            tracer.tie = view
        del builder.lost[lost:]
        for tracer, var in builder.mutated.values():
            tracer.put_back(var)
        builder.take_back(mark)
        raise
    finally:
        builder.mutated = {**builder.mutated, **before}      # what an array held first


def run_plainly(items: Any, body: Callable, plan: Plan) -> None:
    """The loop as plain Python runs it."""
    for item in items:
        body(item)
        for slot in plan.stops:
            flag = slot.read()
            if isinstance(flag, Value):
                raise ConcreteValueError("a loop that cannot be one region of the program ends by a traced condition",
                                         do="let it run over a range or an array")
            if flag is True:
                return


def unrolled_items(steps: Steps, why: Exception) -> Any:
    """The items one by one, extents made concrete."""
    try:
        count = len(steps)
    except ConcreteValueError:
        raise why from None
    if count > MOST_UNROLLED and not isinstance(why, Plainly):
        raise why
    start, step = steps.start, steps.step
    if isinstance(start, Value):
        start = operator.index(start)
    return (steps.item(start + k * step) for k in range(count))
