"""fad.functional: torch.autograd.functional's functions on ndarrays; see api/functional.py."""
from .api.functional import hessian as hessian
from .api.functional import hvp as hvp
from .api.functional import jacobian as jacobian
from .api.functional import jvp as jvp
from .api.functional import vhp as vhp
from .api.functional import vjp as vjp
