"""Parametrizations: a parameter of a module becomes a function of others, which are learned in its place."""
import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..state import changed, now
from ..tensor import Tensor
from .containers import ModuleDict, ModuleList
from .module import Module, Parameter


@contextmanager
def cached() -> Iterator[None]:
    """Within, every parametrized tensor is computed once."""
    outer = now().parametrized
    with changed(parametrized={} if outer is None else outer):
        yield


class ParametrizationList(ModuleList):
    """The functions, one after the other, that make one tensor of what is learned: `original`, or `original0`, `original1`, ..."""

    def __init__(self, modules: Any, original: Tensor, unsafe: bool = False):
        given = list(modules)
        if not given:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(given)
        self.unsafe = unsafe
        with changed(grad=False):
            values: Any = original
            for module in reversed(given):
                if hasattr(module, "right_inverse"):
                    values = module.right_inverse(values)
        self.is_tensor = isinstance(values, Tensor)
        if not self.is_tensor and not isinstance(values, (tuple, list)):
            raise ValueError(f"'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got {type(values).__name__}")
        if self.is_tensor and values._a.dtype != original._a.dtype:
            raise ValueError("When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                             f"original.dtype: {original._a.dtype}\nright_inverse(original).dtype: {values._a.dtype}")
        self.ntensors = 1 if self.is_tensor else len(values)
        for name, value in zip(self._names(), [values] if self.is_tensor else values):
            self._enter(name, value, original)
        if not unsafe:
            self._check(original)

    def _names(self) -> list:
        return ["original"] if self.is_tensor else [f"original{k}" for k in range(self.ntensors)]

    def _enter(self, name: str, value: Any, original: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise ValueError(f"'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got element {name[8:] or 0} of the sequence with type "
                             f"{type(value).__name__}.")
        if isinstance(original, Parameter):
            held = original if value is original else Parameter(value.detach(), requires_grad=original.requires_grad)   # type: ignore[attr-defined]
            self.register_parameter(name, held)
        else:
            self.register_buffer(name, value)

    def _check(self, original: Tensor) -> None:
        with changed(grad=False):
            made = self()
        if not isinstance(made, Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {type(made).__name__}.")
        if made._a.dtype != original._a.dtype:
            raise ValueError("Registering a parametrization may not change the dtype of the tensor, unless `unsafe` flag is enabled.\n"
                             f"unparametrized dtype: {original._a.dtype}\nparametrized dtype: {made._a.dtype}")
        if made._a.shape != original._a.shape:
            raise ValueError("Registering a parametrization may not change the shape of the tensor, unless `unsafe` flag is enabled.\n"
                             f"unparametrized shape: {original.shape}\nparametrized shape: {made.shape}")     # type: ignore[attr-defined]

    def right_inverse(self, value: Tensor) -> None:
        """Write into what is learned the values of which this tensor is made."""
        with changed(grad=False):
            made: Any = value
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                made = module.right_inverse(made)
            for name, new in zip(self._names(), [made] if self.is_tensor else made):
                old = getattr(self, name)
                if new._a.dtype != old._a.dtype:
                    raise ValueError(f"The tensor returned by `right_inverse` has dtype {new._a.dtype} while `{name}` has dtype {old._a.dtype}")
                old.set_(new.clone()) if old._a.shape != new._a.shape else old.copy_(new)

    def forward(self) -> Any:
        values = [getattr(self, name) for name in self._names()]
        value = self[0](*values)
        for module in list(self)[1:]:
            value = module(value)
        return value


class Parametrized(Module):
    """Mixed into the class of a module that has parametrized tensors."""

    parametrizations: ModuleDict

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(getattr(type(self), name, None), property):
            object.__setattr__(self, name, value)
        else:
            super().__setattr__(name, value)

    def __deepcopy__(self, memo: dict) -> Any:
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        twin.__dict__ = copy.deepcopy(self.__dict__, memo)
        twin.__class__ = type(type(self).__name__, type(self).__bases__, dict(vars(type(self))))
        return twin

    def __getstate__(self) -> dict:
        raise RuntimeError("Serialization of parametrized modules is only supported through state_dict(). See: the state is saved by fad.save(module.state_dict(), file)")


def _tensor(name: str) -> property:
    def get(self: Any) -> Any:
        values = now().parametrized                             # those computed so far, by module and name
        if values is None:
            return self.parametrizations[name]()
        key = (id(self), name)
        if key not in values:
            values[key] = self.parametrizations[name]()
        return values[key]
    return property(get, lambda self, value: self.parametrizations[name].right_inverse(value))


def register_parametrization(module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False) -> Module:
    """Make a parameter (or buffer) of a module a function of what is learned in its place, module.parametrizations.<name>.original; a second one goes on top.

    >>> import fad
    >>> layer = fad.nn.Linear(2, 2)
    >>> class Symmetric(fad.nn.Module):
    ...     def forward(self, x):
    ...         return x.triu() + x.triu(1).mT
    >>> layer = register_parametrization(layer, "weight", Symmetric())
    >>> bool((layer.weight == layer.weight.mT).all())
    True
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        _on_top(module, tensor_name, parametrization, unsafe)
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        held = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            cls: Any = type(module)
            module.__class__ = type(f"Parametrized{cls.__name__}", (Parametrized, cls), {"__qualname__": f"Parametrized{cls.__name__}"})
            module.parametrizations = ModuleDict()
        setattr(type(module), tensor_name, _tensor(tensor_name))
        module.parametrizations[tensor_name] = held
    else:
        raise ValueError(f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name '{tensor_name}'")
    return module


def _on_top(module: Any, name: str, parametrization: Module, unsafe: bool) -> None:
    held = module.parametrizations[name]
    before = held()
    if unsafe:
        held.append(parametrization)
        held.unsafe = True
        return
    with changed(grad=False):
        after = parametrization(before)
    if not isinstance(after, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(after).__name__}.")
    if after._a.dtype != before._a.dtype or after._a.shape != before._a.shape:
        what = "dtype" if after._a.dtype != before._a.dtype else "shape"
        raise ValueError(f"Registering a parametrization may not change the {what} of the tensor, unless the `unsafe` flag is enabled.\n"
                         f"module.{name}.{what}: {getattr(before._a, what)}\nparametrization(module.{name}).{what}: {getattr(after._a, what)}")
    if hasattr(parametrization, "right_inverse"):
        back = parametrization.right_inverse(after)
        if isinstance(back, Tensor) and back._a.dtype != before._a.dtype:
            raise ValueError(f"The tensor returned by parametrization.right_inverse must have the same dtype as module.{name}, unless the `unsafe` flag is enabled.")
        if isinstance(back, Tensor) and back._a.shape != before._a.shape:
            raise ValueError("The tensor returned by parametrization.right_inverse must have the same shape as module." f"{name}.")
    held.append(parametrization)


def is_parametrized(module: Module, tensor_name: "str | None" = None) -> bool:
    """Whether a module has parametrized tensors (or this one)."""
    held = module.__dict__.get("_modules", {}).get("parametrizations")
    if not isinstance(held, ModuleDict):
        return False
    return len(held) > 0 if tensor_name is None else tensor_name in held


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Make a tensor one of the module's own again: with the values that it has, or those that were learned in its place."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    held = module.parametrizations[tensor_name]
    if not held.is_tensor and not leave_parametrized:
        raise ValueError("Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a sequence of tensors.")
    with changed(grad=False):
        made = held()
    original = getattr(held, held._names()[0])
    if held.is_tensor:
        value = original
        if leave_parametrized:
            original._a = made._a.copy()
            original._vc[0] += 1
    else:
        value = Parameter(made.detach().clone(), requires_grad=original.requires_grad) if isinstance(original, Parameter) else made.detach().clone()
    del module.parametrizations[tensor_name]
    delattr(type(module), tensor_name)
    if isinstance(value, Parameter):
        module.register_parameter(tensor_name, value)
    else:
        module.register_buffer(tensor_name, value)
    if not is_parametrized(module):
        del module._modules["parametrizations"]
        module.__class__ = type(module).__bases__[1]
    return module


def type_before_parametrizations(module: Module) -> type:
    """The class that a module had before it was parametrized."""
    return type(module).__bases__[1] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module: Any, to_module: Module, tensor_name: "str | None" = None) -> Module:
    """Parametrize the tensors of one module (or this one) as those of another, and take over the values."""
    names = list(from_module.parametrizations) if tensor_name is None else [tensor_name]
    for name in names if is_parametrized(from_module) else ():
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name).detach().clone()))
        for parametrization in from_module.parametrizations[name]:
            register_parametrization(to_module, name, parametrization)
        source, target = from_module.parametrizations[name], to_module.parametrizations[name]          # type: ignore[attr-defined]
        for key in source._names():
            setattr(target, key, getattr(source, key))
    return to_module
