"""autograd.Function: a step whose forward and backward are the user's."""
import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..api.custom import custom_vjp
from . import errors, record
from .inplace import bump, requires_grad, set_history
from .node import Node
from .record import edge
from .saved import Meta, SavedTensor
from .state import changed, state
from .tensor import Tensor, alias, is_floating, wrap
from .views import View, alias_view


class FunctionCtx:
    """What forward and backward share."""

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors for backward, where they are ctx.saved_tensors; to be called once, in forward."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors for jvp."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Any) -> None:
        """Say which inputs forward changed in place; it must return them."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Any) -> None:
        """Say which outputs have no derivative."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward gets zeros (the default) or None for outputs that have no gradient."""
        self.materialize_grads = value

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Deprecated: nothing needs to be said."""


class FunctionNode(Node, FunctionCtx):
    """The step of a Function's call; it is the ctx of forward and backward too."""

    materialize_grads = True
    needs_input_grad: tuple = ()
    to_save: "tuple | None" = None
    saved_for_forward: "tuple | None" = None
    dirty_tensors: tuple = ()
    non_differentiable: tuple = ()
    function: Any = None
    saved: Any = None
    freed = False
    outputs = 1

    def __init__(self) -> None:
        super().__init__(())

    def name(self) -> str:
        return self.label or f"{self.function.__name__}Backward"

    @property
    def saved_tensors(self) -> tuple:
        """The tensors given to save_for_backward, checked to be unchanged."""
        if self.freed:
            raise RuntimeError(errors.SECOND_TIME)
        if self.saved is None:
            return tuple(self.to_save or self.saved_for_forward or ())
        return tuple([s.unpack() if isinstance(s, SavedTensor) else s for s in self.saved])

    @property
    def saved_variables(self) -> tuple:
        return self.saved_tensors

    @property
    def _raw_saved_tensors(self) -> tuple:
        return tuple(self.saved or ())

    # -- after forward ------------------------------------------------------------------------------------------------------

    def keep(self, results: dict) -> None:
        """Take the tensors to be saved: results (by identity) as such, so that no cycle arises."""
        for t in self.to_save or ():
            if t is not None and not isinstance(t, Tensor):
                raise TypeError(f"save_for_backward can only save variables, but argument is of type {type(t).__name__}")
        hooks = state.pack_hooks[-1] if state.pack_hooks else None
        self.saved = tuple([None if t is None else self._kept(t, results, hooks) for t in self.to_save or ()])
        self.to_save = None

    def _kept(self, t: Tensor, results: dict, hooks: Any) -> SavedTensor:
        if t._x is not None and t._x.inference and not state.inference:
            raise RuntimeError(errors.INFERENCE_SAVED)
        nr = results.get(id(t))
        if nr is None or t._fn is not self:
            return SavedTensor(t, hooks=hooks)
        stored = alias(t)
        stored._rg = True
        saved = SavedTensor(stored, self, nr, version=t._vc[0])
        if hooks is not None:
            saved.pack(hooks)
        return saved

    def release(self) -> None:
        if self.saved:
            for s in self.saved:
                if s is not None:
                    s.release()
            self.freed = True

    # -- backward -------------------------------------------------------------------------------------------------------------

    def pull(self, g: Any) -> tuple:
        gs = [None if one is None else one if isinstance(one, Tensor) else wrap(np.asarray(one)) for one in ([g] if self.outputs == 1 else g or [None] * self.outputs)]
        answers = self._backward(gs)
        return tuple([None if a is None else a._a for a in answers])

    def pull_graph(self, g: Any) -> tuple:
        return self._backward([g] if self.outputs == 1 else list(g or [None] * self.outputs))

    def _backward(self, gs: Sequence) -> tuple:
        if self.materialize_grads:
            gs = [wrap(np.zeros(meta.shape, meta.dtype)) if one is None and meta is not None else one for one, meta in zip(gs, self.output_metas)]
        function = self.function
        rule = function.backward if function.vjp is Function.vjp else function.vjp
        if rule is Function.backward:
            raise NotImplementedError("You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD.")
        answer = rule(self, *gs)
        return self._fitting(answer if isinstance(answer, tuple) else (answer,))

    def _fitting(self, answer: tuple) -> tuple:
        """What backward returned, checked and in the inputs' shapes, for the inputs that are tensors."""
        count = len(self.is_tensor)
        if len(answer) > count and all(a is None for a in answer[count:]):
            answer = answer[:count]
        if len(answer) != count:
            raise RuntimeError(f"function {self.name()} returned an incorrect number of gradients (expected {count}, got {len(answer)})")
        out = []
        for k, (a, is_tensor) in enumerate(zip(answer, self.is_tensor)):
            if is_tensor:
                out.append(self._fit(k, a, self.metas[k]) if self.needs_input_grad[k] else None)
            elif a is not None:
                raise RuntimeError(f"function {self.name()} returned a gradient different from None at position {k + 1}, but the corresponding forward "
                                   "input was not a Variable")
        return tuple(out)

    def _fit(self, k: int, a: Any, meta: Meta) -> Any:
        if a is None:
            return None
        if not isinstance(a, Tensor):
            raise TypeError(f"expected Variable or None (got {type(a).__name__})")
        if a._a.shape != meta.shape:
            a = self._reduced(k, a, meta)
        if a._a.dtype != meta.dtype:
            if a._a.dtype.kind == "c" and meta.dtype.kind == "f":
                a = a.real                                                  # type: ignore[attr-defined]
            a = a.to(meta.dtype)                                            # type: ignore[attr-defined]
        return a

    def _reduced(self, k: int, a: Tensor, meta: Meta) -> Tensor:
        shape = a._a.shape
        try:
            fits = np.broadcast_shapes(shape, meta.shape) == shape
            grows = np.broadcast_shapes(shape, meta.shape) == meta.shape
        except ValueError:
            fits = grows = False
        if fits:
            extra = len(shape) - len(meta.shape)
            axes = tuple(range(extra)) + tuple(extra + j for j, n in enumerate(meta.shape) if n == 1 and shape[extra + j] != 1)
            return a.sum(axes).reshape(*meta.shape) if axes else a          # type: ignore[attr-defined]
        if grows:
            return a.expand(*meta.shape)                                    # type: ignore[attr-defined]
        raise RuntimeError(f"Function {self.name()} returned an invalid gradient at index {k} - got {list(shape)} but expected shape compatible with "
                           f"{list(meta.shape)}")


class Function:
    """Base of steps of one's own: static methods forward and backward (and setup_context, jvp, vmap), called by apply.

    >>> import fad
    >>> class Double(fad.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x * 2
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         return g * 2
    >>> x = fad.tensor([1.0], requires_grad=True)
    >>> Double.apply(x).backward()
    >>> x.grad
    tensor([2.])
    """

    generate_vmap_rule = False

    def __init__(self, *args: Any, **kwargs: Any):
        warnings.warn(f"{type(self).__name__} should not be instantiated. Methods on autograd functions are all static, so you should invoke them on the "
                      "class itself. Instantiating an autograd function will raise an error in a future version.", DeprecationWarning, stacklevel=2)

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """The results; first argument ctx, unless there is a setup_context."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: Any) -> None:
        """What backward needs, kept in ctx after forward has run without it."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Gradients of the inputs, None for those that have none, from gradients of the outputs."""
        raise NotImplementedError("You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD.")

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Tangents of the outputs from tangents of the inputs."""
        raise NotImplementedError("You must implement the jvp function for custom autograd.Function to use it with forward mode AD.")

    @staticmethod
    def vmap(info: Any, in_dims: tuple, *args: Any) -> Any:
        """(outputs, where their batch axes are) for inputs with batch axes at in_dims."""
        raise NotImplementedError("To use autograd.Function with vmap, you must either override the vmap static method or set generate_vmap_rule=True.")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        if any(getattr(a, "__fad_level__", 0) == 2 for a in args):
            return staged(cls, args, kwargs)
        return Call(cls, args, kwargs).run()


def staged(cls: Any, args: tuple, kwargs: dict) -> Any:
    """A call on traced arrays: a function with a reverse rule of its own, which is the Function's backward."""
    ctx = FunctionNode()
    ctx.function, ctx.materialize_grads = cls, False
    ctx.needs_input_grad = tuple([hasattr(a, "dtype") and is_floating(a.dtype) for a in args])

    def forward(*xs: Any) -> Any:
        if cls.setup_context is Function.setup_context:
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
        self.ctx = ctx = FunctionNode()
        ctx.function = cls
        edges = [edge(a) if isinstance(a, Tensor) else None for a in args]
        ctx.needs_input_grad = tuple([e is not None and state.grad for e in edges])
        ctx.is_tensor = [isinstance(a, Tensor) for a in args]
        ctx.metas = [Meta(a._a.shape, a._a.dtype) if isinstance(a, Tensor) else None for a in args]
        self.edges = edges
        self.done: dict = {}
        self.recorded = state.grad and not state.inference and any(e is not None for e in edges)

    def run(self) -> Any:
        split = self.cls.setup_context is not Function.setup_context
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


def once_differentiable(fn: Callable) -> Callable:
    """Decorator of a backward that cannot be differentiated: what it returns raises when that is tried."""
    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        with changed(grad=False):
            outputs = fn(ctx, *args)
        if not state.grad or not any(requires_grad(a) for a in args):
            return outputs
        several = isinstance(outputs, tuple)
        given = outputs if several else (outputs,)
        node = Refusal(tuple([edge(a) for a in args if requires_grad(a)]))
        refused = tuple([_refused(t, node) for t in given])
        return refused if several else refused[0]
    return wrapper


class Refusal(Node):
    """The history of what a backward decorated with once_differentiable returned."""

    label = "Error"

    def pull(self, g: Any) -> tuple:
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")

    pull_graph = pull


def _refused(t: Any, node: Node) -> Any:
    if not isinstance(t, Tensor):
        return t
    y = alias(t)
    y._fn, y._rg = node, True
    return y


class NestedIOFunction(Function):
    """Kept for old code that derives from it."""


InplaceFunction = Function
__all__ = ["Function", "FunctionCtx", "once_differentiable", "InplaceFunction", "NestedIOFunction", "SavedTensor"]
