"""A program: one traced function with all that is needed to run it, interpreted at first and compiled when that pays."""
import operator
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir import stack
from ..ir.graph import Func
from ..ir.walk import evaluate
from ..passes.pipeline import optimise


class Runner:
    """One Func, run on arrays: interpreted at first, compiled when that pays."""

    def __init__(self, func: Func, policy: "str | None"):
        self.func, self.policy = optimise(func), policy
        self.kernel: Any = None
        self.compilations = 0
        self.interpreted_for = 0.0

    def run(self, values: list) -> tuple:
        """The outputs on these values."""
        started = time.perf_counter()
        with stack.concrete(), np.errstate(all="ignore"):
            outputs = evaluate(self.func, values)
        self.interpreted_for += time.perf_counter() - started
        return tuple([_owned(y, values) for y in outputs])


class Program:
    """Runs on its data leaves: accepts(data) says whether it may, program(data) gives the result tree.

    traced is a trace.tracing.Traced; policy is config.compile's value for this function, or None to follow the configuration.
    """

    def __init__(self, traced: Any, *, policy: "str | None", keep: list, writes: bool, traced_in: float = 0.0):
        self.traced, self.policy, self.keep, self.writes = traced, policy, keep, writes
        self.holds = _guard_function(traced.guards)
        self.fast: Callable | None = None
        self.prepare()

    def prepare(self) -> None:
        """Make what runs the program."""
        self.runner = Runner(self.traced.func, self.policy)
        self.scalars = tuple([not a.type.shape and not a.type.weak and a.type.dtype.type for a in self.traced.func.outputs])

    @property
    def compilations(self) -> int:
        return self.runner.compilations

    def is_current(self) -> bool:
        """Whether every outside value is still what it was when the function was traced."""
        for source in self.traced.sources:
            if not source.unchanged:
                return False
        return True

    def accepts(self, data: list) -> bool:
        """Whether the program may run on these leaves (whose dtypes and ranks fit)."""
        return self.holds(data) and self.is_current()

    def __call__(self, data: list) -> Any:
        return self.result(self.runner.run(list(data) + list(self.traced.captured)), data)

    def result(self, outputs: tuple, data: list) -> Any:
        """The result tree; arrays that the function wrote to are changed."""
        count = len(outputs) - len(self.traced.written)
        if self.writes:
            for k, new in zip(self.traced.written, outputs[count:]):
                data[k][...] = new
        leaves = list(map(_as_numpy, outputs[:count], self.scalars))
        for k in sorted(self.traced.statics):
            leaves.insert(k, self.traced.statics[k])
        return self.traced.structure.unflatten(leaves)


def _as_numpy(y: Any, scalar: Any) -> Any:
    """A strong scalar is NumPy's; a weak one is Python's."""
    return scalar(y) if scalar and not isinstance(y, np.generic) else y


def _owned(y: Any, values: list) -> Any:
    """An output that the caller may write to: no view of an input, nothing broadcast."""
    if isinstance(y, np.ndarray) and y.ndim:
        if y.base is not None or not y.flags.writeable or any(y is v for v in values):
            return np.array(y)
    elif isinstance(y, np.ndarray):
        return y[()]
    return y


_RELATIONS = {"==": operator.eq, ">=": operator.ge}


def _guard_function(guards: tuple) -> Callable:
    """Whether all guards hold of the data."""
    tests = [(_RELATIONS[relation], terms, const) for relation, terms, const in guards]

    def holds(data: list) -> bool:
        for test, terms, const in tests:
            total = const
            for (k, axis), c in terms:
                total += c * (data[k] if axis is None else data[k].shape[axis])
            if not test(total, 0):
                return False
        return True
    return holds
