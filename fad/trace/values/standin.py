"""Whether NumPy hands out a view or a copy: asked of NumPy itself, on arrays that stand in for traced ones.

An array's elements are not known while a program is traced. Its rank and its dtype are, often its layout, and extents
that it was seen to have. NumPy's own function, run on an array of those, tells whether its result shares memory with an
argument, whether it can be written to, and in which order it lies.
"""
import warnings
from typing import Any, NamedTuple

import numpy as np

from ...ir import stack
from ...ir.build import Value
from ...ops import extents
from ...ops.kinds import shape_of
from ...ops.literals import is_value
from ...util.interrupts import let_through
from .layout import c_order
from .zero_dim import as_kind, joined, kind_of, of_numbers

LARGEST = 2**22                                               # elements of an array that stands in for another


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
_kinds: dict[Any, tuple] = {}  # of calls: whether their results are arrays (True), numbers, or one or the other (None)
_answers: dict[tuple, Any] = {}                               # of calls: the same for all extents


def ask(original: Any, args: tuple, kwargs: dict, source: Any, layout: "tuple | None") -> list:
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


def marked(y: Any, name: str, original: Any, args: tuple, kwargs: dict, place: int) -> Any:
    """The result y of a call, at this place among the results; without axes it is a number or an array, as NumPy's is.
    """
    if isinstance(y, np.ndarray):
        return of_numbers(y) if not y.ndim and y.dtype.kind in "biufc" and stack.builders() else y
    if not isinstance(y, Value) or y._var.type.shape or original is None or name == "__getitem__":
        return y
    key = original, tuple(map(_sort, args)), tuple([(k, _sort(a)) for k, a in kwargs.items()])
    if key not in _kinds:
        ways = [_results(original, args, kwargs, None, "", unknown)[1] for unknown in (True, False)]
        _kinds[key] = tuple([joined(*[isinstance(x, np.ndarray) for x in pair]) for pair in zip(*ways)])
    kind = _kinds[key][place] if place < len(_kinds[key]) else None
    return y if kind is kind_of(y) or kind_of(y) is not False and kind is not False else as_kind(y, kind)


def _sort(a: Any) -> Any:
    """What of an argument decides whether the result is a number."""
    if is_value(a) or isinstance(a, np.ndarray):
        return a.dtype, len(shape_of(a)), kind_of(a)
    if isinstance(a, (list, tuple)):
        return type(a), tuple(map(_sort, a))
    return (type(a), a) if a is None or isinstance(a, (str, bool, int, type, np.dtype)) else type(a)


def _layouts(rank: int) -> list:
    """C order, Fortran's, and every second element."""
    return [c_order(rank), c_order(rank)[::-1], "strided"] if rank else [()]


def _common(answers: tuple) -> ResultMemory:
    return ResultMemory(*[row[0] if all(x == row[0] for x in row) else None for row in zip(*answers)])


def _key(original: Any, args: tuple, kwargs: dict, source: Any, layout: Any) -> "tuple | None":
    """The key of an answer; None if there is none."""
    options = tuple([(k, _kind(a, source)) for k, a in kwargs.items()])
    key = (original, layout, tuple([_kind(a, source) for a in args]), options)
    try:
        hash(key)
    except TypeError as error:
        let_through(error)
        return None
    return key if _is_plain(key[2:]) else None


def _is_plain(part: Any) -> bool:
    """Whether a key holds nothing but numbers, texts and types: what may be kept."""
    if isinstance(part, tuple):
        return all(map(_is_plain, part))
    return part is None or isinstance(part, (str, int, float, complex, np.dtype, type, type(Ellipsis)))


def _kind(a: Any, source: Any) -> Any:
    if isinstance(a, Value):
        ones = tuple([n == 1 for n in a.type.shape if isinstance(n, int)])
        return "array", a.type.dtype, len(a.type.shape), a.type.weak, a is source, ones, kind_of(a)
    if isinstance(a, (list, tuple)):
        return type(a).__name__, tuple([_kind(b, source) for b in a])
    return type(a), a                                         # 1, True and 1.0 are equal


def _run(original: Any, args: tuple, kwargs: dict, source: Any, order: Any) -> list:
    """The call of NumPy's function with arrays of the extents that were seen: what is to be known of each result."""
    x, results = _results(original, args, kwargs, source, order)
    return [_answer(y, x) for y in results] or [UNKNOWN]


def _results(original: Any, args: tuple, kwargs: dict, source: Any, order: Any, unknown: bool = True) -> tuple:
    """The stand-in for the source, and the results of NumPy's function on stand-ins: none where it cannot be asked.
    unknown: whether what is a number or an array, as the program runs, is an array here.
    """
    stand_ins: dict[int, Any] = {}
    if any(callable(a) and not isinstance(a, type) for a in (*args, *kwargs.values())):
        return None, []                                       # the user's function is not to be called once more

    def given(a: Any) -> Any:
        if isinstance(a, (list, tuple)) and type(a) in (list, tuple):
            return type(a)([given(b) for b in a])
        if isinstance(a, slice):
            return slice(*[given(b) for b in (a.start, a.stop, a.step)])
        if not is_value(a):
            return a
        if id(a) not in stand_ins:
            stand_ins[id(a)] = _stand_in(a, order if a is source else c_order(len(shape_of(a))), unknown)
        return stand_ins[id(a)]
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")                   # the call itself warns, if that is due
            x, inputs = given(source), [given(a) for a in args]
            if inputs and isinstance(inputs[0], np.generic):   # a number's method of this name
                name = getattr(original, "__name__", "")
                original = getattr(type(inputs[0]), name) if getattr(np.ndarray, name, None) is original else original
            return x, _flat(original(*inputs, **{k: given(a) for k, a in kwargs.items()}))
    except Exception as error:                                # of numbers that are not known here
        let_through(error)
        return None, []


def _flat(result: Any) -> list:
    return [y for part in result for y in _flat(part)] if isinstance(result, (tuple, list)) else [result]


def _answer(y: Any, x: Any) -> ResultMemory:
    if not isinstance(y, np.ndarray):
        return COPY
    shares = np.may_share_memory(x, y) if x.size else y is x or y.base is not None
    return ResultMemory(bool(shares), y.flags.writeable, y.flags.c_contiguous, y is x)


def _stand_in(a: Any, order: Any, unknown: bool) -> Any:
    """An array like a traced one, its axes in this order in memory, the slowest first; or an integer that was seen."""
    shape = [_extent(n) for n in shape_of(a)]
    if not shape:
        seen = extents.hint(a) if a.dtype.kind in "iu" else None
        one = 1 if seen is None else seen
        is_array = unknown if kind_of(a) is None else kind_of(a)
        return np.array(one, a.dtype) if is_array else one if a.dtype.kind in "iu" else a.dtype.type(one)
    if np.prod(shape) > LARGEST:
        raise MemoryError
    if order == "strided":
        return np.ones([2 * n for n in shape], a.dtype)[tuple([slice(None, None, 2)] * len(shape))]
    if len(shape) < 2:
        return np.ones(shape, a.dtype)
    return np.ones([shape[k] for k in order], a.dtype).transpose(np.argsort(order))


def _extent(n: Any) -> int:
    if isinstance(n, int):
        return n
    seen = extents.hint(n)
    return 2 if seen is None else int(seen)
