"""fad: automatic differentiation for people who write NumPy.

Hand fad an ordinary function of arrays and get gradients, Jacobians, Hessians and products back as functions: traced,
transformed, compiled by Numba, and readable.

>>> import numpy as np, fad
>>> fad.grad(lambda x: np.sum(x ** 2))(np.array([1.0, 2.0]))
array([2., 4.])
"""
from .api.derivative import grad as grad
from .api.derivative import jit as jit
from .api.derivative import stop_gradient as stop_gradient
from .api.derivative import value_and_grad as value_and_grad
from .ops import table as _table
from .util.config import config as config

__version__ = "0.1.0"
del _table
