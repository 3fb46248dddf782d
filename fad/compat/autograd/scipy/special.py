"""autograd.scipy.special: the names of scipy.special."""
from ....trace.runtime.namespaces import attribute_of

__getattr__, __dir__ = attribute_of("scipy.special")
