"""The hot path: elementwise ops of one and two arguments whose record has plain partials, on real arrays.

The same derivative rules as everywhere, called without the general machinery around them. Every other call (views that
are out of date, modes, mixed dtypes, arguments that are no tensors) goes the general way, through record.apply.
"""
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.op import Op
from ...ops.kinds import Partials, match
from ...util.array import AnyArray, ArrayOrNumber
from ...util.interrupts import reraise_interrupt
from ..tensors import errors
from ..tensors.state import now
from ..tensors.tensor import Tensor, wrap
from .node import accumulator
from .op_node import Handle, OpNode, handle_of
from .plan import plan
from .record import finished, kept
from .saved import Meta, SavedTensor

# nan and infinities are answers like any other; to silence NumPy at every call would cost half of its time
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"fad\.eager")
ndarray, F8, F4 = np.ndarray, np.dtype(np.float64), np.dtype(np.float32)
new = object.__new__
_NOTHING: tuple = (None,)
_NEEDS = ((False, False), (True, False), (False, True), (True, True))


class UnaryNode(OpNode):
    """A step of one real argument; xs and ys hold the argument or the result where it is saved, else None."""

    __slots__ = ()
    outputs = 1
    params: dict = {}
    needs = (True,)

    def pull(self, g: object) -> tuple:
        xs, ys = self.xs, self.ys
        if xs is None or ys is None or g is None or g.dtype.kind == "c":
            return self._unusual(g)
        (x,), (y,) = xs, ys
        if x is not None:
            if x._vc[0] != (self.versions[0] if self.versions else 0):
                self.unpacked()
            x = x._a
        elif y is not None:
            if self.vcs[0][0]:
                self.unpacked()
            if y.__class__ is not ndarray:
                y = y._a
        p = self.handle.partials[0]
        if p.__class__ is int:
            return (g if p == 1 else -g,)
        return (g * p(y, x),)

    def _unusual(self, g: object) -> tuple:
        if self.xs is None:
            raise RuntimeError(errors.SECOND_TIME)
        return (None,) if g is None else OpNode.pull(self, g)

    def _differentiate(self, gs: tuple, ys: tuple, xs: tuple) -> tuple:
        if xs[0] is None:
            xs = (Meta(gs[0].shape, self.params.get("dtype", ys[0].dtype if ys[0] is not None else gs[0].dtype)),)
        return OpNode._differentiate(self, gs, ys, xs)


def saved_by(op: Op, x: AnyArray) -> "tuple | None":
    """Whether a unary op's rule reads its argument, and its result; None if the hot path cannot serve it."""
    rule = op.derivative
    if type(rule) is not Partials or rule.partials[0] is None or rule.singular(0, (x,)):
        return None
    (of_x,), (of_y,) = kept(handle_of(op), [x], (op.run(x),), {}, (True,))
    return of_x, of_y


def unary(op: Op, general: Callable) -> Callable:
    """The function of tensors that an op of one argument is; general: the same the general way."""
    saves = saved_by(op, np.array([0.5])) if "ufunc" in op.facts else None
    if saves is None:
        return general
    return _unary(general, op.facts["ufunc"], handle_of(op), *saves)


def _unary(general: Callable, ufunc: np.ufunc, handle: Handle, keeps_x: bool, keeps_y: bool) -> Callable:
    def call(x: object) -> Any:
        if now().quick and isinstance(x, Tensor) and x._view is None:
            dtype = x._a.dtype
            if dtype is F8 or dtype is F4:
                y = ufunc(x._a)
                if y.__class__ is not ndarray:
                    y = np.asarray(y)
                fn = x._fn or (accumulator(x) if x._rg else None)
                if fn is None:
                    return wrap(y)
                if keeps_x and x._x is not None and x._x.inference:
                    raise RuntimeError(errors.INFERENCE_SAVED)
                version = x._vc[0] if keeps_x else 0
                node = new(UnaryNode)
                node.handle = handle
                return finished(node, y, (fn,), (x._nr,) if x._nr else None, (x,) if keeps_x else _NOTHING,
                                (y,) if keeps_y else _NOTHING, (version, 0) if version else ())
        return general(x)
    return call


class BinaryNode(OpNode):
    """A step of two real arguments, or of one and a number; shapes: the arguments', where they are not the result's."""

    __slots__ = ("shapes",)
    outputs = 1
    params: dict = {}

    def pull(self, g: object) -> tuple:
        xs = self.xs
        if xs is None:
            raise RuntimeError(errors.SECOND_TIME)
        if g is None:
            return (None, None)
        if g.dtype.kind == "c":
            return OpNode.pull(self, g)
        self._check(xs, ())
        x, y = xs
        if isinstance(x, (Tensor, SavedTensor)):
            x = x._a
        if isinstance(y, (Tensor, SavedTensor)):
            y = y._a
        first, second = self.next
        return (None if first is None else self._part(0, g, x, y), None if second is None else self._part(1, g, x, y))

    def _part(self, k: int, g: AnyArray, x: "AnyArray | None", y: "ArrayOrNumber | None") -> AnyArray:
        p = self.handle.partials[k]
        if p.__class__ is int:
            g = g if p == 1 else -g
        else:
            g = g * p(None, x, y)
        shapes = self.shapes
        return g if shapes is None or shapes[k] == g.shape else match(g, Meta(shapes[k], g.dtype))

    def _differentiate(self, gs: tuple, ys: tuple, xs: tuple) -> tuple:
        shapes = self.shapes or (gs[0].shape,) * 2
        xs = tuple([Meta(shape, gs[0].dtype) if x is None else x for x, shape in zip(xs, shapes)])
        return OpNode._differentiate(self, gs, ys, xs)

    def _check(self, xs: tuple, ys: tuple) -> None:
        x, y = xs
        versions = self.versions or (0, 0)
        if isinstance(x, Tensor) and x._vc[0] != versions[0] or isinstance(y, Tensor) and y._vc[0] != versions[1]:
            OpNode._check(self, xs, ())


def binary(op: Op, general: Callable) -> Callable:
    """The function of two tensors (or a tensor and a number) that an op with partials is which do not read its result;
    general: the same the general way."""
    x = np.array([0.5, 1.5])
    keeps = tuple([plan(op, (x, x), (op.run(x, x),), {}, needs)[0] for needs in _NEEDS])
    return _binary(general, op.facts["ufunc"], handle_of(op), keeps)


def _binary(general: Callable, ufunc: np.ufunc, handle: Handle, keeps: tuple) -> Callable:
    """keeps[k]: which arguments are saved, for _NEEDS[k]."""
    def call(x: object, y: object) -> Any:
        cls = y.__class__
        if now().quick and isinstance(x, Tensor) and x._view is None:
            a = x._a
            dtype = a.dtype
            if cls is float or cls is int:
                b, other = y, None
            elif isinstance(y, Tensor) and y._view is None:
                b = y._a
                if b.dtype is not dtype:
                    return general(x, y)
                other = y._fn or (accumulator(y) if y._rg else None)
            else:
                return general(x, y)
            if dtype is F8 or dtype is F4:
                try:
                    z = ufunc(a, b)
                except ValueError as error:
                    reraise_interrupt(error)                                         # shapes do not fit: told there
                    return general(x, y)
                if z.__class__ is not ndarray:
                    z = np.asarray(z)
                fn = x._fn or (accumulator(x) if x._rg else None)
                if fn is None and other is None:
                    return wrap(z)
                code = (fn is not None) + 2 * (other is not None)
                keep_x, keep_y = keeps[code]
                if keep_x and x._x is not None and x._x.inference:
                    raise RuntimeError(errors.INFERENCE_SAVED)
                node = new(BinaryNode)
                node.handle, node.needs = handle, _NEEDS[code]
                version, nr = x._vc[0], x._nr if fn else 0
                if b is y:                                                     # a number
                    node.shapes = None
                    return finished(node, z, (fn, None), (nr, 0) if nr else None, (x if keep_x else None, y), _NOTHING,
                                    (version, 0) if version else ())
                if keep_y and y._x is not None and y._x.inference:
                    raise RuntimeError(errors.INFERENCE_SAVED)
                node.shapes = None if a.shape == b.shape else (a.shape, b.shape)
                return finished(node, z, (fn, other), (nr, y._nr if other else 0) if x._nr or y._nr else None,
                                (x if keep_x else None, y if keep_y else None), _NOTHING,
                                (version, y._vc[0]) if version or y._vc[0] else ())
        return general(x, y)
    return call
