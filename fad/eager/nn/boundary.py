"""Full backward hooks of modules: a step that does nothing around the module's arguments and one around its results,
whose gradients are watched."""
import warnings
from collections.abc import Callable
from typing import Any

from ..function import Function
from ..inplace import requires_grad
from ..state import now
from ..tensor import Tensor

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
                if len(new) != count:
                    raise RuntimeError(f"Backward pre hook returned an invalid number of grad_output, got {len(new)}, "
                                       f"but expected {count}")
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
                if len(new) != len(given):
                    raise RuntimeError(f"Backward hook returned an invalid number of grad_input, got {len(new)}, but "
                                       f"expected {len(given)}")
                given = new
        self.grads = None
        return tuple([given[k] for k in places])


def _spread(places: list, grads: tuple, count: int) -> tuple:
    """Gradients at their places among `count` values, None elsewhere."""
    found: list = [None] * count
    for k, g in zip(places, grads):
        found[k] = g
    return tuple(found)
