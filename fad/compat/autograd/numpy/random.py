"""autograd.numpy.random: the names of numpy.random."""
from ....trace.runtime.namespaces import attribute_of

__getattr__, __dir__ = attribute_of("numpy.random")
