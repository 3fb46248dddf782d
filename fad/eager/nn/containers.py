"""Modules that hold modules (Sequential, ModuleList, ModuleDict, ...), and modules called with others' parameters."""
import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

from ...util.array import AnyArray
from ..tensors.errors import refuse_if
from ..tensors.tensor import Tensor
from .module import Module, Parameter


class _Holding(Module):
    """Base of modules that hold others."""

    _modules: dict

    def _held(self) -> dict:
        return self._modules

    def _made(self, value: object) -> object:
        return value

    def _add(self, name: str, value: object) -> None:
        self.add_module(name, value)

    def __len__(self) -> int:
        return len(self._held())


class _OfParameters:
    """Beside _Holding, for those that hold parameters; other tensors become parameters."""

    _parameters: dict

    def _held(self) -> dict:
        return self._parameters

    def _made(self, value: object) -> object:
        return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value

    def _add(self, name: str, value: object) -> None:
        self.register_parameter(name, self._made(value))


class _Numbered(_Holding):
    """Base of modules that hold a list: what is held has the names "0", "1", ..."""

    def _hold(self, values: Iterable) -> None:
        """Hold these values and no others."""
        given = list(values)
        for name in list(self._held()):
            delattr(self, name)
        for k, value in enumerate(given):
            setattr(self, str(k), value)

    def _place(self, k: object) -> int:
        n, k = len(self), operator.index(k)
        refuse_if(not -n <= k < n, f"index {k} is out of range", IndexError)
        return k % n

    def __iter__(self) -> Iterator:
        return iter(self._held().values())

    def __getitem__(self, k: object) -> Any:
        values = list(self)
        cls: Any = type(self)
        return cls(self._of(list(self._held().items())[k])) if isinstance(k, slice) else values[self._place(k)]

    @staticmethod
    def _of(items: list) -> list:
        return [value for _, value in items]

    def __setitem__(self, k: int, value: object) -> None:
        setattr(self, list(self._held())[self._place(k)], self._made(value))

    def __delitem__(self, k: object) -> None:
        values = list(self)
        del values[k if isinstance(k, slice) else self._place(k)]
        self._hold(values)

    def append(self, value: Any) -> Any:
        """Add one at the end."""
        self._add(str(len(self)), value)
        return self

    def extend(self, values: object) -> Any:
        """Add several at the end."""
        refuse_if(not isinstance(values, Iterable), f"{type(self).__name__}.extend should be called with an iterable, "
                  f"but got {type(values).__name__}", TypeError)
        for value in list(values):
            self.append(value)
        return self

    def insert(self, index: int, value: Any) -> Any:
        """Add one before a place."""
        values = list(self)
        values.insert(index, value)
        self._hold(values)

    def pop(self, key: int = -1) -> Any:
        """Take one out."""
        value = self[key]
        del self[key]
        return value

    def __add__(self, other: Iterable) -> Any:
        cls: Any = type(self)
        return cls([*self, *other])

    def __iadd__(self, other: Any) -> Any:
        return self.extend(other)

    def __dir__(self) -> list:
        return [name for name in super().__dir__() if not name.isdigit()]


class ModuleList(_Numbered):
    """A list of modules."""

    def __init__(self, modules: object = ()):
        super().__init__()
        self += modules if modules is not None else ()

    def __repr__(self) -> str:
        """Equal modules one after the other are written once."""
        runs: list = []
        for k, told in enumerate(map(repr, self)):
            if runs and runs[-1][2] == told:
                runs[-1][1] = k
            else:
                runs.append([k, k, told])
        lines = [f"({a}): {told}" if a == b else f"({a}-{b}): {b - a + 1} x {told}" for a, b, told in runs]
        return (
            f"{type(self).__name__}({''.join(chr(10) + '  ' + line.replace(chr(10), chr(10) + '  ') for line in lines)}"
            + ("\n)" if lines else ")")
        )


class Sequential(_Numbered):
    """Modules one after the other."""

    def __init__(self, *args: Any):
        super().__init__()
        named = (args[0].items() if len(args) == 1 and isinstance(args[0], (OrderedDict, dict))
                 else ((str(k), m) for k, m in enumerate(args)))
        for name, module in named:
            self.add_module(name, module)

    def forward(self, input: AnyArray) -> AnyArray:
        for module in self._modules.values():
            input = module(input)
        return input

    @staticmethod
    def _of(items: list) -> Any:
        return OrderedDict(items)


class _Named(_Holding, MutableMapping):
    """Base of modules that hold a dict: one is equal to itself alone, as every module is."""

    __eq__, __hash__ = object.__eq__, object.__hash__

    def __setitem__(self, name: str, value: object) -> None:
        self._add(name, value)

    def __getitem__(self, name: str) -> Any:
        return self._held()[name]

    def __delitem__(self, name: str) -> None:
        del self._held()[name]

    def __iter__(self) -> Iterator:
        return iter(self._held())

    def __reversed__(self) -> Iterator:
        return reversed(list(self._held()))

    def popitem(self) -> tuple:
        """Take out the last one, with its name."""
        return self._held().popitem()


class ModuleDict(_Named):
    """Modules by name."""

    def __init__(self, modules: "dict | None" = None):
        super().__init__()
        self.update(modules or {})


class ParameterList(_OfParameters, _Numbered):
    """A list of parameters; other tensors become parameters."""

    def __init__(self, values: object = ()):
        super().__init__()
        self += values if values is not None else ()


class ParameterDict(_OfParameters, _Named):
    """Parameters by name; other tensors become parameters."""

    def __init__(self, parameters: object = None):
        super().__init__()
        self.update(parameters or {})

    def __setitem__(self, name: object, value: object) -> None:
        self._parameters[str(name)] = self._made(value)


class DataParallel(Module):
    """A module on all devices: here there is one, the CPU, so that the module itself is called, as PyTorch does where
    there is no other device.

    >>> import fad
    >>> net = DataParallel(fad.nn.Linear(3, 2))
    >>> net(fad.ones(4, 3)).shape, list(net.state_dict())
    (torch.Size([4, 2]), ['module.weight', 'module.bias'])
    """

    def __init__(self, module: Module, device_ids: object = None, output_device: object = None, dim: int = 0):
        super().__init__()
        self.module, self.device_ids, self.output_device, self.dim = module, [], output_device, dim

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)


@contextmanager
def swapped_parameters(module: Module, values: dict) -> Iterator[None]:
    """Within, parameters and buffers of these names are other values, also where they have further names (are tied)."""
    homes: dict = {}
    for owner in module.modules():
        for table in (owner._parameters, owner._buffers):
            for name, t in table.items():
                homes.setdefault(id(t), []).append((table, name, t))
    new: dict = {}
    for path, value in values.items():
        prefix, _, name = path.rpartition(".")
        target = module.get_submodule(prefix)
        table = target._parameters if name in target._parameters else target._buffers
        t = table[name]
        places = [(table, name, t)] if t is None else homes[id(t)]
        other = new.setdefault(path if t is None else id(t), (value, places))[0]
        refuse_if(other is not value, f"functional_call got a second value for {path}, which is tied to another name",
                  ValueError)
    swapped = [(*place, value) for value, places in new.values() for place in places]
    try:
        for table, name, _, value in swapped:
            table[name] = value
        yield
    finally:
        for table, name, before, _ in swapped:
            table[name] = before


def functional_call(module: Module, parameters_and_buffers: object, args: object = (),
                    kwargs: "dict | None" = None) -> AnyArray:
    """module(*args, **kwargs) with other values for the parameters and buffers named: tensors, arrays or traced values.

    So a whole training step can be compiled:

    >>> import numpy as np, fad
    >>> layer = fad.nn.Linear(2, 1, bias=False)
    >>> f = fad.jit(lambda p, x: fad.nn.functional_call(layer, p, (x,)))
    >>> f({"weight": np.ones((1, 2))}, np.ones((3, 2))).shape
    (3, 1)
    """
    given: dict = {}
    for part in (parameters_and_buffers if isinstance(parameters_and_buffers, (tuple, list))
                 else (parameters_and_buffers,)):
        given.update(part)
    with swapped_parameters(module, given):
        return module(*(args if isinstance(args, tuple) else (args,)), **(kwargs or {}))
