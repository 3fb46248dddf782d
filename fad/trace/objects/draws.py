"""Generators of random numbers. They draw anew at each call (see percall.py), unless the function makes them with a
seed.

One that it makes with a seed may be drawn from where it was made. A region (a loop's iteration, one way of a branch) is
traced once, and run many times or never. A draw there, by a call, an iterator or a method that Python calls by itself,
shows in the state that generators have in the end.
"""
import functools
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...ir.build import current
from ...util.attempts import Mode
from ...util.errors import UnstageableError
from ...util.lazy import LazyModule
from ...util.own import own_dict
from ...util.where import module_name

numpy_random: Any = LazyModule("numpy.random")


def is_numpys_generator(x: object) -> bool:
    """Whether x is a generator of NumPy's."""
    return isinstance(x, (numpy_random.Generator, numpy_random.RandomState))


def goes_on(x: object) -> bool:
    """Whether x gives another thing each time that it is asked: a generator, what a generator is made of, a sequence of
    quasi-random points.
    """
    return is_source(type(x))


def is_source(cls: type) -> bool:
    """Whether objects of a class do."""
    return issubclass(cls, _sources()) or "QMCEngine" in [c.__name__ for c in cls.__mro__]


@functools.cache
def _sources() -> tuple:
    return (numpy_random.Generator, numpy_random.RandomState, random.Random, numpy_random.SeedSequence,
            numpy_random.BitGenerator)


def common_generators() -> list:
    """Those that functions of the modules draw from: np.random.rand(), random.random()."""
    return [numpy_random.rand.__self__, random.random.__self__]         # type: ignore[attr-defined]


def state_of(generator: Any) -> Any:
    """The state of a generator."""
    if isinstance(generator, numpy_random.Generator):
        return generator.bit_generator.state
    if isinstance(generator, numpy_random.BitGenerator):
        return generator.state
    if isinstance(generator, numpy_random.RandomState):
        return generator.get_state(legacy=False)
    if isinstance(generator, random.SystemRandom):
        return object()                                       # nobody knows, and so it is never the same
    if isinstance(generator, random.Random):
        return generator.getstate()
    return generator.n_children_spawned if isinstance(generator, numpy_random.SeedSequence) else generator.num_generated


def put_state(generator: Any, state: Any) -> None:
    """Make a generator go on from there."""
    if isinstance(generator, numpy_random.Generator):
        generator.bit_generator.state = state
    elif isinstance(generator, numpy_random.BitGenerator):
        generator.state = state
    elif isinstance(generator, numpy_random.RandomState):
        generator.set_state(state)
    elif isinstance(generator, random.Random):
        if not isinstance(generator, random.SystemRandom):
            generator.setstate(state)
    elif isinstance(generator, numpy_random.SeedSequence):
        if generator.n_children_spawned != state:             # which no one can set
            generator.__init__(                               # type: ignore[misc]
                generator.entropy, spawn_key=generator.spawn_key, pool_size=generator.pool_size,
                n_children_spawned=state)
    elif generator.num_generated != state:
        generator.reset()
        if state:
            generator.fast_forward(state)


def same_state(a: Any, b: Any) -> bool:
    """Whether a generator has not been drawn from in between."""
    if isinstance(a, dict):
        return all(same_state(a[k], b[k]) for k in a)
    return np.array_equal(a, b) if isinstance(a, np.ndarray) else bool(a == b)


def order_of(shuffle: Callable, rank: int, count: int, axis: int) -> Any:
    """The order that a generator's method puts the entries of an array of this rank into along an axis. It draws as for
    that array.
    """
    order = np.arange(count).reshape([-1 if k == axis % rank else 1 for k in range(rank)])
    shuffle(order, axis) if axis else shuffle(order)
    return order.reshape(-1)


def held_by(x: object, depth: int = 3) -> Iterator:
    """The generator that x draws from: x itself, or the one that a distribution of scipy.stats holds."""
    if goes_on(x):
        yield x
    elif depth and module_name(type(x)).startswith("scipy.stats"):
        for part in list((own_dict(x) or {}).values()):
            yield from held_by(part, depth - 1)


def note_generator(x: object) -> None:
    """Remember where x was made, if it is something to draw from."""
    for generator in held_by(x):
        current().trace.generators.setdefault(id(generator), (generator, current()))


kernel_drawing = Mode()                                       # the kernel draws what the prelude cannot


def refuse_draws() -> None:
    """An error: random numbers are drawn in a region."""
    kernel_drawing.want()
    raise UnstageableError("random numbers are drawn in a loop or branch on traced values",
                           why="they are other ones in each iteration", do="draw all of them before")


@contextmanager
def no_draws() -> Iterator[None]:
    """An error if what runs here draws from a generator that was there before the region that is being traced."""
    builder = current()
    states = [(x, state_of(x)) for x, made_in in builder.trace.generators.values() if made_in is not builder]
    try:
        yield
    finally:
        drawn = put_back_states(states)                       # the loop may be unrolled, and draws again
    if drawn:
        refuse_draws()


def states_now() -> list:
    """The states of the generators that the function has made."""
    return [(x, state_of(x)) for x, _ in current().trace.generators.values()]


def put_back_states(states: list) -> bool:
    """Make generators go on from there; whether one of them has been drawn from."""
    drawn = [(x, state) for x, state in states if not same_state(state_of(x), state)]
    for x, state in drawn:
        put_state(x, state)
    return bool(drawn)
