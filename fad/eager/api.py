"""The room's surface, put together: importing this module gives Tensor all its methods."""
from collections import ChainMap

from . import (  # noqa: F401 (each attaches its methods when it is imported)
    attributes,
    compiled,
    creation,
    drawing,
    files,
    formulas,
    forward_ad,
    function,
    gathering,
    grad_api,
    grad_mode,
    gradients,
    graph,
    indexing,
    joining,
    libraries,
    linalg,
    pointwise,
    products,
    ranges,
    reductions,
    shapes,
    sorting,
    storage,
)
from .anomaly import is_anomaly_check_nan_enabled, is_anomaly_enabled
from .dtypes import DTYPES
from .registry import FUNCTIONS, told_as
from .tensor import Tensor

FUNCTIONS.update(
    is_anomaly_enabled=is_anomaly_enabled,
    is_anomaly_check_nan_enabled=is_anomaly_check_nan_enabled,
    is_inference=Tensor.is_inference,
    detach=Tensor.detach,
    detach_=Tensor.detach_,  # type: ignore[attr-defined]
    fill_=Tensor.fill_,
    zero_=Tensor.zero_,
)  # type: ignore[attr-defined]
linalg.refuse_beside()                              # det, inverse, qr, ..., wherever they are defined
for home in (FUNCTIONS, *map(vars, Tensor.__mro__[:-1])):
    for name, f in home.items():
        told_as(name, f)
NAMES = ChainMap(FUNCTIONS, DTYPES)                  # what stands at fad.<name> under PyTorch's names
__all__ = ["FUNCTIONS", "NAMES", "Tensor"]
