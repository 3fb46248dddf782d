"""fad.functional: torch.autograd.functional's functions, on ndarrays (fad/api) and on tensors (fad/eager)."""
from .eager.transforms.functional import hessian as hessian
from .eager.transforms.functional import hvp as hvp
from .eager.transforms.functional import jacobian as jacobian
from .eager.transforms.functional import jvp as jvp
from .eager.transforms.functional import vhp as vhp
from .eager.transforms.functional import vjp as vjp
from .util.lazy import refusing_names as _refusing_names

__getattr__ = _refusing_names(globals())
