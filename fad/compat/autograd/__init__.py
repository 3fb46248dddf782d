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
from .differential_operators import checkpoint as checkpoint
from .differential_operators import deriv as deriv
from .differential_operators import elementwise_grad as elementwise_grad
from .differential_operators import grad as grad
from .differential_operators import grad_and_aux as grad_and_aux
from .differential_operators import grad_named as grad_named
from .differential_operators import hessian as hessian
from .differential_operators import hessian_tensor_product as hessian_tensor_product
from .differential_operators import hessian_vector_product as hessian_vector_product
from .differential_operators import holomorphic_grad as holomorphic_grad
from .differential_operators import jacobian as jacobian
from .differential_operators import make_ggnvp as make_ggnvp
from .differential_operators import make_hvp as make_hvp
from .differential_operators import make_jvp as make_jvp
from .differential_operators import make_jvp_reversemode as make_jvp_reversemode
from .differential_operators import make_vjp as make_vjp
from .differential_operators import multigrad_dict as multigrad_dict
from .differential_operators import tensor_jacobian_product as tensor_jacobian_product
from .differential_operators import value_and_grad as value_and_grad
from .differential_operators import vector_jacobian_product as vector_jacobian_product
from .extend import primitive as primitive
from .installed import install as install
