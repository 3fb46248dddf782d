"""fad.jax: functions that fad differentiates, for programs of JAX."""
from .api.bridges.jax_functions import JaxFunction as JaxFunction
from .api.bridges.jax_functions import function as function
from .util.lazy import refusing_names as _refusing_names

__getattr__ = _refusing_names(globals())
