"""Whether NumPy hands out a view or a copy: asked of NumPy itself, on arrays that stand in for traced ones.

An array's elements are not known while a program is traced. Its rank and its dtype are, often its layout, and extents
that it was seen to have. NumPy's own function, run on an array of those, tells whether its result shares memory with an
argument, whether it can be written to, and in which order it lies.
"""
import warnings
from typing import Any, NamedTuple

import numpy as np

from ...ir.build import Value
from ...ops import extents
from ...ops.kinds import shape_of
from ...ops.literals import is_value
from ...util.interrupts import let_through
from .layout import c_order

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
        return "array", a.type.dtype, len(a.type.shape), a.type.weak, a is source, ones
    if isinstance(a, (list, tuple)):
        return type(a).__name__, tuple([_kind(b, source) for b in a])
    return type(a), a                                         # 1, True and 1.0 are equal


def _run(original: Any, args: tuple, kwargs: dict, source: Any, order: Any) -> list:
    """The call of NumPy's function with arrays of the extents that were seen."""
    stand_ins: dict[int, Any] = {}
    if any(callable(a) and not isinstance(a, type) for a in (*args, *kwargs.values())):
        return [UNKNOWN]                                      # the user's function is not to be called once more

    def given(a: Any) -> Any:
        if isinstance(a, (list, tuple)) and type(a) in (list, tuple):
            return type(a)([given(b) for b in a])
        if isinstance(a, slice):
            return slice(*[given(b) for b in (a.start, a.stop, a.step)])
        if not is_value(a):
            return a
        if id(a) not in stand_ins:
            stand_ins[id(a)] = _stand_in(a, order if a is source else c_order(len(shape_of(a))))
        return stand_ins[id(a)]
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")                   # the call itself warns, if that is due
            x = given(source)
            result = original(*[given(a) for a in args], **{k: given(a) for k, a in kwargs.items()})
            return [_answer(y, x) for y in _flat(result)]
    except Exception as error:                                # of numbers that are not known here
        let_through(error)
        return [UNKNOWN]


def _flat(result: Any) -> list:
    return [y for part in result for y in _flat(part)] if isinstance(result, (tuple, list)) else [result]


def _answer(y: Any, x: Any) -> ResultMemory:
    if not isinstance(y, np.ndarray):
        return COPY
    shares = np.may_share_memory(x, y) if x.size else y is x or y.base is not None
    return ResultMemory(bool(shares), y.flags.writeable, y.flags.c_contiguous, y is x)


def _stand_in(a: Any, order: Any) -> Any:
    """An array like a traced one, its axes in this order in memory, the slowest first; or an integer that was seen."""
    shape = [_extent(n) for n in shape_of(a)]
    if not shape and a.dtype.kind in "iu":
        return extents.hint(a) if extents.hint(a) is not None else 1
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
