"""fad.autograd.functional: Jacobians, Hessians and products with them, of functions of tensors or of arrays."""
from ..eager.functional import hessian as hessian
from ..eager.functional import hvp as hvp
from ..eager.functional import jacobian as jacobian
from ..eager.functional import jvp as jvp
from ..eager.functional import vhp as vhp
from ..eager.functional import vjp as vjp
