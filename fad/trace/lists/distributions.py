"""Draws whose parameters are traced: locations and scales, and what is chosen from.

A normal number of mean m and deviation s is m + s * z for a standard one, drawn from the same stream: so NumPy and
Python compute it, to the last bit. A choice from a population, or a permutation of it, is the population at places that
are drawn. So what is drawn never depends on traced values, and the derivative goes through m, s and the population.
"""
import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir import stack
from ...ir.build import Value
from ...ir.op import registry
from ...ir.types import type_of
from ...ops.literals import as_array, python_number
from ...ops.override import BY_NAME
from ...util.array import AnyArray
from ..heap.journal import note
from ..heap.operands import holds_traced, is_seeded, refused
from ..heap.percall import is_maker, made, recorded
from ..heap.state import is_numeric
from ..objects.draws import goes_on, is_numpys_generator, numpy_random, order_of
from ..values.zero_dim import of_numbers
from .items import Items
from .rows import RowList

LOCATED = ("loc", "scale")
SCALED: dict[str, tuple] = {  # methods of NumPy's generators, and the names of their parameters
    "normal": LOCATED,
    "laplace": LOCATED,
    "logistic": LOCATED,
    "gumbel": LOCATED,
    "uniform": ("low", "high"),
    "exponential": ("scale",),
    "rayleigh": ("scale",),
}
PYTHONS: dict[str, tuple] = {"gauss": ("mu", "sigma"), "normalvariate": ("mu", "sigma"), "uniform": ("a", "b")}
DEFAULTS = {"loc": 0.0, "scale": 1.0, "low": 0.0, "high": 1.0, "mu": 0.0, "sigma": 1.0}
FROM = {"choice", "choices", "sample", "permutation"}  # methods that select from their first argument


def called_anew(f: Callable, *args: Any, **kwargs: Any) -> Any:
    """f(*args, **kwargs), which is another thing at each call."""
    if is_maker(f):
        return made(f, args, kwargs)
    draw = of_traced(f, args, kwargs)
    return recorded(f, args, kwargs) if draw is None else draw(f, *args, **kwargs)


def drawn_on_tape(f: Any, plainly: Callable, *args: object, **kwargs: object) -> object:
    """A draw on a tape. Python's generators compute with traced numbers and select from lists of them by themselves;
    NumPy's do neither.
    """
    draw = of_traced(f, args, kwargs) if is_numpys_generator(f.__self__) else None
    if draw is None or (draw is shuffled and not isinstance(args[0], Value)):
        return plainly(*args, **kwargs)
    return draw(f, *args, **kwargs)


def of_traced(f: Callable, args: tuple, kwargs: dict) -> "Callable | None":
    """A function that draws as f does: a generator's method that shuffles, or has traced parameters or a traced
    population. None for all else.
    """
    owner, name = getattr(f, "__self__", None), getattr(f, "__name__", "")
    if not goes_on(owner):
        return None
    if name == "shuffle" and args and (isinstance(args[0], Value) or not is_seeded(owner)):
        return shuffled
    if name in FROM and args and _is_traced_population(args[0]):
        return _selected
    names = (SCALED if is_numpys_generator(owner) else PYTHONS).get(name, ())
    is_scaled = names and holds_traced([*args[: len(names)], *[kwargs.get(n) for n in names]])
    return functools.partial(_scaled, names) if is_scaled else None


def _drawn(f: Callable, args: tuple, kwargs: dict) -> AnyArray:
    """The result of a generator's method: a constant on a tape, or if the function has seeded the generator itself."""
    if not (stack.is_live() or is_seeded(f.__self__)):        # type: ignore[attr-defined]
        return recorded(f, args, kwargs)
    result = f(*args, **kwargs)
    return of_numbers(result) if isinstance(result, np.ndarray) else result


def _is_traced_population(x: object) -> bool:
    """Whether a population is of traced values: an array, or a list of them. A traced int is how many there are."""
    if isinstance(x, Value):
        return bool(x.shape)
    return isinstance(x, RowList) or (isinstance(x, (list, tuple)) and holds_traced(x))


# -- locations and scales --------------------------------------------------------------------------------------------


def _scaled(names: tuple, f: Callable, *args: object, **kwargs: object) -> AnyArray:
    """The draw of a traced location and scale by a standard one."""
    given = {**{n: DEFAULTS[n] for n in names if n in DEFAULTS}, **dict(zip((*names, "size"), args)), **kwargs}
    size = given.pop("size", None)
    if set(given) != set(names) or len(args) > len(names) + 1:
        raise refused(f, "it is given traced values")
    low: Any
    high: Any
    low, high = [given[n] for n in names] if len(names) == 2 else (0.0, given[names[0]])
    low, high = [as_array(x) if isinstance(x, (list, tuple, np.ndarray)) else x for x in (low, high)]
    is_range = names[0] in ("low", "a")
    if not is_range:
        _refuse_negative(high, "scale < 0")
    elif isinstance(f.__self__, numpy_random.Generator):  # type: ignore[attr-defined]
        _refuse_negative(high - low, "high - low < 0")
    is_number = size is None and not np.ndim(low) and not np.ndim(high)
    if is_number:
        low, high = [python_number(x) if isinstance(x, Value) else float(x) for x in (low, high)]
    elif size is None:
        size = BY_NAME["numpy.add"].call(low, high).shape if "numpy.add" in BY_NAME else (low + high).shape
    standard = (0.0, 1.0) if len(names) == 2 else (1.0,)
    z = _drawn(f, standard, {} if is_number else {"size": size})
    return low + (high - low) * z if is_range else low + high * z if len(names) == 2 else high * z


def _refuse_negative(x: object, what: str) -> None:
    """The program raises what NumPy raises for a negative scale or range."""
    if isinstance(x, Value):
        bad = registry["less"](x, 0)
        if isinstance(bad, Value):
            bad = BY_NAME["numpy.any"].call(bad) if bad.shape else bad
            registry["check_that"](bad, False, what=what, error="ValueError")
        elif np.any(bad):                                     # a tape knows it
            raise ValueError(what)


# -- selections ------------------------------------------------------------------------------------------------------


def _selected(f: Callable, population: object, *args: object, **kwargs: object) -> Any:
    """The choice from a population: the entries at the drawn places."""
    axis = kwargs.pop("axis", 0)
    if is_numpys_generator(f.__self__):                       # type: ignore[attr-defined]
        x = as_array(population)
        order = _drawn(f, (x.shape[axis], *args), kwargs)
        return x.take(order, axis) if isinstance(order, Value) and (order.shape or x.ndim > 1) else x[order]
    places = _drawn(f, (range(_length(population)), *args), kwargs)
    entry = _entries(f, population)
    return Items(map(entry, places)) if isinstance(places, list) else entry(places)


def _entries(f: Callable, population: Any) -> Callable:
    """The entry of a population at a place that is drawn. Those of a list are of one type and shape."""
    if isinstance(population, Value):
        traced: Any = population
        return lambda k: traced[k]
    types = {(t.dtype, t.rank, t.weak) for t in map(type_of, population)} if all(map(is_numeric, population)) else {}
    if len(types) != 1:
        raise refused(f, "it selects from a list whose elements are of several types")
    stacked = as_array(list(population))
    is_weak = type_of(population[0]).weak
    return lambda k: python_number(stacked[k]) if is_weak else stacked[k]


def _length(x: Any) -> int:
    return int(x.shape[0].__index__()) if isinstance(x, Value) and not isinstance(x.shape[0], int) else len(x)


def shuffled(f: Callable, x: Any, axis: int = 0) -> None:
    """x in another order, in place: what a generator knows of other objects than arrays is to swap rows, which are
    views.
    """
    generator: Any = f.__self__                               # type: ignore[attr-defined]
    rank, count = (x.ndim, x.shape[axis]) if isinstance(x, Value) else (1, len(x))
    if stack.is_live() or is_seeded(generator):
        order: Any = order_by(generator, operator.index(count), rank, axis)
    else:
        order = recorded(order_by, (generator, count, rank, axis), {})
    if isinstance(x, Value):
        x[...] = x.take(order, axis)  # type: ignore[attr-defined, index]
    else:
        entry = _entries(f, x)
        new = [entry(order[k]) for k in range(count)]
        note(x)
        for k, y in enumerate(new):
            x[k] = y


def order_by(generator: Any, count: int, rank: int, axis: int) -> np.ndarray:
    """The order that a generator's shuffle puts the entries of an array into; it draws as for that array, or list."""
    if not is_numpys_generator(generator):
        order = list(range(count))
        generator.shuffle(order)
        return np.array(order, dtype=np.int64)
    return order_of(generator.shuffle, rank, count, axis)


order_by.draws_one_kind = True  # type: ignore[attr-defined]
