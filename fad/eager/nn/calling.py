"""The calls around a module's forward: hooks before and after it, and at the gradients of its arguments and results; of
one module, or of all."""
import functools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from ...ir import stack
from ...trace.runtime.capture import captured
from ...util.array import AnyArray
from ...util.interrupts import let_through
from ..errors import refuse_if
from ..function import Function
from ..inplace import requires_grad
from ..node import Hooks, RemovableHandle
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


# tables of hooks: with_kwargs has the numbers of those that take keyword arguments, always_called of those that run if
# forward raises, too
_TABLES = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks",
           "_forward_hooks_with_kwargs", "_forward_pre_hooks_with_kwargs", "_forward_hooks_always_called",
           "_non_full_backward_hooks")


class Calling:
    """The part of Module that is called."""

    def _begin_calling(self) -> None:
        for name in _TABLES:
            self.__dict__.setdefault(name, Hooks())

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The module's function."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> AnyArray:
        if self._forward_hooks_always_called or EVERY._forward_hooks_always_called:
            return self._called_always(args, kwargs)
        return self._called(args, kwargs, [])

    def _called(self, args: tuple, kwargs: dict, ran: list) -> Any:
        for owner in (EVERY, self):
            if owner._forward_pre_hooks:
                args, kwargs = self._before(owner, args, kwargs)
        watch = None
        if self._backward_hooks or self._backward_pre_hooks or EVERY._backward_hooks or EVERY._backward_pre_hooks:
            watch = Watch(self, [*EVERY._backward_hooks.values(), *self._backward_hooks.values()],
                          [*EVERY._backward_pre_hooks.values(), *self._backward_pre_hooks.values()])
            args = watch.around_arguments(args)
        # a traced program follows the user's branches and loops
        forward = captured(self.forward) if stack.builders() else self.forward
        result = forward(*args, **kwargs)
        for owner in (EVERY, self):
            for k, hook in list(owner._forward_hooks.items()):
                ran.append(k)
                new = self._after(owner, k, hook, args, kwargs, result)
                result = result if new is None else new
        if self._non_full_backward_hooks or EVERY._non_full_backward_hooks:
            self._hook_last_step(args, result,
                                 [*EVERY._non_full_backward_hooks.values(), *self._non_full_backward_hooks.values()])
        return result if watch is None else watch.around_results(result)

    def _before(self, owner: Any, args: tuple, kwargs: dict) -> tuple:
        for k, hook in list(owner._forward_pre_hooks.items()):
            if k in owner._forward_pre_hooks_with_kwargs:
                new = hook(self, args, kwargs)
                if new is not None:
                    refuse_if(not (isinstance(new, tuple) and len(new) == 2), "forward pre-hook must return None or a "
                              f"tuple of (new_args, new_kwargs), but got {new}.")
                    args, kwargs = new
                continue
            new = hook(self, args)
            if new is not None:
                args = new if isinstance(new, tuple) else (new,)
        return args, kwargs

    def _after(self, owner: Any, k: int, hook: Callable, args: tuple, kwargs: dict, result: object) -> Any:
        return hook(self, args, kwargs, result) if k in owner._forward_hooks_with_kwargs else hook(self, args, result)

    def _called_always(self, args: tuple, kwargs: dict) -> Any:
        """_called, where some hooks run even if forward (or a hook) raises: what has not run then does, on None."""
        ran: list = []
        try:
            return self._called(args, kwargs, ran)
        except BaseException:
            for owner in (EVERY, self):
                for k, hook in list(owner._forward_hooks.items()):
                    if k in owner._forward_hooks_always_called and k not in ran:
                        try:
                            self._after(owner, k, hook, args, kwargs, None)
                        except Exception as error:
                            let_through(error)
                            what = "global module" if owner is EVERY else "module"
                            warnings.warn(f"{what} forward hook with ``always_call=True`` raised an exception that was "
                                          f"silenced as another error was raised in forward: {error}", stacklevel=4)
            raise

    def _hook_last_step(self, args: tuple, result: object, hooks: list) -> None:
        """Call hooks with the gradients at the last step of the result's graph."""
        for when, missing in missed(args, result):
            warnings.warn(f"Using a non-full backward hook {when} is deprecated and will be removed in future "
                          f"versions. This hook will be missing some {missing}. Please use "
                          "register_full_backward_hook to get the documented behavior.", FutureWarning, stacklevel=4)
        while not isinstance(result, Tensor):
            if not isinstance(result, (tuple, list, dict)) or not result:
                return
            result = next(iter(result.values() if isinstance(result, dict) else result))
        node = result.grad_fn
        for hook in hooks if node is not None else ():
            node.register_hook(lambda grads_in, grads_out, hook=hook: hook(self, grads_in, grads_out))

    def register_forward_hook(self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False,
                              always_call: bool = False) -> RemovableHandle:
        """Call hook(module, args, result) after forward (with_kwargs: hook(module, args, kwargs, result)); what it
        returns replaces the result.

        prepend: before the hooks that are there; always_call: even if forward raises.
        """
        handle = RemovableHandle(self._forward_hooks, hook, prepend)
        handle.also(self._forward_hooks_with_kwargs, with_kwargs)
        handle.also(self._forward_hooks_always_called, always_call)
        return handle

    def register_forward_pre_hook(self, hook: Callable, *, prepend: bool = False,
                                  with_kwargs: bool = False) -> RemovableHandle:
        """Call hook(module, args) before forward (with_kwargs: (module, args, kwargs)); an answer replaces them."""
        handle = RemovableHandle(self._forward_pre_hooks, hook, prepend)
        handle.also(self._forward_pre_hooks_with_kwargs, with_kwargs)
        return handle

    def register_full_backward_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call hook(module, grad_input, grad_output) at the arguments' gradients; an answer replaces them."""
        _not_both(self._non_full_backward_hooks)
        return RemovableHandle(self._backward_hooks, hook, prepend)

    def register_full_backward_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call hook(module, grad_output) when the gradients of the results are known; what it returns replaces them."""
        return RemovableHandle(self._backward_pre_hooks, hook, prepend)

    def register_backward_hook(self, hook: Callable) -> RemovableHandle:
        """Call hook(module, grad_input, grad_output) at the last step of the result's graph. Deprecated:
        register_full_backward_hook sees the module's own."""
        _not_both(self._backward_hooks)
        return RemovableHandle(self._non_full_backward_hooks, hook)


def _not_both(others: Hooks) -> None:
    refuse_if(others, "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use "
              "only one of them.")


class _Every(Calling):
    """The hooks of all modules; they run before the module's own."""

    def __init__(self) -> None:
        self._begin_calling()


EVERY = _Every()
register_module_forward_pre_hook = EVERY.register_forward_pre_hook
register_module_forward_hook = EVERY.register_forward_hook
register_module_full_backward_pre_hook = EVERY.register_full_backward_pre_hook
register_module_full_backward_hook = EVERY.register_full_backward_hook
register_module_backward_hook = EVERY.register_backward_hook


def missed(args: tuple, result: object) -> Iterator[tuple[str, str]]:
    """The gradients that a hook at the last step of a result's graph does not see, and the reason for it."""
    results = result if isinstance(result, tuple) else (result,)
    takes_tensors = all(isinstance(a, Tensor) for a in args)
    if not takes_tensors:
        yield "on a Module that does not take as input a single Tensor or a tuple of Tensors", "of the grad_input"
    if not all(isinstance(y, Tensor) for y in results):
        yield "on a Module that does not return a single Tensor or a tuple of Tensors", "of the grad_output"
        return
    nodes = {y.grad_fn for y in results} - {None}
    if len(nodes) > 1:
        yield "when outputs are generated by different autograd Nodes", "grad_output"
    elif nodes and takes_tensors:
        if {a.grad_fn for a in args} - {None} != {node for node, _ in nodes.pop().next_functions}:
            yield "when the forward contains multiple autograd Nodes", "grad_input"


# -- when something is entered in a module -----------------------------------------------------------------------------

ENTERING = {"parameter": Hooks(), "buffer": Hooks(), "module": Hooks()}


def entering(kind: str, module: object, name: str, value: object) -> Any:
    """The entry of a module under a name, as the hooks for its kind want it."""
    for hook in list(ENTERING[kind].values()):
        new = hook(module, name, value)
        value = value if new is None else new
    return value


# call hook(module, name, entry) when a module gets one; what it returns takes its place
(register_module_parameter_registration_hook, register_module_buffer_registration_hook,
 register_module_module_registration_hook) = (functools.partial(RemovableHandle, table) for table in ENTERING.values())
