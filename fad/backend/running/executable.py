"""A program: one traced function with all that is needed to run it."""
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.delivery import state_of
from ...ir.graph import all_equations
from ...util import tree
from ...util.array import ArrayOrNumber
from ...util.config import config
from ...util.errors import PINNED, SideEffectError, UnstageableError
from ...util.exclusion import alone_with, locks_of
from ...util.memory import overlap, shared_memory
from .delivery import delivery
from .fastcall import fast_call
from .kernel_arrays import is_plain
from .prelude import OutdatedError, Prelude
from .runner import Runner


class Program:
    """Runs on its data leaves: accepts(data) says whether it may, program(data) gives the result tree.

    traced is a trace.tracing.Traced; policy is config.compile's value for this function, or None to follow the
    configuration; structure is that of (args, kwargs); fixed are the leaves that are part of the program, by their
    places among all leaves. The first `own` data leaves are what the function closes over (see
    api/calls/shared_programs.py).
    """

    def __init__(self, traced: Any, *, policy: "str | None", structure: tree.Structure, fixed: dict, writes: bool,
                 name: str = "kernel", own: int = 0):
        self.traced, self.policy, self.structure, self.fixed, self.name = traced, policy, structure, fixed, name
        self.shape = config.now().shape                       # the settings that it is made under, and used under
        self.left_alone = range(own, own if writes else structure.leaves - len(fixed))     # a derivative's arguments
        if any(k not in self.left_alone for k in traced.lost):
            raise SideEffectError(
                "an argument, or an array from outside, is written to under changing names, so that its contents after "
                "the call are not known",
                do="copy it first (x = x.copy())",
            )
        self.written = tuple([k for k in traced.written if k not in self.left_alone])
        self.holds = _guard_function(traced.guards)
        self.fast: Callable | None = None
        self.traced_in = 0.0                                  # seconds
        self.is_kept = False                                  # for further calls; others serve the present one
        self.form: tuple = (None, frozenset(), ())            # of the fast path: see fast_call
        self.kinds = kinds_of(traced.captured)                # an array may be given another shape where it is
        self.undo: Callable = nothing  # puts back what tracing has changed outside, before the first call is over
        self.locks = (*traced.locks, *locks_of(state_of(traced.stores, traced.prelude)))
        self.prepare()

    def prepare(self) -> None:
        """Make what runs the program."""
        self.runner = Runner(self.traced.func, self.policy, self.name, self.traced.guards)
        self.scalars = tuple([scalar_type(a.type) for a in self.traced.func.outputs])
        self.prelude, self.deliver = prelude_of(self.traced, self.runner), delivery(self.traced.stores)

    @property
    def compilations(self) -> int:
        return self.runner.compilations

    def is_current(self) -> bool:
        """Whether every outside value is still what it was when the function was traced."""
        return self.traced.sources.holds() and (self.prelude is None or self.prelude.fits())

    def depend_on(self, sources: list) -> None:
        """Further outside values that must be what they are now."""
        self.traced = self.traced._replace(sources=self.traced.sources.with_more(sources))

    def accepts(self, data: list) -> bool:
        """Whether the program may run on these leaves (whose dtypes and ranks fit), if it is current."""
        return (
            self.holds(data)
            and all(data[k].flags.c_contiguous for k in self.traced.dense)
            and self.kinds == kinds_of(self.traced.captured)
            and (not self.traced.identical or self._are_identical(data))
        )

    def _are_identical(self, data: list) -> bool:
        """Whether those arrays are one that were when the function was traced, and no others, of those that it asks
        this of.
        """
        arrays = [*data, *self.traced.captured]
        return all((arrays[j] is arrays[k]) is same for j, k, same in self.traced.identical)

    def refuse_shared(self, data: list) -> None:
        """An error if what the program writes to one array is, in this call, a part of another one: to the program each
        array is by itself.
        """
        arrays = [*data, *self.traced.captured]
        for k, others in self.apart(len(arrays)).items():
            if any(isinstance(arrays[j], np.ndarray) and overlap(arrays[k], arrays[j]) for j in others):
                raise shared_memory()

    def apart(self, count: int) -> dict:
        """For each input that the program writes to, those that must share no memory with it; count: of all inputs.

        Captured arrays are known not to (trace/values/outside_views.py). A derivative's arguments count as copies.
        """
        own = count - len(self.traced.captured)
        found = {k: [j for j in range(count) if j not in self.left_alone] for k in self.written}
        for k, others in self.traced.apart:
            found[k] = [*found.get(k, ()), *others]
        return {k: [j for j in dict.fromkeys(others) if j != k and min(j, k) < own] for k, others in found.items()}

    def require_standalone(self) -> None:
        """An error if the program is not all of the function: for other data Python has another one, or it does more
        than the program.
        """
        pinned = next((eqn for eqn in all_equations(self.traced.func) if eqn.params.get("what") == PINNED), None)
        if pinned is not None:
            raise UnstageableError(
                "no program has both sides of a condition", where=pinned.where,
                why="Python finds another program where the condition does not hold, and compiled callers have one",
                do="keep the structure the same on every way: no text beside None, no list beside a tuple",
            )
        self.refuse_writes()

    def refuse_writes(self) -> None:
        """An error if the program writes to arrays of its caller's: compiled callers would be handed what it wrote as
        further results.
        """
        if self.traced.stores:
            raise SideEffectError(
                "the function changes something outside itself at each call",
                where=None,
                why="Python does so behind the compiled program, and compiled callers do not",
                do="return the new value",
            )
        if self.prelude is not None:
            raise SideEffectError(
                "the function draws random numbers, or asks for something else that is new at each call",
                where=None,
                why="Python does so before the compiled program runs, and compiled callers do not",
                do="draw before, and pass what is drawn",
            )
        if self.written:
            k, inputs = self.written[0], self.traced.func.inputs
            named = inputs[k].name if k < len(inputs) - len(self.traced.captured) else "an array that it closes over"
            raise SideEffectError(f"the function writes to {named}, and compiled callers do not see that", where=None,
                                  why="a compiled program returns new arrays, and leaves those that it is given alone",
                                  do="write to a copy (x = x.copy()), and return it")

    def __call__(self, data: list) -> Any:
        """The result tree; NotImplemented if something else is there now than what the program takes for known: another
        thread has just changed it, or a table that its prelude asks is another one.
        """
        def run() -> Any:
            return NotImplemented if self.is_kept and not self.is_current() else self.run(data)
        try:
            return alone_with(self.locks, run) if self.locks else self.run(data)
        except OutdatedError:
            self.take_back()
            return NotImplemented

    def run(self, data: list) -> Any:
        """The result tree. No other thread uses the program's state meanwhile."""
        return self.result(self.runner.run(self.values(data)), data)

    def fast_path(self, data: list, is_alone: bool) -> "Callable | None":
        """The fast path for arguments like these data leaves, once there is a kernel. It is written again where it
        would not take them."""
        if self.runner.kernel is None or self.runner.tells:   # its lines are counted
            return None
        copied = [k for k, x in enumerate(data) if isinstance(x, np.ndarray) and x.ndim and not is_plain(x)]
        form = is_alone, self.form[1].union(copied), self._limits(data)
        if form != self.form:
            self.form, self.fast = form, fast_call(self, *form)
        return self.fast

    def _limits(self, data: list) -> "tuple | int":
        """The sizes from which on the general path looks whether arguments are work for all cores: a number for all
        elements together, and each integer, that is surely none; else for each data leaf twice what has been seen.
        """
        if self.runner.work is None:
            return ()
        sizes = [x.size if isinstance(x, np.ndarray) else abs(x) if isinstance(x, int) else 0 for x in data]
        if sum(sizes) + sum(a.size for a in self.traced.captured) < self.runner.least_work:
            return self.runner.least_work
        before = self.form[2] if isinstance(self.form[2], tuple) and self.form[2] else (0,) * len(data)
        if any(self.runner.work.is_much([*data, *self.traced.captured])):
            return before                                     # until the kernel for all cores is there
        return tuple([limit if size <= limit else 2 * size for size, limit in zip(sizes, before)])

    def values(self, data: list) -> list:
        """The values of the Func's inputs, those of the prelude drawn now."""
        values = [*data, *self.traced.captured]
        if self.prelude is not None:
            values += self.prelude(data)
        return values

    def glance(self, data: list) -> list:
        """The values of the Func's inputs, for those who only look: nothing is drawn."""
        if self.prelude is not None:
            with self.prelude.reversed():
                return self.values(data)
        return self.values(data)

    def take_back(self) -> None:
        """The latest call has failed, and is made in another way: nothing that it changed outside has changed, nothing
        was drawn.
        """
        self.undo()
        if self.prelude is not None:
            self.prelude.put_back()

    def result(self, outputs: tuple, data: list) -> Any:
        """The result tree; arrays that the function wrote to are changed."""
        count = len(outputs) - len(self.traced.written) - self.traced.delivered
        for k, new in zip(self.traced.written, outputs[count:]):
            if k in self.written:
                (data[k] if k < len(data) else self.traced.captured[k - len(data)])[...] = new
        result = self.traced.structure.unflatten(map(as_numpy, outputs[:count], self.scalars), self.traced.statics)
        if self.deliver is not None:
            self.deliver(outputs, data)
        return result


def prelude_of(traced: Any, runner: Runner) -> "Prelude | None":
    """The prelude that runs before the runner's Func, if there is one."""
    return Prelude(traced.prelude, runner.func) if traced.prelude else None


def kinds_of(arrays: tuple) -> list:
    """Shapes and dtypes."""
    return [(a.shape, a.dtype) for a in arrays]


def nothing() -> None:
    """There is nothing to be put back."""


def scalar_type(t: Any) -> Any:
    """The class of a strong scalar, None for arrays and Python numbers."""
    return t.dtype.type if not t.shape and not t.weak else None


def as_numpy(y: ArrayOrNumber, scalar: Any) -> ArrayOrNumber:
    """A strong scalar is NumPy's; a weak one is Python's."""
    return scalar(y) if scalar is not None and not isinstance(y, np.generic) else y


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
