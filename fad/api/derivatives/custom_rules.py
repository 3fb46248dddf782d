"""Calls of functions with the user's own derivatives: what a rule is given, and what it must return.

A CustomCall is one call of such a function. Its rule (JvpRule, VjpRule) runs the user's code while a derivative is made
and checks the structure and the shapes of the result.
"""
from collections.abc import Callable, Sequence
from typing import Any

from ...ir.build import Value, current
from ...ir.types import type_of
from ...ops.kinds import match, shape_of
from ...trace.runtime.capture import captured
from ...trace.tracing import is_data
from ...trace.values.aliases import may_be_one, reach_of
from ...trace.values.place import roots_of
from ...trace.values.tracer import Tracer
from ...util import tree
from ...util.array import AnyArray, ArrayOrNumber
from ...util.errors import CotangentShapeError, StructureError
from ..calls.nested import conform, known_shape, zeros_of


class CustomCall:
    """One call of a function with a rule: its arguments' leaves and structure, and its result's."""

    def __init__(self, f: Callable, args: tuple, kwargs: dict):
        self.f = f
        self.leaves, self.arguments = tree.flatten((args, kwargs))
        self.data = [k for k, x in enumerate(self.leaves) if is_data(x)]
        self.structure: Any = None
        self.statics: dict = {}
        self.written: list = []                               # numbers of the data leaves that the function writes to
        self.shapes: list = []                                # of the result's data leaves, extents as known
        self.arrays: list = []  # for each data leaf of the result, the arrays that it may be or be a part of
        self.inputs: dict[int, int] = {}                      # id of a data leaf as the function saw it -> its number

    def fill(self, xs: Sequence) -> "tuple[tuple, dict]":
        """The arguments with these data leaves, for a rule: copies that the rule may write to."""
        return self._filled([current().value_of(x.atom) if isinstance(x, Value) else x for x in xs])

    def _filled(self, xs: Sequence) -> "tuple[tuple, dict]":
        filled = list(self.leaves)
        for k, x in zip(self.data, xs):
            filled[k] = x
        return self.arguments.unflatten(filled)

    def run(self, *xs: object) -> tuple:
        """The result's data leaves, and the final contents of arguments that were written to. It keeps the result's
        structure."""
        before = [_held(x) for x in xs]
        args, kwargs = self._filled(xs)
        result = self.data_of(captured(self.f)(*args, **kwargs))
        self.shapes = [shape_of(y) for y in result]
        self.written = [k for k, x in enumerate(xs) if _held(x) is not before[k]]
        self.arrays = [reach_of(y) if isinstance(y, Tracer) and y.ndim else [] for y in result]
        self.inputs = {id(x): k for k, x in enumerate(xs)}
        return (*result, *[xs[k] for k in self.written])

    def data_of(self, result: object) -> list:
        leaves, structure = tree.flatten(result)
        if self.structure is not None and structure != self.structure:
            raise StructureError(f"a rule returned {structure.text()} where the function returns "
                                 f"{self.structure.text()} (* is an array or a number)",
                                 do="return from the rule what the function returns")
        statics = {k: x for k, x in enumerate(leaves) if not is_data(x) and not isinstance(x, bool)}
        if self.structure is not None and statics.keys() != self.statics.keys():
            raise StructureError("a rule returned other than numbers where the function returns numbers",
                                 do="return from the rule what the function returns")
        self.structure, self.statics = structure, statics
        found = [x for k, x in enumerate(leaves) if k not in statics]
        for x, shape in zip(found, self.shapes):
            if not _may_have(shape_of(x), shape):
                raise StructureError(f"a rule returned a value of shape {known_shape(shape_of(x))} where the function "
                                     f"returns one of shape {known_shape(shape)}",
                                     do="return from the rule what the function returns")
        return found

    def result(self, ys: Sequence) -> Any:
        """The result tree with these data leaves."""
        return self.structure.unflatten(ys, self.statics)

    def note_shared(self, given: Sequence, ys: Sequence) -> None:
        """Results that are arguments, outside arrays or one array get values of their own here, so that a write to one
        leaves the others alone.
        """
        known: dict[int, list] = {}
        for y, arrays in zip(ys, self.arrays):
            for x in arrays if isinstance(y, Tracer) else ():
                at = self.inputs.get(id(x))
                outside = (roots_of(given[at]) if at is not None and isinstance(given[at], Tracer)
                           else [x] if current().sees(x._var) else [])
                for other in [*outside, *known.setdefault(id(x), [])]:
                    may_be_one(y, other)
                known[id(x)].append(y)


def _held(x: object) -> Any:
    return x.held if isinstance(x, Tracer) else x


class Rule:
    """The derivative of a custom call, as transforms/custom.py uses it."""

    jvp: "Callable | None" = None
    forward: "Callable | None" = None
    backward: "Callable | None" = None
    batch: "Callable | None" = None
    results = 0
    unruled: Sequence[int] = ()  # data leaves without a derivative: of nondiff_argnums, and passed by keyword

    def __init__(self, call: CustomCall, nondiff: Sequence[int] = ()):
        self.call, self.nondiff = call, nondiff
        positional = [k for k, arg in enumerate(call.arguments.unflatten(call.leaves)[0])
                      for leaf in tree.flatten(arg)[0] if is_data(leaf)]
        self.unruled = [k for k in range(len(call.data)) if k >= len(positional) or positional[k] in nondiff]


class JvpRule(Rule):
    """A rule given as jvp(*nondiff, primals, tangents) -> (value, tangent)."""

    def __init__(self, call: CustomCall, rule: Callable, nondiff: tuple):
        super().__init__(call, nondiff)
        self.rule = rule
        self.jvp = self._jvp

    @property
    def results(self) -> int:                               # type: ignore[override]
        return self.call.structure.leaves - len(self.call.statics)

    def _jvp(self, xs: Sequence, dxs: Sequence) -> tuple:
        primals, _ = self.call.fill(xs)
        tangents, _ = self.call.fill([zeros_of(x) if d is None else d for x, d in zip(xs, dxs)])
        static = [primals[k] for k in self.nondiff]
        primals, tangents = (tuple([x for k, x in enumerate(given) if k not in self.nondiff])
                             for given in (primals, tangents))
        answer = captured(self.rule)(*static, primals, tangents)
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise StructureError("a jvp rule must return a pair (value, tangent)", do="return (value, tangent)")
        return self.call.data_of(answer[0]), [g for g in conform("tangent of a jvp rule", answer[1], answer[0])
                                              if g is not None]


class VjpRule(Rule):
    """A rule given as forward(*args) -> (value, residuals) and backward(*nondiff, residuals, g) -> one cotangent per
    argument."""

    def __init__(self, call: CustomCall, forward: Callable, backward: Callable, nondiff: tuple):
        super().__init__(call, nondiff)
        self.user_forward, self.user_backward = forward, backward
        self.forward, self.backward = self._forward, self._backward

    def _forward(self, xs: Sequence) -> tuple:
        args, kwargs = self.call.fill(xs)
        answer = captured(self.user_forward)(*args, **kwargs)
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise StructureError("the forward function of a custom_vjp must return a pair (value, residuals)",
                                 do="return (value, None) where the backward function needs nothing")
        return self.call.data_of(answer[0]), (answer[1], list(xs))

    def _backward(self, saved: tuple, gs: Sequence, needs: Sequence) -> list:
        residuals, xs = saved
        args, _ = self.call.fill(xs)
        static = [args[k] for k in self.nondiff]
        answer = captured(self.user_backward)(*static, residuals, self.call.result(gs))
        moving = [a for k, a in enumerate(args) if k not in self.nondiff]
        if not isinstance(answer, (tuple, list)) or len(answer) != len(moving):
            raise StructureError(
                f"the backward function of a custom_vjp must return {len(moving)} cotangents, one an argument",
                do="return a tuple, with None for an argument whose cotangent is zero")
        given = iter(answer)
        by_argument = [None if k in self.nondiff else next(given) for k in range(len(args))]
        return cotangent_leaves(by_argument, args)


def cotangent_leaves(answer: Sequence, args: Sequence) -> list:
    """A cotangent (None: zero) for each data leaf of the arguments."""
    out: list = []
    for g, x in zip(answer, args):
        leaves = [leaf for leaf in tree.flatten(x)[0] if is_data(leaf)]
        out += ([None] * len(leaves) if g is None
                else [_leaf_cotangent(c, leaf) for c, leaf in zip(_data_leaves(g, x), leaves)])
    return out


def _data_leaves(g: AnyArray, x: ArrayOrNumber) -> list:
    # None is zero, within a tree too
    (targets, structure), (given, have) = (tree.flatten(t, is_leaf=lambda part: part is None) for t in (x, g))
    if structure != have:
        raise StructureError(f"a cotangent of structure {have.text()} was returned for an argument of "
                             f"{structure.text()}")
    return [c for c, t in zip(given, targets) if is_data(t)]


def _leaf_cotangent(g: Any, x: Any) -> Any:
    """The cotangent in the shape of x; what a broadcast of x has too many of is summed. A number zero is zero."""
    if g is None or type_of(x).dtype.kind not in "fc" or (isinstance(g, (int, float)) and g == 0):
        return None
    if not is_data(g):
        raise StructureError(f"a rule returned {type(g).__name__} where a cotangent is needed",
                             do="return numbers or arrays, or None for zero")
    if len(shape_of(g)) < len(shape_of(x)):
        raise CotangentShapeError(f"a cotangent of shape {known_shape(shape_of(g))} was returned for an argument of "
                                  f"shape {known_shape(shape_of(x))}")
    return match(g, x)


def _may_have(shape: tuple, wanted: tuple) -> bool:
    return len(shape) == len(wanted) and all(m == n for m, n in zip(shape, wanted)
                                             if isinstance(m, int) and isinstance(n, int))
