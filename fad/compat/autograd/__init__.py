"""fad.compat.autograd: the public names of HIPS autograd, over fad.

Code written for autograd runs, compiled, after one changed import. Conventions are autograd's: `argnum`, the conjugate
of a complex gradient (of f = u + iv it is du/dx - i du/dy), gradients in the structure of the argument.

>>> import fad.compat.autograd.numpy as np
>>> from fad.compat.autograd import grad, elementwise_grad
>>> float(grad(lambda x: np.tanh(x) ** 2)(0.0))
0.0
>>> elementwise_grad(np.square)(np.array([1.0, 2.0]))
array([2., 4.])
"""
# autograd needs containers and questions of its own; in fad Python's are differentiable as they are
from .builtins import dict as dict
from .builtins import isinstance as isinstance
from .builtins import list as list
from .builtins import tuple as tuple
from .builtins import type as type
from .extend import primitive as primitive
from .operators import checkpoint as checkpoint
from .operators import deriv as deriv
from .operators import elementwise_grad as elementwise_grad
from .operators import grad as grad
from .operators import grad_and_aux as grad_and_aux
from .operators import grad_named as grad_named
from .operators import hessian as hessian
from .operators import hessian_tensor_product as hessian_tensor_product
from .operators import hessian_vector_product as hessian_vector_product
from .operators import holomorphic_grad as holomorphic_grad
from .operators import jacobian as jacobian
from .operators import make_ggnvp as make_ggnvp
from .operators import make_hvp as make_hvp
from .operators import make_jvp as make_jvp
from .operators import make_jvp_reversemode as make_jvp_reversemode
from .operators import make_vjp as make_vjp
from .operators import multigrad_dict as multigrad_dict
from .operators import tensor_jacobian_product as tensor_jacobian_product
from .operators import value_and_grad as value_and_grad
from .operators import vector_jacobian_product as vector_jacobian_product
