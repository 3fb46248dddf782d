"""A prelude: calls of Python that a program makes before its kernel runs, in the order in which the function makes
them.

A generator of random numbers, a clock and a file give other values at each call. Such values are inputs of the program;
the prelude is where they come from. It is a straight line of steps, and of repeats for the steps of a loop:

    rng.normal(size=(n, 3))                   # Step:   one input of shape (n, 3)
    for _ in range(5): random.random()        # Repeat: one input of shape (5,), which iteration k reads at k
"""
from collections.abc import Callable
from typing import Any, NamedTuple

from .graph import Var
from .types import Type


class Integer(NamedTuple):
    """An operand: const + the sum of coefficient * extent, over (input, axis or None) pairs; None: the input itself."""

    terms: tuple
    const: int


class Made(NamedTuple):
    """An operand: what an earlier step of this number returned; of a tuple or list, the entry at this path."""

    step: int
    path: tuple = ()


class Attribute(NamedTuple):
    """An operand: an attribute of another one."""

    owner: Any
    name: str


class PreludeCall:
    """A call of function(*args, **kwargs), operands among them, and what comes of it.

    number    of this step, for Made
    leaves    one entry for each leaf of the result: (path, Type, Var) of those that are inputs of the program, (path,
    None, None) of others
    structure of the result
    draws     the generators that it draws from
    is_stable whether the result is known to be of these types at each call
    first     the result that the trace got, where asking again would be another effect: it is given to the first call
    is_filled whether repeats of it are one call with one more axis in front of `size`
    is_pure   whether it only asks an object from outside: where it gives another thing, a program is outdated
    known     of a pure step, place of a leaf -> the constant that it is
    classes   of a pure step, place of another leaf -> its class
    """

    def __init__(self, number: int, function: Callable, args: tuple, kwargs: dict):
        self.number, self.function, self.args, self.kwargs = number, function, args, kwargs
        self.leaves: list[tuple[tuple, Type | None, Var | None]] = []
        self.structure: Any = None
        self.draws: list = []
        self.is_stable = self.is_filled = self.is_pure = False
        self.known: dict[int, object] = {}
        self.classes: dict[int, str] = {}
        self.first: list = []
        self.where: Any = None


def is_part(x: object) -> bool:
    """Whether a part of a pure step's result is a leaf: tuples, lists and dicts are taken apart."""
    return type(x) not in (tuple, list, dict)


def class_of_part(x: object) -> str:
    """The name of the class of a part. A class of named tuples may be made anew at each call."""
    return type(x).__qualname__


class Repeat(NamedTuple):
    """Steps that are made so many times: an int or an Integer."""

    count: Any
    steps: list


def steps_in(entries: list) -> list:
    """All steps, those of repeats included, in order."""
    return [s for entry in entries for s in (steps_in(entry.steps) if isinstance(entry, Repeat) else [entry])]


def inputs_of(entries: list) -> list:
    """The inputs of the program that the steps give values to, in order."""
    return [v for s in steps_in(entries) for _, _, v in s.leaves if v is not None]
