"""The room's surface, put together: importing this module gives Tensor all its methods."""
from . import (
    attributes,
    compiled,
    creation,
    forward_ad,
    function,
    further,
    grad_api,
    grad_mode,
    gradients,
    graph,
    joining,
    legacy,
    numpy_calls,
    pointwise,
    products,
    reductions,
    reshaping,
    shapes,
    storage,
)
from .registry import FUNCTIONS
from .tensor import Tensor

ALL = (attributes, compiled, creation, forward_ad, function, further, grad_api, grad_mode, gradients, graph, joining, legacy, numpy_calls, pointwise,
       products, reductions, reshaping, shapes, storage)
__all__ = ["ALL", "FUNCTIONS", "Tensor"]
