"""The room's surface, put together: importing this module gives Tensor all its methods."""
from collections import ChainMap

from .engine import function
from .engine.anomaly import is_anomaly_check_nan_enabled, is_anomaly_enabled
from .functions import attributes, drawing, gathering, linalg, ranges, sorting, storage
from .functions.registry import FUNCTIONS, told_as
from .tensors.dtypes import DTYPES
from .tensors.tensor import Tensor
from .transforms import compiled, libraries

# each attaches its methods when it is imported, and so do the modules that these import
ATTACHING = (attributes, compiled, drawing, function, gathering, libraries, linalg, ranges, sorting, storage)
FUNCTIONS.update(is_anomaly_enabled=is_anomaly_enabled, is_anomaly_check_nan_enabled=is_anomaly_check_nan_enabled)
FUNCTIONS.update({name: getattr(Tensor, name) for name in ("is_inference", "detach", "detach_", "fill_", "zero_")})
linalg.refuse_beside()                              # det, inverse, qr, ..., wherever they are defined
for home in (FUNCTIONS, *map(vars, Tensor.__mro__[:-1])):
    for name, f in home.items():
        told_as(name, f)
NAMES = ChainMap(FUNCTIONS, DTYPES)                  # what stands at fad.<name> under PyTorch's names
__all__ = ["FUNCTIONS", "NAMES", "Tensor"]
