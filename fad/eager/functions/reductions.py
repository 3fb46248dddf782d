"""Reductions of tensors, in PyTorch's terms (dim, keepdim), by the overrides and ops of the table."""
import math
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ops.table import TABLE as op
from ...util.array import AnyArray, ArrayOrNumber, Axes, DTypeLike
from ..graph.single_node import step, together
from ..tensors.dtypes import as_dtype
from ..tensors.errors import refuse_if, scalar_name
from ..tensors.promotion import default
from ..tensors.tensor import Tensor, raw, wrap
from . import composites
from .composite import COMPOSITES, by_short_way, enter_short
from .composites import wide
from .registry import define, delivered, dims_of, function, named, one_dim, run, tensor_of
from .selections import chosen

RESULTS = {  # what there is of each: its parts, and what they are
    "Extreme": ("values indices", "The result of max, min, sort, topk and their like along a dimension."),
    "Bounds": ("min max", "The result of aminmax."),
    "QR": ("Q R", "The factors of qr."),
    "Inverted": ("inverse info", "An inverse and, for each matrix, 0 where nothing went wrong."),
    "Cholesky": ("L info", "A Cholesky factor and, for each matrix, 0 where nothing went wrong."),
    "Solved": ("result info", "A solution and, for each matrix, 0 where nothing went wrong."),
    "LeastSquares": ("solution residuals rank singular_values", "The solution of least squares, and more of it.")}


def _result(name: str) -> Any:
    fields, doc = RESULTS[name]
    made: Any = namedtuple(name, fields, module=__name__)
    made.__doc__ = doc
    return made


Extreme, Bounds, QR, Inverted, Cholesky, Solved, LeastSquares = map(_result, RESULTS)




def _reduced(name: str, x: AnyArray, dim: object, keepdim: bool, label: str) -> Tensor:
    ndim = len(x.shape)
    axes = dims_of(dim, ndim)
    y = by_short_way(op[name], (x,), {"axes": axes}, label)
    if not keepdim:
        return y
    y = wide(y, x, axes)
    return together((y,), label, (x,), {"self": x}, keepdim=True)[0] if label else y


SPREAD = 1024                                     # elements: what is larger is rather a view of one


def _sum_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, axes: tuple) -> tuple:
    g, shape = gs[0], xs[0].shape
    if len(axes) < len(shape):
        g = np.reshape(g, [1 if k in axes else n for k, n in enumerate(shape)])
    if math.prod(shape) > SPREAD:
        return (np.broadcast_to(g, shape),)
    gx = np.empty(shape, g.dtype)
    gx[...] = g
    return (gx,)


enter_short(op["sum"], lambda x, axes: np.add.reduce(x, axes), _sum_pullback)


@function()
def sum(self: object, dim: object = None, keepdim: bool = False, *, dtype: object = None, axis: object = None,
        keepdims: bool = False, out: object = None) -> AnyArray:
    """The sum along dimensions."""
    if (dim is None and axis is None and dtype is None and out is None and isinstance(self, Tensor) and not keepdim
            and not keepdims and self._a.dtype.kind in "fc"):
        return by_short_way(op["sum"], (self,), {"axes": tuple(range(self._a.ndim))}, "SumBackward0")
    dim = axis if dim is None else dim
    x, kind = summed(self, dtype, out)
    y = in_dtype(_reduced("sum", x, dim, keepdim or keepdims, "SumBackward0" if dim is None else "SumBackward1"), kind)
    return y if out is None else delivered(y, out, "sum")


def summed(self: Tensor, dtype: object, out: object = None) -> tuple:
    """The summed (or multiplied) elements, and the result's dtype: int64 for whole numbers, unless told otherwise."""
    x = tensor_of(self)
    kind = (as_dtype(dtype) if dtype is not None else out.dtype if out is not None else np.dtype(np.int64)
            if x.dtype.kind in "biu" else x.dtype)
    return in_dtype(x, kind), kind


def in_dtype(x: AnyArray, dtype: object) -> AnyArray:
    return x if x.dtype == dtype else op["cast"](x, dtype=dtype)


@function()
def mean(self: object, dim: object = None, keepdim: bool = False, *, dtype: DTypeLike = None, axis: object = None,
         keepdims: bool = False) -> AnyArray:
    """The mean along dimensions."""
    x, dim = tensor_of(self), axis if dim is None else dim
    if dtype is not None:
        x = x.to(as_dtype(dtype))
    if x.dtype.kind not in "fc":
        raise RuntimeError("mean(): could not infer output dtype. Input dtype must be either a floating point or "
                           f"complex dtype. Got: {scalar_name(x.dtype)}")
    return composites.mean(x, axes=dims_of(dim, len(x.shape)), keep=keepdim or keepdims,
                           label="MeanBackward0" if dim is None else "MeanBackward1")


@function()
def prod(self: object, dim: "int | None" = None, keepdim: bool = False, *, dtype: object = None) -> AnyArray:
    """The product along a dimension, or of all elements."""
    x, kind = summed(self, dtype)
    return in_dtype(_reduced("prod", x, dim, keepdim, "ProdBackward0" if dim is None else "ProdBackward1"), kind)


def _along(name: str) -> Callable:
    label = f"{name.capitalize()}Backward0"

    @step(label, "self", "self indices", "dim keepdim")
    def general(self: Tensor, dim: int, keepdim: bool) -> tuple:
        places = run(op[f"arg{name}"], self, axis=dim) if len(self.shape) else wrap(np.zeros((), np.int64))
        return extremes(_take(self, places, dim), places, self, dim, keepdim)

    def call(self: object, dim: int, keepdim: bool) -> tuple:
        ax = one_dim(dim, len(self.shape))
        _not_empty(self, (ax,), name)
        if not isinstance(self, Tensor) or self._a.dtype.kind != "f" or not self._a.ndim:
            return general(self, ax, keepdim)
        places = wrap(getattr(self._a, f"arg{name}")(ax, keepdims=keepdim))
        return Extreme(chosen(self, places, dim=ax, keepdim=keepdim, label=label), places)
    return call


def extremes(values: Tensor, places: Tensor, x: Tensor, ax: int, keep: bool) -> tuple:
    """Values and places along an axis, which goes or is kept with extent 1."""
    return Extreme(wide(values, x, (ax,)), wide(places, x, (ax,))) if keep else Extreme(values, places)


_ALONG = {name: _along(name) for name in ("max", "min")}


def _not_empty(x: AnyArray, axes: "tuple | None", name: str) -> None:
    """Raise where there is nothing to choose from, or numbers that have no order."""
    refuse_if(x.dtype.kind == "c" and isinstance(x, Tensor), f"{name}(): does not support complex input")
    if 0 not in x.shape:
        return
    if axes is None:
        raise (IndexError if name.startswith("arg") else RuntimeError)(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with "
            "the 'dim' argument.")
    for ax in axes:
        refuse_if(not x.shape[ax], f"{name}(): Expected reduction dim {ax} to have non-zero size.", IndexError)


def _shared(x: object, won: np.ndarray) -> Tensor:
    """The value of the elements that won. They are equal and share its gradient."""
    if x.dtype.kind not in "fc":
        return wrap(x._a[won].max())
    return sum(op["where"](won, x, 0)) / int(won.sum())


def _take(x: Tensor, places: Tensor, ax: int) -> AnyArray:
    """The elements at these places along an axis, which goes."""
    if not len(x.shape):
        return x.clone() if isinstance(x, Tensor) else x
    if isinstance(x, Tensor) and x._a.dtype.kind == "f" and raw(places).size:
        return chosen(x, places, dim=ax, keepdim=False)
    others = iter(np.ix_(*[np.arange(n) for k, n in enumerate(x.shape) if k != ax]))
    return x[tuple([raw(places) if k == ax else next(others) for k in range(len(x.shape))])]


def _extremes(name: str, of_two: str, superlative: str) -> tuple:
    """max and amax, or min and amin."""
    title = name.capitalize()

    def several(self: Tensor, dim: Axes = None, keepdim: bool = False) -> Tensor:
        _not_empty(self, None if dim is None or dim == () else dims_of(dim, len(self.shape)), f"a{name}")
        return _reduced(name, self, dim, keepdim, f"A{name}Backward0")

    def one(self: object, dim: "ArrayOrNumber | None" = None, keepdim: bool = False, *, axis: object = None,
            keepdims: bool = False) -> Any:
        if axis is not None:                               # NumPy's way of asking
            return several(self, axis, keepdims)
        if isinstance(dim, Tensor):
            return op[of_two](self, dim)
        if dim is not None:
            return _ALONG[name](self, dim, keepdim)
        _not_empty(self, None, name)
        y = _reduced(name, self, None, False, f"{title}Backward1")
        if not isinstance(y, Tensor) or y._a.dtype.kind != "f" or y._a == y._a:
            return y
        return together((_shared(self, self._a != self._a),), f"{title}Backward1", (self,))[0]
    return (define(name, one, f"The {superlative} element; along a dimension (values, indices); of two tensors the one "
                              "or the other, element by element."),
            define(f"a{name}", several, f"The {superlative} elements along dimensions; equal ones share the gradient."))


max, amax = _extremes("max", "maximum", "largest")
min, amin = _extremes("min", "minimum", "smallest")


def _truth(name: str) -> None:
    def call(self: Tensor, dim: Axes = None, keepdim: bool = False) -> AnyArray:
        x = tensor_of(self)
        truth = x if x.dtype.kind == "b" else x != 0
        y = truth if isinstance(dim, (tuple, list)) and not len(dim) else _reduced(name, truth, dim, keepdim, "")
        return in_dtype(y, x.dtype) if x.dtype == np.uint8 else y
    define(name, call, f"Whether {name} of the elements along dimensions are not zero.")


def _place(name: str) -> None:
    def call(self: Tensor, dim: "int | None" = None, keepdim: bool = False) -> AnyArray:
        if self.dtype.kind == "b" and isinstance(self, Tensor):
            raise RuntimeError(f"{name}(): does not support bool input")
        if dim is None:
            _not_empty(self, None, name)
            y = run(op[name], op["reshape"](self, -1 if not len(self.shape) else int(np.prod(self.shape))), axis=0)
            return op["reshape"](y, *[1] * len(self.shape)) if keepdim else y
        ax = one_dim(dim, len(self.shape))
        _not_empty(self, (ax,) if len(self.shape) else (), name)
        if not len(self.shape):
            return wrap(np.zeros((), np.int64))
        y = run(op[name], self, axis=ax)
        return wide(y, self, (ax,)) if keepdim else y
    define(name, call, f"{name}, along a dimension or of all elements.")


def _correction(unbiased: object, correction: "int | None") -> int:
    return correction if correction is not None else 1 if unbiased is None or unbiased else 0


def _spread(name: str, what: str) -> None:
    composite = COMPOSITES[name]

    def call(self: Tensor, dim: Axes = None, unbiased: "bool | None" = None, keepdim: bool = False, *,
             correction: "int | None" = None, what: str = "") -> AnyArray:
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        if self.dtype.kind not in "fc":
            raise RuntimeError(f"{what or 'std and var'} only support floating point and complex dtypes")
        axes = dims_of(dim, len(self.shape))
        return composite(self, axes=axes, keep=keepdim, correction=_correction(unbiased, correction))
    define(name, call, f"The {what} along dimensions, unbiased unless told otherwise.")


for _make, *_what in ((_truth, "all"), (_truth, "any"), (_place, "argmax"), (_place, "argmin"),
                      (_spread, "var", "variance"), (_spread, "std", "standard deviation")):
    _make(*_what)


def _with_mean(name: str, what: str) -> None:
    def call(self: Tensor, dim: "int | None" = None, unbiased: object = None, keepdim: bool = False, *,
             correction: "int | None" = None) -> tuple:
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        spread = getattr(self, name)(dim, unbiased, keepdim, correction=correction, what=f"{name}_mean")
        return together((spread, mean(self, dim, keepdim)), f"{name.capitalize()}MeanBackward0", (self,),
                        {"self": self, "result0": spread}, keepdim=keepdim,
                        correction=_correction(unbiased, correction), dim=dim)
    define(f"{name}_mean", call, f"The {what} and the mean.", method=False)


_with_mean("var", "variance")
_with_mean("std", "standard deviation")


@function()
def logsumexp(self: Tensor, dim: Axes, keepdim: bool = False) -> AnyArray:
    """log(sum(exp(self))) along dimensions, without overflow."""
    x = self if self.dtype.kind in "fc" else self.to(default.dtype)
    return composites.logsumexp(x, axes=dims_of(dim, len(self.shape)), keep=keepdim and len(self.shape) > 0)


def _inexact(x: Tensor, dim: int, name: str) -> Tensor:
    if x.dtype.kind != "f":
        last = ("_lastdim_kernel_impl" if one_dim(dim, len(x.shape)) >= len(x.shape) - 1 else "_kernel_impl"
                if name == "log_softmax" else "_kernel")
        raise NotImplementedError(f'"{name}{last}" not implemented for \'{scalar_name(x.dtype)}\'')
    return x


def _softmax(name: str, label: str, constant: float, doc: str) -> Callable:
    composite = COMPOSITES[name]

    def call(self: Tensor, dim: int, dtype: DTypeLike = None) -> AnyArray:
        x, ax = _inexact(self if dtype is None else self.to(dtype), dim, name), one_dim(dim, len(self.shape))
        alone = not len(x.shape) or isinstance(x, Tensor) and not x._a.size
        return named(x * 0.0 + constant, label) if alone else composite(x, axis=ax)
    return define(name, call, doc)


softmax = _softmax("softmax", "SoftmaxBackward0", 1.0, "exp(self), divided by its sum along a dimension.")
log_softmax = _softmax("log_softmax", "LogSoftmaxBackward0", 0.0, "log(softmax(self)), without cancellation.")
define("count_nonzero", lambda self, dim=None: _reduced("sum", self != 0, dim, False, ""),
       "How many elements are not zero.")


@function()
def nonzero(self: Tensor, *, as_tuple: bool = False, out: "Tensor | None" = None) -> "AnyArray | tuple":
    """The indices of what is not zero: a row for each, or a tensor for each axis."""
    if as_tuple:
        refuse_if(out is not None, "nonzero does not support the out kwarg when as_tuple is True")
        return tuple([wrap(i) for i in np.nonzero(np.atleast_1d(self._a))])
    found = wrap(np.argwhere(self._a))
    if out is not None and out.dtype != found.dtype:
        raise RuntimeError(f"nonzero: Expected out tensor to have scalar type Long but got scalar "
                           f"type{scalar_name(out.dtype)}")
    return delivered(found, out, "nonzero")


@function(node=("NansumBackward0", "self", "self", "dim keepdim"))
def nansum(self: Tensor, dim: Axes = None, keepdim: bool = False, *, dtype: DTypeLike = None) -> Tensor:
    """The sum, nan counting as zero."""
    if self.dtype.kind not in "fc":
        return sum(self, dim, keepdim, dtype=dtype)
    return sum(op["where"](op["isnan"](self), 0.0, self), dim, keepdim, dtype=dtype)


define("aminmax", lambda self, *, dim=None, keepdim=False: Bounds(amin(self, dim, keepdim), amax(self, dim, keepdim)),
       "The smallest and the largest element.", node="AminmaxBackward0", edges="self",
       saves="self min=result max=indices", shows="dim keepdim")


@function()
def sum_to_size(self: Tensor, *size: object) -> Tensor:
    """Summed over the dimensions that broadcasting to this shape's tensors would stretch."""
    shape = tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
    extra = len(self.shape) - len(shape)
    if extra < 0 or any(n not in (1, m) for n, m in zip(shape, self.shape[extra:])):
        raise RuntimeError(f"size {{{list(shape)}}} is not expandable to size {{{list(self.shape)}}}.")
    axes = tuple(range(extra)) + tuple([extra + k for k, n in enumerate(shape) if n == 1
                                        and self.shape[extra + k] != 1])
    if not axes:
        return self
    y = sum(self, axes, True)
    return y if not extra else together((y.reshape(*shape),), "SumBackward1", (self,), {"self": self})[0]
