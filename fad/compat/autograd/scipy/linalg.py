"""autograd.scipy.linalg: the names of scipy.linalg."""
from ....trace.runtime.namespaces import attribute_of

__getattr__, __dir__ = attribute_of("scipy.linalg")
