"""Calling a Function: forward runs unrecorded, and what it returns gets its place in the graph."""
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...api.calls.nested import conform, zeros_of
from ...api.calls.staged import as_tuple
from ...api.derivatives.custom import custom_vjp
from ...api.derivatives.custom_rules import CustomCall, Rule
from ...ops.table import TABLE as op
from ...trace.runtime.capture import captured
from ...trace.tracing import is_data
from ...util.array import AnyArray, ArrayOrNumber
from ...util.errors import UnsupportedFunctionError
from ...util.keywords import signature_of
from ..graph import record
from ..graph.inplace import bump, check_in_place, requires_grad, set_history
from ..graph.record import edge
from ..graph.saved import Meta
from ..graph.view_kinds import alias_view
from ..graph.views import View, keep_tangent, tangent_of
from ..tensors.errors import refuse_if
from ..tensors.state import changed, now
from ..tensors.tensor import Tensor, alias, is_continuous, is_floating, wrap
from .forward_ad import SIZES

INVALID_NUMBER = "Function's jvp returned an invalid number of forward gradients (expected {} but got {})"
_VIEW = "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view."
_OF_INPUT = "A custom Function is returning a view but the jvp is not returning a view of the given grad input."
_OF_BASE = ("A custom Function is returning a view but the jvp is not returning a view of the same base as the given "
            "grad input.")
_DIRTY = ("An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is modifying "
          "an input inplace, then the jvp function must modify the corresponding gradient inplace.")


def push(cls: object, ctx: object, args: tuple, outputs: list, finished: list, dirty: tuple, fixed: tuple) -> None:
    """Tangents of what a Function returned for args (outputs; `finished` have their place in the graph)."""
    dxs: list = [tangent_of(a) if isinstance(a, Tensor) else None for a in args]
    if all(dx is None for dx in dxs):
        return
    given = list(dxs)
    if ctx.materialize_grads:
        given = [wrap(np.zeros_like(a._a)) if dx is None and is_continuous(a) else dx
                 for a, dx in zip(args, dxs)]
    versions = [None if dx is None else dx._vc[0] for dx in dxs]
    ctx.pushing = True
    try:
        with changed(dual_level=-1):
            dys = cls.jvp(ctx, *given)
    finally:
        ctx.pushing = False
    dys = as_tuple(dys)
    refuse_if(len(dys) != len(finished), INVALID_NUMBER.format(len(finished), len(dys)))
    for k, (out, y, dy) in enumerate(zip(outputs, finished, dys)):
        if dy is not None:
            _check(k, y, dy, any(out is t for t in fixed))
            if any(out is t for t in dirty):
                refuse_if(not any(a is out and dx is dy and dx._vc[0] != version
                                  for a, dx, version in zip(args, dxs, versions)), _DIRTY)
            elif y._view is not None:
                _check_view(out, y, dy, args, given)
            keep_tangent(y, dy)


def _check(k: int, y: Tensor, dy: ArrayOrNumber, fixed: bool) -> None:
    refuse_if(not isinstance(dy, Tensor), f"expected Variable or None (got {type(dy).__name__}) for grad output {k}.")
    if fixed or not isinstance(y, Tensor) or not is_floating(y._a.dtype):
        raise RuntimeError(f"Function's jvp returned a gradient at position {k}, but  the corresponding forward output "
                           "is not a differentiable Tensor.You should return None at that position instead.")
    if dy._a.shape != y._a.shape:
        raise RuntimeError(SIZES.format(list(y._a.shape), list(dy._a.shape)))


def _check_view(out: Tensor, y: Tensor, dy: Tensor, args: tuple, dxs: list) -> None:
    """The tangent of a view of an input must be a view of that input's tangent."""
    refuse_if(dy._view is None, _VIEW)
    base = y._view.base
    for a, dx in zip(args, dxs):
        if isinstance(a, Tensor) and dx is not None and (a is base or a is out or a._view is not None
                                                         and a._view.base is base):
            refuse_if(dx._view is not None and dy._view.base is not dx._view.base, _OF_BASE)
            refuse_if(dx._view is None and dy._view.base is not dx, _OF_INPUT)
            return


class VmapInfo(NamedTuple):
    """The information for a Function's vmap: the number of examples, and what to do about random numbers."""

    batch_size: Any
    randomness: str


class _FunctionRule(custom_vjp):
    """A Function's call on traced arrays: its backward, and its jvp and its vmap where it has them."""

    def __init__(self, forward: Callable, cls: type, ctx: object):
        super().__init__(forward)
        self.cls, self.ctx = cls, ctx

    def rule(self, call: CustomCall) -> Rule:
        rule = super().rule(call)
        if self.cls.defines("vmap"):
            rule.batch = lambda xs, flags, n: _by_vmap(self.cls, call, xs, flags, n)
        if self.cls.defines("jvp"):
            rule.jvp = lambda xs, dxs: self.push(call, xs, dxs)
        return rule

    def value_and_saved(self, *xs: object) -> tuple:
        """The result, whose own derivative is this rule again, and the tensors that forward saves."""
        result = self(*xs)
        self.f(*xs)
        return result, tuple(self.ctx.to_save or ())

    def push(self, call: object, xs: Sequence, dxs: Sequence) -> tuple:
        """The results and their tangents, by the Function's jvp."""
        cls, ctx = self.cls, self.ctx
        args, _ = call.fill(xs)
        result, _ = captured(self.value_and_saved)(*args)
        given = [zeros_of(x) if d is None and ctx.materialize_grads else d for x, d in zip(xs, dxs)]
        tangents = [d if is_data(a) else None for a, d in zip(args, call.fill(given)[0])]
        ctx.pushing = True
        try:
            answer = captured(cls.jvp)(ctx, *tangents)
        finally:
            ctx.pushing = False
        ys, dys = map(as_tuple, (result, answer))
        refuse_if(len(dys) != len(ys), INVALID_NUMBER.format(len(ys), len(dys)))
        return call.data_of(result), [None if d is None else conform("tangent of a Function's jvp", d, y)[0]
                                      for y, d in zip(ys, dys) if is_data(y)]


def _by_vmap(cls: type, call: object, xs: object, flags: tuple, n: ArrayOrNumber) -> list:
    """The results over n examples, by the Function's vmap."""
    args, kwargs = call.fill(xs)
    batched = {x.atom for x, b in zip(xs, flags) if b}
    dims = tuple([0 if getattr(a, "atom", None) in batched else None for a in args])
    answer = captured(cls.vmap)(VmapInfo(n, "error"), dims, *args, **kwargs)
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise RuntimeError(f"{cls.__name__}.vmap must return a pair: the results and where their batch axes are")
    results, places = answer
    ys = as_tuple(results)
    at = list(places) if isinstance(places, (tuple, list)) else [places] * len(ys)
    refuse_if(len(at) != len(ys), f"{cls.__name__}.vmap returned {len(ys)} results, but {len(at)} places of batch axes")
    return [op["broadcast_to"](y, n, *y.shape) if d is None else _to_front(y, d % len(y.shape)) for y, d in zip(ys, at)]


def _to_front(y: AnyArray, axis: int) -> AnyArray:
    return y if axis == 0 else op["transpose"](y, axes=(axis, *[k for k in range(len(y.shape)) if k != axis]))


def staged(cls: object, args: tuple, kwargs: dict) -> Any:
    """A call on traced arrays: a function with a reverse rule of its own, which is the Function's backward."""
    args, kwargs = in_order(cls, args, kwargs)
    ctx = cls._backward_cls()
    constant: set = set()                                      # places of results marked as having no derivative
    ctx.needs_input_grad = tuple([hasattr(a, "dtype") and is_floating(a.dtype) for a in args])

    def forward(*xs: object) -> Any:
        if cls.defines("setup_context"):
            result = cls.forward(*xs, **kwargs)
            cls.setup_context(ctx, xs, result)
        else:
            result = cls.forward(ctx, *xs, **kwargs)
        parts = result if isinstance(result, (tuple, list)) else (result,)
        constant.update(k for k, y in enumerate(parts) if any(y is t for t in ctx.non_differentiable))
        if not ctx.materialize_grads and len(parts) > 1:
            raise UnsupportedFunctionError(f"{cls.__name__}: set_materialize_grads(False) in a traced function is not "
                                           "supported", why="a program does not know which gradients are missing",
                                           do="leave it out, and let backward take zeros")
        return result

    def backward(saved: tuple, g: object) -> tuple:
        ctx.to_save = saved
        answer = cls.backward(ctx, *(g if isinstance(g, (tuple, list)) else (g,)))
        answer = answer if isinstance(answer, tuple) else (answer,)
        return answer[:len(args)] if all(a is None for a in answer[len(args):]) else answer
    call = _FunctionRule(forward, cls, ctx)
    call.defvjp(call.value_and_saved, backward)
    result = call(*args)
    if not constant:
        return result
    if not isinstance(result, (tuple, list)):
        return op["stop_gradient"](result)
    return type(result)([op["stop_gradient"](y) if k in constant else y for k, y in enumerate(result)])


_NO_INPUT = ("ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated "
             "should be passed to ctx.mark_dirty().")
_DIRTY_VIEW = ("If your Function modifies inplace an input that is a view of another Tensor, your Function cannot "
               "return more than one Tensor. This is not supported by the current autograd engine. You should either "
               "make sure the input is not a view (using .clone() for example) or make your Function only return one "
               "Tensor (potentially splitting it into two Functions: one doing the inplace that returns a single "
               "Tensor and a second one that does the other operations).")


def in_order(cls: object, args: tuple, kwargs: dict) -> "tuple[tuple, dict]":
    """The arguments of forward in its order: those that are given by name have their places too, and their gradients.
    setup_context is given those, too, that were left to their defaults.
    """
    is_split = cls.defines("setup_context")
    signature = signature_of(cls.forward) if is_split or kwargs else None
    if signature is None:
        return args, kwargs
    bound = signature.bind(*([] if is_split else [None]), *args, **kwargs)
    if is_split:
        bound.apply_defaults()
    return bound.args[not is_split:], bound.kwargs


class FunctionCall:
    """One call of a Function."""

    def __init__(self, cls: type, args: tuple, kwargs: dict):
        args, kwargs = in_order(cls, args, kwargs)
        self.cls, self.args, self.kwargs, self.creation = cls, args, kwargs, "custom"
        self.ctx = ctx = cls._backward_cls()
        edges = [edge(a) if isinstance(a, Tensor) else None for a in args]
        ctx.needs_input_grad = tuple([e is not None and now().grad for e in edges])
        ctx.is_tensor = [isinstance(a, Tensor) for a in args]
        ctx.metas = [Meta(a._a.shape, a._a.dtype) if isinstance(a, Tensor) else None for a in args]
        self.edges = edges
        self.done: dict = {}
        self.recorded = now().grad and not now().inference and any(e is not None for e in edges)

    def run(self) -> Any:
        split = self.cls.defines("setup_context")
        level = now().dual_level
        with changed(grad=False, dual_level=-1):
            result = (self.cls.forward(*self.args, **self.kwargs) if split
                      else self.cls.forward(self.ctx, *self.args, **self.kwargs))
            if split:
                self.cls.setup_context(self.ctx, self.args, result)
        several = isinstance(result, tuple)  # anything else is one result: a list of tensors is none of the graph's
        outputs = list(result) if several else [result]
        for t in self.ctx.non_differentiable:
            refuse_if(not isinstance(t, Tensor), "mark_non_differentiable only accepts variable arguments, but got "
                      f"{type(t).__name__}")
        dirty, fixed = self.check_dirty(outputs), self.ctx.non_differentiable
        self.mark_views(outputs, dirty)
        finished = self.finish(outputs)
        if level >= 0:
            push(self.cls, self.ctx, self.args, outputs, finished, dirty, fixed)
        return tuple(finished) if several else finished[0]

    def check_dirty(self, outputs: list) -> tuple:
        """The inputs that forward changed in place, checked to be what may be changed, and returned."""
        ctx, dirty = self.ctx, []
        for t in ctx.dirty_tensors:
            if not any(t is y for y in outputs):
                raise RuntimeError("Some elements marked as dirty during the forward method were not returned as "
                                   "output. The inputs that are modified inplace must all be outputs of the Function.")
            if not any(t is a for a in self.args):
                refuse_if(t._view is not None, _NO_INPUT)
                warnings.warn(_NO_INPUT, UserWarning, stacklevel=4)
                continue
            refuse_if(self.recorded and t._view is not None and len(outputs) > 1, _DIRTY_VIEW)
            if self.recorded and t._view is None and t._fn is None and t._rg:
                raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
            check_in_place(t, self.recorded)
            bump(t)
            dirty.append(t)
        ctx.dirty_tensors = tuple(dirty)
        return ctx.dirty_tensors

    def mark_views(self, outputs: list, dirty: tuple) -> None:
        """Refuse changes in place of views that forward returned: they would go past the Function's backward."""
        if self.ctx._is_pure_view and (len(outputs) > 1 or sum(self.ctx.is_tensor) != 1):
            raise RuntimeError("Pure view custom Function can only have one input Tensor and one output Tensor. Open "
                               "an issue if you need to support more.")
        self.creation = "" if self.ctx._is_pure_view else "multi" if len(outputs) > 1 else "custom"
        for y in outputs:
            if isinstance(y, Tensor) and y._view is not None and not any(y is t for t in (*dirty, *self.args)):
                self.mark(y)

    def mark(self, y: Tensor) -> None:
        if self.creation or now().grad:  # a pure view is as any other: without gradients it stays one taken so
            y._view.creation = self.creation

    def finish(self, outputs: list) -> list:
        """Give the outputs their place in the graph."""
        ctx = self.ctx
        if not self.recorded:
            return [self.unrecorded(y) for y in outputs]
        tensors = [a for a in self.args if isinstance(a, Tensor)]
        ctx.next = tuple([e for e, a in zip(self.edges, self.args) if isinstance(a, Tensor)])
        ctx.nrs = record.numbers(tensors, ctx.next)
        ctx.outputs = len(outputs)
        ctx.output_metas = [Meta(y._a.shape, y._a.dtype) if isinstance(y, Tensor) else None for y in outputs]
        if not ctx._materialize_non_diff_grads:
            ctx.output_metas = [None if any(y is t for t in ctx.non_differentiable) else meta
                                for y, meta in zip(outputs, ctx.output_metas)]
        results: dict = {}
        finished = [self.placed(k, y, results) for k, y in enumerate(outputs)]
        ctx.keep(results)
        ctx.dirty_tensors = ctx.non_differentiable = ()
        if now().anomaly:
            record.note_place(ctx)
        return finished

    def unrecorded(self, y: Tensor) -> Tensor:
        is_input = any(y is a for a in self.args) and not any(y is t for t in self.ctx.dirty_tensors)
        if not isinstance(y, Tensor) or not is_input:
            return y
        y = alias_view(y) if type(y) is Tensor else y.view_as(y)                # a subclass has a say
        if y._view is not None:
            self.mark(y)
        return y

    def placed(self, k: int, y: object, results: dict) -> Any:
        if not isinstance(y, Tensor):
            return y
        if id(y) in self.done:                                  # returned twice: it is one tensor
            return self.done[id(y)][1]
        self.done[id(y)] = y, (placed := self.place(k, y, results))
        return placed

    def place(self, k: int, y: Tensor, results: dict) -> Tensor:
        ctx = self.ctx
        fixed = any(y is t for t in ctx.non_differentiable) or not is_floating(y._a.dtype)
        if any(y is t for t in ctx.dirty_tensors):
            return y if fixed else self.changed(k, y, results)
        is_input = any(y is a for a in self.args)
        if fixed:
            return alias(y) if is_input else y
        if is_input or y._view is not None or requires_grad(y):
            original = y
            y = alias(y)
            if is_input or original._view is not None:
                view = original._view
                base, form = (view.base, view.form) if view is not None else (original, None)
                y._view = View(base, (*view.steps,) if view is not None else ((alias_view, ()),), original._vc[0],
                               self.creation, False, form)
            results[id(original)] = k
            original_saved = [y if t is original and not is_input else t for t in ctx.to_save or ()]
            ctx.to_save = tuple(original_saved) if ctx.to_save is not None else None
        y._fn, y._nr, y._rg = ctx, k, True
        results[id(y)] = k
        return y

    def changed(self, k: int, y: Tensor, results: dict) -> Tensor:
        """An input that forward changed in place: its history is this call."""
        made = wrap(y._a)
        made._fn, made._nr, made._rg, made._vc = self.ctx, k, True, y._vc
        set_history(y, made)
        results[id(y)] = k
        return y
