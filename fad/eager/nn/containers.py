"""Modules that hold modules: Sequential, ModuleList, ModuleDict, ParameterList."""
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from .module import Module, Parameter


class Sequential(Module):
    """Modules one after the other."""

    def __init__(self, *args: Any):
        super().__init__()
        named = args[0].items() if len(args) == 1 and isinstance(args[0], OrderedDict) else ((str(k), m) for k, m in enumerate(args))
        for name, module in named:
            self.add_module(name, module)

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            input = module(input)
        return input

    def __iter__(self) -> Iterator:
        return iter(self._modules.values())

    def __len__(self) -> int:
        return len(self._modules)

    def __getitem__(self, k: Any) -> Any:
        modules = list(self._modules.values())
        return type(self)(*modules[k]) if isinstance(k, slice) else modules[k]

    def __setitem__(self, k: int, module: Module) -> None:
        self._modules[list(self._modules)[k]] = module

    def append(self, module: Module) -> "Sequential":
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self


class ModuleList(Module):
    """A list of modules."""

    def __init__(self, modules: Any = ()):
        super().__init__()
        for module in modules:
            self.append(module)

    def append(self, module: Module) -> "ModuleList":
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def __iter__(self) -> Iterator:
        return iter(self._modules.values())

    def __len__(self) -> int:
        return len(self._modules)

    def __getitem__(self, k: int) -> Any:
        return list(self._modules.values())[k]

    def __setitem__(self, k: int, module: Module) -> None:
        self._modules[list(self._modules)[k]] = module


class ModuleDict(Module):
    """Modules by name."""

    def __init__(self, modules: Any = ()):
        super().__init__()
        for name, module in dict(modules).items():
            self.add_module(name, module)

    def __getitem__(self, name: str) -> Any:
        return self._modules[name]

    def __setitem__(self, name: str, module: Module) -> None:
        self.add_module(name, module)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator:
        return iter(self._modules)


class ParameterList(Module):
    """A list of parameters."""

    def __init__(self, values: Any = ()):
        super().__init__()
        for k, p in enumerate(values):
            self._parameters[str(k)] = p if isinstance(p, Parameter) else Parameter(p)

    def __iter__(self) -> Iterator:
        return iter(self._parameters.values())

    def __len__(self) -> int:
        return len(self._parameters)

    def __getitem__(self, k: int) -> Any:
        return list(self._parameters.values())[k]


class ParameterDict(Module):
    """Parameters by name."""

    def __init__(self, parameters: Any = ()):
        super().__init__()
        for name, p in dict(parameters).items():
            self[name] = p

    def __getitem__(self, name: str) -> Any:
        return self._parameters[name]

    def __setitem__(self, name: str, p: Any) -> None:
        self._parameters[name] = p if isinstance(p, Parameter) else Parameter(p)

    def __contains__(self, name: str) -> bool:
        return name in self._parameters

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator:
        return iter(self._parameters)
