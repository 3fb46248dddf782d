"""vmap: a function of one example becomes a function of a batch."""
from collections.abc import Callable
from typing import Any, overload

import numpy as np

from ...ir import stack
from ...ir.build import current
from ...ir.op import registry
from ...ir.walk import evaluate
from ...ops.extents import agree
from ...ops.kinds import shape_of
from ...ops.literals import as_array
from ...routines.vectorized import in_order
from ...trace.heap.operands import OneByOneError
from ...trace.heap.state import TreeLayout
from ...trace.lists.export import plain
from ...trace.outcome.returned import in_parts
from ...trace.regions.unroll import attempted
from ...trace.runtime.capture import captured
from ...trace.tracing import is_data
from ...transforms.vmap import batch, example_of, varying
from ...util import tree
from ...util.array import AnyArray
from ...util.errors import ArgumentError, ExtentError
from ...util.foreign import remedy_of
from ...util.keywords import named_as_here
from ..calls.nested import Inner, call_fitting
from ..calls.signatures import P, R
from ..calls.staged import Staged, check_callable, policy


@overload
def vmap(f: Callable[P, Any], in_axes: object = ..., out_axes: object = ..., *,
         fallback: bool | None = ...,
         compile: str | None = ...) -> Callable[P, Any]: ...
@overload
def vmap(f: None = ..., in_axes: object = ..., out_axes: object = ..., *,
         fallback: bool | None = ...,
         compile: str | None = ...) -> Callable[[Callable[P, R]], Callable[P, Any]]: ...
@named_as_here
def vmap(f: "Callable | None" = None, in_axes: object = 0, out_axes: object = 0, *, fallback: "bool | None" = None,
         compile: "str | None" = None) -> Any:
    """Return a function that applies `f` to each example of a batch.

    Parameters
    ----------
    f : callable
        A function of one example.
    in_axes : int, None or tuple, optional
        The axis of each argument that counts the examples. None means that all examples share the argument. A tuple
        has one entry for each argument; an entry may be a structure like its argument. All examples share keyword
        arguments.
    out_axes : int, None or structure, optional
        The axis of each result that counts the examples. None means that the result is the same for all.
    fallback : bool, optional
        What happens if `f` cannot be compiled, because its structure depends on data. If True, `f` runs step by step on
        the tape, with a `FallbackWarning`. If False, fad raises an error. The default is ``fad.config.fallback``.
    compile : {"auto", "now", "never"}, optional
        When to compile, as for `jit`. The default is ``fad.config.compile``.

    Returns
    -------
    callable
        A function of batches.

    Raises
    ------
    ExtentError
        If the arguments hold different numbers of examples, or if the shape of a result depends on the example. It is a
        `ValueError`.

    Examples
    --------
    >>> import numpy as np
    >>> import fad
    >>> fad.vmap(lambda x, y: np.sum(x * y), in_axes=(0, None))(np.ones((3, 2)), np.ones(2))
    array([2., 2., 2.])

    Compute the gradient of each example:

    >>> loss = lambda w, x: (w @ x) ** 2
    >>> fad.vmap(fad.grad(loss), in_axes=(None, 0))(np.ones(2), np.array([[1.0, 0.0], [0.0, 2.0]]))
    array([[2., 0.],
           [0., 8.]])
    """
    if f is None:
        return lambda g: vmap(g, in_axes, out_axes, fallback=fallback, compile=compile)
    check_callable(f, "vmap")

    def body(*args: object, **kwargs: object) -> Any:
        batched = _Examples(args, in_axes)
        if stack.is_live():
            return _placed(batched.one_by_one(f, kwargs), out_axes)
        try:
            inner = attempted(lambda: batched.traced(f, kwargs, 0, is_delivered=True), {}, OneByOneError)
        except OneByOneError:
            if batched.is_empty:
                raise
            call = captured(f)
            results = _in_order(lambda k: call_fitting(call, batched.example(k), kwargs), batched.count)
            return _placed(results, out_axes)
        results, same = batched.at_once(inner)
        return _placed(results, out_axes, same)
    options = {"fallback": fallback, **policy(compile)}
    return Staged(body, f, rebuild=(vmap, (f, in_axes, out_axes), options), fallback=fallback, compile=compile)


class _Examples:
    """The arguments of a batch: their leaves, those with an axis of examples first along it, and how many there are."""

    def __init__(self, args: tuple, in_axes: object):
        self.axes = argument_axes(in_axes, args)
        leaves, self.structure = tree.flatten(args)
        self.leaves = [x if a is None else _to_front(x, a) for x, a in zip(leaves, self.axes)]
        self.count = _batch_extent(self.leaves, self.axes)

    @property
    def is_empty(self) -> bool:
        """Whether it is known that there are no examples."""
        return isinstance(self.count, int) and self.count == 0

    def example(self, k: Any) -> tuple:
        """The arguments of one example."""
        return self.structure.unflatten([x if a is None else example_of(x, k) for x, a in zip(self.leaves, self.axes)])

    def traced(self, f: Callable, kwargs: dict, k: int, is_delivered: bool = False) -> Inner:
        """The trace of an example."""
        return Inner(f, self.example(k), kwargs, whole=self.leaves, is_delivered=is_delivered)

    def one_by_one(self, f: Callable, kwargs: dict) -> Any:
        """The stacked results of the examples; each example may take its own path."""
        results = []
        for k in range(self.count):
            inner = self.traced(f, kwargs, k)
            results.append(inner.tree_of(evaluate(inner.func, inner.args)))
        return tree.map_leaves(_stacked, *results)

    def at_once(self, inner: Inner) -> tuple:
        """The results of all examples by the batched program, and the ids of those that are one for all examples."""
        flags = [k < len(self.axes) and self.axes[k] is not None for k in inner.data]
        given = [self.leaves[k] if b else x for k, x, b in zip(inner.data, inner.args, flags)]
        results = batch(inner.func, given, flags, self.count)
        if inner.traced.delivered and not self.is_empty:      # as the last example leaves it
            inner.deliver([y[-1] for y in results[-inner.traced.delivered:]])
        differ = varying(inner.func, flags)
        return inner.tree_of(results), {id(y) for y, a in zip(results, inner.func.outputs) if a not in differ}


def _in_order(f: Callable, n: Any) -> Any:
    """The stacked results of f(0), ..., f(n - 1), in a loop of the program: it carries what `f` changes outside."""
    layouts: list = []

    def leaves_of(k: Any) -> tuple:
        layout = TreeLayout(in_parts(current(), plain(f(k))))
        layouts[:] = layouts or [layout]
        layouts[0].require(layout, "the result of an example")
        return tuple(layout.data)
    stacked = captured(in_order)(leaves_of, n)
    return layouts[0].filled(iter(stacked))


def _stacked(*ys: object) -> AnyArray:
    if not all(is_data(y) or isinstance(y, (bool, np.bool_)) for y in ys):
        raise ArgumentError(f"vmap cannot stack results of {type(ys[0]).__name__}", do="return arrays or numbers")
    if any(shape_of(y) != shape_of(ys[0]) for y in ys):
        raise ExtentError("the extents of a result differ from example to example, and cannot be stacked",
                          why="they depend on the data")
    return as_array(list(ys))


def argument_axes(in_axes: object, args: tuple) -> list:
    """The axis of each leaf of the arguments, None for a leaf that has none."""
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)
    if not isinstance(in_axes, tuple):
        in_axes = (in_axes,) * len(args)
    if len(in_axes) != len(args):
        raise ArgumentError(f"in_axes has {len(in_axes)} entries for {len(args)} positional arguments",
                            do="give one entry for each argument (None where there is no axis)")
    axes: list = []
    for given, argument in zip(in_axes, args, strict=True):
        axes += prefix_leaves(given, argument, "in_axes")
    return axes


def prefix_leaves(prefix: object, model: object, what: str) -> list:
    """One entry for each leaf of model: prefix is an int or None for all of them, or a tree like model."""
    leaves, _ = tree.flatten(model)
    if prefix is None or (isinstance(prefix, int) and not isinstance(prefix, bool)):
        return [prefix] * len(leaves)
    if tree.flatten(prefix)[1].cls is None:                   # a leaf, and none of these
        raise ArgumentError(f"{what} has {prefix!r} in it",
                            do=f"{what} is an int, None, or a tree of these like what it is for")
    entries: list = []
    children, given = _children(model), _children(prefix)
    if len(children) != len(given):
        raise ArgumentError(f"{what} does not have the structure of what it is for: {prefix!r}",
                            do=f"give an int for all, or one entry for each of the {len(children)} parts")
    for p, m in zip(given, children):
        entries += prefix_leaves(p, m, what)
    return entries


def _children(node: object) -> list:
    """The parts of a tree's node, in the order of its leaves."""
    return tree.flatten(node, is_leaf=lambda part: part is not node)[0] if not is_data(node) else [node]


def _to_front(x: object, axis: int) -> Any:
    if not is_data(x):
        remedy = f"pass its numbers: {remedy_of(x)}" if remedy_of(x) else ""
        raise ArgumentError(f"vmap goes over arrays, and an argument is {type(x).__name__}",
                            do=remedy or "say None in in_axes for arguments that are the same for all examples")
    rank = len(shape_of(x))
    if not -rank <= axis < rank:
        raise ArgumentError(f"vmap was told to go over axis {axis} of an argument with {rank} axes",
                            do="say None in in_axes for arguments that are the same for all examples")
    axis %= rank
    order = (axis,) + tuple(k for k in range(rank) if k != axis)
    return x if axis == 0 else registry["transpose"](x, axes=order)


def _batch_extent(xs: list, axes: list) -> Any:
    counts = [shape_of(x)[0] for x, a in zip(xs, axes) if a is not None]
    if not counts:
        raise ArgumentError("vmap needs at least one argument to go over", do="give an axis in in_axes")
    n = counts[0]
    for other in counts[1:]:
        n = agree(n, other, "batch extents")
    return n


def _placed(result: AnyArray, out_axes: object, same: Any = ()) -> AnyArray:
    """The results with their batch axes where out_axes says. `same` are the ids of results that all examples share."""
    leaves, structure = tree.flatten(result)
    axes = prefix_leaves(out_axes, result, "out_axes")
    return structure.unflatten([_from_front(y, a, id(y) in same) if is_data(y) else y for y, a in zip(leaves, axes)])


def _from_front(y: AnyArray, axis: "int | None", is_same: bool) -> AnyArray:
    if axis is None:
        if is_same:
            return example_of(y, 0)
        raise ArgumentError("out_axes cannot be None for a batched result", do="give an axis")
    rank = y.ndim
    if not -rank <= axis < rank:
        raise ArgumentError(f"vmap was told to put the examples at axis {axis} of a result with {rank} axes",
                            do=f"give out_axes from {-rank} to {rank - 1}: the axis of the examples is one of the "
                               f"result's")
    axis %= rank
    order = tuple(range(1, axis + 1)) + (0,) + tuple(range(axis + 1, rank))
    return y if axis == 0 else registry["transpose"](y, axes=order)
