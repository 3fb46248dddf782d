"""autograd.Function: a step whose forward and backward are the user's."""
import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..graph.inplace import requires_grad
from ..graph.node import AccumulateGrad, Node, Undifferentiable, accumulator
from ..graph.saved import Meta, SavedTensor
from ..tensors import errors
from ..tensors.errors import refuse_if
from ..tensors.state import changed, now
from ..tensors.tensor import Tensor, alias, as_tensor, is_continuous, wrap
from .function_call import FunctionCall, staged


class FunctionCtx:
    """The part that forward and backward share."""

    def save_for_backward(self, *tensors: object) -> None:
        """Keep tensors for backward, where they are ctx.saved_tensors; to be called once, in forward."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: object) -> None:
        """Keep tensors for jvp."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: object) -> None:
        """Say which inputs forward changed in place; it must return them."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: object) -> None:
        """Say which outputs have no derivative."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward gets zeros (the default) or None for outputs that have no gradient."""
        self.materialize_grads = value

    def mark_shared_storage(self, *pairs: object) -> None:
        """Deprecated: nothing needs to be said."""


class FunctionNode(Node, FunctionCtx):
    """The step of a Function's call; it is the ctx of forward and backward too."""

    materialize_grads = True
    _materialize_non_diff_grads = True  # whether outputs marked as having no derivative get zeros too
    needs_input_grad: tuple = ()
    to_save: "tuple | None" = None
    saved_for_forward: "tuple | None" = None
    dirty_tensors: tuple = ()
    non_differentiable: tuple = ()
    function: Any = None                                    # the Function; each has a class of nodes of its own
    saved: Any = None
    freed = False
    pushing = False                                         # whether jvp is running
    read = False  # whether saved_tensors was read, where that may be done once
    _is_pure_view = False
    outputs = 1

    def __init__(self) -> None:
        super().__init__(())

    @property
    def saved_tensors(self) -> tuple:
        """The tensors given to save_for_backward, checked to be unchanged."""
        if self.pushing:
            return tuple(self.saved_for_forward or ())
        refuse_if(self.freed, errors.SECOND_TIME)
        if self.saved is None:
            return tuple(self.to_save or self.saved_for_forward or ())
        if getattr(self.function, "clear_saved_tensors_on_access", False):
            return self._read_once()
        return tuple([s.unpack() for s in self.saved])

    def _read_once(self) -> tuple:
        """The saved tensors, given away."""
        refuse_if(self.read, "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set "
                  "on the autograd.Function. Either access saved_tensors only once, or set "
                  "clear_saved_tensors_on_access=False.")
        self.read = True
        tensors = tuple([s.unpack() for s in self.saved])
        for s in self.saved:
            s.release()
        return tensors

    @property
    def saved_variables(self) -> tuple:
        """Deprecated: saved_tensors."""
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
        return self.saved_tensors

    @property
    def _raw_saved_tensors(self) -> tuple:
        refuse_if(self.freed, errors.SECOND_TIME)
        return tuple(self.saved or ())

    # -- after forward -------------------------------------------------------------------------------------------------

    def keep(self, results: dict) -> None:
        """Take the tensors to be saved: results (by identity) as such, so that no cycle arises."""
        for k, t in enumerate(self.to_save or ()):
            refuse_if(t is not None and not isinstance(t, Tensor), "save_for_backward can only save variables, but "
                      f"argument {k} is of type {type(t).__name__}", TypeError)
        hooks = now().pack_hooks[-1] if now().pack_hooks else None
        # first: a pack hook may raise, and a result must not stay here then
        given, self.to_save = self.to_save or (), None
        self.saved = tuple([SavedTensor(None) if t is None else self._kept(t, results, hooks) for t in given])

    def _kept(self, t: Tensor, results: dict, hooks: object) -> SavedTensor:
        if t._x is not None and t._x.inference and not now().inference:
            raise RuntimeError(errors.INFERENCE_SAVED)
        nr = results.get(id(t))
        if nr is None or t._fn is None:
            return SavedTensor(t, hooks=hooks)
        stored = alias(t)
        stored._rg = True
        # a view that was changed in place has a node of its own
        saved = SavedTensor(stored, t._fn, t._nr, version=t._vc[0])
        if hooks is not None:
            saved.pack(hooks)
        return saved

    def release(self) -> None:
        if self.saved:
            for s in self.saved:
                s.release()
            self.freed = True

    # -- backward ------------------------------------------------------------------------------------------------------

    def pull(self, g: object) -> tuple:
        gs = [None if one is None else as_tensor(one)
              for one in ([g] if self.outputs == 1 else g or [None] * self.outputs)]
        answers = self._backward(gs)
        # others may hold it: as a view no leaf keeps it for its .grad
        return tuple([None if a is None else a._a.view() for a in answers])

    def pull_graph(self, g: object) -> tuple:
        return self._backward([g] if self.outputs == 1 else list(g or [None] * self.outputs))

    def _backward(self, gs: Sequence) -> tuple:
        if self.materialize_grads:
            gs = [wrap(np.zeros(meta.shape, meta.dtype)) if one is None and meta is not None else one
                  for one, meta in zip(gs, self.output_metas)]
        function = self.function
        reverse, named_vjp = function.defines("backward"), function.defines("vjp")
        refuse_if(reverse and named_vjp, "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. "
                  "You should only implement one of them.")
        answer = (function.vjp if named_vjp else function.backward)(self, *gs)
        return self._fitting(answer if isinstance(answer, tuple) else (answer,))

    def _fitting(self, answer: tuple) -> tuple:
        """The results of backward, checked and in the inputs' shapes, for the inputs that are tensors."""
        count = len(self.is_tensor)
        if len(answer) > count and all(a is None for a in answer[count:]):
            answer = answer[:count]
        if len(answer) != count:
            raise RuntimeError(f"function {self.name()} returned an incorrect number of gradients (expected {count}, "
                               f"got {len(answer)})")
        out = []
        for k, (a, is_tensor) in enumerate(zip(answer, self.is_tensor)):
            if is_tensor:
                out.append(self._fit(k, a, self.metas[k]) if self.needs_input_grad[k] else None)
            elif a is not None:
                raise RuntimeError(f"function {self.name()} returned a gradient different than None at position "
                                   f"{k + 1}, but the corresponding forward input was not a Variable")
        return tuple(out)

    def _fit(self, k: int, a: object, meta: Meta) -> Any:
        if a is None:
            return None
        refuse_if(not isinstance(a, Tensor), f"expected Variable or None (got {type(a).__name__})")
        if a._a.shape != meta.shape:
            if not errors.expands(meta.shape, a._a.shape):
                raise RuntimeError(f"Function {self.name()} returned an invalid gradient at index {k} - got "
                                   f"{list(a._a.shape)} but expected shape compatible with {list(meta.shape)}")
            a = a.sum_to_size(meta.shape)
        if a._a.dtype.kind == "c" and meta.dtype.kind == "f":
            a = a.real
        into = self.next[sum(self.is_tensor[:k])]
        wanted = into.dtype if isinstance(into, AccumulateGrad) else meta.dtype
        return a if wanted is None or a._a.dtype == wanted else a.to(wanted)


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
    _backward_cls: type[FunctionNode] = FunctionNode

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        cls._backward_cls = type(f"{cls.__name__}Backward", (FunctionNode,),
                                 {"function": cls, "_forward_cls": cls,
                                  "__doc__": f"The node of a call of {cls.__name__}."})

    @classmethod
    def defines(cls, name: str) -> bool:
        """Whether a static method is the user's."""
        return getattr(cls, name) is not getattr(Function, name)

    def __init__(self, *args: Any, **kwargs: object):
        warnings.warn(f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you "
                      "should invoke them on the "
                      "class itself. Instantiating an autograd function will raise an error in a future version.",
                      DeprecationWarning, stacklevel=2)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("Legacy autograd function with non-static forward method is deprecated. Please use "
                           "new-style autograd function with static "
                           f"forward method. (Example: {type(self).__name__}.apply)")

    def __getattr__(self, name: str) -> Any:
        refuse_if(name == "metadata", "You attempted to access the anomaly metadata of a custom autograd function but "
                  "the underlying PyNode has already been deallocated: an instance of a Function is no node. The node "
                  "of a call is the grad_fn of its results.")
        if hasattr(FunctionNode, name):
            raise RuntimeError(f"Attribute '{name}' is invalid for this instance of {type(self).__name__}. Accessing "
                               "this attribute directly on an instance of autograd.Function is a legacy access pattern "
                               "that is no longer supported. The node of a call is the grad_fn of its results.")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """The results; first argument ctx, unless there is a setup_context."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: object, inputs: tuple, output: object) -> None:
        """The values that backward needs, kept in ctx after forward has run without it."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: object, *grad_outputs: Any) -> Any:
        """Gradients of the inputs, None for those that have none, from gradients of the outputs."""
        raise NotImplementedError("You must implement either the backward or vjp method for your custom "
                                  "autograd.Function to use it with backward mode AD.")

    vjp = backward

    @staticmethod
    def jvp(ctx: object, *grad_inputs: object) -> Any:
        """Tangents of the outputs from tangents of the inputs."""
        raise NotImplementedError("You must implement the jvp function for custom autograd.Function to use it with "
                                  "forward mode AD.")

    @staticmethod
    def vmap(info: object, in_dims: tuple, *args: object) -> Any:
        """(outputs, where their batch axes are) for inputs with batch axes at in_dims."""
        raise NotImplementedError("To use autograd.Function with vmap, you must either override the vmap static method "
                                  "or set generate_vmap_rule=True.")

    @classmethod
    def apply(cls, *args: object, **kwargs: object) -> Any:
        """Call the function."""
        if any(getattr(a, "__fad_level__", 0) == 2 for a in args):
            return staged(cls, args, kwargs)
        return FunctionCall(cls, args, kwargs).run()


def once_differentiable(fn: Callable) -> Callable:
    """Decorator of a backward that cannot be differentiated: what it returns raises when that is tried."""
    @functools.wraps(fn)
    def wrapper(ctx: object, *args: object) -> Any:
        with changed(grad=False):
            outputs = fn(ctx, *args)
        if not now().grad or not any(requires_grad(a) for a in args):
            return outputs
        several = isinstance(outputs, tuple)
        refused = _refused(outputs if several else (outputs,))
        return refused if several else refused[0]
    return wrapper


def _refused(outputs: tuple) -> tuple:
    """The outputs as results of a step that cannot be taken back: of leaves of their own, for nothing may flow on."""
    leaves = [alias(t) if is_continuous(t) else None for t in outputs]
    for t in leaves:
        if t is not None:
            t._rg = True
    node = Undifferentiable(tuple([None if t is None else accumulator(t) for t in leaves]), "Error", RuntimeError(
        "trying to differentiate twice a function that was marked with @once_differentiable"))
    node.outputs = len(outputs)
    return tuple([t if leaf is None else wrap(leaf._a, node, k)
                  for k, (t, leaf) in enumerate(zip(outputs, leaves))])


class NestedIOFunction(Function):
    """Kept for old code that derives from it."""


class InplaceFunction(Function):
    """Kept for old code that derives from it."""

    def __init__(self, inplace: bool = False):
        super().__init__()
        self.inplace = inplace


__all__ = ["Function", "FunctionCtx", "FunctionNode", "once_differentiable", "InplaceFunction", "NestedIOFunction",
           "SavedTensor"]
