"""Stand-ins for a library's modules, functions, ufuncs and objects: calls with traced arguments lead to overrides."""
import functools
import math
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ...ir import stack
from ...ir.build import current
from ...ops.literals import SEQUENCES
from ...ops.numpy_api.within import load_above
from ...ops.override import find
from ...ops.reach import uses
from ...util.array import ArrayOrNumber
from ...util.defects import asked_by_user, for_user
from ...util.errors import UnsupportedFunctionError
from ...util.where import module_name, package_name
from ..guards.escapes import hand_over
from ..guards.kinds import OPERATORS
from ..guards.led_to import have_unseen
from ..guards.python_objects import of_library
from ..heap.callbacks import steadied
from ..heap.foreign import called_on_foreign, holds_foreign
from ..heap.journal import made
from ..lists.export import as_arrays
from ..lists.rows import RowList
from ..objects.containers import elements_of, never_change
from ..objects.originals import original_of as original_of
from ..values.constants import constant_of
from ..values.mutation import call_override, on_the_tape
from ..values.protocol import call_ufunc, in_numpys_terms, is_overridden
from ..values.tracer import Tracer
from .builtin import OverrideClass
from .calls import called

MODULES = ("numpy", "math", "cmath", "scipy", "statistics")
MANY = 10_000                                                # numbers that a library's object is made of while tracing
_METHODS_OF_UFUNCS = ("reduce", "accumulate", "outer", "at", "reduceat")


def has_traced(args: Any) -> bool:
    """Whether a traced value is among these arguments, at any depth of lists, tuples and deques."""
    for a in args:
        cls = type(a)                                         # a weak proxy of what is gone has no other class
        if issubclass(cls, (Tracer, RowList)) or (
            issubclass(cls, SEQUENCES) and not never_change(a) and _has_traced(a)
        ):
            return True
    return False


def _has_traced(items: Any) -> bool:
    seen, queue = {id(items)}, [items]
    while queue:
        x = elements_of(queue.pop())
        classes = tuple(set(map(type, x)))                    # a list has many elements of few classes
        if any(issubclass(cls, (Tracer, RowList)) for cls in classes):
            return True
        if any(issubclass(cls, SEQUENCES) for cls in classes):
            inside = [y for y in x if isinstance(y, SEQUENCES) and id(y) not in seen and not never_change(y)]
            seen.update(map(id, inside))
            queue += inside
    return False


def ufunc_behind(f: object) -> np.ufunc | None:
    """The ufunc whose method f is: np.add.reduce; None of anything else."""
    owner = f.__self__ if type(f) is BuiltinFunctionType and f.__name__ in _METHODS_OF_UFUNCS else None
    return owner if isinstance(owner, np.ufunc) else None


@for_user
def reading(f: Callable, *args: object, **kwargs: object) -> Any:
    """The call of a function that may look into what it is given, and into the object whose method it is."""
    owner = getattr(f, "__self__", None)
    if not isinstance(f, (FunctionType, BuiltinFunctionType, type)) and owner is None:
        owner = f                                             # an object that is called
    given = *args, *kwargs.values()
    hand_over(current().root, (*given, *([] if isinstance(owner, ModuleType) else [owner])), has_traced,
              is_hidden=have_unseen((f, *given)))
    return called(f, *args, **kwargs)


class Proxy(ModuleType):
    """A module as captured code sees it; `see` is what it sees of the module's values (see Capture.seen and
    Capture.swap).
    """

    is_stand_in = True

    def __init__(self, module: ModuleType, see: Callable):
        super().__init__(module.__name__)
        self.__dict__.update(_original=module, _see=see)

    @for_user
    def __getattr__(self, name: str) -> Any:
        value = getattr(self._original, name)
        if stack.builders() and not stack.is_live():
            current().trace.sources += of_library(self._original, name, value)
        value = self._see(value)
        self.__dict__[name] = value
        return value


def redirected(original: Any, found: Any, capture: Any) -> Callable:
    """Calls with traced arguments (and creations) go to the override, all others to the original."""
    name, is_class = getattr(original, "__name__", "call"), isinstance(original, type)
    if found.routine:
        call: Callable = RoutineCall(original, found.call, capture)
        return _class_with_override(name, original, call) if is_class else call
    if isinstance(original, np.ufunc):
        return Ufunc(original, capture.runtime.arrayed)      # type: ignore[return-value]
    make = _call_of_math if module_name(original) in ("math", "cmath") else _call_of_library
    call = make(name, original, found, capture)
    if is_class:
        return _class_with_override(name, original, staticmethod(call))
    call.__name__ = name
    return call


def _class_with_override(name: str, original: type, make: Callable) -> Callable:
    return OverrideClass(name, (), {"original": original, "make": make})  # type: ignore[return-value]


def _call_of_math(name: str, original: Callable, found: Any, capture: Any) -> Callable:
    """The call of a function of math or cmath, whose results are Python's."""
    @for_user
    def call(*args: Any, **kwargs: Any) -> Any:
        args = tuple([capture.runtime.as_number(x, name in INTEGRAL) for x in _listed(args)])
        if _is_for_override(found, args, kwargs):
            return _by_override(name, original, found, capture, args, kwargs)
        return on_the_tape(asked_by_user(original, *args, **kwargs), *args, *kwargs.values())
    return call


def _call_of_library(name: str, original: Callable, found: Any, capture: Any) -> Callable:
    """The call of a function, or a class, of NumPy's or SciPy's."""
    makes_objects = isinstance(original, type) and package_name(original) == "scipy" or name == "make_interp_spline"
    arrayed = capture.runtime.arrayed

    @for_user
    def call(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = tuple(map(arrayed, args)), {k: arrayed(x) for k, x in kwargs.items()}
        if holds_foreign(args, kwargs):
            return called_on_foreign(original, args, kwargs)
        if not _is_for_override(found, args, kwargs) or is_overridden("__array_function__", map(type, args)):
            return on_the_tape(original(*args, **kwargs), *args, *kwargs.values())
        own = None if found.creation or not makes_objects else _of_known_numbers(original, args, kwargs)
        if own is not None:
            return capture.swap(own)
        return in_numpys_terms(name, _by_override(name, original, found, capture, args, kwargs))
    return call


def _is_for_override(found: Any, args: tuple, kwargs: dict) -> bool:
    return found.creation or has_traced(args) or has_traced(kwargs.values())


def _by_override(name: str, original: Callable, found: Any, capture: Any, args: tuple, kwargs: dict) -> Any:
    """The result of an override. It may call functions among its arguments; a new list is the trace's own."""
    given = tuple([steadied(name, as_arrays(a), capture) for a in args])
    options = {k: steadied(name, as_arrays(v), capture) for k, v in kwargs.items()}
    result = call_override(name, found.call, given, options, original)
    if isinstance(result, list):
        made(result)
    return result


INTEGRAL = {"gcd", "lcm", "comb", "perm", "factorial", "isqrt"}  # of the module math: they ask for __index__


def _listed(args: tuple) -> tuple:
    """Arguments of a call; lists in place of iterators, which do not show what they give."""
    return tuple([list(a) if isinstance(a, Iterator) else a for a in args])


def _is_traced(x: object) -> bool:
    return isinstance(x, (Tracer, RowList))


class RoutineCall:
    """A function that fad has a routine for. Calls with anything traced go to the routine, which is captured like the
    user's functions; all other calls go to the original.
    """

    def __init__(self, original: Callable, routine: Callable, capture: Any):
        self.original, self.captured = original, capture.swap(routine)

    def __call__(self, *args: object, **kwargs: object) -> Any:
        args = _listed(args)
        if any(uses(x, _is_traced) for x in (*args, *kwargs.values())):
            load_above(module_name(self.original))
            try:
                return self.captured(*args, **kwargs)
            except UnsupportedFunctionError:
                if not stack.is_live():
                    raise
        return called(self.original, *args, **kwargs)


def _of_known_numbers(make: Callable, args: tuple, kwargs: dict) -> Any:
    """The library's own object, where all the numbers that it is made of are known while tracing: a spline through
    given points. It may be kept. Else None.
    """
    try:
        return make(*map(_known, args), **{k: _known(x) for k, x in kwargs.items()})
    except _UnknownNumber:
        return None


class _UnknownNumber(Exception):
    """A number is not known while tracing."""


def _known(x: object) -> Any:
    if isinstance(x, (list, tuple)):
        return type(x)(map(_known, x))
    value = _constant(x) if isinstance(x, Tracer) else x
    if value is None and x is not None or isinstance(x, RowList):
        raise _UnknownNumber
    return value


def _constant(x: Tracer) -> Any:
    """The value of x, if it is known and not large: elements from outside are compared at each call."""
    return constant_of(x.atom) if all(isinstance(n, int) for n in x.shape) and math.prod(x.shape) <= MANY else None


def has_overrides(cls: type) -> bool:
    """Whether this is a class of a library's that has methods with overrides, as scipy.stats' distributions have."""
    return package_name(cls) in MODULES and _has_overrides(cls)   # users' classes are not kept


@functools.cache
def _has_overrides(cls: type) -> bool:
    if not OPERATORS.isdisjoint(dir(cls)):
        return False  # an object of which Python itself calls methods
    return any(type(f) is FunctionType and find(f) for f in [getattr(cls, name, None) for name in dir(cls)])


class Object:
    """A library's object whose methods have overrides: scipy.stats.norm, and what comes of calling it."""

    is_stand_in = True

    def __init__(self, original: object, capture: object):
        self.__dict__.update(_original=original, _capture=capture)

    @property  # type: ignore[misc]
    def __class__(self) -> type:                              # isinstance is to say what the original is
        return type(self._original)

    @for_user
    def __getattr__(self, name: str) -> Any:
        value = getattr(self._original, name)
        if type(value) is not MethodType:
            return value
        return functools.partial(self._called, self._capture.runtime.call(value))

    def _called(self, method: Callable, *args: object, **kwargs: object) -> Any:
        """The result of a method. Another object of the library (a spline's derivative) gets overrides, too."""
        result = method(*args, **kwargs)
        cls: Any = type(result)
        return Object(result, self._capture) if has_overrides(cls) else result

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._original, name, value)

    def __call__(self, *args: object, **kwargs: object) -> Any:
        return self._capture.swap(self.__getattr__("__call__")(*args, **kwargs))


class Ufunc:
    """A ufunc, called as a function or by its methods (np.add.reduce), which the protocol takes care of."""

    def __init__(self, ufunc: np.ufunc, arrayed: Callable):
        self._ufunc, self._arrayed = ufunc, arrayed

    def __call__(self, *args: object, **kwargs: object) -> ArrayOrNumber:
        return self._by_protocol("__call__", args, kwargs)

    @for_user
    def __getattr__(self, name: str) -> Any:
        found = getattr(self._ufunc, name)
        if name not in _METHODS_OF_UFUNCS:
            return found
        return lambda *args, **kwargs: self._by_protocol(name, args, kwargs)

    @for_user
    def _by_protocol(self, method: str, args: tuple, kwargs: dict) -> Any:
        """As NumPy would ask the protocol, which does not look into lists for traced values."""
        ufunc, args = self._ufunc, tuple(map(self._arrayed, args))
        if ((has_traced(args) or has_traced(kwargs.values()))
                and not is_overridden("__array_ufunc__", map(type, args))):
            return call_ufunc(ufunc, method, as_arrays(args), kwargs)
        return getattr(ufunc, method)(*args, **kwargs)
