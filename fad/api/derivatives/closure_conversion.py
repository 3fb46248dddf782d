"""Functions within a trace that are to run on numbers, too: their programs with what they close over as arguments.

A solver of SciPy's calls a function again and again when the program runs. That function may use values of the program
around it, which have no value while it is traced. `Closed` traces it once and makes these values explicit (closure
conversion).
"""
from collections.abc import Callable, Sequence
from typing import Any

from ...ir.build import current
from ...ir.graph import Func, free_vars
from ...ir.walk import evaluate
from ...trace.tracing import trace
from ...util.errors import SideEffectError
from .derivative import jitted


class Closed:
    """f(*xs) as a program of data leaves and of `theta`, the values of the program around that it uses.

    structure, statics: the result's, and those of its leaves that are no data.
    """

    def __init__(self, f: Callable, xs: Sequence, name: str):
        traced = trace(lambda *xs: f(*xs), list(xs), own=True, runs=None)
        if traced.written:
            raise SideEffectError(f"a function that {name} is given writes to its argument",
                                  why="the solver may call it with an array that it still needs",
                                  do="write to a copy (x = x.copy())")
        if traced.delivered:
            raise SideEffectError(f"a function that {name} is given changes something outside itself",
                                  why="the solver calls it a number of times that the program does not know",
                                  do="return the new value, or call the function once more for its sake")
        outer = free_vars(traced.func)
        self.func = Func(traced.func.name, (*traced.func.inputs, *outer), traced.func.equations, traced.func.outputs)
        self.theta = tuple([current().value_of(v) for v in outer])
        self.structure, self.statics = traced.structure, traced.statics
        count = len(xs)
        self._run = jitted(lambda *values: self(values[:count], values[count:]))

    def __call__(self, xs: Sequence, theta: Sequence) -> Any:
        """The result, in a program that is being built."""
        return self.structure.unflatten(evaluate(self.func, [*xs, *theta]), self.statics)

    def at(self, theta: Sequence) -> Callable:
        """The function of xs on numbers."""
        return lambda *xs: self._run(*xs, *theta)
