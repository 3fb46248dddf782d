"""Functions that another library calls with its own arrays: fad.torch, fad.jax, fad.pytensor.

    host's arrays ──► ndarrays ──► f, compiled ──► ndarrays ──► host's arrays
    host's cotangents ──────────► pulled(f) ──► the cotangents of its arguments

The derivative of a hosted function is a function of arrays again: of the arguments and the cotangents. The host calls
it in the same way, so that it has derivatives too, of every order.
"""
import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...util import tree
from ...util.errors import ArgumentError, StructureError
from ..calls.staged import Staged, check_callable
from ..calls.transform_cache import remembered
from ..derivatives.derivative import jit, jitted
from ..derivatives.products import jvp, pulled_in_place
from ..derivatives.pullback import TwoStep, later_tree


class Results(NamedTuple):
    """The types that a function returns for arguments of some dtypes and ranks: a dtype and a rank for each result, and
    whether it is an array alone, not a tuple.
    """

    types: tuple
    is_alone: bool

    @property
    def moving(self) -> tuple:
        """The places of the results that have derivatives."""
        return tuple(k for k, (dtype, _) in enumerate(self.types) if dtype.kind in "fc")


class Hosted:
    """A function f(*arrays) whose results are a tuple of arrays, and its derivatives."""

    def __init__(self, f: Callable, name: str):
        self.f, self.name = check_callable(f, name), name
        self.run = jitted(f)
        self.accepted: Any = None                             # the program that was checked last
        self.described: tuple = (None, None)                  # a program, and the types of its results
        self.derivatives: dict = {}

        def flat(*args: object) -> tuple:
            result = f(*args)
            return tuple(result) if isinstance(result, (tuple, list)) else (result,)
        self.flat = flat
        self.shapes_of = jit(lambda *args: tuple(np.shape(y) for y in flat(*args)), compile="never")

    def results(self, args: Sequence) -> Results:
        """The types of the results, by a trace; an error if a host cannot take them."""
        program = self._program(args)
        described, results = self.described                   # read at once: hosts call from several threads
        if program is not described:
            results = self._results_of(program.traced)
            self.described = program, results
        return results

    def _program(self, args: Sequence) -> Any:
        """The program for these arguments. It is another one if what the function reads from outside has changed."""
        program, _ = self.run.program_for(*args)
        if program is not self.accepted:
            program.refuse_writes()                           # what Python does at each call, no host knows of
            self.accepted = program
        return program

    def _results_of(self, traced: Any) -> Results:
        structure, statics = traced.structure, traced.statics
        is_alone = structure.cls is None
        is_row = structure.cls in (tuple, list) and all(child.cls is None for child in structure.children)
        if statics or not (is_alone or is_row) or not structure.leaves:
            is_none = statics or not structure.leaves
            shown = "no array" if is_none else f"{structure.text()} (* is an array or a number)"
            raise StructureError(f"fad.{self.name} needs a function that returns an array or a tuple of arrays, and "
                                 f"this one returned {shown}", do="return the arrays, without a structure around them")
        outputs = traced.func.outputs[:structure.leaves]
        return Results(tuple((y.type.dtype, len(y.type.shape)) for y in outputs), is_alone)

    def shapes(self, args: Sequence) -> tuple:
        """The shapes of the results for arguments of these shapes. Nothing is computed but extents."""
        return tuple(tuple(int(n) for n in shape) for shape in self.shapes_of(*args))

    def __call__(self, args: Sequence) -> list:
        """The results, which are new arrays."""
        self._program(args)
        result = self.run(*args)
        return [np.asarray(y) for y in (result if isinstance(result, (tuple, list)) else (result,))]

    def pulled(self, count: int, wanted: tuple, moving: tuple) -> "Hosted":
        """The function of so many arguments and of the cotangents of the moving results that returns a tuple: the
        cotangents of the wanted arguments."""
        return self._derivative(Pulled, count, wanted, moving)

    def pushed(self, count: int, wanted: tuple, moving: tuple) -> "Hosted":
        """The function of so many arguments and of tangents of the wanted ones that returns a tuple: the tangents of
        the moving results."""
        return self._derivative(Pushed, count, wanted, moving)

    def _derivative(self, *key: Any) -> "Hosted":
        found = self.derivatives.get(key)
        if found is None:
            make, *of = key
            found = self.derivatives[key] = make(self, *of)
        return found

    def with_pullback(self, args: Sequence, wanted: tuple) -> tuple:
        """The results as arrays, and the function from all their cotangents to those of the wanted arguments."""
        self.results(args)
        (results,), step = _forward_of(self.flat, wanted)(*args)
        return [np.asarray(y) for y in results], step

    def __reduce__(self) -> tuple:
        return type(self), (self.f, self.name)

    def __repr__(self) -> str:
        return f"<fad.{self.name} of {getattr(self.f, '__qualname__', self.f)}>"


class HostFunction:
    """A function of a host's arrays that runs compiled by fad."""

    def __init__(self, hosted: Hosted):
        self.hosted = hosted
        functools.update_wrapper(self, hosted.f, assigned=("__module__", "__doc__", "__name__"), updated=())

    def __call__(self, *args: object, **kwargs: object) -> Any:
        raise NotImplementedError

    def __reduce__(self) -> tuple:
        return type(self), (self.hosted,)

    def __repr__(self) -> str:
        return repr(self.hosted)


class Derived(Hosted):
    """A derivative of a hosted function. The types of its results are known without a trace."""

    def __init__(self, of: Hosted, count: int, wanted: tuple, moving: tuple):
        self.of, self.count, self.wanted, self.moving = of, count, wanted, moving
        super().__init__(self.made(of.flat, count, wanted, moving), of.name)

    @staticmethod
    def made(flat: Callable, count: int, wanted: tuple, moving: tuple) -> Callable:
        """The derivative as a function of arrays."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__.lower()} {self.of!r}>"

    def __reduce__(self) -> tuple:
        return type(self), (self.of, self.count, self.wanted, self.moving)


class Pulled(Derived):
    """The pullback, of arguments and cotangents."""

    @staticmethod
    def made(flat: Callable, count: int, wanted: tuple, moving: tuple) -> Callable:
        """Reverse mode."""
        def moved(*args: object) -> tuple:
            results = flat(*args)
            return tuple([results[k] for k in moving])

        def pullback(*values: object) -> tuple:
            return pulled_in_place(moved, values[:count], False, wanted)[1](values[count:])
        return pullback

    def results(self, args: Sequence) -> Results:
        chosen = [np.asarray(args[k]) for k in self.wanted]
        return Results(tuple((x.dtype, x.ndim) for x in chosen), False)


class Pushed(Derived):
    """The directional derivative, of arguments and tangents."""

    @staticmethod
    def made(flat: Callable, count: int, wanted: tuple, moving: tuple) -> Callable:
        """Forward mode."""
        def push(*values: object) -> tuple:
            def moved(*xs: object) -> tuple:
                args = list(values[:count])
                for k, x in zip(wanted, xs):
                    args[k] = x
                results = flat(*args)
                return tuple([results[k] for k in moving])
            return jvp(moved, tuple([values[k] for k in wanted]), values[count:])[1]
        return push

    def results(self, args: Sequence) -> Results:
        types = self.of.results(args[:self.count]).types
        return Results(tuple(types[k] for k in self.moving), False)


@remembered
def _forward_of(flat: Callable, wanted: tuple) -> Staged:
    """vjp with respect to the wanted arguments alone."""
    def body(*primals: object) -> Any:
        results, pullback = pulled_in_place(flat, primals, False, wanted)
        return (results,), pullback(later_tree(results, "g")), results
    return TwoStep(body, flat, rebuild=(_forward_of, (flat, wanted), {}))


def is_moving(x: Any) -> bool:
    """Whether an array has a floating dtype."""
    return np.dtype(x.dtype).kind in "fc"


def check_arguments(name: str, args: Sequence, kwargs: dict) -> None:
    """Raise unless the arguments are given by position and without structure."""
    if kwargs:
        raise ArgumentError(f"a function of fad.{name} takes no keywords, and got {', '.join(kwargs)}",
                            do="pass the arguments by position")
    for x in args:
        if isinstance(x, (dict, list, tuple)) or x is None or tree.flatten(x)[1].cls is not None:
            raise StructureError(f"a function of fad.{name} takes arrays, and got a {type(x).__name__}",
                                 do="pass the arrays as arguments of their own")
