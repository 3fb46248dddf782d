"""fad: automatic differentiation for people who write NumPy.

Hand fad an ordinary function of arrays and get gradients, Jacobians, Hessians and products back as functions: traced,
transformed, compiled by Numba, and readable.

>>> import numpy as np, fad
>>> fad.grad(lambda x: np.sum(x ** 2))(np.array([1.0, 2.0]))
array([2., 4.])
"""
from . import fft as fft
from . import functional as functional
from . import linalg as linalg
from . import numpy as numpy
from . import special as special
from .api.custom import checkpoint as checkpoint
from .api.custom import custom_jvp as custom_jvp
from .api.custom import custom_vjp as custom_vjp
from .api.derivative import grad as grad
from .api.derivative import jit as jit
from .api.derivative import stop_gradient as stop_gradient
from .api.derivative import value_and_grad as value_and_grad
from .api.implicit import implicit as implicit
from .api.jacobian import hessian as hessian
from .api.jacobian import jacfwd as jacfwd
from .api.jacobian import jacobian as jacobian
from .api.jacobian import jacrev as jacrev
from .api.products import hvp as hvp
from .api.products import jvp as jvp
from .api.products import linearize as linearize
from .api.products import vhp as vhp
from .api.products import vjp as vjp
from .api.ravel import ravel as ravel
from .api.vmap import vmap as vmap
from .check.certify import certify as certify
from .ops import table as _table
from .show.program import show as show
from .show.program import source as source
from .util.config import config as config
from .util.errors import FadError as FadError
from .util.tree import register as register

__version__ = "0.1.0"
del _table
