"""The table of functions and methods of tensors, under PyTorch's names, at fad.<name> and Tensor.<name>."""
import functools
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from ...ir.op import Op
from ...ops.table import TABLE
from ...util.array import ArrayOrNumber
from ..graph.inplace import check_overlap, in_place, requires_grad
from ..graph.record import apply
from ..graph.single_node import step
from ..graph.views import apart, tangent_of
from ..tensors import errors
from ..tensors.errors import override, refuse_if
from ..tensors.overrides import MISSING, handled, overridable, overriding
from ..tensors.promotion import castable, precision, result_type
from ..tensors.state import now
from ..tensors.tensor import Tensor, raw, wrap

FUNCTIONS: dict[str, Callable] = {}


def function(*names: str, method: bool = True, only_method: bool = False, changing: bool = False,
             node: tuple = ()) -> Callable:
    """Decorator: enter this function of a tensor under these names, as a method too, and (changing) in place. With a
    node it is one step of the graph: the arguments of `step`."""
    def register(f: Callable) -> Callable:
        f = step(*node)(f) if node else f
        for name in names or (f.__name__,):
            add(name, f, method, only_method, changing)
        return f
    return register


def told_as(name: str, f: object) -> None:
    """Let Python call a function by this name where it refuses a call of it, and not by that of its maker.

    >>> f = (lambda: lambda x: x)()
    >>> told_as("sin", f)
    >>> f()
    Traceback (most recent call last):
    TypeError: sin() missing 1 required positional argument: 'x'
    """
    if type(f) is FunctionType and ("<" in f.__qualname__ or f.__qualname__.startswith("_")):
        f.__qualname__ = name


def add(name: str, f: Callable, method: bool = True, only_method: bool = False, changing: bool = False) -> None:
    """Enter one function."""
    if not only_method:
        FUNCTIONS[name] = in_numpys_words(with_options(f, name), f)
    if method:
        setattr(Tensor, name, in_numpys_words(f, f))
    if changing:
        change = changing_form(name, f)
        setattr(Tensor, change.__name__, change)
        if not only_method:
            FUNCTIONS[change.__name__] = change


def attached(members: type) -> type:
    """Decorator of a class whose methods and properties become Tensor's."""
    for name, member in vars(members).items():
        if isinstance(member, (FunctionType, property)):
            setattr(Tensor, name, member)
        if isinstance(member, FunctionType):
            member.__qualname__ = f"Tensor.{name}"
    return members


def define(name: str, f: Callable, doc: str, *, node: str = "", edges: str = "", saves: str = "", shows: str = "",
           copies: str = "", **options: bool) -> Callable:
    """Enter a function that is one expression. With a node it is one step of the graph, as `step` has it: its node's
    name, edges, saved tensors, what else it shows, and what it copies.

    >>> double = define("double_of", lambda self: self + self, "Twice a tensor.", method=False)
    >>> FUNCTIONS.pop("double_of")(wrap(np.ones(2)))
    tensor([2., 2.])
    """
    f.__name__ = f.__qualname__ = name
    f.__doc__ = doc
    return function(name, node=(node, edges, saves, shows, copies) if node else (), **options)(f)


def by_record(name: str, target: str, changing: bool = False) -> None:
    """Enter a function of NumPy or SciPy under PyTorch's name: its record's."""
    def call(*args: object) -> Any:
        return in_precision(override(target, *[tensor_of(a) if isinstance(a, np.ndarray) else a for a in args]), args)
    define(name, call, f"{target}, on tensors.", changing=changing)


def in_numpys_words(call: Callable, f: Callable) -> Callable:
    """A function of dim and keepdim that takes NumPy's names of these options too: axis and keepdims."""
    code = getattr(inspect.unwrap(f), "__code__", None)
    taken = () if code is None else code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
    renamed = {theirs: ours for theirs, ours in (("axis", "dim"), ("keepdims", "keepdim")) if ours in taken
               and theirs not in taken}
    if not renamed:
        return call

    @functools.wraps(call)
    def translated(*args: object, **options: object) -> Any:
        if options:
            options = {renamed.get(key, key): value for key, value in options.items()}
        return call(*args, **options)
    return translated


def with_options(f: Callable, name: str) -> Callable:
    """f as a function: with `out`, and with its first argument called `input` too."""
    code = getattr(inspect.unwrap(f), "__code__", None)
    if code is None or "out" in code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]:
        return overridable(f)

    @functools.wraps(f)
    def call(*args: object, out: "Tensor | None" = None, **options: object) -> Any:
        if overriding or args and not isinstance(args[0], Tensor):
            y = handled(call, args, options if out is None else {**options, "out": out})
            if y is not MISSING:
                return y
        if "input" in options and code.co_varnames[0] != "input":
            args = options.pop("input"), *args
        y = f(*args, **options)
        return y if out is None else delivered(y, out, name)
    return call


def changing_form(name: str, f: Callable) -> Callable:
    """The method name_ that replaces a tensor's values by f of them."""
    def change(self: Tensor, *args: object, **kwargs: object) -> Tensor:
        check_overlap(self, (*args, *kwargs.values()))
        return in_place(self, lambda old, *rest: f(old, *rest[:len(args)], **dict(zip(kwargs, rest[len(args):]))),
                        *args, *kwargs.values())
    change.__name__ = f"{name}_"
    change.__doc__ = f"{name}, in place."
    return change


def run(op: Op, *args: object, label: "str | None" = None, **params: object) -> Any:
    """op on tensors (recorded under this label), or on what else has a place in programs."""
    level = max([getattr(a, "__fad_level__", 0) for a in args], default=0)
    if level == 1:
        return apart(apply(op, args, params, label), args[:1])
    return op(*args, **params) if level else wrap(np.asarray(op(*args, **params)))


def delivered(y: object, out: object, name: str) -> Any:
    """y, written over out if that is given: outside the graph, and resized to y's shape where it has another."""
    if out is None:
        return y
    if isinstance(y, tuple):
        parts = [delivered(one, into, name) for one, into in zip(y, out)]
        return type(y)(*parts) if hasattr(y, "_fields") else tuple(parts)
    if now().dual_level >= 0 and any(tangent_of(t) is not None for t in (y, out)):
        raise NotImplementedError(f"Trying to use forward AD with {name}_out that does not support it because it is an "
                                  "out= function")
    refuse_if(now().grad and (requires_grad(y) or requires_grad(out)), f"{name}(): functions with out=... arguments "
              "don't support automatic differentiation, but one of the arguments requires grad.")
    if not castable(y._a.dtype, out._a.dtype):
        raise RuntimeError(errors.not_castable(y._a.dtype, out._a.dtype))
    if out._a.shape != y._a.shape:
        out.resize_(y._a.shape)
    return out.copy_(y)


def named(y: ArrayOrNumber, label: "str | None" = None, **note: object) -> Any:
    """y, whose node gets the name of the function whose last step it is; note: what else it shows as _saved_<name>."""
    fn = getattr(y, "_fn", None)
    if fn is not None:
        fn.label = label or fn.label
        if note:
            fn.note = {**(fn.note or {}), **note}
    return y


def tensor_of(x: object) -> Any:
    """x if it is a tensor or a value of a program; numbers and arrays as a tensor."""
    if getattr(x, "__fad_level__", 0):
        return x
    a = np.asarray(x, result_type((x,)) if isinstance(x, (int, float, complex)) else None)
    if a.dtype.kind not in "biufc":
        raise TypeError(f"expected Tensor, number or array of numbers, but got {type(x).__name__}")
    return wrap(a)


def in_precision(y: object, operands: tuple) -> Any:
    """A result of inexact numbers (of NumPy's function) in the precision of the tensors it was computed of."""
    if isinstance(y, (np.ndarray, np.generic)):  # what does not hang on the tensors' values, as a matrix' power 0
        y = tensor_of(y)
    if not isinstance(y, Tensor) or y._a.dtype.kind not in "fc":
        return y
    dtype = precision(y._a.dtype.kind, [raw(x) for x in operands if isinstance(x, Tensor)])
    return y if y._a.dtype == dtype else apply(TABLE["cast"], (y,), {"dtype": dtype})


def one_dim(dim: int, ndim: int) -> int:
    """A dimension counted from the front."""
    low = -max(ndim, 1)
    if not low <= dim < -low:
        raise IndexError(f"Dimension out of range (expected to be in range of [{low}, {-low - 1}], but got {dim})")
    return dim % max(ndim, 1)


def dims_of(dim: object, ndim: int) -> tuple:
    """Sorted dimensions; all of them for None or ()."""
    if dim is None or isinstance(dim, (tuple, list)) and not len(dim):
        return tuple(range(ndim))
    refuse_if(isinstance(dim, str), f"argument 'dim' must be int or tuple of ints, not {type(dim).__name__}", TypeError)
    found = [one_dim(int(d), ndim) for d in (dim if isinstance(dim, (tuple, list)) else (dim,))]
    for k, d in enumerate(found):
        refuse_if(d in found[:k], f"dim {d} appears multiple times in the list of dims")
    return tuple(sorted(found)) if ndim else ()


def sizes_of(size: tuple) -> tuple:
    """f(2, 3) and f((2, 3)) mean the same."""
    if len(size) == 1 and not isinstance(size[0], (int, np.integer)) and not getattr(size[0], "shape", None) == ():
        size = tuple(size[0])
    return tuple([int(n) for n in size])
