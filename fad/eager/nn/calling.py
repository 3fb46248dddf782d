"""What happens around a module's forward: hooks before and after it, and at the gradients of its arguments and results."""
import warnings
from collections.abc import Callable
from typing import Any

from ...api.inner import captured
from ...ir import stack
from ..handles import Hooks, RemovableHandle
from .boundary import Watch


class Calling:
    """The part of Module that is called."""

    _forward_hooks: Hooks
    _forward_pre_hooks: Hooks
    _backward_hooks: Hooks
    _backward_pre_hooks: Hooks
    _asked: dict                                          # ids of forward hooks that take keyword arguments ("kwargs"), that always run ("always")

    def _begin_calling(self) -> None:
        for name in ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks"):
            object.__setattr__(self, name, Hooks())
        object.__setattr__(self, "_asked", {"kwargs": set(), "always": set()})

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._asked["always"]:
            return self._called_always(args, kwargs)
        return self._called(args, kwargs)

    def _called(self, args: tuple, kwargs: dict) -> Any:
        for k, hook in list(self._forward_pre_hooks.items()):
            if k in self._asked["kwargs"]:
                new = hook(self, args, kwargs)
                if new is not None:
                    if not (isinstance(new, tuple) and len(new) == 2):
                        raise RuntimeError(f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {new}.")
                    args, kwargs = new
                continue
            new = hook(self, args)
            if new is not None:
                args = new if isinstance(new, tuple) else (new,)
        watch = None
        if self._backward_hooks or self._backward_pre_hooks:
            watch = Watch(self, list(self._backward_hooks.values()), list(self._backward_pre_hooks.values()))
            args = watch.around_arguments(args)
        forward = captured(self.forward) if stack.builders() else self.forward         # a traced program follows the user's branches and loops
        result = forward(*args, **kwargs)
        for k, hook in list(self._forward_hooks.items()):
            new = self._after(k, hook, args, kwargs, result)
            result = result if new is None else new
        return result if watch is None else watch.around_results(result)

    def _after(self, k: int, hook: Callable, args: tuple, kwargs: dict, result: Any) -> Any:
        return hook(self, args, kwargs, result) if k in self._asked["kwargs"] else hook(self, args, result)

    def _called_always(self, args: tuple, kwargs: dict) -> Any:
        """_called, where some hooks are to run even if forward (or another hook) raises: those that have not run then do, on no result."""
        ran: set = set()
        table = self._forward_hooks
        before = dict(table)
        for k, hook in before.items():
            table[k] = lambda *given, k=k, hook=hook: ran.add(k) or hook(*given)
        try:
            return self._called(args, kwargs)
        except BaseException:
            for k in before:
                if k in self._asked["always"] and k not in ran:
                    try:
                        self._after(k, before[k], args, kwargs, None)
                    except Exception as error:
                        warnings.warn(f"module forward hook with ``always_call=True`` raised an exception that was silenced as another error was raised in "
                                      f"forward: {error}", stacklevel=3)
            raise
        finally:
            for k in before:
                if k in table:
                    table[k] = before[k]

    def register_forward_hook(self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False) -> RemovableHandle:
        """Call hook(module, args, result) after forward (with_kwargs: hook(module, args, kwargs, result)); what it returns replaces the result.

        prepend: before the hooks that are there; always_call: even if forward raises.
        """
        handle = RemovableHandle(self._forward_hooks, hook, prepend)
        self._asked["kwargs"].update((handle.id,) if with_kwargs else ())
        self._asked["always"].update((handle.id,) if always_call else ())
        return handle

    def register_forward_pre_hook(self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False) -> RemovableHandle:
        """Call hook(module, args) before forward (with_kwargs: hook(module, args, kwargs)); what it returns replaces the arguments."""
        handle = RemovableHandle(self._forward_pre_hooks, hook, prepend)
        self._asked["kwargs"].update((handle.id,) if with_kwargs else ())
        return handle

    def register_full_backward_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call hook(module, grad_input, grad_output) when the gradients of the arguments are known; what it returns replaces them."""
        return RemovableHandle(self._backward_hooks, hook, prepend)

    def register_full_backward_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call hook(module, grad_output) when the gradients of the results are known; what it returns replaces them."""
        return RemovableHandle(self._backward_pre_hooks, hook, prepend)
