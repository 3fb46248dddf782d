"""Compiled functions as nodes: a staged function (jit, grad, ...) or one with a rule of its own, called on tensors, is
one step.

The arrays run through the compiled function; the step's backward is its compiled pullback, and where the gradient is
to have a history, a step of the same kind: that pullback, as a function of tensors.
"""
from collections.abc import Callable
from typing import Any

import numpy as np

from ...api.calls.staged import Staged
from ...api.calls.transform_cache import remembered
from ...api.derivatives.products import jvp, pulled_in_place
from ...api.derivatives.pullback import TwoStep, later_tree
from ...api.derivatives.vmap import argument_axes, prefix_leaves, vmap
from ...trace.values.of_tensors import standing_for
from ...util import tree
from ...util.array import AnyArray
from ...util.errors import CallError, FadError, UnsupportedFunctionError
from ...util.interrupts import reraise_interrupt
from ..functions.joining import stack
from ..graph.inplace import wanted
from ..graph.node import Node
from ..graph.record import edge, numbers
from ..graph.saved import Meta, SavedTensor
from ..graph.views import tangent_of
from ..tensors import errors
from ..tensors.state import changed, now
from ..tensors.tensor import Tensor, as_tensor, is_continuous, is_floating, raw, wrap
from .func import ON_TENSORS


class StagedCalls:
    """Calls of one function with one structure of arguments: what is staged for them, once."""

    def __init__(self, function: object, structure: object, places: tuple):
        self.function, self.structure, self.places = function, structure, places
        self.name = str(getattr(function, "__name__", type(function).__name__)).strip("<>").capitalize()
        rebuild = (StagedCalls, (function, structure, places), {})
        self.forward = TwoStep(self._forward, function, rebuild=rebuild)
        self.gradient = Staged(self._gradient, function, rebuild=rebuild)
        # its programs of arrays are others: traced values stand for tensors here
        is_one_program = isinstance(function, Staged) and not isinstance(function, TwoStep)
        self.value = Staged(self.call, function, rebuild=rebuild) if is_one_program else self.call

    def call(self, xs: tuple, rest: tuple) -> Any:
        """The function on these leaves: xs at the places of tensors, rest at the others."""
        xs_left, rest_left = iter(xs), iter(rest)
        leaves = [next(xs_left) if k in self.places else next(rest_left) for k in range(self.structure.leaves)]
        args, kwargs = self.structure.unflatten(leaves)
        before = [getattr(x, "atom", None) for x in leaves]
        result = self.function(*args, **kwargs)
        if getattr(self.function, "writes", False) and before != [getattr(x, "atom", None) for x in leaves]:
            raise UnsupportedFunctionError("a function that is called on tensors changes an argument in place",
                                           why="a program does not record the change in the tensor's graph",
                                           do="change a copy (x.copy() of an array, x.clone() of a tensor)")
        return result

    def _forward(self, xs: tuple, rest: tuple) -> tuple:
        value, pullback = pulled_in_place(lambda xs: self.call(xs, rest), (xs,), False)
        return value, pullback(later_tree(value, "g")), value

    def _gradient(self, xs: tuple, rest: tuple, g: AnyArray) -> tuple:
        return pulled_in_place(lambda xs: self.call(xs, rest), (xs,), False)[1](g)[0]


def kind_of(function: object, structure: object, places: tuple) -> StagedCalls:
    """The kind of a call, kept with the function."""
    try:
        table = function.__dict__.setdefault("__fad_kinds__", {})
    except AttributeError as error:
        reraise_interrupt(error)                                # a callable without attributes of its own
        return StagedCalls(function, structure, places)
    key = structure, places
    if key not in table:
        table[key] = StagedCalls(function, structure, places)
    return table[key]


class CompiledNode(Node):
    """The step that a compiled function is: its tensors (saved), what its first run left for backward (pullback)."""

    def __init__(self, call: "CompiledCall", edges: list, pullback: Callable, model: object):
        super().__init__(tuple(edges), numbers(call.tensors, edges))
        self.kind, self.rest, self.pullback = call.kind, call.rest, pullback
        hooks = now().pack_hooks[-1] if now().pack_hooks else None
        self.saved: Any = tuple([SavedTensor(t, hooks=hooks) for t in call.tensors])
        self.label = f"{call.kind.name}Backward0"
        self.model, self.structure = tree.flatten(model)
        self.moving = [k for k, y in enumerate(self.model) if moves(y)]
        self.outputs = len(self.moving)
        self.model = [Meta(np.shape(y), np.asarray(y).dtype) if isinstance(y, (np.ndarray, np.generic, float, complex))
                      else y for y in self.model]

    def gradient_tree(self, g: object) -> Any:
        """A cotangent tree with these leaves where a gradient belongs."""
        filled = [np.zeros(y.shape, y.dtype) if isinstance(y, Meta) else y for y in self.model]
        for k, one in zip(self.moving, [g] if self.outputs == 1 else list(g)):
            if one is not None:
                filled[k] = one if isinstance(one, Tensor) else np.asarray(one)
        return self.structure.unflatten(filled)

    def unpacked(self) -> tuple:
        if self.saved is None:
            raise RuntimeError(errors.SECOND_TIME)
        return tuple([s.unpack() for s in self.saved])

    def pull(self, g: object) -> tuple:
        self.unpacked()
        return tuple(self.pullback(self.gradient_tree(g))[0])

    def pull_graph(self, g: object) -> tuple:
        return tuple(self.kind.gradient(self.unpacked(), self.rest, self.gradient_tree(g)))

    def release(self) -> None:
        for s in self.saved or ():
            s.release()
        self.saved = self.pullback = None


def moves(y: AnyArray) -> bool:
    """Whether a leaf of a result can have a gradient."""
    return isinstance(y, (np.ndarray, np.generic, float, complex)) and is_floating(np.asarray(y).dtype)


class CompiledCall:
    """One call of a function on a tree of arguments some leaves of which are tensors."""

    def __init__(self, function: object, args: tuple, kwargs: dict):
        leaves, structure = tree.flatten((args, kwargs))
        places = tuple([k for k, x in enumerate(leaves) if is_continuous(x)])
        self.tensors = [leaves[k] for k in places]
        self.rest = tuple([raw(x) for k, x in enumerate(leaves) if k not in places])
        self.kind = kind_of(function, structure, places)

    def run(self) -> Any:
        before = standing_for.set(Tensor)                     # traced values have the methods of tensors, too
        try:
            return self._run()
        finally:
            standing_for.reset(before)

    def _run(self) -> Any:
        edges = [edge(t) for t in self.tensors] if now().grad and not now().inference else []
        arrays = tuple([t._a for t in self.tensors])
        if any(e is not None for e in edges):
            value, pullback = self.kind.forward(arrays, self.rest)
            results = self.recorded(value, edges, pullback)
        else:
            value = self.kind.value(arrays, self.rest)
            results = [as_result(y) for y in tree.flatten(value)[0]]
        if now().dual_level >= 0:
            self.push(results, arrays)
        return tree.flatten(value)[1].unflatten(results)

    def recorded(self, value: object, edges: list, pullback: Callable) -> list:
        results = [as_result(y) for y in tree.flatten(value)[0]]
        node = CompiledNode(self, edges, pullback, value)
        for nr, k in enumerate(node.moving):
            results[k]._fn, results[k]._nr, results[k]._rg = node, nr, True
        return results

    def push(self, results: list, arrays: tuple) -> None:
        """Tangents of the results, by the compiled forward mode."""
        tangents = [tangent_of(t) for t in self.tensors]
        if all(d is None for d in tangents):
            return
        with changed(dual_level=-1):
            given = tuple([np.zeros_like(a) if d is None else d._a for a, d in zip(arrays, tangents)])
            _, dys = jvp(lambda xs: self.kind.call(xs, self.rest), (arrays,), (given,))
        for y, dy in zip(results, tree.flatten(dys)[0]):
            if is_continuous(y):
                y.extra.tangent = wrap(np.asarray(dy))


def as_result(y: object) -> Any:
    return wrap(np.asarray(y)) if isinstance(y, (np.ndarray, np.generic, float, complex)) else y


def call_on_tensors(function: Callable, args: tuple, kwargs: dict) -> Any:
    """function(*args, **kwargs) with tensors among the arguments."""
    plain = _on_tensors(function)
    key = Tensor, tree.flatten((args, kwargs))[1]
    if plain is not None and key in function.fallback.reasons and function.fallback.is_on:
        return plain(*args, **kwargs)
    try:
        if isinstance(function, TwoStep):
            return _in_two_steps(function, args, kwargs)
        return CompiledCall(function, args, kwargs).run()
    except Exception as error:
        reraise_interrupt(error)
        if plain is not None:                                 # it is as good on tensors
            return function.fallback.instead(error, lambda: plain(*args, **kwargs), key, function._title(),
                                             mended=(CallError,))   # PyTorch has more options than NumPy
        if not isinstance(error, FadError) or getattr(function, "rebuild", (None,))[0] is not vmap:
            raise
        return _one_by_one(*function.rebuild[1], args=args, kwargs=kwargs)


def _on_tensors(function: object) -> Any:
    """The function that a staged function computes, on tensors and by them; None where nothing is known."""
    if not isinstance(function, Staged):
        return None
    make, given, options = function.rebuild
    return ON_TENSORS[make](*given, **options) if make in ON_TENSORS else function.plain


def _in_two_steps(function: TwoStep, args: tuple, kwargs: dict) -> tuple:
    """A function in two steps, each one node: where a gradient may go through the second, it is a function of the
    arguments, too, and starts again from them."""
    leaves, structure = tree.flatten((args, kwargs))
    saved = [SavedTensor(x) if isinstance(x, Tensor) else x for x in leaves]
    early: Callable | None = None
    if any(wanted(x) for x in leaves):
        value = call_on_tensors(_part(function, 0), args, kwargs)
    else:
        value, early = CompiledCall(function, args, kwargs).run()

    def step(*arguments: object) -> Any:
        given = tree.flatten(arguments)[0]
        if early is not None and not any(wanted(x) for x in given):
            return tree.map_leaves(as_result, early(*tree.map_leaves(raw, arguments)))
        again = structure.unflatten([x.unpack() if isinstance(x, SavedTensor) else x for x in saved])
        return call_on_tensors(_part(function, 1), (*again, *arguments), {})
    return value, step


@remembered
def _part(function: TwoStep, which: int) -> Staged:
    """The first result of a function in two steps, or the second as a function of everything."""
    def first(*args: object, **kwargs: object) -> Any:
        return function.inline(*args, **kwargs)[0]

    def second(args: tuple, kwargs: dict, *arguments: object) -> Any:
        return function.inline(*args, **kwargs)[1](*arguments)
    return Staged((first, second)[which], function, rebuild=(_part, (function, which), {}))


def _one_by_one(f: Callable, in_axes: object, out_axes: object, args: tuple, kwargs: dict) -> Any:
    """vmap of a function that works on tensors alone (with a graph, tangents, hooks), on one example at a time."""
    leaves, structure = tree.flatten(args)
    axes = argument_axes(in_axes, args)
    count = next(np.shape(raw(x))[a] for x, a in zip(leaves, axes) if a is not None)
    if not count:                                       # what the results would be like, an example of zeros tells
        leaves = [x if a is None else _zeros_for(x, a) for x, a in zip(leaves, axes)]
    with changed(of_an_example=True):
        results = [f(*structure.unflatten([x if a is None else _example(x, a, k) for x, a in zip(leaves, axes)]),
                     **kwargs) for k in range(count or 1)]
    rows = [tree.flatten(result)[0] for result in results]
    ends = prefix_leaves(out_axes, results[0], "out_axes")
    stacked = [ys[0] if a is None else stack(list(map(as_tensor, ys)), a)
               for a, *ys in zip(ends, *rows)]
    if not count:
        stacked = [y if a is None else y.narrow(a, 0, 0) for a, y in zip(ends, stacked)]
    return tree.flatten(results[0])[1].unflatten(stacked)


def _zeros_for(x: object, axis: int) -> Tensor:
    """Zeros that are one example for an argument without examples."""
    shape = list(np.shape(raw(x)))
    shape[axis] = 1
    return wrap(np.zeros(shape, raw(x).dtype))


def _example(x: Tensor, axis: int, k: int) -> Tensor:
    return x.select(axis, k) if isinstance(x, Tensor) else np.take(x, k, axis)


# methods that NumPy's arrays have with another meaning -> the fewest arguments that tell the two apart
Tensor.UNLIKE_ARRAYS = {
    "std": 0, "var": 0, "sort": 0, "nonzero": 0, "repeat": 1, "transpose": 1, "max": 1, "min": 1, "squeeze": 1}
Tensor.__fad_call__ = staticmethod(call_on_tensors)
