"""What nodes show beside saved tensors, under PyTorch's names: the parameters of the step (_saved_dim), sizes of what was not saved."""
import math
from typing import Any

from .saved import Meta

_NAMES = {"axes": "dim", "axis": "dim", "keep": "keepdim", "correction": "correction", "sizes": "repeats", "slope": "negative_slope", "low": "min_val",
          "high": "max_val", "ignore": "ignore_index", "reduction": "reduction", "delta": "delta", "beta": "beta", "alpha": "alpha", "value": "value",
          "scale": "scale"}
_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}
_CONSTANTS: dict = {"AddBackward0": {"alpha": 1}, "SubBackward0": {"alpha": 1}, "RsubBackward1": {"alpha": 1}, "LinalgVectorNormBackward0": {"ord": 2},
                    "EluBackward0": {"input_scale": 1}, "GatherBackward0": {"sparse_grad": False}}


def shown(node: Any) -> dict:
    """Name -> value of what a node of an op shows of its parameters and of the arguments that it did not save."""
    found = dict(_CONSTANTS.get(node.name(), ()))
    for name, value in node.params.items():
        if name in _NAMES:
            found[_NAMES[name]] = _REDUCTIONS[value] if name == "reduction" else value
    if node.handle.op.name == "square":
        found["exponent"] = 2
    for name, x in zip(node.handle.xs, node.xs or ()):
        if isinstance(x, Meta):
            found[f"{name}_sym_sizes"], found[f"{name}_sym_numel"] = tuple(x.shape), math.prod(x.shape)
    return found


def is_saved(entry: Any) -> bool:
    """Whether something was saved at a place of a node."""
    return entry is not None and not isinstance(entry, Meta)
