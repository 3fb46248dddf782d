"""Draws that the kernel makes: data say how often a generator is asked, in a branch or in a while loop.

    if d > 0 or rng.random() < a:            position ─► drawn = host(0.0, position, function=Draw(rng.random))
        x = y                                            position = next_position(position, drawn)

The position is state, as any value that captured code keeps in a dict: branches join it, loops carry it. So the draws
keep the order of the code, and a draw is a function of its position (see kernels/draws.py). If one draw is the
kernel's, all are, since they take turns. A trace begins without them: the prelude is quicker (see percall.py). It is
made once more if a draw was refused.
"""
import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any, NamedTuple, SupportsInt

import numpy as np

from ...ir.build import Value, current
from ...ir.graph import Literal
from ...ir.op import registry
from ...ir.records import EXAMPLE, ONCE
from ...ir.types import type_of
from ...kernels import draws
from ...ops.conditional import around
from ...ops.literals import python_number
from ...util import tree
from ...util.defects import call_library
from ...util.errors import UnstageableError
from ...util.where import here, is_captured
from ..objects.draws import goes_on, state_of
from .journal import note, standing_in
from .operands import (
    OneByOneError,
    Operands,
    input_by,
    mapped,
    new_step,
    refuse_unseen_draws,
    refused,
    type_of_result,
)

# -- generators ------------------------------------------------------------------------------------------------------


class MadeAnew:
    """A generator that the function makes, as the prelude makes it before each run of the kernel."""

    def __init__(self, make: Callable):
        self.make, self.made = make, threading.local()

    def __call__(self, *args: object, **kwargs: object) -> None:
        self.made.generator = self.make(*args, **kwargs)

    @property
    def generator(self) -> Any:
        return self.made.generator


def made(make: Callable, args: tuple, kwargs: dict) -> Any:
    """A generator that the function makes, with a seed or without."""
    if any(b.region.runs != ONCE for b in around(current())):
        raise refused(make, "a generator of random numbers is made in a branch or a loop")
    operands, maker = Operands(make), MadeAnew(make)
    fargs, fkwargs = operands.convert(args), operands.convert(kwargs)
    if any(goes_on(x) for x in tree.flatten((args, kwargs), is_leaf=goes_on)[0]):
        raise refused(make, "it draws from another generator")
    generator = operands.trial(make, args, kwargs, [])
    step = new_step(maker, fargs, fkwargs)
    step.where = here()
    current().root.region.steps.append(step)
    current().trace.makers[id(generator)] = generator, maker, state_of(generator)
    return generator


# -- a draw ----------------------------------------------------------------------------------------------------------


class Place(NamedTuple):
    """An argument of a draw that the kernel gives it: the operand of this number."""

    number: int


class Draw:
    """A call that draws, as the kernel makes it: draw(model, position, *operands). The result is like the model."""

    def __init__(self, f: Callable, owner: "MadeAnew | None", args: tuple, kwargs: dict):
        self.f, self.owner, self.args, self.kwargs = f, owner, args, kwargs
        self.type: Any = None
        self.kind: type | None = None                         # the class of the result while tracing
        self.where = here()
        self.__name__ = getattr(f, "__name__", "a generator")

    def __call__(self, model: object, position: SupportsInt, *values: object) -> object:
        try:
            return draws.drawn(position, self._drawn, values)
        except draws.LostDraw:
            raise UnstageableError("random numbers of an earlier call are asked for", where=self.where,
                                   why="the reverse sweep draws them again, and they are not known any more",
                                   do="draw them before, and pass them as an argument") from None

    def _drawn(self, values: tuple) -> object:
        f = self.f if self.owner is None else getattr(self.owner.generator, self.f.__name__)
        if values:
            result = f(*_filled(self.args, values), **_filled(self.kwargs, values))
        else:
            result = f(*self.args, **self.kwargs)
        if type(result) is not self.kind or self.type.shape:
            self._refuse_others(result)
        return np.bool_(result) if self.type.dtype.kind == "b" and not self.type.shape else result

    def _refuse_others(self, result: object) -> None:
        found = type_of(np.bool_(result) if result is None or isinstance(result, bool) else result)
        if found.dtype != self.type.dtype or len(found.shape) != len(self.type.shape):
            raise UnstageableError(
                f"{self.__name__} returned {type(result).__name__} of another type or rank than when the function was "
                "traced",
                where=self.where, why="a program is for one type", do="let it return one type and shape at each call",
            )

    @property
    def as_number(self) -> "Callable | None":
        """The draw as compiled code calls it, where it gives one of Python's floats: without NumPy in between."""
        return self if self.kind is float else None

    @property
    def key(self) -> tuple:
        return self.f, id(self.owner), str(self.args), str(self.kwargs), self.where

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Draw) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.__name__)


def _filled(x: Any, values: tuple) -> Any:
    return mapped(x, lambda y: values[y.number] if type(y) is Place else y)


class KernelOperands(Operands):
    """The arguments of a draw: known ones, and values of the program. While tracing, an example stands for these."""

    def __init__(self, f: Callable):
        super().__init__(f)
        self.values: list = []
        self.pinned: set = set()
        self.larger = 0                                       # what the examples of integers are larger by

    def _value(self, x: Value) -> Any:
        if isinstance(x.atom, Literal):
            return x.atom.value
        facts = current().integers
        form = facts.form(x.atom) if x.dtype == np.int64 and not x.shape else None
        if form is not None and form.is_constant:
            return form.const
        if x.atom in self.pinned:
            return facts.pin(x.atom, here())
        if not any(x.atom is y.atom for y in self.values):
            self.values.append(x)
        return Place([y.atom for y in self.values].index(x.atom))

    def _operand(self, x: object) -> Any:
        return x if goes_on(x) else super()._operand(x)

    def _present(self, x: object) -> object:
        if not isinstance(x, Value):
            return super()._present(x)
        known = self._value(x)
        return self._example(x) if isinstance(known, Place) else known

    def _example(self, x: Value) -> object:
        facts = current().integers
        if x.shape:
            shape = [n if isinstance(n, int) else facts.hint(facts.form(n)) for n in x.atom.type.shape]
            if None in shape:
                raise refused(self.f, "it is given an array whose size depends on data")
            return np.full(shape, 1 / max(shape[0], 1) if x.dtype.kind == "f" else 1, x.dtype)
        if x.dtype.kind != "i":
            return x.dtype.type(0.5 if x.dtype.kind == "f" else 1)
        seen = facts.hint(facts.form(x.atom))
        return (1 if seen is None else seen) + self.larger

    def result(self, f: Callable, args: tuple, kwargs: dict, draws: list) -> object:
        """An example of the result. Its shape depends on sizes that the program is for."""
        one = self.trial(f, args, kwargs, draws)
        self.larger = 1
        integers = [x for x in self.values if not x.shape and x.dtype.kind == "i"]
        if integers and np.shape(call_library(self.trial, f, args, kwargs, draws)) != np.shape(one):
            self.pinned = {x.atom for x in integers if current().integers.pin(x.atom, here()) is not None}
            self.values = [x for x in self.values if x.atom not in self.pinned]
            if np.shape(self.trial(f, args, kwargs, draws)) != np.shape(one):
                raise refused(f, "how many numbers it draws depends on data")
        self.larger = 0
        return one


def drawn(f: Callable, args: tuple, kwargs: dict, drawn_from: list) -> Any:
    """The result of a call that draws, as captured code sees it."""
    if any(b.region.runs == EXAMPLE for b in around(current())):
        raise refused(f, "each example of a batch is to have its own", OneByOneError)
    if "out" in kwargs:
        raise refused(f, "it writes to an array (out)")
    operands, root = KernelOperands(f), current().root
    example = operands.result(f, args, kwargs, drawn_from)
    if operands.values and type(f) is FunctionType and is_captured(f.__code__.co_filename):
        raise refused(f, "it draws and computes, and its text is not at hand or cannot be rewritten")
    t = type_of_result(f, False if example is None else example)[1]
    draw = Draw(f, _maker(f, args, kwargs), operands.convert(args), operands.convert(kwargs))
    draw.type, draw.kind = t, type(example)
    ledger = _ledger()
    root.trace.first_position.draws.extend(g for g in drawn_from if id(g) not in root.trace.makers)
    position = ledger["position"]
    model = np.zeros(t.shape, t.dtype) if t.shape else t.dtype.type(0)
    value = registry["host"](model, position, *operands.values, function=draw, like=0)
    note(ledger)
    ledger["position"] = registry["next_position"](position, value)
    return None if example is None else python_number(value) if t.weak else value


def _maker(f: Any, args: tuple, kwargs: dict) -> "MadeAnew | None":
    """The maker of the generator that f belongs to, if the function makes it."""
    makers = current().trace.makers
    if any(id(x) in makers for x in tree.flatten((args, kwargs), is_leaf=goes_on)[0]):
        raise refused(f, "a generator that the function makes is given to it")
    owner = getattr(f, "__self__", None)
    return makers[id(owner)][1] if id(owner) in makers else None


def _ledger() -> dict:
    """The dict in which the position of the next draw stands."""
    trace = current().root.trace
    if trace.ledger is None:
        trace.first_position = step = new_step(draws.begin)
        step.where = here()
        value = input_by(step, type_of(np.int64(0)), "position")
        trace.drawn[value.atom] = None, None
        trace.ledger = standing_in({"position": value})
    return trace.ledger


def settle() -> None:
    """The end of a function: all draws have been made, whoever needs what was drawn."""
    ledger = current().root.trace.ledger
    if ledger is not None and current().parent is None:
        refuse_unseen_draws(current().trace.makers.values())
        registry["check_that"](registry["less"](ledger["position"], 0), False, what="a draw was left out")
