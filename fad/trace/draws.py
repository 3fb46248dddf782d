"""Generators of random numbers: what they draw while a function is traced would be drawn once, and be the same at every call."""
import random
from typing import Any

import numpy as np


def is_generator(x: Any) -> bool:
    """Whether x is a generator of NumPy's or of Python's."""
    return isinstance(x, (np.random.Generator, np.random.RandomState, random.Random))


def goes_on(x: Any) -> bool:
    """Whether x gives another thing each time that it is asked: a generator, what a generator is made of, a sequence of quasi-random points."""
    is_source = isinstance(x, (np.random.SeedSequence, np.random.BitGenerator))
    return is_generator(x) or is_source or any(c.__name__ == "QMCEngine" for c in type(x).__mro__)


def common_generators() -> list:
    """Those that functions of the modules draw from: np.random.rand(), random.random()."""
    return [np.random.rand.__self__, random.random.__self__]         # type: ignore[attr-defined]


def state_of(generator: Any) -> Any:
    """Where a generator stands."""
    if isinstance(generator, np.random.Generator):
        return generator.bit_generator.state
    return generator.get_state(legacy=False) if isinstance(generator, np.random.RandomState) else generator.getstate()


def put_state(generator: Any, state: Any) -> None:
    """Make a generator go on from there."""
    if isinstance(generator, np.random.Generator):
        generator.bit_generator.state = state
    elif isinstance(generator, np.random.RandomState):
        generator.set_state(state)
    else:
        generator.setstate(state)


def same_state(a: Any, b: Any) -> bool:
    """Whether a generator has not been drawn from in between."""
    if isinstance(a, dict):
        return all(same_state(a[k], b[k]) for k in a)
    return np.array_equal(a, b) if isinstance(a, np.ndarray) else bool(a == b)


def order_of(shuffle: Any, rank: int, count: int, axis: int) -> Any:
    """The order that a generator's method puts the entries of an array of this rank into along an axis; it draws as for that array."""
    order = np.arange(count).reshape([-1 if k == axis % rank else 1 for k in range(rank)])
    shuffle(order, axis) if axis else shuffle(order)
    return order.reshape(-1)
