"""Arguments of calls that are made at each run of a program: as the prelude computes them, and while tracing.

Such an argument is known: a number or text, a generator, an array from outside, an extent of an input, a number that
is drawn before.
"""
import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import Any

import numpy as np

from ...ir.affine import Affine
from ...ir.build import Value, current
from ...ir.graph import Var
from ...ir.prelude import Attribute, Integer, Made, PreludeCall
from ...ir.types import Type, is_too_large, type_of
from ...util import tree
from ...util.defects import call_library, ignore_expected
from ...util.errors import UnstageableError
from ...util.where import here
from ..objects.containers import is_users, keeps_record
from ..objects.draws import common_generators, goes_on, kernel_drawing, numpy_random, put_state, same_state, state_of
from ..values.constants import constant_of

_PLAIN = (str, bytes, bool, int, float, complex, np.generic, np.dtype, type, type(None), type(Ellipsis), slice, range,
          PurePath)


class OneByOneError(UnstageableError):
    """A function of one example changes something outside itself, or draws: its examples run one after the other."""


def refused(f: Callable, why: str, error: type[UnstageableError] = UnstageableError) -> UnstageableError:
    """The error of a call that is no step of the prelude."""
    return error(f"{getattr(f, '__name__', 'a function')} gives another result at each call", why=why,
                 do="call it before, and pass what it returns as an argument")


def refuse_unseen_draws(made: Iterable) -> None:
    """An error if code that a program does not see has drawn from a generator that the function makes. made: each such
    generator, what stands for it, and its state.
    """
    for x, _, state in made:
        if not same_state(state_of(x), state):
            raise UnstageableError("a generator of random numbers, which the function makes, is drawn from by code "
                                   "that a program does not see", do="draw in the function itself")


def is_seeded(generator: object) -> bool:
    """Whether the function has made the generator itself, with a seed: it draws the same numbers at each call."""
    return id(generator) in current().trace.generators


def new_step(function: Callable, args: tuple = (), kwargs: "dict | None" = None) -> PreludeCall:
    """A further step of the prelude, which is not placed yet."""
    trace = current().root.trace
    trace.count_of_steps += 1
    return PreludeCall(trace.count_of_steps - 1, function, args, kwargs or {})


def type_of_result(f: Callable, x: Any) -> tuple:
    """A number or an array that a call returns, a truth value as NumPy's; and its type."""
    x = np.bool_(x) if isinstance(x, bool) else x
    if type(x) in (int, float, complex):
        is_number = not is_too_large(x)
    else:
        is_number = (isinstance(x, np.generic) or type(x) is np.ndarray) and x.dtype.kind in "biufc"
    if not is_number:
        raise refused(f, f"it returns {type(x).__name__}, and programs compute with numbers")
    return x, type_of(x)


def input_by(step: PreludeCall, t: Type, name: str) -> Any:
    """The input of the program that a step gives, which is placed behind those of the function so far."""
    root = current().root
    x = root.input(t, name)
    step.leaves, step.structure = [((0,), t, x.atom)], tree.LEAF
    root.region.steps.append(step)
    root.trace.dense[x.atom] = True
    return x


def mapped(x: Any, part: Callable) -> Any:
    """part(x), of tuples, lists and dicts of what is in them: a list of captured code may change later."""
    if type(x) is tuple:
        return tuple([mapped(y, part) for y in x])
    if type(x) is dict:
        return {k: mapped(y, part) for k, y in x.items()}
    return [mapped(y, part) for y in x] if type(x) is list or keeps_record(x) else part(x)


class Operands:
    """The arguments of a call: as the prelude computes them, and as they are while tracing."""

    def __init__(self, f: Callable):
        self.f = f
        self.extents: dict[Var, int] = {}  # those that the arguments depend on, and what is put for them
        self.draws: list = []

    def function(self) -> Any:
        """The function that is called."""
        entry = current().trace.handles.get(id(getattr(self.f, "__self__", None)))
        return Attribute(entry[1], self.f.__name__) if entry else self.f

    def convert(self, x: object) -> Any:
        """An argument as an operand."""
        return mapped(x, self._operand)

    def _operand(self, x: object) -> Any:
        if isinstance(x, Value):
            return self._value(x)
        if goes_on(x):
            entry = current().trace.handles.get(id(x))
            if is_seeded(x):
                raise refused(self.f,
                              "it draws from several generators, one of which is made in the function with a seed")
            return entry[1] if entry else x
        if isinstance(x, _PLAIN) or type(x) is np.ndarray:
            return x
        if is_users(x) or callable(x) or isinstance(x, Iterator):
            raise refused(self.f, f"it is given {type(x).__name__}, which may be another thing at each call")
        return x

    def _value(self, x: Value) -> Any:
        integers, root = current().integers, current().root
        atom: Any = x.atom
        if atom in root.trace.drawn:
            if not x.shape and atom.type.shape == ():
                return root.trace.drawn[atom][0]
            raise refused(self.f, "an array that is drawn is given to it")
        array = next((a for a, value in root.trace.captured.values() if value.atom is atom), None)
        if type(array) is np.ndarray:
            return array
        form = integers.form(atom) if x.dtype == np.int64 and not x.shape else None
        extents = [v for v, _ in form.terms if v in integers.dims and form == Affine.of(v)] if form is not None else []
        if extents:
            self.extents.setdefault(extents[0], extents[0].hint)
            return Integer(form.terms, 0)                     # type: ignore[union-attr]
        if form is not None:
            pinned = integers.pin(atom, here())
            if pinned is not None:
                return pinned
        known = constant_of(atom)
        if known is None:
            kernel_drawing.want()
            raise refused(self.f, "it is given a traced value")
        return known

    def _present(self, x: object) -> Any:
        """An argument as it is while tracing."""
        if not isinstance(x, Value):
            return x
        operand = self._value(x)
        if isinstance(operand, Integer):
            return self.extents[operand.terms[0][0]]
        return current().trace.drawn[x.atom][1] if isinstance(operand, Made) else operand

    def trial(self, f: Callable, args: tuple, kwargs: dict, draws: list) -> int:
        """The present result of the call; the generators are restored."""
        given, named = mapped(args, self._present), mapped(kwargs, self._present)
        before = repr(given) if any(isinstance(x, list) for x in given) else ""
        with put_back(draws):
            result = call_library(f, *given, **named)
        if before and repr(given) != before:
            raise refused(f, "it changes what it is given")
        return result

    def shapes(self, leaves: list, again: Callable) -> list:
        """The shapes of the results, with extents of the program where an extent of an input makes a difference."""
        shapes = [list(np.shape(x)) if not goes_on(x) else [] for x in leaves]
        for v, hint in list(self.extents.items()):
            if not any(hint in shape for shape in shapes):
                continue
            try:
                self.extents[v] = hint + 1
                other = [np.shape(x) if not goes_on(x) else () for x in again()]
            except Exception as error:                        # the other arguments are for this extent
                ignore_expected(error, "a program is for one size")
                current().integers.pin(v, here())
                continue
            finally:
                self.extents[v] = hint
            for shape, new in zip(shapes, other):
                if [n != m for n, m in zip(shape, new) if isinstance(n, int)] and len(shape) == len(new):
                    shape[:] = [v if isinstance(n, int) and m == n + 1 and n == hint else n for n, m in zip(shape, new)]
        return list(map(tuple, shapes))


@contextmanager
def put_back(generators: list) -> Iterator[None]:
    """Generators go on afterwards from where they are now, and so do those that the modules share."""
    of_bits = [g.bit_generator for g in generators if isinstance(g, numpy_random.Generator)]
    every = [*generators, *common_generators(), *[b.seed_seq for b in of_bits if hasattr(b, "seed_seq")]]
    states = [(g, state_of(g)) for g in every if not isinstance(g, random.SystemRandom)]
    try:
        yield
    finally:
        for g, state in states:
            put_state(g, state)


def holds_traced(x: object) -> bool:
    """Whether a tree holds a traced value."""
    return any(isinstance(leaf, Value) for leaf in tree.flatten(x, is_leaf=goes_on)[0])
