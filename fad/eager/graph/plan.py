"""The inputs and results of an op that its derivative reads: found by running the rule once on probes that notice it.

Only those are saved for backward; of the others the rule sees shape and dtype.
"""
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.op import Op
from ...ops.kinds import AddInto, NoRule, NotDifferentiable, Zero
from ...util.array import AnyArray, ArrayOrNumber


class Probe:
    """Stands for an array in a rule and notices whether its values are used."""

    __fad_level__ = 9
    __array_priority__ = 2000

    def __init__(self, value: object):
        self.value, self.used = np.asarray(value), False

    @staticmethod
    def __fad_bind__(op: Op, args: tuple, params: dict) -> Any:
        return op(*[read(a) for a in args], **params)

    def __getattr__(self, name: str) -> Any:
        if name in ("shape", "dtype", "ndim", "size"):
            return getattr(self.value, name)
        if not hasattr(np.ndarray, name):
            raise AttributeError(name)
        return getattr(read(self), name)

    def __array__(self, *args: object, **kwargs: object) -> Any:
        return read(self)

    def __array_ufunc__(self, ufunc: object, method: str, *inputs: AnyArray, **kwargs: object) -> AnyArray:
        return getattr(ufunc, method)(*[read(x) for x in inputs], **kwargs)


def read(x: ArrayOrNumber) -> Any:
    """The array behind a probe, which is now known to be used."""
    if isinstance(x, Probe):
        x.used = True
        return x.value
    return x


def _method(name: str) -> Callable:
    return lambda self, *others: getattr(np.ndarray, name)(read(self), *[read(o) for o in others])


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "pow", "rpow", "mod", "rmod",
              "floordiv", "rfloordiv", "matmul", "rmatmul", "neg", "abs", "and", "rand", "or", "ror", "xor", "invert",
              "lt", "le", "gt", "ge", "eq", "ne", "getitem", "bool", "float", "int"):
    setattr(Probe, f"__{_name}__", _method(f"__{_name}__"))
Probe.__hash__ = object.__hash__                                  # type: ignore[method-assign]

_SPECIAL = (0, 1, 2, -1, 0.5)
_plans: dict[Any, tuple] = {}


def _kind(x: "ArrayOrNumber | None") -> Any:
    """The properties of an argument that a rule may branch on."""
    dtype = getattr(x, "dtype", None)
    if dtype is not None:
        return dtype.kind, x.ndim == 0
    if isinstance(x, (bool, int, float, complex)) and x in _SPECIAL:
        return type(x), x
    return type(x)


def plan(op: Op, xs: tuple, ys: tuple, params: dict, needs: tuple) -> tuple:
    """(for each input whether it is read, for each result whether it is read) by op's pullback."""
    key = (op, needs, tuple([_kind(x) for x in xs]))
    found = _plans.get(key)
    if found is None:
        found = _plans[key] = _probe(op, xs, ys, params, needs)
    return found


def _probe(op: Op, xs: tuple, ys: tuple, params: dict, needs: tuple) -> tuple:
    if isinstance(op.derivative, (Zero, NotDifferentiable, NoRule)) or op.derivative is None:
        return (False,) * len(xs), (False,) * len(ys)
    px = [Probe(x) if isinstance(x, (np.ndarray, np.generic)) else x for x in xs]
    py = [Probe(y) for y in ys]
    gs = tuple([np.ones(np.shape(y), np.asarray(y).dtype)[()] if np.asarray(y).dtype.kind in "fc" else None
                for y in ys])
    with np.errstate(all="ignore"):
        out = op.derivative.pullback(op, gs, tuple(py), tuple(px), params, needs)
        for g in out:
            if isinstance(g, AddInto):
                g.dense()
    return tuple([isinstance(p, Probe) and p.used for p in px]), tuple([p.used for p in py])
