"""Calling a Function: forward runs unrecorded, and what it returns gets its place in the graph."""
from typing import Any

import numpy as np

from ..api.custom import custom_vjp
from . import record
from .inplace import bump, requires_grad, set_history
from .record import edge
from .saved import Meta
from .state import changed, state
from .tensor import Tensor, alias, is_floating, wrap
from .views import View, alias_view


def staged(cls: Any, args: tuple, kwargs: dict) -> Any:
    """A call on traced arrays: a function with a reverse rule of its own, which is the Function's backward."""
    ctx = cls._backward_cls()
    ctx.materialize_grads = False
    ctx.needs_input_grad = tuple([hasattr(a, "dtype") and is_floating(a.dtype) for a in args])

    def forward(*xs: Any) -> Any:
        if not cls.defines("setup_context"):
            return cls.forward(ctx, *xs, **kwargs)
        result = cls.forward(*xs, **kwargs)
        cls.setup_context(ctx, xs, result)
        return result

    def backward(saved: Any, g: Any) -> tuple:
        ctx.to_save = saved
        answer = cls.backward(ctx, *(g if isinstance(g, (tuple, list)) else (g,)))
        return answer if isinstance(answer, tuple) else (answer,)
    call = custom_vjp(forward)
    call.defvjp(lambda *xs: (forward(*xs), tuple(ctx.to_save or ())), backward)
    return call(*args)


class Call:
    """One call of a Function."""

    def __init__(self, cls: Any, args: tuple, kwargs: dict):
        self.cls, self.args, self.kwargs = cls, args, kwargs
        self.ctx = ctx = cls._backward_cls()
        edges = [edge(a) if isinstance(a, Tensor) else None for a in args]
        ctx.needs_input_grad = tuple([e is not None and state.grad for e in edges])
        ctx.is_tensor = [isinstance(a, Tensor) for a in args]
        ctx.metas = [Meta(a._a.shape, a._a.dtype) if isinstance(a, Tensor) else None for a in args]
        self.edges = edges
        self.done: dict = {}
        self.recorded = state.grad and not state.inference and any(e is not None for e in edges)

    def run(self) -> Any:
        split = self.cls.defines("setup_context")
        level = state.dual_level
        with changed(grad=False, dual_level=-1):
            result = self.cls.forward(*self.args, **self.kwargs) if split else self.cls.forward(self.ctx, *self.args, **self.kwargs)
            if split:
                self.cls.setup_context(self.ctx, self.args, result)
        several = isinstance(result, (tuple, list))
        outputs = list(result) if several else [result]
        if not several and not isinstance(result, Tensor):
            raise TypeError(f"{self.cls.__name__}.forward: expected Tensor or tuple of Tensor (got {type(result).__name__}) for return value 0")
        self.check_dirty(outputs)
        finished = self.finish(outputs)
        if level >= 0:
            self.push(finished)
        return type(result)(finished) if type(result) in (tuple, list) else tuple(finished) if several else finished[0]

    def check_dirty(self, outputs: list) -> None:
        for t in self.ctx.dirty_tensors:
            if not any(t is y for y in outputs):
                raise RuntimeError("Some elements marked as dirty during the forward method were not returned as output. The inputs that are modified "
                                   "inplace must all be outputs of the Function.")
            if self.recorded and t._fn is None and t._rg:
                raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
            bump(t)

    def finish(self, outputs: list) -> list:
        """Give the outputs their place in the graph."""
        ctx = self.ctx
        if not self.recorded:
            return [self.unrecorded(y) for y in outputs]
        tensors = [a for a in self.args if isinstance(a, Tensor)]
        ctx.next = tuple([e for e, a in zip(self.edges, self.args) if isinstance(a, Tensor)])
        nrs = tuple([a._nr if a._fn is not None else 0 for a in tensors])
        if any(nrs):
            ctx.nrs = nrs
        ctx.outputs = len(outputs)
        ctx.output_metas = [Meta(y._a.shape, y._a.dtype) if isinstance(y, Tensor) else None for y in outputs]
        results: dict = {}
        finished = [self.placed(k, y, results) for k, y in enumerate(outputs)]
        ctx.keep(results)
        ctx.dirty_tensors = ctx.non_differentiable = ()
        if state.anomaly:
            record.note_place(ctx)
        return finished

    def unrecorded(self, y: Any) -> Any:
        is_input = any(y is a for a in self.args) and not any(y is t for t in self.ctx.dirty_tensors)
        return y if not isinstance(y, Tensor) or not is_input else alias_view(y)

    def placed(self, k: int, y: Any, results: dict) -> Any:
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
                base = view.base if view is not None else original
                y._view = View(base, (*view.steps,) if view is not None else ((alias_view, ()),), original._vc[0], "custom")
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

    def push(self, finished: list) -> None:
        """Tangents of the outputs, by the Function's jvp."""
        dxs = [a._x.tangent if isinstance(a, Tensor) and a._x is not None else None for a in self.args]
        if all(dx is None for dx in dxs):
            return
        if self.ctx.materialize_grads:
            dxs = [wrap(np.zeros_like(a._a)) if dx is None and isinstance(a, Tensor) and is_floating(a._a.dtype) else dx for a, dx in zip(self.args, dxs)]
        if self.ctx.to_save is None and self.ctx.saved is None and self.ctx.saved_for_forward is None:
            self.ctx.saved = ()
        with changed(dual_level=-1):
            dys = self.cls.jvp(self.ctx, *dxs)
        for y, dy in zip(finished, dys if isinstance(dys, (tuple, list)) else (dys,)):
            if dy is not None and isinstance(y, Tensor):
                if dy._a.shape != y._a.shape:
                    raise RuntimeError(f"Tangent returned by {self.cls.__name__}.jvp has shape {list(dy._a.shape)}, its output {list(y._a.shape)}")
                y.extra.tangent = dy
