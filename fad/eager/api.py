"""The room's surface, put together: importing this module gives Tensor all its methods."""
from . import attributes, compiled, creation, forward_ad, function, further, grad_api, grad_mode, graph, joining, numpy_calls, pointwise, products, reductions, shapes
from .registry import FUNCTIONS
from .tensor import Tensor

ALL = (attributes, compiled, creation, forward_ad, function, further, grad_api, grad_mode, graph, joining, numpy_calls, pointwise, products, reductions, shapes)
__all__ = ["ALL", "FUNCTIONS", "Tensor"]
