"""The short way of a composite: where nothing but recording is asked for, its node is made in one pass over the
arguments, and pulls a gradient back in one pass over what it saved.

On tensors of a few elements PyTorch takes some fifteen microseconds for a function and its gradient, two thirds of them
for the backward pass as such. The calls of NumPy take the rest, and are ten. So the arguments are looked at once, the
first call with arguments of the same kinds decides what is saved, and a gradient of the right shape is left as it is.
"""
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from ..util.interrupts import let_through
from .accumulate import accumulator
from .op_node import FREED, SingleNode
from .record import edge, finished, kept
from .saved import Meta, SavedTensor
from .state import now
from .tensor import Tensor, wrap

ndarray, F8, F4 = np.ndarray, np.dtype(np.float64), np.dtype(np.float32)
_new = object.__new__
_LEFT_OUT, _CONSTANT, _UNMOVED, _MOVED = range(4)         # kinds of arguments; one without axes counts four more


class HasShortWay(Protocol):
    """The attributes of a composite that the short way needs (see composite.py)."""

    handle: Any
    run: Callable
    alike: bool
    edges: "int | None"
    kept: dict


class CompositeNode(SingleNode):
    """A composite of real tensors as one step."""

    __slots__ = ()

    def pull(self, g: object) -> tuple:
        xs, ys, versions = self.xs, self.ys, self.versions
        if g.__class__ is not ndarray or g.dtype.kind == "c" or xs is None or ys is None or self.held is not None:
            return SingleNode.pull(self, g)
        arrays, y = [], ys[0]
        for k, x in enumerate(xs):
            if isinstance(x, Tensor):
                if x._vc[0] != (versions[k] if versions else 0):
                    self._check(xs, ys)
                x = x._a
            elif x.__class__ is SavedTensor:
                return SingleNode.pull(self, g)
            arrays.append(x)
        if y.__class__ is ndarray and self.vcs[0][0] != (versions[-1] if versions else 0):
            self._check(xs, ys)
        elif y.__class__ is SavedTensor:
            return SingleNode.pull(self, g)
        needs, composite = self.needs, self.handle.op
        out = composite.pullback((g,), ys, arrays, needs, **self.params)
        for gx, x, need in zip(out, arrays, needs):
            if need and (gx.__class__ is not ndarray or gx.shape != x.shape or gx.dtype is not x.dtype):
                return self._fitted(out, arrays)
        return out if len(out) == len(self.next) else out[:len(self.next)]

    def release(self) -> None:
        xs, ys = self.xs, self.ys
        if self.label is not None or self.held is not None or xs is FREED or ys is FREED or self.handle.lasts:
            SingleNode.release(self)
            return
        keeps = ys[0].__class__ is ndarray
        for x in xs:
            if x.__class__ is SavedTensor:
                SingleNode.release(self)
                return
            if x is not None and x.__class__ is not Meta:
                keeps = True
        if keeps:
            self.xs = self.ys = FREED

    def _fitted(self, out: tuple, arrays: list) -> tuple:
        fit = self.handle.op.fit
        return tuple([self._dense(fit(gx, x), x, need) for gx, x, need, _ in zip(out, arrays, self.needs, self.next)])


def lean(composite: HasShortWay, args: tuple, params: dict, label: "str | None") -> "Tensor | None":
    """The composite's result by the short way; None where that does not serve."""
    if not now().quick:
        return None
    arrays, nodes, kinds, dtype = [], [], [], None
    numbered = moved = False
    for a in args:
        fn = None
        if isinstance(a, Tensor):
            x = a._a
            if x.dtype is F8 or x.dtype is F4:
                if a._x is not None or dtype is not None and x.dtype is not dtype:
                    return None
                dtype = x.dtype
                fn = edge(a) if a._view is not None else a._fn or (accumulator(a) if a._rg else None)
                if fn is None:
                    kind = _UNMOVED
                else:
                    kind, moved = _MOVED, True
                    if a._nr and a._fn is not None:
                        numbered = True
            elif x.dtype.kind in "iub":
                kind = _CONSTANT
            else:
                return None
        elif a is None:
            x, kind = a, _LEFT_OUT
        elif a.__class__ is ndarray:
            x, kind = a, _CONSTANT
        else:
            return None
        arrays.append(x)
        nodes.append(fn)
        kinds.append(kind if x is None or x.ndim else kind + 4)
    if dtype is None or composite.alike and arrays[0].shape != arrays[1].shape:
        return None
    for value in params.values():
        if isinstance(value, Tensor):                                   # which may want a gradient
            return None
    count = composite.edges
    if count is not None and count < len(nodes):
        if nodes[count] is not None or any(nodes[count:]):              # no derivative by these
            return None
        del nodes[count:]
    try:
        y = composite.run(*arrays, **params)
    except (ValueError, TypeError, RuntimeError, ArithmeticError) as error:
        let_through(error)                                              # told the general way
        return None
    if y.__class__ is not ndarray:
        y = np.asarray(y)
    if not moved:
        return wrap(y)
    key = tuple(kinds)
    known = composite.kept.get(key)
    if known is None:
        needs = tuple([kind & 3 == _MOVED for kind in kinds])
        known = composite.kept[key] = needs, *kept(composite.handle, arrays, (y,), params, needs)
    node = _new(CompositeNode)
    if label is not None:
        node.label = label
    node.handle, node.params = composite.handle, params
    node.needs, keep_xs, (keep_y,) = known
    xs, versions = _saved(args, arrays, keep_xs)
    nrs = (
        tuple([a._nr if fn is not None and a._fn is not None else 0 for fn, a in zip(nodes, args)])
        if numbered
        else None
    )
    return finished(node, y, tuple(nodes), nrs, tuple(xs), (y if keep_y else Meta(y.shape, y.dtype),), versions)


def _saved(args: tuple, arrays: list, keeps: tuple) -> "tuple[list, tuple]":
    """The arguments that a node saves, and their versions (empty if all are new)."""
    xs, versions = [], None
    for k, (a, x, keep) in enumerate(zip(args, arrays, keeps)):
        if isinstance(a, Tensor):
            if not keep:
                a = Meta(x.shape, x.dtype)
            elif a._vc[0]:
                if versions is None:
                    versions = [0] * (len(args) + 1)
                versions[k] = a._vc[0]
        xs.append(a)
    return xs, () if versions is None else tuple(versions)
