"""fad.special: the functions of scipy.special, by their own names and with their own documentation; each takes traced arrays and Tensors too."""
from .trace.alias import attribute_of

__getattr__, __dir__ = attribute_of("scipy.special")
