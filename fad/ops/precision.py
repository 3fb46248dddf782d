"""Single precision in overrides. Some functions of SciPy compute in double precision whatever they are given, others
give back the precision that they were given. An override whose formulas do neither by themselves says which of the two
it is, or that it depends on the version.
"""
import functools
import inspect
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from ..ir.op import registry
from ..ir.types import COMPLEX, FLOAT, type_of
from ..util.array import AnyArray
from ..util.lazy import imported
from .literals import is_value

SINGLE: dict[np.dtype, np.dtype] = {FLOAT: np.dtype("f4"), COMPLEX: np.dtype("c8")}
DOUBLE: dict[np.dtype, np.dtype] = {np.dtype("f2"): FLOAT, **{narrow: wide for wide, narrow in SINGLE.items()}}


def in_double(call: Callable, *_: str) -> Callable:
    """The override, which computes in double precision whatever it is given."""
    @functools.wraps(call)
    def wide(*args: object, **options: object) -> object:
        return call(*[double(a) for a in args], **{name: double(a) for name, a in options.items()})
    return wide


def as_given(call: Callable, *_: str) -> Callable:
    """The override, whose results are in single precision where all that it is given is."""
    @functools.wraps(call)
    def narrow(*args: object, **options: object) -> object:
        y = call(*args, **options)
        kinds = {t for t in _dtypes((*args, *options.values())) if t.kind in "fc"}
        return _mapped(y, SINGLE) if kinds and kinds.isdisjoint(SINGLE) else y
    return narrow


def as_installed(call: Callable, name: str) -> Callable:
    """The override in the precision of the installed library, whose versions differ. fad calls the function once, with
    vectors in single precision.
    """
    count = sum(p.default is p.empty for p in inspect.signature(call).parameters.values())

    @functools.cache
    def chosen() -> Callable:
        module, _, own = name.rpartition(".")
        y = getattr(imported(module), own)(*[np.array([0.1, 0.2, 0.4], "f4")] * count)
        return (as_given if np.asarray(y).dtype in DOUBLE else in_double)(call)

    @functools.wraps(call)
    def override(*args: object, **options: object) -> object:
        return chosen()(*args, **options)
    return override


PRECISIONS: dict[str, Callable] = {"": lambda call, *_: call, "double": in_double, "given": as_given,
                                   "installed": as_installed}


def double(x: object) -> AnyArray:
    """Arrays and numbers of NumPy's, in lists and tuples too, in double precision."""
    return _mapped(x, DOUBLE)


def _mapped(x: object, to: dict) -> AnyArray:
    if type(x) is list or type(x) is tuple:
        return type(x)([_mapped(a, to) for a in x])           # type: ignore[return-value]
    dtype = to.get(type_of(x).dtype) if _is_array(x) else None
    return x if dtype is None else registry["cast"](x, dtype=dtype)  # type: ignore[return-value]


def _dtypes(xs: Iterable) -> Iterator[np.dtype]:
    for x in xs:
        if type(x) in (list, tuple):
            yield from _dtypes(x)
        elif _is_array(x):
            yield type_of(x).dtype


def _is_array(x: object) -> bool:
    """Whether x has a dtype of its own; a number of Python's in a program has not."""
    return (is_value(x) and not type_of(x).weak) or isinstance(x, (np.ndarray, np.generic))
