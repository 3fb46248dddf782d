"""autograd.numpy.linalg: the names of numpy.linalg."""
from ....trace.runtime.namespaces import attribute_of

__getattr__, __dir__ = attribute_of("numpy.linalg")
