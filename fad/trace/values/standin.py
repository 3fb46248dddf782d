"""Whether NumPy hands out a view or a copy: asked of NumPy itself, on arrays that stand in for traced ones.

An array's elements are not known while a program is traced. Its rank and its dtype are, often its layout, and extents
that it was seen to have. NumPy's own function, run on an array of those, tells whether its result shares memory with an
argument, whether it can be written to, and in which order it lies.
"""
import warnings
from collections.abc import Callable
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from ...ir import stack
from ...ir.build import Value, current
from ...ir.graph import Atom
from ...ops import extents
from ...ops.kinds import shape_of
from ...ops.literals import is_value
from ...ops.override import PROPERTIES
from ...util.array import AnyArray, ArrayOrNumber
from ...util.defects import call_library, ignore_expected
from ...util.interrupts import reraise_interrupt
from ..objects.containers import keeps_record
from .layout import c_order
from .zero_dim import as_kind, joined, kind_of, of_numbers

LARGEST = 2**22                                               # elements of an array that stands in for another
FEW_ELEMENTS, FEW = 2**14, 4  # from so many elements on, extents of this size at most are tried first
# Functions whose results are views in most calls: whether they are is looked at when one of the two is written to.
# NumPy is asked about all others at once.
VIEWS = {
    "__getitem__", "reshape", "ravel", "transpose", "permute_dims", "matrix_transpose", "T", "mT", "swapaxes",
    "moveaxis", "rollaxis", "expand_dims", "squeeze", "atleast_1d", "atleast_2d", "atleast_3d", "split", "array_split",
    "hsplit", "vsplit", "dsplit", "unstack", "flip", "fliplr", "flipud", "rot90", "real", "imag", "trim_zeros",
}


class ResultMemory(NamedTuple):
    """Whether NumPy's result is in the argument's memory, may be written to, lies in C order, and is that very object.

    None is unknown.
    """

    shares: "bool | None"
    writeable: "bool | None"
    c_order: "bool | None"
    itself: "bool | None"


UNKNOWN = ResultMemory(None, None, None, None)
COPY = ResultMemory(False, True, None, False)
_kinds: dict[tuple, tuple] = {}  # of calls: whether results are arrays (True), numbers, or one or the other (None)
_answers: dict[tuple, Any] = {}                               # of calls: the same for all extents


def ask(original: object, args: tuple, kwargs: dict, source: object, layout: "tuple | None") -> list:
    """An Answer for each array that original(*args, **kwargs) returns, where the argument `source` lies in this layout.

    Of an unknown layout the answer is what all layouts have in common. [UNKNOWN] where NumPy cannot be asked.
    """
    key = _key(original, args, kwargs, source, layout)
    if key is not None and key in _answers:
        return _answers[key]
    variants = [layout] if layout is not None else _layouts(len(shape_of(source)))
    found = [_run(original, args, kwargs, source, order) for order in variants]
    common = [_common(answers) for answers in zip(*found)] if all(len(f) == len(found[0]) for f in found) else [UNKNOWN]
    if key is not None:
        _answers[key] = common
    return common


def marked(y: object, name: str, original: object, args: tuple, kwargs: dict, place: int) -> Any:
    """The result y of a call, at this place among the results; without axes it is a number or an array, as NumPy's is.
    """
    if isinstance(y, np.ndarray):
        return of_numbers(y) if not y.ndim and y.dtype.kind in "biufc" and stack.builders() else y
    is_number = isinstance(y, np.generic) and stack.is_live() and y.dtype.kind in "biu"
    if not (is_number or isinstance(y, Value) and not y._var.type.shape) or original is None or name == "__getitem__":
        return y
    key = original, tuple(map(_argument_kind, args)), tuple([(k, _argument_kind(a)) for k, a in kwargs.items()])
    if key not in _kinds:
        both = (True, False) if _has_unknown((*args, *kwargs.values())) else (True,)
        ways = [_results(original, args, kwargs, None, "", unknown)[1] for unknown in both]
        _kinds[key] = tuple([joined(*[isinstance(x, np.ndarray) for x in pair]) for pair in zip(*ways)])
    kind = _kinds[key][place] if place < len(_kinds[key]) else None
    if is_number:
        return np.asarray(y) if kind else y
    return y if kind is kind_of(y) or kind_of(y) is not False and kind is not False else as_kind(y, kind)


def _has_unknown(args: Any) -> bool:
    """Whether one of these is a number or an array, as the program runs."""
    return any(_has_unknown(a) if isinstance(a, (list, tuple)) else kind_of(a) is None for a in args)


def _argument_kind(a: Any) -> Any:
    """The properties of an argument that decide whether the result is a number."""
    if is_value(a) or isinstance(a, np.ndarray):
        return a.dtype, len(shape_of(a)), kind_of(a)
    if isinstance(a, (list, tuple)):
        return type(a), tuple(map(_argument_kind, a))
    return (type(a), a) if a is None or isinstance(a, (str, bool, int, type, np.dtype)) else type(a)


def _layouts(rank: int) -> list:
    """C order, Fortran's, and every second element."""
    return [c_order(rank), c_order(rank)[::-1], "strided"] if rank else [()]


def _common(answers: tuple) -> ResultMemory:
    return ResultMemory(*[row[0] if all(x == row[0] for x in row) else None for row in zip(*answers)])


def _key(original: object, args: tuple, kwargs: dict, source: object, layout: object) -> "tuple | None":
    """The key of an answer; None if there is none."""
    options = tuple([(k, _kind(a, source)) for k, a in kwargs.items()])
    key = (original, layout, tuple([_kind(a, source) for a in args]), options)
    try:
        hash(key)
    except TypeError as error:
        reraise_interrupt(error)
        return None
    return key if _is_plain(key[2:]) else None


def _is_plain(part: object) -> bool:
    """Whether a key holds nothing but numbers, texts and types: what may be kept."""
    if isinstance(part, tuple):
        return all(map(_is_plain, part))
    return part is None or isinstance(part, (str, int, float, complex, np.dtype, type, type(Ellipsis)))


def _kind(a: object, source: object) -> tuple:
    if isinstance(a, Value):
        ones = tuple([n == 1 for n in a.type.shape if isinstance(n, int)])
        return "array", a.type.dtype, len(a.type.shape), a.type.weak, a is source, ones, kind_of(a)
    if isinstance(a, (list, tuple)):
        return type(a).__name__, tuple([_kind(b, source) for b in a])
    return type(a), a                                         # 1, True and 1.0 are equal


def _run(original: object, args: tuple, kwargs: dict, source: object, order: object) -> list:
    """The call of NumPy's function with arrays of the extents that were seen: what is to be known of each result."""
    x, results = _results(original, args, kwargs, source, order)
    return [_answer(y, x) for y in results] or [UNKNOWN]


def _results(original: object, args: tuple, kwargs: dict, source: object, order: object, unknown: bool = True) -> tuple:
    """The stand-in for the source, and the results of NumPy's function on stand-ins: none where it cannot be asked.
    unknown: whether what is a number or an array, as the program runs, is an array here.
    """
    if any(callable(a) and not isinstance(a, type) for a in (*args, *kwargs.values())):
        return None, []                                       # the user's function is not to be called once more
    for most in _limits(max([_elements(a) for a in (*args, *kwargs.values())], default=0)):
        made = _StandIns(source, order, unknown, most)
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")               # the call itself warns, if that is due
                x, inputs = made.given(source), [made.given(a) for a in args]
                options = {k: made.given(a) for k, a in kwargs.items()}
                return x, _flat(call_library(_method_of(original, inputs), *inputs, **options))
        except Exception as error:                            # of numbers that are not known here
            ignore_expected(error, "what NumPy's function returns is not known")
    return None, []


def _limits(elements: int) -> tuple:
    """The limits of extents to try one after the other (None: no limit), for arrays of so many elements."""
    if elements <= FEW_ELEMENTS:
        return (None,)
    return (FEW, None) if elements <= LARGEST else (FEW,)


def _method_of(original: object, inputs: list) -> Any:
    """The function that is asked; of a number, which is no array, its own method of this name."""
    name = getattr(original, "__name__", "")
    is_number = inputs and isinstance(inputs[0], np.generic)
    return getattr(type(inputs[0]), name) if is_number and getattr(np.ndarray, name, None) is original else original


def _elements(a: object) -> int:
    """The number of elements of the largest array in an argument."""
    if isinstance(a, (list, tuple)):
        return max([_elements(b) for b in a], default=0)
    return int(np.prod([float(_extent(n)) for n in shape_of(a)])) if is_value(a) else 0


class _StandIns:
    """Arrays that stand in for traced ones. most: larger extents become this one (None: all stay)."""

    def __init__(self, source: object, order: object, unknown: bool, most: "int | None"):
        self.source, self.order, self.unknown, self.most = source, order, unknown, most
        self.made: dict[int, Any] = {}

    def given(self, a: Any) -> Any:
        """An argument with stand-ins in place of what is traced."""
        if type(a) is tuple:
            return tuple(map(self.given, a))
        if type(a) is list or (keeps_record(a) and a.rows is None):           # a list of captured code is one to NumPy
            return list(map(self.given, a))
        if isinstance(a, slice):
            return slice(*[self.given(b) for b in (a.start, a.stop, a.step)])
        if not is_value(a):
            return a
        if id(a) not in self.made:
            self.made[id(a)] = self._stand_in(a, self.order if a is self.source else c_order(len(shape_of(a))))
        return self.made[id(a)]

    def _stand_in(self, a: AnyArray, order: Any) -> ArrayOrNumber:
        """An array like a traced one, its axes in this order in memory, the slowest first; or a number: an integer is
        one that was seen.
        """
        shape = [_extent(n) if self.most is None else min(_extent(n), self.most) for n in shape_of(a)]
        if not shape:
            seen = extents.hint(a) if a.dtype.kind in "iu" else None
            one = 1 if seen is None else seen
            is_array = self.unknown if kind_of(a) is None else kind_of(a)
            return np.array(one, a.dtype) if is_array else one if a.dtype.kind in "iu" else a.dtype.type(one)
        if order == "strided":
            return np.ones([2 * n for n in shape], a.dtype)[tuple([slice(None, None, 2)] * len(shape))]
        if len(shape) < 2:
            return np.ones(shape, a.dtype)
        return np.ones([shape[k] for k in order], a.dtype).transpose(np.argsort(order))


def _flat(result: ArrayOrNumber) -> list:
    return [y for part in result for y in _flat(part)] if isinstance(result, (tuple, list)) else [result]


def _answer(y: AnyArray, x: AnyArray) -> ResultMemory:
    if not isinstance(y, np.ndarray):
        return COPY
    shares = np.may_share_memory(x, y) if x.size else y is x or y.base is not None
    return ResultMemory(bool(shares), y.flags.writeable, y.flags.c_contiguous, y is x)


def _extent(n: ArrayOrNumber) -> int:
    if isinstance(n, int):
        return n
    seen = extents.hint(n)
    return 2 if seen is None else int(seen)


# -- calls -----------------------------------------------------------------------------------------


def is_tracer(x: object) -> bool:
    return isinstance(x, Value) and hasattr(x, "as_view")


class ViewCall:
    """One call of a function that may return views: the function and its arguments."""

    __slots__ = ("name", "call", "args", "kwargs", "original", "start", "arrays", "atoms")

    def __init__(self, name: str, call: Callable, args: tuple, kwargs: dict, original: object):
        self.name, self.call, self.args, self.kwargs, self.original = name, call, args, kwargs, original
        self.start = len(current().equations)
        self.arrays = [x for x in (*args, *kwargs.values()) if is_tracer(x) and x.is_array]
        self.atoms = {x.atom for x in self.arrays}

    def is_scalar(self, y: AnyArray) -> bool:
        """Whether y is an element, which NumPy hands out by value."""
        if self.name == "unstack":                            # it goes over the rows, as Python does
            return not y.ndim
        if self.name != "__getitem__" or y.ndim:
            return False
        subscript = self.args[1]
        return not (subscript is Ellipsis or isinstance(subscript, tuple) and any(s is Ellipsis for s in subscript))

    @property
    def is_view(self) -> bool:
        """Whether NumPy's result is known to be a view, if its reshaping needs no copy."""
        return self.name in VIEWS and "copy" not in self.kwargs

    def answer(self, source: object, place: int, layout: "tuple | None") -> ResultMemory:
        """NumPy's answer for one of the results, given this memory layout of the argument."""
        if self.original is None:
            return UNKNOWN
        found = ask(self.asked, self.args, self.kwargs, source, layout)
        return found[place] if place < len(found) else UNKNOWN

    @property
    def asked(self) -> Any:
        """The function that NumPy is asked about."""
        return attribute(self.name) if self.call is PROPERTIES.get(self.name) else self.original

    def source(self, atom: Atom, place: int) -> Any:
        """The argument that holds this variable; of several, the one at the result's place."""
        found = [x for x in self.arrays if x._var is atom]
        beside = self.args[place] if place < len(self.args) else None
        return next((x for x in found if x is beside), found[0])


@lru_cache(None)
def attribute(name: str) -> Callable:
    """The function that reads an array's property."""
    return attrgetter(name)
