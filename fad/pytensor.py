"""fad.pytensor: Ops of functions that fad differentiates, for PyTensor and PyMC (extra ``fad-jit[pytensor]``)."""
from .api.bridges.pytensor_ops import op as op
from .util.lazy import refusing_names as _refusing_names

__getattr__ = _refusing_names(globals())
