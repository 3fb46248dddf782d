"""The record of a special function: SciPy's ufunc, run by SciPy, typed as SciPy types it, with its partial
derivatives."""
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.op import Op
from ...ir.traits import NO_TRAITS, Traits
from ...ir.types import Type, type_of, ufunc_dtypes
from ...util.array import AnyArray, ArrayOrNumber
from ...util.errors import NoDerivativeError
from ...util.lazy import LazyModule
from ..extents import broadcast_of
from ..kinds import Partials, is_complex
from ..pointwise import composed

SCIPY = LazyModule("scipy.special")
UFUNCS = LazyModule("scipy.special._ufuncs")
PI, SQRT_PI, SQRT2 = math.pi, math.sqrt(math.pi), math.sqrt(2.0)
POSITIVE = (0.3, 2.0)


class NoFormula:
    """The partial derivative that fad has no formula for: to ask for it raises, with the reason."""

    def __init__(self, reason: str):
        self.reason = reason

    def __call__(self, y: object, *xs: ArrayOrNumber) -> Any:
        raise NoDerivativeError("no rule for this partial derivative of a special function", why=self.reason)


class Infer:
    """Result types as SciPy's ufunc has them; which of its results, for one of several."""

    def __init__(self, find: Callable, output: int = 0):
        self.find, self.output = find, output

    def __call__(self, *args: Any) -> Type:
        ufunc, shape = self.find(), broadcast_of(*args)
        weak = not shape and all(type_of(a).weak for a in args)
        return Type(ufunc_dtypes(ufunc, *args)[ufunc.nin + self.output], shape, weak)


class InNumPy:
    """A ufunc of SciPy with one argument and a NumPy formula for float32 and float64, which serves until SciPy is
    loaded."""

    nin = nout = 1
    dtypes = (np.dtype(np.float64), np.dtype(np.float32))

    def __init__(self, name: str, formula: Callable):
        self.name, self.formula = name, formula

    def __call__(self, x: object) -> AnyArray:
        if SCIPY.__name__ not in sys.modules and isinstance(x, (np.ndarray, np.generic)) and x.dtype in self.dtypes:
            return self.formula(x)
        return getattr(SCIPY, self.name)(x)

    def resolve_dtypes(self, asked: tuple) -> tuple:
        """As NumPy's method of this name."""
        return (asked[0], asked[0]) if asked[0] in self.dtypes else getattr(SCIPY, self.name).resolve_dtypes(asked)


def special(name: str, *partials: object, domain: tuple = POSITIVE, singular: tuple = (), derivative: object = None,
            behind: str = "", printed: str = "", formula: Any = None, traits: Traits = NO_TRAITS) -> Op:
    """The op of a scipy.special ufunc with one result, under the name `behind` if given; one partial for each
    argument. `formula`: its definition in NumPy, for functions that programs use without SciPy (see InNumPy)."""
    derivative = derivative or Partials(*partials, singular=singular)
    plain = InNumPy(name, formula) if formula else None
    find = (lambda: plain) if plain else (lambda: getattr(UFUNCS, behind)) if behind else (lambda: getattr(SCIPY, name))
    arity = len(partials) or 1
    return composed(name, lambda *xs: find()(*xs), Infer(find), f"{printed or name}({places(arity)})", derivative,
                    domain, arity=arity, scipy=find, module="special", doc=f"SciPy's {name}", traits=traits)


def special_part(name: str, output: int, *partials: object, call: str, domain: tuple = POSITIVE) -> Op:
    """The op of one of the results of a ufunc (`call`) of scipy.special."""
    def find() -> Any:
        return getattr(SCIPY, call)
    arity = len(partials)
    return composed(name, lambda *xs: find()(*xs)[output], Infer(find, output), f"{call}({places(arity)})[{output}]",
                    Partials(*partials), domain, arity=arity, scipy=find, module="special", part=(call, output),
                    doc=f"Result {output} of SciPy's {call}")


def places(arity: int) -> str:
    """The places of a template's arguments."""
    return ", ".join(f"{{{k}}}" for k in range(arity))


def real_only(partial: Callable, what: str) -> Callable:
    """A partial that is right for real arguments; for complex ones there is none, because `what`."""
    def checked(y: AnyArray, *xs: AnyArray) -> AnyArray:
        if any(is_complex(x) for x in xs):
            raise NoDerivativeError("no rule for this special function of a complex argument", why=what)
        return partial(y, *xs)
    checked.real_only = what                       # type: ignore[attr-defined]
    return checked
