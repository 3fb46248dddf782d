"""Composites: functions of several ops that are one step of the graph, as PyTorch's are.

A composite's meaning is what is `written` in ops; programs, forward mode and complex numbers go by that. On real
tensors it runs on the arrays at once (`run`) and has a way back of its own (`pullback`): one node in place of many,
less saved, less time. That both are the same function, to the second derivative, is tested for every composite of the
table below.
"""
from collections.abc import Callable

import numpy as np

from ...ir.op import Op, registry
from ...ops.kinds import Explicit, fit
from ...util.array import AnyArray
from ...util.interrupts import reraise_interrupt
from ..graph.inplace import wanted
from ..graph.node import accumulator
from ..graph.op_node import Handle, OpNode, enter, handle_of
from ..graph.record import apply, edge, finished, kept
from ..graph.saved import Meta, SavedTensor
from ..graph.single_node import together
from ..tensors.state import now
from ..tensors.tensor import Tensor, wrap

ndarray, F8, F4 = np.ndarray, np.dtype(np.float64), np.dtype(np.float32)
_new = object.__new__
_LEFT_OUT, _CONSTANT, _UNMOVED, _MOVED = range(4)         # kinds of arguments; one without axes counts four more


class CompositeNode(OpNode):
    """A composite of real tensors, or an op, as one step with one result."""

    __slots__ = ()
    outputs = 1

    def pull(self, g: object) -> tuple:
        xs, ys, versions = self.xs, self.ys, self.versions
        if g.__class__ is not ndarray or g.dtype.kind == "c" or xs is None or ys is None or self.held is not None:
            return OpNode.pull(self, g)
        arrays, y = [], ys[0]
        for k, x in enumerate(xs):
            if isinstance(x, Tensor):
                if x._vc[0] != (versions[k] if versions else 0):
                    self._check(xs, ys)
                x = x._a
            elif x.__class__ is SavedTensor:
                return OpNode.pull(self, g)
            arrays.append(x)
        if y.__class__ is ndarray and self.vcs[0][0] != (versions[-1] if versions else 0):
            self._check(xs, ys)
        elif y.__class__ is SavedTensor:
            return OpNode.pull(self, g)
        needs = self.needs
        out = self.handle.pullback((g,), ys, arrays, needs, **self.params)
        for gx, x, need in zip(out, arrays, needs):
            if need and (gx.__class__ is not ndarray or gx.shape != x.shape or gx.dtype is not x.dtype):
                return self._fitted(out, arrays)
        return out if len(out) == len(self.next) else out[:len(self.next)]

    def _fitted(self, out: tuple, arrays: list) -> tuple:
        return tuple([self._dense(fit(gx, x), x, need) for gx, x, need, _ in zip(out, arrays, self.needs, self.next)])


def lean(handle: Handle, args: tuple, params: dict, label: "str | None") -> "Tensor | None":
    """The step's result by the short way; None where that does not serve."""
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
    if dtype is None or handle.alike and arrays[0].shape != arrays[1].shape:
        return None
    for value in params.values():
        if isinstance(value, Tensor):                                   # which may want a gradient
            return None
    count = handle.edges
    if count is not None and count < len(nodes):
        if nodes[count] is not None or any(nodes[count:]):              # no derivative by these
            return None
        del nodes[count:]
    try:
        y = handle.run(*arrays, **params)
    except (ValueError, TypeError, RuntimeError, ArithmeticError) as error:
        reraise_interrupt(error)                                              # told the general way
        return None
    if y.__class__ is not ndarray:
        y = np.asarray(y)
    if not moved:
        return wrap(y)
    key = tuple(kinds)
    known = handle.kept.get(key)
    if known is None:
        needs = tuple([kind & 3 == _MOVED for kind in kinds])
        known = handle.kept[key] = needs, *kept(handle, arrays, (y,), params, needs)
    node = _new(CompositeNode)
    if label is not None:
        node.label = label
    node.handle, node.params = handle, params
    node.needs, keep_xs, (keep_y,) = known
    xs, versions = _saved(args, arrays, keep_xs)
    nrs = (tuple([a._nr if fn is not None and a._fn is not None else 0 for fn, a in zip(nodes, args)]) if numbered
           else None)
    return finished(node, y, tuple(nodes), nrs, tuple(xs), (y if keep_y else Meta(y.shape, y.dtype),), versions)


def enter_short(op: Op, run: Callable, pullback: Callable) -> None:
    """Say how an op runs on real arrays, and what its pullback is there, by the short way."""
    handle = handle_of(op)
    handle.run, handle.pullback = run, pullback


def by_short_way(op: Op, xs: tuple, params: dict, label: "str | None") -> Tensor:
    """An op of tensors with one result, by the short way where that serves."""
    if not all(isinstance(x, Tensor) for x in xs):
        return op(*xs, **params)
    y = lean(handle_of(op), xs, params, label)
    return apply(op, xs, params, label) if y is None else y


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


COMPOSITES: "dict[str, Composite]" = {}


class Composite(Op):
    """One function.

    written   written(*args, **params): the function in ops
    pullback  pullback(gs, ys, xs, needs, **params) -> a cotangent (or None) for each argument; code over arrays, in ops
    run       run(*arrays, **params); None: `written`, on arrays
    node      what its nodes are called; edges: how many of its arguments, from the first, can have gradients (None:
    all) inputs, outputs   names of what nodes save (_saved_<name>)
    kinds     of numbers that the short way serves; alike: only where the first two arguments have one shape
    saves     places of the arguments that are saved though the pullback does not read them
    """

    def __init__(self, name: str, written: Callable, pullback: Callable, run: "Callable | None" = None, *, node: str,
                 edges: "int | None" = 1, inputs: tuple = ("self",), outputs: tuple = ("result",),
                 kinds: str = "f", alike: bool = False, saves: tuple = ()):
        self.name, self.written, self.run, self.pullback = name, written, run or written, pullback
        self.kind, self.facts, self.creation = "composite", {} if edges is None else {"edges": edges}, False
        self.kinds, self.derivative, self.label = kinds, Explicit(None, pullback), node
        self.handle = Handle(self, node, inputs, outputs, always=saves, edges=edges, alike=alike)
        self.handle.pullback, self.__doc__ = pullback, f"{name}, as one step"
        enter(self, self.handle)
        COMPOSITES[name] = self

    def __call__(self, *args: object, label: "str | None" = None, **params: object) -> AnyArray:
        y = lean(self.handle, args, params, label)
        if y is not None:
            return y
        if not any(getattr(a, "__fad_level__", 0) for a in args):
            return self.run(*args, **params)
        if self.has_more(args, params):
            return self.written(*args, **params)
        if not self.serves(args):
            return together((self.written(*args, **params),), label or self.label,
                            args[: self.facts.get("edges", len(args))])[0]
        return apply(self, args, params, label)

    def has_more(self, args: tuple, params: dict) -> bool:
        """Whether gradients are wanted of what the pullback has none for: arguments without edges, and parameters."""
        for a in (*args[self.facts.get("edges", len(args)):], *params.values()):
            if isinstance(a, Tensor) and wanted(a):
                return True
        return False

    def serves(self, args: tuple) -> bool:
        """Whether the short way can be taken: tensors of one dtype, numbers and arrays, no tangents."""
        if now().dual_level >= 0:
            return False
        dtypes = set()
        for a in args:
            if isinstance(a, Tensor):
                if a._a.dtype.kind not in "iub":
                    dtypes.add(a._a.dtype)
            elif getattr(a, "__fad_level__", 0):
                return False
        return (len(dtypes) == 1 and next(iter(dtypes)).kind in self.kinds
                and not (self.handle.alike and args[0].shape != args[1].shape))


def of_one(name: str, written: Callable, slope: Callable, run: "Callable | None" = None,
           **options: object) -> Composite:
    """A composite of one tensor; slope(g, y, x, **params) is its cotangent, options are a composite's."""
    def pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, **params: object) -> tuple:
        return (slope(gs[0], ys[0], xs[0], **params),)
    return Composite(name, written, pullback, run, **options)


def elementwise(name: str, written: Callable, partial: Callable, run: "Callable | None" = None, *, node: str,
                passes: bool = False) -> Composite:
    """A composite of one tensor, element by element; partial(y, x, **params) is its derivative. passes: where partial
    is true the cotangent passes as it is, and elsewhere nothing does, be the cotangent infinite."""
    def slope(g: AnyArray, y: AnyArray, x: AnyArray, **params: object) -> AnyArray:
        return registry["where"](partial(y, x, **params), g, 0.0) if passes else g * partial(y, x, **params)
    return of_one(name, written, slope, run, node=node)


def quietly(f: Callable) -> Callable:
    """f without warnings: nan and infinities are answers like any other."""
    def call(*args: object, **params: object) -> AnyArray:
        with np.errstate(all="ignore"):
            return f(*args, **params)
    return call
