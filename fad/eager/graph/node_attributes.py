"""Values that nodes show of what they hold, under PyTorch's names: tensors that were saved (_saved_self,
_raw_saved_self), parameters (_saved_dim), sizes.
"""
import math
import re
from typing import Any

import numpy as np

from ...util.array import AnyArray
from ..tensors import errors
from ..tensors.errors import refuse_if
from ..tensors.tensor import Tensor, raw, wrap
from .saved import Meta, SavedTensor
from .saved_names import SHOWN

FREED: Any = object()                            # an entry that was forgotten after backward
_NONE: Any = object()
_PARAMETERS = {"axes": "dim", "axis": "dim", "keep": "keepdim", "sizes": "repeats", "slope": "negative_slope",
               "low": "min_val", "high": "max_val", "ignore": "ignore_index"}
REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}
_CONSTANTS: dict = {"AddBackward0": {"alpha": 1}, "SubBackward0": {"alpha": 1}, "RsubBackward1": {"alpha": 1},
                    "LinalgVectorNormBackward0": {"ord": 2}, "EluBackward0": {"input_scale": 1},
                    "GatherBackward0": {"sparse_grad": False}, "DivBackward2": {"rounding_mode": None}}
_ARGUMENTS: dict = {"MvBackward0": ("self", "vec"), "DotBackward0": ("self", "tensor"),
                    "PolygammaBackward0": ("n", "self"), "CummaxBackward0": ("self", "indices"),
                    "CumminBackward0": ("self", "indices")}
_DEFAULTS = {"keepdim": False}
_ABSENT: dict = {  # what nodes show of options that were not given
    **dict.fromkeys(("VarBackward0", "VarMeanBackward0", "StdBackward0", "StdMeanBackward0"),
                    {"dim": None, "correction": None}),
    **dict.fromkeys(("BinaryCrossEntropyBackward0", "NativeGroupNormBackward0", "NllLossBackward0",
                     "NllLoss2DBackward0"), {"weight": None}),
    "BinaryCrossEntropyWithLogitsBackward0": {"weight": None, "pos_weight": None},
    "NativeBatchNormBackward0": {"running_mean": None, "running_var": None, "weight": None},
    "LinalgVectorNormBackward0": {"dim": None}}
# parameters that are tuples there: of one dimension, too
_SEVERAL: dict = {
    **{f"{name}Backward{name == 'Sum':d}": ("dim",)
       for name in ("Sum", "Nansum", "Var", "VarMean", "Std", "StdMean", "LinalgVectorNorm")},
    "FlipBackward0": ("dims",), "RollBackward0": ("dims", "shifts")}
# parameters that are floats there, and may be given as ints
_FLOATS = {("PdistBackward0", "p"), ("LogitBackward0", "eps"), ("HuberLossBackward0", "delta"),
           ("SmoothL1LossBackward0", "beta"), ("NativeGroupNormBackward0", "eps"), ("NativeBatchNormBackward0", "eps"),
           ("UpsampleNearest1DBackward0", "scales"), ("UpsampleLinear1DBackward0", "scales")}
_MEASURES = {"sizes": lambda x: tuple(x.shape), "numel": lambda x: math.prod(x.shape),
             "strides": lambda x: tuple([s // x._a.itemsize for s in x._a.strides])}


class Showing:
    """The attributes of every node: its notes, and those entries and parameters that PyTorch's node shows."""

    __slots__ = ()

    def entries(self) -> dict:
        """The arguments and results that the step holds: tensors, SavedTensors, numbers, a Meta of others."""
        return {}

    def parameters(self) -> dict:
        """The attributes of the step that are no argument and no result."""
        return {}

    def opened(self, name: str, entry: object) -> Any:
        """An entry as users see it."""
        return entry.unpack() if isinstance(entry, SavedTensor) else entry

    def kept(self, name: str, entry: object) -> Any:
        """The SavedTensor of an entry."""
        return entry

    def __getattr__(self, name: str) -> Any:
        raw = name.startswith("_raw_saved_")
        found = self._looked_up(name[11 if raw else 7:], raw) if raw or name.startswith("_saved_") else _NONE
        refuse_if(found is _NONE, f"{type(self).__name__!r} object has no attribute {name!r}", AttributeError)
        return found

    def _looked_up(self, name: str, raw: bool) -> Any:
        entries = self._known()
        if name not in entries:
            return _NONE
        entry = entries[name]
        if raw:
            return self.kept(name, entry) if _is_tensor(entry) else _raw(entry)
        refuse_if(entry is FREED, errors.SECOND_TIME)
        return _as_seen(self.opened(name, entry))

    def _known(self) -> dict:
        """Everything shown, by its name."""
        entries = {**self.entries(), **(self.held or {})}
        name = self.name()
        found, names, note = {**self.parameters(), **entries}, SHOWN.get(name), self.note or {}
        if names is None:
            return {**found, **note}
        absent = {**_DEFAULTS, **_ABSENT.get(name, {})}
        found = {n: _as_there(name, n, note[n]) if n in note else _wrapped(n, _as_there(name, n, found[n]))
                 if n in found else absent[n] if n in absent else _measured(n, entries) for n in names}
        return {n: entry for n, entry in found.items() if entry is not _NONE}

    def __dir__(self) -> list:
        known = self._known()
        raw = [n for n, entry in known.items() if _is_tensor(entry) or _raw(entry) is not _NONE]
        return sorted({*object.__dir__(self), *[f"_saved_{n}" for n in known], *[f"_raw_saved_{n}" for n in raw]})


def _is_tensor(entry: object) -> bool:
    return isinstance(entry, (Tensor, SavedTensor, np.ndarray, Meta)) or entry is FREED


def _as_there(node: str, name: str, entry: object) -> Any:
    """A parameter in the form in which PyTorch's node has it."""
    if (node, name) in _FLOATS and isinstance(entry, int):
        return float(entry)
    if isinstance(entry, (int, np.integer)) and name in _SEVERAL.get(node, ()):
        return (int(entry),)
    if isinstance(entry, tuple) and len(entry) == 1 and node == "ProdBackward1" and name == "dim":
        return entry[0]
    if name in ("min", "max") and isinstance(entry, float) and math.isinf(entry):
        return None                                                    # no bound
    return 2 if name == "ord" and entry == "fro" else entry


def _wrapped(name: str, entry: object) -> Any:
    """An entry; a number in place of another tensor as one."""
    return wrap(np.asarray(entry)) if name == "other" and isinstance(entry, (int, float, complex)) else entry


def _as_seen(entry: object) -> Any:
    """A saved tensor unpacked, an array as a tensor, nothing in place of what was not saved."""
    if isinstance(entry, np.ndarray):
        return wrap(entry)
    return entry.unpack() if isinstance(entry, SavedTensor) else None if isinstance(entry, Meta) else entry


def _raw(entry: object) -> Any:
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
    if x is None or x is FREED or not hasattr(x, "shape") or found[2] == "strides" and not isinstance(x, Tensor):
        return _NONE
    if found[3] is not None:
        return x.shape[-int(found[3]) if "minus" in found[2] else int(found[3])]
    return _MEASURES[found[2]](x)


def arguments(name: str, names: tuple) -> tuple:
    """PyTorch's names for the arguments that a node of an op saves."""
    return _ARGUMENTS.get(name, names)


def parameters(node: object) -> dict:
    """Name -> value of what a node of an op shows of its parameters."""
    found = dict(_CONSTANTS.get(node.name(), ()))
    for name, value in node.params.items():
        found[_PARAMETERS.get(name, name)] = REDUCTIONS[value] if name == "reduction" else value
    if node.handle.op.name == "square":
        found["exponent"] = 2
    if node.name() == "NllLossBackward0":
        found["ignore_index"] = ignored = -100 if found["ignore_index"] is None else found["ignore_index"]
        if node.xs is not None:
            x, classes, weight = node.xs
            found["total_weight"] = total_weight(x, classes, weight, ignored, found["reduction"])
    return found


def total_weight(x: Tensor, classes: object, weight: "AnyArray | None", ignored: int, reduction: object) -> Tensor:
    """The number of terms of a likelihood, by which their mean is taken; 0 where there is no mean."""
    if reduction in (0, "none"):
        return wrap(np.zeros((), x.dtype))
    chosen = raw(classes)[raw(classes) != ignored]
    return wrap(np.asarray(chosen.size if weight is None else raw(weight)[chosen].sum(), x.dtype))
