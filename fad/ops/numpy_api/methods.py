"""Methods and properties of arrays that are not a function's under another name."""
import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.op import registry
from ...ir.types import type_of
from ...util.array import AnyArray, ArrayLike, DTypeLike
from ...util.errors import UnsupportedFunctionError
from ..assign import assigned
from ..extents import product
from ..kinds import shape_of
from ..literals import python_number
from ..override import BY_NAME, METHODS, OF_NUMBERS, PROPERTIES, override
from ..products import size_of
from ..subscript import read_subscript
from .arguments import fixed, rank
from .creation import fresh, in_order
from .shape import ravel


@override(method="copy", samples=("x.copy()",))
def copy(x: ArrayLike, order: str = "C") -> AnyArray:
    return fresh(in_order(x, order))


METHODS["__copy__"] = copy
METHODS["__deepcopy__"] = lambda x, memo: fresh(x)


def is_integer(x: AnyArray) -> Any:
    """Whether a number is finite and whole."""
    if type_of(x).dtype.kind in "iu":
        return True
    return (x == BY_NAME["numpy.floor"].call(x)) & BY_NAME["numpy.isfinite"].call(x)


OF_NUMBERS["is_integer"] = is_integer


@override(method="astype", samples=("x.astype(np.float64)", "x.astype(complex).real"))
def astype(x: ArrayLike, dtype: DTypeLike, order: str = "K", casting: Any = "unsafe", subok: bool = True,
           copy: bool = True) -> Any:
    have, wanted = type_of(x).dtype, np.dtype(dtype)
    if not np.can_cast(have, wanted, casting):
        raise TypeError(f"Cannot cast array data from {have!r} to {wanted!r} according to the rule {casting!r}")
    if have == wanted and not type_of(x).weak:
        return in_order(fresh(x), order) if copy else x        # or a copy in another order: the caller sees to that
    return in_order(registry["cast"](x, dtype=wanted), order)


@override("numpy.astype")
def astype_function(x: object, dtype: DTypeLike, /, *, copy: bool = True, device: object = None) -> Any:
    return astype(x, dtype, copy=copy)


@override(method="item", samples=("x.item(3)", "x.item(1, 2)"))
def item(x: AnyArray, *args: object) -> AnyArray:
    if not args:
        if not rank(x):
            return python_number(x)
        args = (0,) * rank(x) if all(fixed(n, "the size of an array of which item() is taken") == 1
                                     for n in shape_of(x)) else ()
        if not args:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
    place = args[0] if len(args) == 1 else args
    return python_number(x[place] if isinstance(place, tuple) else ravel(x)[place])


@override(method="tolist")
def tolist(x: AnyArray) -> Any:
    if not rank(x):
        return python_number(x)
    return [tolist(x[k]) for k in range(fixed(shape_of(x)[0], "the length of a list made of an array"))]


@override(method="fill")
def fill(x: Any, value: Any) -> None:
    x.set(assigned(x, Ellipsis, value))


@override(method="view", samples=())
def view(x: ArrayLike, dtype: DTypeLike = None, type: object = None) -> Any:
    """The same elements; complex numbers as pairs of real ones, side by side along the last axis, and the other way
    round."""
    have = type_of(x).dtype
    wanted = have if dtype is None else np.dtype(dtype)
    if type is not None or isinstance(dtype, builtins.type) and issubclass(dtype, np.ndarray):
        raise UnsupportedFunctionError("ndarray.view of another class of arrays is not supported on traced arrays")
    if wanted == have:
        return x
    *shape, n = shape_of(x) or (1,)
    if have.kind == "c" and wanted == np.empty(0, have).real.dtype and rank(x):
        parts = [registry["reshape"](registry[part](x), *shape, n, 1) for part in ("real", "imag")]
        return registry["reshape"](registry["concatenate"](*parts, axis=rank(x)), *shape, 2 * n)
    if wanted.kind == "c" and have == np.empty(0, wanted).real.dtype and rank(x):
        pairs = registry["reshape"](x, *shape, n // 2, 2)
        return registry["make_complex"](pairs[..., 0], pairs[..., 1])
    raise UnsupportedFunctionError(f"ndarray.view of {have} as {wanted} is not supported on traced arrays",
                                   why="it reads the bits of a number as another one",
                                   do="use astype, which keeps the values")


# -- the flat iterator -----------------------------------------------------------------------------


class Flat:
    """x.flat: reads copies of elements and writes through to x, in C order."""

    def __init__(self, x: Any):
        self.base = x

    def __len__(self) -> int:
        return fixed(product(shape_of(self.base)), "the length of x.flat")

    def __iter__(self) -> Any:
        return (self[k] for k in range(len(self)))

    def __getitem__(self, subscript: Any) -> AnyArray:
        y = read_subscript(ravel(self.base), subscript).read(ravel(self.base))
        return fresh(y)

    def __setitem__(self, subscript: Any, value: Any) -> None:
        shape = shape_of(self.base)
        self.base.set(registry["reshape"](assigned(ravel(self.base), subscript, value), *shape))

    def copy(self) -> Any:
        return fresh(ravel(self.base))


PROPERTIES["flat"] = Flat
PROPERTIES["nbytes"] = lambda x: size_of(shape_of(x)) * type_of(x).dtype.itemsize
PROPERTIES["itemsize"] = lambda x: type_of(x).dtype.itemsize
METHODS["__array_namespace__"] = lambda x, *, api_version=None: np

# -- what has no meaning for a value that is not there yet -----------------------------------------


def _refused(name: str, why: str, do: str = "") -> Callable:
    def method(x: object, *args: object, **kwargs: object) -> Any:
        raise UnsupportedFunctionError(f"ndarray.{name} is not supported on traced arrays", why=why, do=do)
    return method


_MEMORY = "it depends on how the array lies in memory"
for _name in ("strides", "ctypes", "data", "base"):
    PROPERTIES[_name] = _refused(_name, _MEMORY)
for _name, _do in {"byteswap": "", "getfield": "", "setfield": "",
                   "tobytes": "", "tofile": "", "dump": "", "dumps": "", "newbyteorder": ""}.items():
    METHODS[_name] = _refused(_name, _MEMORY, _do)
METHODS["resize"] = _refused("resize", "an array keeps its extents", "use np.resize, which gives a new array")
