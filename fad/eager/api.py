"""The room's surface, put together: importing this module gives Tensor all its methods."""
from collections import ChainMap

from . import (
    attributes,
    combining,
    compiled,
    creation,
    drawing,
    factors,
    formulas,
    forward_ad,
    frames,
    function,
    further,
    gathering,
    grad_api,
    grad_mode,
    gradients,
    graph,
    indexing,
    joining,
    legacy,
    numpy_calls,
    odds,
    pointwise,
    products,
    reductions,
    reshaping,
    scattering,
    shapes,
    sorting,
    splitting,
    storage,
)
from .dtypes import DTYPES
from .registry import FUNCTIONS
from .tensor import Tensor

factors.refuse_beside()                              # det, inverse, qr, ..., wherever they are defined
NAMES = ChainMap(FUNCTIONS, DTYPES)                  # what stands at fad.<name> under PyTorch's names

ALL = (attributes, combining, compiled, creation, drawing, factors, formulas, forward_ad, frames, function, further, gathering, grad_api, grad_mode, gradients, graph,
       indexing, joining, legacy, numpy_calls, odds, pointwise, products, reductions, reshaping, scattering, shapes, sorting, splitting, storage)
__all__ = ["ALL", "FUNCTIONS", "NAMES", "Tensor"]
