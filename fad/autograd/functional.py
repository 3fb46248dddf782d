"""fad.autograd.functional: Jacobians, Hessians and products with them, of functions of tensors or of arrays."""
from ..eager.transforms.functional import hessian as hessian
from ..eager.transforms.functional import hvp as hvp
from ..eager.transforms.functional import jacobian as jacobian
from ..eager.transforms.functional import jvp as jvp
from ..eager.transforms.functional import vhp as vhp
from ..eager.transforms.functional import vjp as vjp
