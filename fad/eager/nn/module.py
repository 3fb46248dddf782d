"""Module: a tree of layers with parameters and buffers."""
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...api.inner import captured
from ...ir import stack
from ..handles import Hooks, RemovableHandle
from ..state import changed
from ..tensor import Tensor, is_floating, wrap
from .boundary import Watch


class Parameter(Tensor):
    """A tensor that requires gradients and, as an attribute of a module, is one of its parameters."""

    __slots__ = ()

    def __new__(cls, data: Any = (), requires_grad: bool = True) -> "Parameter":
        self = Tensor.__new__(cls, data)
        if requires_grad and not is_floating(self._a.dtype):
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        self._rg = bool(requires_grad)
        return self                                                       # type: ignore[return-value]

    def __repr__(self) -> str:
        return "Parameter containing:\n" + Tensor.__repr__(self)


class Buffer(Tensor):
    """A tensor that, as an attribute of a module, is saved with it, and is no parameter."""

    __slots__ = ()


class Module:
    """Base of layers: parameters, buffers and modules set as attributes are found by parameters(), state_dict() and their kin.

    >>> import fad
    >>> layer = fad.nn.Linear(2, 3)
    >>> sum(p.numel() for p in layer.parameters())
    9
    """

    def __init__(self) -> None:
        for name in ("_parameters", "_buffers", "_modules"):
            object.__setattr__(self, name, OrderedDict())
        for name in ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks"):
            object.__setattr__(self, name, Hooks())
        object.__setattr__(self, "_transient", set())
        self.training = True

    # -- attributes -----------------------------------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        tables = self.__dict__
        if "_parameters" not in tables:
            if isinstance(value, (Parameter, Module)):
                raise AttributeError(f"cannot assign {'parameters' if isinstance(value, Parameter) else 'module'} before Module.__init__() call")
        elif isinstance(value, Parameter):
            self._forget(name)
            self._parameters[name] = value
            return
        elif isinstance(value, Module):
            self._forget(name)
            self._modules[name] = value
            return
        elif name in self._parameters:
            if value is not None:
                raise TypeError(f"cannot assign '{type(value).__name__}' as parameter '{name}' (nn.Parameter or None expected)")
            self._parameters[name] = None
            return
        elif name in self._buffers or isinstance(value, Buffer):
            self._buffers[name] = value
            return
        object.__setattr__(self, name, value)

    def _forget(self, name: str) -> None:
        for table in (self.__dict__, self._parameters, self._buffers, self._modules):
            table.pop(name, None)

    def __getattr__(self, name: str) -> Any:
        for table in ("_parameters", "_buffers", "_modules"):
            found = self.__dict__.get(table, {})
            if name in found:
                return found[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        for table in (self._parameters, self._buffers, self._modules):
            if name in table:
                del table[name]
                return
        object.__delattr__(self, name)

    def register_parameter(self, name: str, param: "Parameter | None") -> None:
        """Add a parameter (or None, a place for one)."""
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: "Tensor | None", persistent: bool = True) -> None:
        """Add a tensor that is saved (if persistent) with the module and is no parameter."""
        self._buffers[name] = tensor
        if not persistent:
            self._transient.add(name)

    def add_module(self, name: str, module: "Module | None") -> None:
        """Add a module under a name."""
        self._modules[name] = module

    register_module = add_module

    # -- calls ----------------------------------------------------------------------------------------------------------------

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        for hook in list(self._forward_pre_hooks.values()):
            new = hook(self, args)
            if new is not None:
                args = new if isinstance(new, tuple) else (new,)
        watch = None
        if self._backward_hooks or self._backward_pre_hooks:
            watch = Watch(self, list(self._backward_hooks.values()), list(self._backward_pre_hooks.values()))
            args = watch.around_arguments(args)
        forward = captured(self.forward) if stack.builders() else self.forward         # a traced program follows the user's branches and loops
        result = forward(*args, **kwargs)
        for hook in list(self._forward_hooks.values()):
            new = hook(self, args, result)
            result = result if new is None else new
        return result if watch is None else watch.around_results(result)

    def register_forward_hook(self, hook: Callable) -> RemovableHandle:
        """Call hook(module, args, result) after forward; what it returns replaces the result."""
        return RemovableHandle(self._forward_hooks, hook)

    def register_forward_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call hook(module, args) before forward; what it returns replaces the arguments."""
        return RemovableHandle(self._forward_pre_hooks, hook)

    def register_full_backward_hook(self, hook: Callable) -> RemovableHandle:
        """Call hook(module, grad_input, grad_output) when the gradients of the arguments are known; what it returns replaces them."""
        return RemovableHandle(self._backward_hooks, hook)

    def register_full_backward_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call hook(module, grad_output) when the gradients of the results are known; what it returns replaces them."""
        return RemovableHandle(self._backward_pre_hooks, hook)

    # -- going through the tree -------------------------------------------------------------------------------------------------

    def named_modules(self, memo: "set | None" = None, prefix: str = "", remove_duplicate: bool = True) -> Iterator:
        """(name, module) of this one and all below."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self) -> Iterator:
        """This module and all below."""
        for _, module in self.named_modules():
            yield module

    def named_children(self) -> Iterator:
        """(name, module) of those directly below."""
        for name, module in self._modules.items():
            if module is not None:
                yield name, module

    def children(self) -> Iterator:
        """The modules directly below."""
        for _, module in self.named_children():
            yield module

    def _named(self, table: str, prefix: str, recurse: bool) -> Iterator:
        seen: set = set()
        for path, module in self.named_modules(prefix=prefix) if recurse else [(prefix, self)]:
            for name, value in getattr(module, table).items():
                if value is not None and id(value) not in seen:
                    seen.add(id(value))
                    yield (f"{path}.{name}" if path else name), value

    def named_parameters(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True) -> Iterator:
        """(name, parameter) of this module and those below."""
        return self._named("_parameters", prefix, recurse)

    def parameters(self, recurse: bool = True) -> Iterator:
        """The parameters of this module and those below."""
        for _, p in self.named_parameters(recurse=recurse):
            yield p

    def named_buffers(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True) -> Iterator:
        """(name, buffer) of this module and those below."""
        return self._named("_buffers", prefix, recurse)

    def buffers(self, recurse: bool = True) -> Iterator:
        """The buffers of this module and those below."""
        for _, b in self.named_buffers(recurse=recurse):
            yield b

    def get_submodule(self, target: str) -> "Module":
        """The module below of a dotted name."""
        module: Any = self
        for part in target.split(".") if target else ():
            module = getattr(module, part)
        return module

    def apply(self, fn: Callable) -> "Module":
        """Call fn on every module of the tree, those below first."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    # -- modes and values ---------------------------------------------------------------------------------------------------------

    def train(self, mode: bool = True) -> "Module":
        """Training mode (or not) for the whole tree."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self) -> "Module":
        """Evaluation mode: train(False)."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> "Module":
        """Whether gradients are wanted of the parameters."""
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the parameters' gradients."""
        for p in self.parameters():
            if p._g is not None:
                if set_to_none:
                    p._g = None
                else:
                    p._g.detach_().zero_()

    def to(self, *args: Any, dtype: Any = None, **kwargs: Any) -> "Module":
        """The parameters and buffers in another dtype."""
        for a in args:
            if isinstance(a, (np.dtype, type)):
                dtype = a
        if dtype is not None:
            for t in (*self.parameters(), *self.buffers()):
                if t._a.dtype.kind in "fc":
                    t._a = t._a.astype(dtype)
        return self

    def double(self) -> "Module":
        """In float64."""
        return self.to(np.float64)

    def float(self) -> "Module":
        """In float32."""
        return self.to(np.float32)

    def state_dict(self, *, prefix: str = "", keep_vars: bool = False) -> OrderedDict:
        """Names to values of all parameters and persistent buffers."""
        state: OrderedDict = OrderedDict()
        for path, module in self.named_modules(remove_duplicate=False):
            for table, left_out in ((module._parameters, ()), (module._buffers, module._transient)):
                for name, t in table.items():
                    if t is not None and name not in left_out:
                        state[prefix + (f"{path}.{name}" if path else name)] = t if keep_vars else t.detach()
        return state

    def load_state_dict(self, state_dict: Any, strict: bool = True, assign: bool = False) -> Any:
        """Write values over those of the parameters and buffers of the same names."""
        own = self.state_dict(keep_vars=True)
        missing, unexpected = [k for k in own if k not in state_dict], [k for k in state_dict if k not in own]
        wrong = [f"size mismatch for {k}: copying a param with shape {tuple(state_dict[k].shape)} from checkpoint, the shape in current model is "
                 f"{tuple(own[k].shape)}." for k in own if k in state_dict and tuple(state_dict[k].shape) != tuple(own[k].shape)]
        if strict and unexpected:
            wrong.append(f"Unexpected key(s) in state_dict: {', '.join(map(repr, unexpected))}. ")
        if strict and missing:
            wrong.append(f"Missing key(s) in state_dict: {', '.join(map(repr, missing))}. ")
        if wrong:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(wrong))
        with changed(grad=False):
            for k, t in own.items():
                if k in state_dict:
                    value = state_dict[k]
                    t.copy_(value if isinstance(value, Tensor) else wrap(np.asarray(value)))
        return missing, unexpected

    def extra_repr(self) -> str:
        """What stands in brackets when the module is written."""
        return ""

    def __repr__(self) -> str:
        lines = [f"  ({name}): " + repr(child).replace("\n", "\n  ") for name, child in self._modules.items()]
        inside = self.extra_repr() + ("\n" + "\n".join(lines) + "\n" if lines else "")
        return f"{type(self).__name__}({inside})"


@contextmanager
def swapped_parameters(module: Module, values: dict) -> Iterator[None]:
    """Within, parameters and buffers of these names are other values."""
    before = []
    try:
        for path, value in values.items():
            owner, _, name = path.rpartition(".")
            target = module.get_submodule(owner)
            table = target._parameters if name in target._parameters else target._buffers
            before.append((table, name, table[name]))
            table[name] = value
        yield
    finally:
        for table, name, value in reversed(before):
            table[name] = value


def functional_call(module: Module, parameters_and_buffers: Any, args: Any = (), kwargs: "dict | None" = None) -> Any:
    """module(*args, **kwargs) with other values for the parameters and buffers named: tensors, arrays or traced values.

    So a whole training step can be compiled:

    >>> import numpy as np, fad
    >>> layer = fad.nn.Linear(2, 1, bias=False)
    >>> f = fad.jit(lambda p, x: fad.nn.functional_call(layer, p, (x,)))
    >>> f({"weight": np.ones((1, 2))}, np.ones((3, 2))).shape
    (3, 1)
    """
    given: dict = {}
    for part in parameters_and_buffers if isinstance(parameters_and_buffers, (tuple, list)) else (parameters_and_buffers,):
        given.update(part)
    with swapped_parameters(module, given):
        return module(*(args if isinstance(args, tuple) else (args,)), **(kwargs or {}))
