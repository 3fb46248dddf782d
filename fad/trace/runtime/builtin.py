"""Python's builtin functions, as captured code calls them: with their own meaning on plain values, part of the program
on traced ones.
"""
import builtins
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ...ir import stack
from ...ir.build import Value, current
from ...ops.literals import has_values, python_complex, python_float, python_int, python_number
from ...ops.override import METHODS, OBJECTS, PROPERTIES, find
from ...ops.records import Record, Records
from ...util.array import ArrayOrNumber
from ...util.defects import asked_by_user, for_user, refusal_behind
from ...util.errors import UnstageableError
from ...util.library_object import LibraryObject
from ..guards.guard import in_class, of_class
from ..guards.kinds import MISSING
from ..guards.python_objects import of_class_asked
from ..heap.foreign import Foreign
from ..lists.elements import Fixed
from ..lists.export import as_array, as_arrays, number_of
from ..lists.items import Items
from ..lists.rows import RowList
from ..lists.tails import Tail
from ..objects.containers import NEVER_CHANGE, is_users
from ..objects.originals import StandIn, original_of
from ..values import text
from ..values.absent import refuse_attribute_of_subclass, refuse_subclasses
from ..values.choice import ChosenThing
from ..values.iterate import Drawn, Once, Range, enumerate_, range_, reversed_, zip_
from ..values.tracer import Tracer
from . import ordering, output

WITH_A_CLASS = (Records, Record, Tail, LibraryObject, Range, Once, Drawn)  # what stands for an object of another class


def is_scalar(x: object) -> bool:
    return isinstance(x, Tracer) and x.ndim == 0


@for_user
def length(x: Any) -> ArrayOrNumber:
    if isinstance(x, Tracer) and x.ndim:
        return x.shape[0]
    if isinstance(x, Range):
        return x.steps().count()
    return x.length if isinstance(x, RowList) else len(x)


@for_user
def sum_(iterable: object, start: Any = 0) -> Any:
    array = as_array(iterable)
    if isinstance(array, Tracer) and array.ndim:
        own = array.dtype if array.dtype.kind in "iu" else None          # np.sum would sum small ints as large ones
        return start + number_of(iterable, METHODS["sum"](array, axis=0, dtype=own))
    return sum(array, start)


@for_user
def _as_int(x: Any = 0, *base: object) -> Any:
    if not is_scalar(x) or base:
        return asked_by_user(int, x, *base)
    return python_int(x)


def as_python(y: object) -> Any:
    """A scalar that Python's own functions would return: a number where it is known."""
    return y.item() if isinstance(y, np.generic) else y


@for_user
def _as_float(x: Any = 0.0) -> Any:
    if not is_scalar(x) or x.dtype.kind == "c":
        return asked_by_user(float, x)
    return python_float(x)


@for_user
def _as_complex(x: Any = 0, *imag: Any) -> Any:
    if not any(isinstance(a, Value) for a in (x, *imag)):
        return complex(x, *imag)
    return python_complex(x if not imag else python_number(x) + python_number(imag[0]) * 1j)


@for_user
def _as_bool(x: Any = False) -> Any:
    if not is_scalar(x):
        return bool(x)
    return python_number(x if x.dtype.kind == "b" else as_python(x != 0))


class OverrideClass(StandIn):
    """A library's class that has an override: with traced arguments, a call makes what the override says."""

    make: Any

    def __call__(cls, *args: object, **kwargs: object) -> Any:
        return cls.make(*args, **kwargs)


class NumberClass(StandIn):
    """int, float or bool as captured code sees it: traced scalars can be converted, and isinstance, == and dtype= know
    it for the builtin.
    """

    convert: Any

    def __call__(cls, *args: object, **kwargs: object) -> Any:
        return cls.original(*args, **kwargs) if kwargs else cls.convert(*args)

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, cls.original) or (_is_number(x) and issubclass(_python_class(x), cls.original))


def _python_class(x: Tracer) -> type:
    """The class that a traced scalar would have: a Python number's, or NumPy's."""
    current().trace.asked = True
    return _class_in(x.dtype, x.type.weak)


def _class_in(dtype: np.dtype, weak: bool) -> type:
    return {"b": bool, "i": int, "f": float, "c": complex}[dtype.kind] if weak else dtype.type


def _doubts_of(x: Tracer) -> Iterable:
    """The types that x may have had in the list it was taken from, if that holds several; else none."""
    return current().root.trace.doubtful.get(x.held, ())


def refuse_doubtful(x: Tracer) -> None:
    if _doubts_of(x):
        raise UnstageableError("the class of an element is asked, of a list that holds numbers of several",
                               why="in a loop the list is one array, of one dtype", do="give all elements one class")


def _is_number(x: Any) -> bool:
    return is_scalar(x) and not x.is_array


def _number_class(original: Any, convert: Any) -> "NumberClass":
    return NumberClass(
        original.__name__, (), {"original": original, "convert": staticmethod(convert), "dtype": np.dtype(original)}
    )


int_, float_, bool_ = _number_class(int, _as_int), _number_class(float, _as_float), _number_class(bool, _as_bool)
complex_ = _number_class(complex, _as_complex)


def class_of(x: object) -> Any:
    """type(x) for the value that a tracer stands for. For fad's own lists it is list."""
    if isinstance(x, (Items, Fixed)):
        return list
    x = original_of(x)
    if isinstance(x, WITH_A_CLASS):
        return ndarray if x.stands_for is np.ndarray else x.stands_for
    if type(x) is ChosenThing:
        return x.common(class_of)
    if type(x) is text.TracedText:
        return str
    if isinstance(x, Foreign):
        return x.__class__
    if not isinstance(x, Tracer):
        return type(x)
    if x.is_array:
        refuse_subclasses(lambda y: True, "its class")
        return ndarray
    refuse_doubtful(x)
    return {bool: bool_, int: int_, float: float_, complex: complex_}.get(_python_class(x), x.dtype.type)


def type_(*args: object, **kwargs: object) -> Any:
    return type(*args, **kwargs) if len(args) != 1 else class_of(*args)


def _original_class(x: Tracer) -> type:
    return np.ndarray if x.is_array else _python_class(x)


@for_user
def isinstance_(x: Any, classes: Any) -> bool:
    """isinstance() of the value that a traced one stands for: an element of a float32 array is an np.floating, a number
    no Iterable.
    """
    if isinstance(x, Tracer):
        found = issubclass(_original_class(x), classes)
        if any(issubclass(_class_in(dtype, weak), classes) != found for dtype, weak in _doubts_of(x)):
            refuse_doubtful(x)
        refuse_subclasses(lambda y: x.is_array and isinstance(y, classes) != found, "its class")
        if not found and issubclass(complex, classes):
            PROPERTIES["real"](x)                             # a float that is nan may be complex
        return found
    if type(x) is ChosenThing:
        return x.common(lambda one: isinstance_(one, classes))
    if isinstance(x, WITH_A_CLASS):
        return issubclass(x.stands_for, classes)
    x = original_of(x)
    if type(x) not in NEVER_CHANGE and stack.builders() and not stack.is_live():
        trace = current().trace
        is_outer = id(x) not in trace.inside and id(x) not in trace.journal.made
        trace.sources += of_class_asked(x, classes, is_outer)
    return isinstance(x, classes)


def callable_(x: object) -> bool:
    """callable() of a thing: its class says so, and may say something else at the next call."""
    if is_users(x) and stack.builders() and not stack.is_live():
        current().trace.sources.append(of_class(type(x), "__call__"))
    return callable(x)


def hasattr_(x: object, name: str) -> bool:
    """hasattr() of the value that a traced one stands for, or of a list."""
    if type(x) is ChosenThing:
        return x.common(lambda one: hasattr_(one, name))
    if isinstance(x, Tracer):
        refuse_attribute_of_subclass(name)
    if isinstance(x, (Tracer, Items, Fixed)):
        return in_class(_original_class(x) if isinstance(x, Tracer) else list, name) is not MISSING
    if isinstance(x, LibraryObject):
        return hasattr(x.stands_for, name) or hasattr(x, name)
    return hasattr(x.stands_for if isinstance(x, WITH_A_CLASS) else x, name)


def getattr_(x: object, name: str, *default: object) -> object:
    """getattr() of the same, for code that is not rewritten."""
    return default[0] if default and not hasattr_(x, name) else getattr(x, name, *default)


def scalar_class(cls: type, original: Callable) -> Any:
    """A class of NumPy's scalars (np.float64) as captured code calls it: what is traced is converted, the rest is given
    to `original`. None for any other class.
    """
    if not issubclass(cls, (np.number, np.bool_)):
        return None

    def convert(*args: Any) -> Any:
        args = as_arrays(args)
        if not has_values(args):
            try:
                return original(*args)
            except (TypeError, ValueError) as error:
                refusal = refusal_behind(error)
                if refusal is None:
                    raise
                raise refusal from None
        y = find(np.array).call(args[0] if len(args) == 1 else _as_complex(*args))     # type: ignore[union-attr]
        if y.dtype.kind == "c" and not issubclass(cls, np.complexfloating):
            raise TypeError(f"np.{cls.__name__} of a complex value: take its real part")
        return METHODS["astype"](y, cls, copy=False)
    return convert


class ArrayClass(StandIn):
    """np.ndarray as captured code sees it: traced arrays are instances, and a call makes an array that is not written
    yet.
    """

    def __call__(
        cls, shape: Any, dtype: Any = float, buffer: Any = None, offset: int = 0, strides: Any = None, order: Any = None
    ) -> Any:
        if buffer is not None or offset or strides is not None:
            return np.ndarray(shape, dtype, buffer, offset, strides, order)
        return find(np.empty).call(shape, dtype=dtype, order=order or "C")   # type: ignore[union-attr]

    def __instancecheck__(cls, x: object) -> bool:
        return isinstance(x, np.ndarray) or (isinstance(x, Tracer) and x.is_array)


ndarray = ArrayClass("ndarray", (), {"original": np.ndarray})
OBJECTS[id(np.ndarray)] = ndarray


@for_user
def divmod_(a: Any, b: Any) -> Any:
    return (a // b, a % b) if isinstance(a, Value) or isinstance(b, Value) else divmod(a, b)


@for_user
def pow_(a: Any, b: Any, *mod: Any) -> Any:
    return a ** b if not mod else pow(a, b, *mod)


BUILTIN_OVERRIDES: dict[str, Any] = {
    "len": length,
    "range": range_,
    "zip": zip_,
    "enumerate": enumerate_,
    "reversed": reversed_,
    "sum": sum_,
    "int": int_,
    "float": float_,
    "bool": bool_,
    "complex": complex_,
    "divmod": divmod_,
    "pow": pow_,
    "print": output.print_,
    "hasattr": hasattr_,
    "getattr": getattr_,
    **ordering.OVERRIDES,
}
BY_BUILTIN = {getattr(builtins, name): call for name, call in BUILTIN_OVERRIDES.items()} | {
    np.ndarray: ndarray, isinstance: isinstance_, callable: callable_, type: type_} | text.OVERRIDES
