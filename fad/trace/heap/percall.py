"""Values that are other ones at each call: what generators draw, clocks, files. A call that gives such values becomes
a step of the program's prelude.

While the function is traced, the call is made to see of what types its results are, and the generators are put back:
nothing has been drawn. The result is an input of the program, and Python makes the call anew before each run of the
kernel (see ir/prelude.py).

    def f(x): return x + rng.normal(size=len(x))       ->      z = rng.normal(size=len(x)); kernel(x, z)

The trip count of a loop may be known: its steps are then repeated, and iteration k reads the k-th of the results.
"""
import functools
import operator
import random
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from ...ir import stack
from ...ir.build import Builder, Value, as_extent, current
from ...ir.graph import Func, Var, free_vars
from ...ir.prelude import Attribute, Integer, Made, PreludeCall, Repeat, inputs_of
from ...ir.records import EXAMPLE, ONCE
from ...ir.types import Type, type_of
from ...ops.conditional import around
from ...ops.literals import python_number
from ...util import tree
from ...util.array import AnyArray, ArrayOrNumber
from ...util.defects import for_user
from ...util.errors import UnstageableError
from ...util.own import owner_of
from ...util.where import here, module_name, package_name
from ..guards.bytecode import names_used
from ..guards.purity import is_effect, is_question, module_of, unseen_calls
from ..objects.draws import (
    common_generators,
    goes_on,
    held_by,
    is_numpys_generator,
    is_source,
    kernel_drawing,
    note_generator,
    numpy_random,
    put_state,
    same_state,
    state_of,
)
from . import kernel_draws
from .foreign import holds_foreign
from .operands import (
    OneByOneError,
    Operands,
    holds_traced,
    is_seeded,
    new_step,
    refuse_unseen_draws,
    refused,
    type_of_result,
)

# NumPy's methods that draw entry after entry, and the place of their `size`
FILLED = {"random": 0, "random_sample": 0, "standard_normal": 0, "standard_exponential": 0, "normal": 2, "uniform": 2,
          "laplace": 2, "logistic": 2, "gumbel": 2, "exponential": 1, "rayleigh": 1}
# Python's methods that return one kind of number
SIZED = {"random", "uniform", "gauss", "normalvariate", "triangular", "expovariate", "betavariate", "gammavariate",
         "lognormvariate", "vonmisesvariate", "paretovariate", "weibullvariate", "randint", "randrange"}
_OF_GENERATORS = {"Random", "RandomState", "SystemRandom", "get_state", "getstate", "bit_generator"}
_DRAWING = {"scipy", "sklearn"}  # where functions draw from the generators that the modules share


# -- which calls -----------------------------------------------------------------------------------------------------


def drawn_from(f: object, args: tuple) -> list:
    """The generators that a call draws from, and that go on from call to call: the method's own, and those among the
    arguments.
    """
    if is_of_module(f):
        return common_generators()[:1]
    leaves = tree.flatten(args, is_leaf=goes_on)[0]
    return [g for x in (getattr(f, "__self__", None), *leaves) for g in held_by(x) if not is_seeded(g)]


def is_maker(f: object) -> bool:
    """Whether f makes generators."""
    if isinstance(f, type):
        return is_source(f) and package_name(f) in ("numpy", "random", "scipy")
    return f is numpy_random.default_rng


class Maker:
    """np.random.default_rng as code has it that is not rewritten: who calls it without a seed has a generator of its
    own at each call.
    """

    @property
    def original(self) -> Callable:
        return numpy_random.default_rng  # looked up at the call: NumPy imports the module at its first use

    def __call__(self, *args: object, **kwargs: object) -> Any:
        is_traced = stack.builders() and not stack.is_live()
        return made(self.original, args, kwargs) if is_traced else self.original(*args, **kwargs)


def refuse_unseen(f: FunctionType) -> None:
    """An error if code that is not rewritten may ask for what is new at each call."""
    for x in unseen_calls(f):
        raise refused(x, f"{f.__name__} calls it, and its text is not at hand or cannot be rewritten")
    if not _OF_GENERATORS.isdisjoint(names_used(f.__code__)):
        raise refused(f, "it may make a generator of random numbers, or ask for its state, and its text is not at hand "
                         "or cannot be rewritten")


def is_of_module(f: object) -> bool:
    """Whether f is a function of np.random's, which draws from the generator that all share."""
    is_function = not isinstance(f, type) and not hasattr(f, "__self__") and f is not numpy_random.default_rng
    return is_function and module_name(f).startswith("numpy.random")


def is_per_call(f: object) -> bool:
    """Whether what f returns is never known before the call."""
    owner = owner_of(f)
    return (goes_on(owner) and not is_seeded(owner)) or is_maker(f) or is_of_module(f) or is_question(f) or is_effect(f)


def part_of(owner: object, name: str, value: Callable) -> Callable:
    """An attribute of a generator, as captured code sees it: its state is another one at each call."""
    root = current().root
    if is_seeded(owner):
        if goes_on(value):
            root.trace.generators.setdefault(id(value), (value, root.trace.generators[id(owner)][1]))
    elif id(owner) in root.trace.handles and goes_on(value):
        root.trace.handles[id(value)] = value, Attribute(root.trace.handles[id(owner)][1], name), state_of(value)
    elif not goes_on(value) and not callable(value):
        raise UnstageableError(f"{name} of a generator of random numbers is read", why="it is another one at each call")
    return value


def refuse_state(owner: object, name: str) -> None:
    """An error if an attribute of a generator is set that draws anew at each call."""
    if goes_on(owner) and not is_seeded(owner):
        raise UnstageableError(f"{name} of a generator of random numbers is set",
                               why="the program draws from it at each call",
                               do="make a generator in the function, with a seed")


def made(make: Callable, args: tuple, kwargs: dict) -> Any:
    """A generator: the same at each call if its seed is known, else a step."""
    if kernel_drawing.is_on:
        return kernel_draws.made(make, args, kwargs)
    if drawn_from(make, (args, kwargs)) or holds_traced((args, kwargs)):
        return recorded(make, args, kwargs)
    first, second = make(*args, **kwargs), make(*args, **kwargs)
    if first is not second and not same_state(_seed_of(first), _seed_of(second)):
        return recorded(make, args, kwargs)
    note_generator(first)
    return first


@for_user
def watched_call(f: Callable, args: tuple, kwargs: dict) -> Any:
    """f(*args, **kwargs) of a library's function; a step if it draws from the generators that modules share."""
    if not isinstance(f, (FunctionType, MethodType)) or module_of(f) not in _DRAWING:
        return f(*args, **kwargs)
    before = [(g, state_of(g)) for g in [*common_generators(), *drawn_from(f, args)]]
    result = f(*args, **kwargs)
    if all(same_state(state_of(g), state) for g, state in before):
        return result
    for g, state in before:
        put_state(g, state)
    return recorded(f, args, kwargs)


def _seed_of(generator: np.random.Generator) -> Any:
    """The state of a generator, or of that which a sequence of quasi-random points has."""
    return state_of(getattr(generator, "rng", generator))


# -- steps -----------------------------------------------------------------------------------------------------------


def recorded(f: Callable, args: tuple, kwargs: dict) -> AnyArray:
    """The result of the call at each run, as captured code sees it. Raises UnstageableError if it cannot be a step of
    the prelude.
    """
    if holds_foreign(args, kwargs):
        raise refused(f, "it is given an object of a package with arrays of its own")
    if kernel_drawing.is_on:
        draws = drawn_from(f, (args, kwargs))
        if draws or (is_question(f) and module_of(f) == "time"):
            return kernel_draws.drawn(f, args, kwargs, draws)
    if is_effect(f) and not is_question(f) and not goes_on(getattr(f, "__self__", None)):
        raise refused(f, "it may change something, or use up what it reads")
    loops = _loops_around(f)
    if "out" in kwargs:
        raise refused(f, "it writes to an array (out)")
    operands = Operands(f)
    function, fargs, fkwargs = operands.function(), operands.convert(args), operands.convert(kwargs)
    step = new_step(function, fargs, fkwargs)
    step.draws, step.where = drawn_from(f, (args, kwargs)), here()
    trial = operands.trial(f, args, kwargs, step.draws)
    if not step.draws and not is_maker(f):
        if loops and not is_question(f):
            raise refused(f, "it is called in a loop")
        step.first = [] if loops else [trial]
    leaves, step.structure = tree.flatten(trial, is_leaf=goes_on)
    shapes = operands.shapes(leaves, lambda: tree.flatten(operands.trial(f, args, kwargs, step.draws), goes_on)[0])
    results = [_leaf(step, k, x, shapes[k], loops, f) for k, x in enumerate(leaves)]
    step.is_stable = _is_stable(f, fargs, fkwargs)
    step.is_filled = _is_filled(f, step, leaves)
    steps_here().append(step)
    return step.structure.unflatten(results)


def _loops_around(f: Callable) -> list:
    """The loops around the present place, outermost first, each as (number of the iteration, count)."""
    loops: list = []
    for builder in around(current()):
        if builder.region.runs is None:
            kernel_drawing.want()
            raise refused(f, "how often it is called depends on data (a branch, a while loop)")
        if builder.region.runs == EXAMPLE:
            raise refused(f, "each example of a batch is to have its own", OneByOneError)
        if builder.region.runs != ONCE:
            loops.insert(0, builder.region.runs)
    return loops


def _leaf(step: PreludeCall, k: int, x: object, shape: tuple, loops: list, f: Callable) -> Any:
    """A leaf of a step's result, as captured code sees it: a value of the program, or a generator."""
    root = current().root
    if goes_on(x):
        root.trace.handles[id(x)] = (x, Made(step.number, (k,)), state_of(x))
        step.leaves.append(((k,), None, None))
        return x
    x, t = type_of_result(f, x)
    stacked = Type(t.dtype, (*[as_extent(_count(n)) for _, n in loops], *shape), t.weak and not loops)
    value = root.input(stacked, f"drawn{step.number}")
    root.trace.dense[value.atom] = True
    step.leaves.append(((k,), Type(t.dtype, shape, t.weak), value.atom))
    root.trace.drawn[value.atom] = (Made(step.number, (k,)), x)
    if not loops:
        return value
    row = value[tuple([i for i, _ in loops])]
    return python_number(row) if t.weak else row


def _count(n: object) -> Any:
    """The count of a loop: an int, or an extent of an input."""
    if not isinstance(n, Value) or n.atom in current().integers.dims:
        return n
    return operator.index(n)  # type: ignore[arg-type]  # a tracer of an integer has __index__


def steps_here() -> list:
    """The steps so far of the program, or of the body of a loop, that is being traced."""
    builder = current()
    while builder.region.runs == ONCE and builder.parent is not None:
        builder = builder.parent
    return builder.region.steps


def repeat(count: ArrayOrNumber, steps: list) -> None:
    """Put the steps of a loop's body, which is now a region of the program, among those of what is around it."""
    if steps:
        n = _count(count)
        steps_here().append(Repeat(Integer(((n.atom, 1),), 0) if isinstance(n, Value) else n, steps))


def _is_stable(f: Callable, args: tuple, kwargs: dict) -> bool:
    """Whether the types of the result are the same at each call, whatever is drawn."""
    leaves = tree.flatten((args, kwargs), is_leaf=lambda x: isinstance(x, (Integer, Made, Attribute)))[0]
    if any(isinstance(x, (Made, Attribute)) for x in leaves):
        return False
    if hasattr(f, "draws_one_kind"):
        return True
    owner = getattr(f, "__self__", None)
    return is_numpys_generator(owner) or (isinstance(owner, random.Random) and f.__name__ in SIZED)


def _is_filled(f: Callable, step: PreludeCall, leaves: list) -> bool:
    """Whether calls one after the other draw what one call draws for an array with one more axis."""
    place = FILLED.get(getattr(f, "__name__", "")) if is_numpys_generator(getattr(f, "__self__", None)) else None
    if place is None or len(step.args) > place or len(leaves) != 1 or not isinstance(leaves[0], (float, np.ndarray)):
        return False
    given = [*step.args, *[x for k, x in step.kwargs.items() if k != "size"]]
    is_plain = step.kwargs.keys() <= {"loc", "scale", "low", "high", "size"} and all(
        isinstance(x, (int, float)) for x in given)
    return is_plain and type_of(leaves[0]).dtype == np.float64


# -- the end of a trace ----------------------------------------------------------------------------------------------


def settle(root: Builder) -> list:
    """The inputs that the prelude gives values to, behind all others; those of attempts that failed are none."""
    refuse_unseen_draws(x for x in root.trace.handles.values() if not isinstance(x[0], random.SystemRandom))
    inputs = inputs_of(root.region.steps)
    root.inputs[:] = [v for v in root.inputs if v not in root.trace.drawn] + inputs
    return inputs


def refuse_leaks(root: Builder, func: Func, statics: Any) -> None:
    """An error if a generator that the prelude makes is returned, or a value of an attempt is used that has been
    given up.
    """
    if any(id(x) in root.trace.handles for x in statics):
        raise UnstageableError("a generator of random numbers is returned, which the function makes without a seed",
                               why="it is another one at each call")
    lost = root.trace.drawn.keys() - set(root.inputs)
    if lost and not lost.isdisjoint(free_vars(func)):
        raise UnstageableError("random numbers are drawn in a loop that was traced in several ways",
                               do="draw all of them before the loop")


def placed(entries: list, place: dict) -> list:
    """The prelude with places of inputs in place of variables."""
    fixed = functools.partial(_placed, place=place)
    done: list = []
    for entry in entries:
        if isinstance(entry, Repeat):
            done.append(Repeat(fixed(entry.count), placed(entry.steps, place)))
            continue
        entry.function, entry.args, entry.kwargs = fixed(entry.function), fixed(entry.args), fixed(entry.kwargs)
        entry.leaves = [(path, t and Type(t.dtype, fixed(t.shape), t.weak), v) for path, t, v in entry.leaves]
        done.append(entry)
    return done


def _placed(x: Any, place: dict) -> Any:
    if isinstance(x, Var):                                    # an extent
        return Integer(((place[x], 1),), 0)
    if isinstance(x, Integer):
        return Integer(tuple((place[v] if isinstance(v, Var) else v, c) for v, c in x.terms), x.const)
    if isinstance(x, (Made, Attribute)):
        return x
    if type(x) in (tuple, list):
        return type(x)(_placed(y, place) for y in x)
    return {k: _placed(v, place) for k, v in x.items()} if type(x) is dict else x
