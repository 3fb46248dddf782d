"""autograd.scipy.integrate: the names of scipy.integrate."""
from ....trace.runtime.namespaces import attribute_of

__getattr__, __dir__ = attribute_of("scipy.integrate")
