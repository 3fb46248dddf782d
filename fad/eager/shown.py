"""What nodes show of what they hold, under PyTorch's names: tensors that were saved (_saved_self, _raw_saved_self),
parameters (_saved_dim), sizes."""
import math
import re
from typing import Any

import numpy as np

from . import errors
from .saved import Meta, SavedTensor
from .saved_names import SHOWN
from .tensor import Tensor, wrap

FREED: Any = object()                            # an entry that was forgotten after backward
_NONE: Any = object()
_PARAMETERS = {"axes": "dim", "axis": "dim", "keep": "keepdim", "sizes": "repeats", "slope": "negative_slope",
               "low": "min_val", "high": "max_val",
               "ignore": "ignore_index"}
_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}
_CONSTANTS: dict = {"AddBackward0": {"alpha": 1}, "SubBackward0": {"alpha": 1}, "RsubBackward1": {"alpha": 1},
                    "LinalgVectorNormBackward0": {"ord": 2},
                    "EluBackward0": {"input_scale": 1}, "GatherBackward0": {"sparse_grad": False},
                    "DivBackward2": {"rounding_mode": None}}
_ARGUMENTS: dict = {"MvBackward0": ("self", "vec"), "DotBackward0": ("self", "tensor"),
                    "PolygammaBackward0": ("n", "self")}
_DEFAULTS = {"keepdim": False}
# parameters that are tuples there: of one dimension, too
_SEVERAL: dict = {
    **dict.fromkeys(
        (
            "SumBackward1", "NansumBackward0", "VarBackward0", "VarMeanBackward0", "StdBackward0", "StdMeanBackward0",
            "NormBackward1", "LinalgVectorNormBackward0",
        ),
        ("dim",),
    ),
    "FlipBackward0": ("dims",),
    "RollBackward0": ("dims", "shifts"),
}
_MEASURES = {"sizes": lambda x: tuple(x.shape), "numel": lambda x: math.prod(x.shape),
             "strides": lambda x: tuple([s // x._a.itemsize for s in x._a.strides])}


class Showing:
    """What every node shows: its notes, and of its entries and parameters those that PyTorch's node of its name
    shows."""

    __slots__ = ()

    def entries(self) -> dict:
        """What the step holds of arguments and results: tensors, SavedTensors, numbers, a Meta of what is not saved."""
        return {}

    def parameters(self) -> dict:
        """What the step shows that is no argument and no result."""
        return {}

    def opened(self, name: str, entry: Any) -> Any:
        """An entry as users see it."""
        return entry.unpack() if isinstance(entry, SavedTensor) else entry

    def kept(self, name: str, entry: Any) -> Any:
        """The SavedTensor of an entry."""
        return entry

    def __getattr__(self, name: str) -> Any:
        raw = name.startswith("_raw_saved_")
        found = self._looked_up(name[11 if raw else 7:], raw) if raw or name.startswith("_saved_") else _NONE
        if found is _NONE:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return found

    def _looked_up(self, name: str, raw: bool) -> Any:
        entries = self._known()
        if name not in entries:
            return _NONE
        entry = entries[name]
        if raw:
            return self.kept(name, entry) if _is_tensor(entry) else _raw(entry)
        if entry is FREED:
            raise RuntimeError(errors.SECOND_TIME)
        return _as_seen(self.opened(name, entry))

    def _known(self) -> dict:
        """Everything shown, by its name."""
        entries = {**self.entries(), **(self.held or {})}
        found, names = {**self.parameters(), **entries}, SHOWN.get(self.name())  # type: ignore[attr-defined]
        if names is not None:
            found = {n: _wrapped(n, _as_there(self.name(), n, found[n])) if n in found  # type: ignore[attr-defined]
                     else _DEFAULTS[n] if n in _DEFAULTS else _measured(n, entries) for n in names}
            found = {n: entry for n, entry in found.items() if entry is not _NONE}
        return {**found, **(self.note or {})}

    def __dir__(self) -> list:
        known = self._known()
        raw = [n for n, entry in known.items() if _is_tensor(entry) or _raw(entry) is not _NONE]
        return sorted({*object.__dir__(self), *[f"_saved_{n}" for n in known], *[f"_raw_saved_{n}" for n in raw]})


def _is_tensor(entry: Any) -> bool:
    return isinstance(entry, (Tensor, SavedTensor, np.ndarray, Meta)) or entry is FREED


def _as_there(node: str, name: str, entry: Any) -> Any:
    """A parameter in the form in which PyTorch's node has it."""
    if isinstance(entry, (int, np.integer)) and name in _SEVERAL.get(node, ()):
        return (int(entry),)
    if isinstance(entry, tuple) and len(entry) == 1 and node == "ProdBackward1" and name == "dim":
        return entry[0]
    if name in ("min", "max") and isinstance(entry, float) and math.isinf(entry):
        return None                                                    # no bound
    return 2 if name == "ord" and entry == "fro" else entry


def _wrapped(name: str, entry: Any) -> Any:
    """An entry; a number in place of another tensor as one."""
    return wrap(np.asarray(entry)) if name == "other" and isinstance(entry, (int, float, complex)) else entry


def _as_seen(entry: Any) -> Any:
    """A saved tensor unpacked, an array as a tensor, nothing in place of what was not saved."""
    if isinstance(entry, np.ndarray):
        return wrap(entry)
    return entry.unpack() if isinstance(entry, SavedTensor) else None if isinstance(entry, Meta) else entry


def _raw(entry: Any) -> Any:
    """Several tensors as SavedTensors."""
    several = isinstance(entry, tuple) and any(isinstance(t, Tensor) for t in entry)
    return tuple([SavedTensor(t) for t in entry]) if several else _NONE


def _measured(name: str, entries: dict) -> Any:
    """A size of an argument: self_sym_sizes, self_sym_argsize_minus_1; bias_sym_sizes_opt is (0,) without a bias."""
    if name.endswith("_sizes_opt"):
        return _measured(name[:-4], entries) if entries.get(name[:-14]) is not None else (0,)
    found = re.fullmatch(r"(\w+)_sym_(sizes|numel|strides|argsize(?:_minus)?_(\d+))", name)
    x = entries.get(found[1]) if found else None
    if isinstance(x, SavedTensor) and not x.freed:
        x = x.unpack()
    if x is None or x is FREED or not hasattr(x, "shape") or found[2] == "strides" and not isinstance(x, Tensor):  # type: ignore[index]
        return _NONE
    if found[3] is not None:  # type: ignore[index]
        return x.shape[-int(found[3]) if "minus" in found[2] else int(found[3])]  # type: ignore[index]
    return _MEASURES[found[2]](x)  # type: ignore[index]


def arguments(name: str, names: tuple) -> tuple:
    """PyTorch's names for the arguments that a node of an op saves."""
    return _ARGUMENTS.get(name, names)


def parameters(node: Any) -> dict:
    """Name -> value of what a node of an op shows of its parameters."""
    found = dict(_CONSTANTS.get(node.name(), ()))
    for name, value in node.params.items():
        found[_PARAMETERS.get(name, name)] = _REDUCTIONS[value] if name == "reduction" else value
    if node.handle.op.name == "square":
        found["exponent"] = 2
    return found
