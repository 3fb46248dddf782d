"""Files of tensors, and of containers of them."""
import pickle
from typing import Any

from .registry import FUNCTIONS


def save(obj: dict, f: object) -> None:
    """Write tensors, or containers of them, to a file."""
    if hasattr(f, "write"):
        pickle.dump(obj, f)
        return
    with open(f, "wb") as file:
        pickle.dump(obj, file)


_SAFE = {("fad.eager.attributes", "_rebuild"), ("fad.eager.tensor", "Tensor"), ("fad.eager.nn.module", "Parameter"),
         ("collections", "Counter"), ("collections", "OrderedDict"), ("numpy", "ndarray"), ("numpy", "dtype"),
         ("numpy._core.multiarray", "_reconstruct"), ("numpy.core.multiarray", "_reconstruct"),
         ("numpy._core.multiarray", "scalar"), ("numpy._core.numeric", "_frombuffer"), ("builtins", "set"),
         ("builtins", "complex")}


class _Weights(pickle.Unpickler):
    """Reads tensors and containers, and runs no other code."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _SAFE:
            raise pickle.UnpicklingError(f"Weights only load failed: {module}.{name} is neither a tensor nor a "
                                         "container. Load with weights_only=False only "
                                         "what comes from a source that you trust: such files can run any code.")
        return super().find_class(module, name)


def load(f: object, *, weights_only: bool = True, map_location: object = None) -> Any:
    """Read what save wrote: tensors and containers of them; anything, code included, only with weights_only=False."""
    read = _Weights if weights_only else pickle.Unpickler
    if hasattr(f, "read"):
        return read(f).load()
    with open(f, "rb") as file:
        return read(file).load()


FUNCTIONS.update(save=save, load=load)
