"""autograd.Function: a step whose forward and backward are the user's."""
import functools
import warnings
from collections.abc import Callable
from typing import Any

from .accumulate import accumulator
from .function_call import FunctionCall, staged
from .function_node import FunctionCtx, FunctionNode
from .inplace import requires_grad
from .node import Node
from .saved import SavedTensor
from .state import changed, now
from .tensor import Tensor, alias, is_floating, wrap_result


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
        if name == "metadata":
            raise RuntimeError("You attempted to access the anomaly metadata of a custom autograd function but the "
                               "underlying PyNode has already been deallocated: an instance of a Function is no node. "
                               "The node of a call is the grad_fn of its results.")
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


class Refusal(Node):
    """The history of what a backward decorated with once_differentiable returned."""

    label = "Error"
    outputs = 1

    def pull(self, g: Any) -> tuple:
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")

    pull_graph = pull


def _refused(outputs: tuple) -> tuple:
    """The outputs as results of a step that cannot be taken back: of leaves of their own, for nothing may flow on."""
    leaves = [alias(t) if isinstance(t, Tensor) and is_floating(t._a.dtype) else None for t in outputs]
    for t in leaves:
        if t is not None:
            t._rg = True
    node = Refusal(tuple([None if t is None else accumulator(t) for t in leaves]))
    node.outputs = len(outputs)
    return tuple([t if leaf is None else wrap_result(leaf._a, node, k)
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
