"""Calls within a program that have a rule of their own for derivatives, in terms of values: what `custom` asks for."""
from collections.abc import Callable, Sequence

from ...ir.op import registry


class TangentRule:
    """The derivative of a call by jvp(xs, dxs) -> (ys, dys), linear in the tangents; a tangent of None is zero.

    results: how many values the call has.
    """

    forward = backward = batch = None
    unruled: Sequence[int] = ()

    def __init__(self, jvp: Callable, results: int):
        self.jvp, self.results = jvp, results


def call_with_rule(name: str, run: Callable, jvp: Callable, xs: Sequence, results: int = 1) -> tuple:
    """run(*xs), a tuple of so many values, whose derivatives are jvp's."""
    return registry["custom"].run_regions(list(xs), (run,), rule=TangentRule(jvp, results), name=name)
