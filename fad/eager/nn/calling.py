"""The calls around a module's forward: hooks before and after it, and at the gradients of its arguments and results."""
import warnings
from collections.abc import Callable
from typing import Any

from ...ir import stack
from ...trace.runtime.capture import captured
from ...util.array import AnyArray
from ..engine.function import Function
from ..graph.inplace import requires_grad
from ..graph.node import Hooks, RemovableHandle
from ..tensors.errors import refuse_if
from ..tensors.state import now
from ..tensors.tensor import Tensor

NO_INPUT = ("Full backward hook is firing when gradients are computed with respect to module outputs since no inputs "
            "require gradients.")


class BackwardHookFunction(Function):
    """The identity of several tensors."""

    @staticmethod
    def forward(ctx: object, *tensors: object) -> tuple:
        ctx.mark_non_differentiable(*[t for t in tensors if not requires_grad(t)])
        return tensors

    @staticmethod
    def backward(ctx: object, *grads: object) -> tuple:
        return grads


class Watch:
    """One call of a module that has backward hooks."""

    def __init__(self, module: object, hooks: list, pre_hooks: list):
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.grads: tuple | None = None  # of the results, from when they are known to when those of the arguments are
        self.inputs: list | None = None                     # which arguments are watched
        self.count = 0

    def around_arguments(self, args: tuple) -> tuple:
        """The arguments, watched."""
        self.count = len(args)
        args, self.inputs = self.through(args, self.after)
        return args

    def around_results(self, result: Any) -> Any:
        """The results, watched."""
        if not isinstance(result, (Tensor, tuple)):
            warnings.warn(f"For backward hooks to be called, module output should be a Tensor or a tuple of Tensors "
                          f"but received {type(result)}", stacklevel=4)
        several = isinstance(result, (tuple, list))
        results, _ = self.through(tuple(result) if several else (result,), self.before, len(result) if several else 1)
        if hasattr(result, "_fields"):
            return type(result)(*results)
        return type(result)(results) if type(result) in (tuple, list) else results if several else results[0]

    def through(self, values: tuple, hook: Callable, count: int = 0) -> tuple:
        places = [k for k, v in enumerate(values) if isinstance(v, Tensor)]
        if not now().grad or not any(requires_grad(values[k]) for k in places):
            return values, None
        new = list(values)
        for k, t in zip(places, BackwardHookFunction.apply(*[values[k] for k in places])):
            new[k] = t
        node = next(new[k].grad_fn for k in places if new[k]._fn is not None)
        node.register_hook(lambda grad_inputs, grad_outputs: hook(places, grad_inputs, grad_outputs, count))
        return tuple(new), places

    def before(self, places: list, _: tuple, grads: tuple, count: int) -> tuple:
        """The gradients of the results have come."""
        self.grads = _spread(places, grads, count)
        for hook in self.pre_hooks:
            new = hook(self.module, self.grads)
            if new is not None:
                new = new if isinstance(new, tuple) else (new,)
                refuse_if(len(new) != count, "Backward pre hook returned an invalid number of grad_output, got "
                          f"{len(new)}, but expected {count}")
                self.grads = new
        given = self.grads
        if self.inputs is None:
            self.without_inputs()
        return tuple([given[k] for k in places])

    def without_inputs(self) -> None:
        """No argument requires a gradient: the hooks are called now."""
        if self.hooks:
            warnings.warn(NO_INPUT, UserWarning, stacklevel=2)
        for hook in self.hooks:
            new = hook(self.module, (None,) * self.count, self.grads)
            if new is not None and any(g is not None for g in (new if isinstance(new, tuple) else (new,))):
                raise RuntimeError("Backward hook for Modules where no input requires gradient should always return "
                                   "None or None for all gradients.")
        self.grads = None

    def after(self, places: list, grads: tuple, _: tuple, count: int) -> "tuple | None":
        """The gradients of the arguments have come."""
        if self.grads is None:                               # not by way of the results: a gradient of a gradient, say
            return None
        given = _spread(places, grads, self.count)
        for hook in self.hooks:
            new = hook(self.module, given, self.grads)
            if new is not None:
                new = new if isinstance(new, tuple) else (new,)
                refuse_if(len(new) != len(given), "Backward hook returned an invalid number of grad_input, got "
                          f"{len(new)}, but expected {len(given)}")
                given = new
        self.grads = None
        return tuple([given[k] for k in places])


def _spread(places: list, grads: tuple, count: int) -> tuple:
    """Gradients at their places among `count` values, None elsewhere."""
    found: list = [None] * count
    for k, g in zip(places, grads):
        found[k] = g
    return tuple(found)


# tables of hooks; with_kwargs has the numbers of those that take keyword arguments
_TABLES = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks",
           "_forward_hooks_with_kwargs", "_forward_pre_hooks_with_kwargs")


class Calling:
    """The part of Module that is called."""

    def _begin_calling(self) -> None:
        for name in _TABLES:
            self.__dict__.setdefault(name, Hooks())

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The module's function."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> AnyArray:
        for k, hook in list(self._forward_pre_hooks.items()):
            args, kwargs = self._before(k, hook, args, kwargs)
        watch = None
        if self._backward_hooks or self._backward_pre_hooks:
            watch = Watch(self, list(self._backward_hooks.values()), list(self._backward_pre_hooks.values()))
            args = watch.around_arguments(args)
        # a traced program follows the user's branches and loops
        forward = captured(self.forward) if stack.builders() else self.forward
        result = forward(*args, **kwargs)
        for k, hook in list(self._forward_hooks.items()):
            new = (hook(self, args, kwargs, result) if k in self._forward_hooks_with_kwargs
                   else hook(self, args, result))
            result = result if new is None else new
        return result if watch is None else watch.around_results(result)

    def _before(self, k: object, hook: Callable, args: tuple, kwargs: dict) -> tuple:
        """The arguments, as a hook before forward wants them."""
        if k not in self._forward_pre_hooks_with_kwargs:
            new = hook(self, args)
            return args if new is None else new if isinstance(new, tuple) else (new,), kwargs
        new = hook(self, args, kwargs)
        if new is None:
            return args, kwargs
        refuse_if(not (isinstance(new, tuple) and len(new) == 2), "forward pre-hook must return None or a tuple of "
                  f"(new_args, new_kwargs), but got {new}.")
        return new

    def register_forward_hook(self, hook: Callable, *, prepend: bool = False,
                              with_kwargs: bool = False) -> RemovableHandle:
        """Call hook(module, args, result) after forward (with_kwargs: hook(module, args, kwargs, result)); what it
        returns replaces the result. prepend: before the hooks that are there.
        """
        handle = RemovableHandle(self._forward_hooks, hook, prepend)
        handle.also(self._forward_hooks_with_kwargs, with_kwargs)
        return handle

    def register_forward_pre_hook(self, hook: Callable, *, prepend: bool = False,
                                  with_kwargs: bool = False) -> RemovableHandle:
        """Call hook(module, args) before forward (with_kwargs: (module, args, kwargs)); an answer replaces them."""
        handle = RemovableHandle(self._forward_pre_hooks, hook, prepend)
        handle.also(self._forward_pre_hooks_with_kwargs, with_kwargs)
        return handle

    def register_full_backward_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call hook(module, grad_input, grad_output) at the arguments' gradients; an answer replaces them."""
        return RemovableHandle(self._backward_hooks, hook, prepend)

    def register_full_backward_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call hook(module, grad_output) when the gradients of the results are known; what it returns replaces them."""
        return RemovableHandle(self._backward_pre_hooks, hook, prepend)
