"""Whether a function or an object holds or sees a traced value, a few levels deep."""
import functools
from collections.abc import Callable
from numbers import Number
from types import CellType, FunctionType, ModuleType

import numpy as np

from ..util.own import own_dict
from .literals import SEQUENCES


def uses(x: object, is_one: Callable, depth: int = 4, seen: "set | None" = None) -> bool:
    """Whether x is one, or something is that x holds or sees: a container, an object, or a function with its closure,
    defaults and object."""
    seen = set() if seen is None else seen
    if is_one(x):
        return True
    if depth == 0 or id(x) in seen or isinstance(x, (type, ModuleType, np.ndarray, str, Number)):
        return False
    seen.add(id(x))
    return any(uses(y, is_one, depth - 1, seen) for y in _held_by(x))


def _held_by(x: object) -> list:
    """The things that a container, a function or an object holds or sees."""
    if isinstance(x, dict):
        return list(x.values())
    if isinstance(x, SEQUENCES):
        return list(x)
    owner = getattr(x, "__self__", x)
    attributes = list((own_dict(owner) or {}).values())
    if isinstance(x, functools.partial):
        return [x.func, *x.args, *x.keywords.values()]
    f = getattr(x, "__func__", x)
    if type(f) is not FunctionType:
        return attributes
    return [*attributes, *[c.cell_contents for c in f.__closure__ or () if c != CellType()], *(f.__defaults__ or ()),
            *(f.__kwdefaults__ or {}).values()]
