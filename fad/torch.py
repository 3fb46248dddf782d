"""fad.torch: functions that fad differentiates, for programs of PyTorch."""
from .api.bridges.torch_functions import TorchFunction as TorchFunction
from .api.bridges.torch_functions import function as function
from .util.lazy import refusing_names as _refusing_names

__getattr__ = _refusing_names(globals())
