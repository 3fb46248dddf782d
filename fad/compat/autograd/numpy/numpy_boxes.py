"""autograd.numpy.numpy_boxes: the class that traced arrays seem to have."""
from ..tracer import Box as ArrayBox

__all__ = ["ArrayBox"]
