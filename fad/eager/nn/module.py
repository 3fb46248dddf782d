"""Module: a tree of layers with parameters and buffers."""
import functools
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ...util.array import DTypeLike
from ..functions.conversion import asked_dtype
from ..tensors.dtypes import as_dtype, required
from ..tensors.errors import refuse_if
from ..tensors.promotion import default
from ..tensors.state import changed
from ..tensors.tensor import Tensor, is_floating, wrap
from .calling import Calling
from .saving import Saving


class Parameter(Tensor):
    """A tensor that requires gradients and, as an attribute of a module, is one of its parameters."""

    __slots__ = ()
    __torch_function__ = None                                              # what is computed of parameters is tensors

    def __new__(cls, data: object = (), requires_grad: bool = True) -> "Parameter":
        self = Tensor.__new__(cls, data)
        if requires_grad and not is_floating(self._a.dtype):
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        self._rg = bool(requires_grad)
        return self                                                       # type: ignore[return-value]

    def __repr__(self) -> str:
        return "Parameter containing:\n" + Tensor.__repr__(self)


class Buffer(Tensor):
    """A tensor that, as an attribute of a module, is saved with it (if persistent), and is no parameter."""

    __slots__ = ()
    __torch_function__ = None

    def __new__(cls, data: object = (), *, persistent: bool = True) -> "Buffer":
        self = Tensor.__new__(cls, data)
        self.persistent = persistent
        return self  # type: ignore[return-value]


class Module(Calling, Saving):
    """Base of layers: parameters, buffers and modules set as attributes are found by parameters(), state_dict() and
    their kin.

    >>> import fad
    >>> layer = fad.nn.Linear(2, 3)
    >>> sum(p.numel() for p in layer.parameters())
    9
    """

    def __init__(self) -> None:
        for name in ("_parameters", "_buffers", "_modules"):
            object.__setattr__(self, name, OrderedDict())
        self._begin_calling()
        object.__setattr__(self, "_transient", set())
        self.training = True

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)
        self._begin_calling()

    # -- attributes ----------------------------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: object) -> None:
        tables = self.__dict__
        own = "_parameters" if isinstance(value, Parameter) else "_modules" if isinstance(value, Module) else ""
        if "_parameters" not in tables:
            refuse_if(own, f"cannot assign {'parameters' if own == '_parameters' else 'module'} before "
                      "Module.__init__() call", AttributeError)
            object.__setattr__(self, name, value)
        elif own:
            self._forget(name, tables[own])
            tables[own][name] = value
        elif name in self._parameters or name in self._modules:
            table, what = ((self._parameters, f"parameter '{name}' (nn.Parameter") if name in self._parameters
                           else (self._modules, f"child module '{name}' (torch.nn.Module"))
            refuse_if(value is not None, f"cannot assign '{type(value).__name__}' as {what} or None expected)",
                      TypeError)
            table[name] = None
        elif name in self._buffers or isinstance(value, Buffer):
            if not isinstance(value, (Tensor, np.ndarray, type(None))) and not getattr(value, "__fad_level__", 0):
                raise TypeError(f"cannot assign '{type(value).__name__}' as buffer '{name}' (torch.nn.Buffer, "
                                "torch.Tensor or None expected)")
            if isinstance(value, Buffer):
                self.register_buffer(name, value, value.persistent)
            self._buffers[name] = value
        else:
            object.__setattr__(self, name, value)

    def _forget(self, name: str, kept: dict) -> None:
        """Take a name out of all tables but one, in which it keeps its place."""
        self._transient.discard(name)
        for table in (self.__dict__, self._parameters, self._buffers, self._modules):
            if table is not kept:
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
                self._transient.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list:
        names = {*object.__dir__(self), *self._parameters, *self._buffers, *self._modules}
        return sorted(name for name in names if not name[0].isdigit())

    def _new_name(self, name: object, what: str) -> None:
        """Raise unless this can be the name of a new parameter, buffer or module."""
        refuse_if(not isinstance(name, str), f"{what} name should be a string. Got {type(name).__name__}", TypeError)
        if "." in name:
            raise KeyError(f'{what} name can\'t contain "."' + (f", got: {name}" if what == "module" else ""))
        refuse_if(not name, f'{what} name can\'t be empty string ""', KeyError)
        table = getattr(self, {"parameter": "_parameters", "buffer": "_buffers", "module": "_modules"}[what])
        refuse_if(hasattr(self, name) and name not in table, f"attribute '{name}' already exists", KeyError)

    def register_parameter(self, name: str, param: "Parameter | None") -> None:
        """Add a parameter (or None, a place for one)."""
        self._new_name(name, "parameter")
        refuse_if(param is not None and not isinstance(param, Parameter), f"cannot assign '{type(param).__name__}' "
                  f"object to parameter '{name}' (torch.nn.Parameter or None required)", TypeError)
        refuse_if(param is not None and param._fn is not None, f"Cannot assign non-leaf Tensor to parameter '{name}'. "
                  "Model parameters must be created explicitly.", ValueError)
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: "Tensor | None", persistent: bool = True) -> None:
        """Add a tensor that is saved (if persistent) with the module and is no parameter."""
        self._new_name(name, "buffer")
        refuse_if(tensor is not None and not isinstance(tensor, Tensor), f"cannot assign '{type(tensor).__name__}' "
                  f"object to buffer '{name}' (torch Tensor or None required)", TypeError)
        self._buffers[name] = tensor
        self._transient.discard(name)
        if not persistent:
            self._transient.add(name)

    def add_module(self, name: str, module: "Module | None") -> None:
        """Add a module under a name."""
        if not isinstance(module, (Module, type(None))):
            raise TypeError(f"{type(module).__name__} is not a Module subclass")
        self._new_name(name, "module")
        self._modules[name] = module

    register_module = add_module

    # -- going through the tree ----------------------------------------------------------------------------------------

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
        return (module for _, module in self.named_modules())

    def named_children(self) -> Iterator:
        """(name, module) of those directly below, each once."""
        seen: set = {None}
        for name, module in self._modules.items():
            if module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator:
        """The modules directly below."""
        return (module for _, module in self.named_children())

    def _named(self, table: str, prefix: str, recurse: bool, once: bool) -> Iterator:
        seen: set = set()
        for path, module in self.named_modules(prefix=prefix, remove_duplicate=once) if recurse else [(prefix, self)]:
            for name, value in getattr(module, table).items():
                if value is not None and id(value) not in seen:
                    seen.update((id(value),) if once else ())
                    yield (f"{path}.{name}" if path else name), value

    def named_parameters(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True) -> Iterator:
        """(name, parameter) of this module and those below."""
        return self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator:
        """The parameters of this module and those below."""
        return (p for _, p in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True) -> Iterator:
        """(name, buffer) of this module and those below."""
        return self._named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator:
        """The buffers of this module and those below."""
        return (b for _, b in self.named_buffers(recurse=recurse))

    def get_submodule(self, target: str) -> "Module":
        """The module below of a dotted name."""
        module: Any = self
        for part in target.split(".") if target else ():
            refuse_if(not hasattr(module, part), f"{type(module).__name__} has no attribute `{part}`", AttributeError)
            module = getattr(module, part)
            refuse_if(not isinstance(module, Module), f"`{part}` is not an nn.Module", AttributeError)
        return module

    def _get(self, target: str, table: str, what: str) -> Any:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        refuse_if(not hasattr(module, name), f"{type(module).__name__} has no attribute `{name}`", AttributeError)
        refuse_if(name not in getattr(module, table), f"`{name}` is not {what}", AttributeError)
        return getattr(module, table)[name]

    def get_parameter(self, target: str) -> Parameter:
        """The parameter of a dotted name."""
        return self._get(target, "_parameters", "an nn.Parameter")

    def get_buffer(self, target: str) -> Tensor:
        """The buffer of a dotted name."""
        return self._get(target, "_buffers", "a buffer")

    def apply(self, fn: Callable) -> "Module":
        """Call fn on every module of the tree, those below first."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    # -- modes and values ----------------------------------------------------------------------------------------------

    def train(self, mode: bool = True) -> "Module":
        """Training mode (or not) for the whole tree."""
        refuse_if(not isinstance(mode, bool), "training mode is expected to be boolean", ValueError)
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
        forget_gradients(self.parameters(), set_to_none)

    def to(self, *args: object, dtype: DTypeLike = None, **kwargs: object) -> "Module":
        """The parameters and buffers in another floating-point dtype; there is one device."""
        wanted = asked_dtype(args, kwargs.pop("device", None), dtype)
        for name in set(kwargs) - {"non_blocking", "memory_format"}:
            raise TypeError(f"to() got an unexpected keyword argument {name!r}")
        if wanted is None:
            return self
        refuse_if(wanted.kind not in "fc", "nn.Module.to only accepts floating point or complex dtypes, but got "
                  f"desired dtype={wanted}", TypeError)
        return self._apply(lambda t: t.to(wanted) if t._a.dtype.kind in "fc" else t)

    def _apply(self, fn: Callable, recurse: bool = True) -> "Module":
        """Replace the values of all parameters and buffers (and of their gradients) by fn of them."""
        for module in self.modules() if recurse else (self,):
            for p in module._parameters.values():
                if p is not None:
                    with changed(grad=False):
                        p.data = fn(p)
                        if p._g is not None:
                            p._g.data = fn(p._g)
            for name, b in module._buffers.items():
                if b is not None:
                    module._buffers[name] = fn(b)
        return self

    def type(self, dst_type: DTypeLike) -> "Module":
        """All parameters and buffers in this dtype (or of this type)."""
        return self._apply(lambda t: t.type(dst_type))

    def cpu(self) -> "Module":
        """The module: there is one device."""
        return self

    half, double, float = [*map(functools.partialmethod, [to] * 3, (np.float16, np.float64, np.float32))]

    _shown = ""                                    # what repr tells: a format of attributes, then options that are not
    _usual: dict = {}                              # as usual

    def extra_repr(self) -> str:
        """The text in brackets when the module is written."""
        told = {**self.__dict__, **{name: p is not None for name, p in self._parameters.items()}}
        return (self._shown.format_map(told) + self._unusual(**self._usual)).removeprefix(", ")

    def _unusual(self, **usual: object) -> str:
        return "".join(f", {key}={getattr(self, key)}" for key, value in usual.items() if getattr(self, key) != value)

    def __repr__(self) -> str:
        lines = [f"  ({name}): " + repr(child).replace("\n", "\n  ") for name, child in self._modules.items()]
        extra = self.extra_repr()
        lines = ["  " + extra.replace("\n", "\n  "), *lines] if extra and lines else lines
        inside = "\n".join(["", *lines, ""]) if lines else extra
        return f"{type(self).__name__}({inside})"


def forget_gradients(parameters: Iterable, set_to_none: bool) -> None:
    """Forget the gradients of parameters (or make them zeros, in place)."""
    for p in parameters:
        if p._g is not None:
            if set_to_none:
                p._g = None
            else:
                p._g.detach_().zero_()


def empty(*shape: int) -> Parameter:
    """A parameter whose values are to be drawn."""
    return Parameter(wrap(np.zeros(shape, default.dtype)))


def typed(init: Callable) -> Callable:
    """__init__ of a layer, with PyTorch's options `device` (there is one) and `dtype`, that of its tensors."""
    @functools.wraps(init)
    def __init__(self: object, *args: object, device: "str | None" = None, dtype: object = None,
                 **options: object) -> None:
        required(device)
        init(self, *args, **options)
        if dtype is not None:
            self.to(as_dtype(dtype))
    return __init__
