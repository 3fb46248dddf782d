"""fad.special: the functions of scipy.special, with their own names and documentation.

They take traced arrays and Tensors too.
"""
from .trace.runtime.namespaces import attribute_of

__getattr__, __dir__ = attribute_of("scipy.special")
