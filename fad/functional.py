"""fad.functional: torch.autograd.functional's functions, on ndarrays (fad/api) and on tensors (fad/eager)."""
from .eager.functional import hessian as hessian
from .eager.functional import hvp as hvp
from .eager.functional import jacobian as jacobian
from .eager.functional import jvp as jvp
from .eager.functional import vhp as vhp
from .eager.functional import vjp as vjp
from .util.lazy import refusing_names as _refusing_names

__getattr__ = _refusing_names(globals())
