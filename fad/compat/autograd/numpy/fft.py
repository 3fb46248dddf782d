"""autograd.numpy.fft: the names of numpy.fft."""
from ....trace.runtime.namespaces import attribute_of

__getattr__, __dir__ = attribute_of("numpy.fft")
