"""fad: automatic differentiation for people who write NumPy.

Hand fad an ordinary function of arrays and get gradients, Jacobians, Hessians and products back as functions: traced,
transformed, compiled by Numba, and readable.

>>> import numpy as np, fad
>>> fad.grad(lambda x: np.sum(x ** 2))(np.array([1.0, 2.0]))
array([2., 4.])
"""
from importlib import import_module as _import_module

from . import autograd as autograd
from . import fft as fft
from . import functional as functional
from . import linalg as linalg
from . import numpy as numpy
from . import special as special
from .api.cfunc import cfunc as cfunc
from .api.control import cond as cond
from .api.control import fori_loop as fori_loop
from .api.control import scan as scan
from .api.control import switch as switch
from .api.control import while_loop as while_loop
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
from .eager.api import FUNCTIONS as _FUNCTIONS
from .eager.api import Tensor as Tensor
from .eager.dtypes import DTYPES as _DTYPES
from .eager.draw import draw as draw
from .eager.dtypes import get_default_dtype as get_default_dtype
from .eager.dtypes import set_default_dtype as set_default_dtype
from .eager.grad_mode import enable_grad as enable_grad
from .eager.grad_mode import inference_mode as inference_mode
from .eager.grad_mode import is_grad_enabled as is_grad_enabled
from .eager.grad_mode import is_inference_mode_enabled as is_inference_mode_enabled
from .eager.grad_mode import no_grad as no_grad
from .eager.grad_mode import set_grad_enabled as set_grad_enabled
from .ops import table as _table
from .show.explain import explain as explain
from .show.program import export as export
from .show.program import show as show
from .show.program import source as source
from .util.config import config as config
from .util.errors import FadError as FadError
from .util.errors import FallbackWarning as FallbackWarning
from .util.tree import register as register

__version__ = "0.1.0"
del _table
_LAZY = ("nn", "optim", "utils")
_OF_NN = ("adaptive_avg_pool1d adaptive_max_pool1d alpha_dropout avg_pool1d batch_norm bilinear celu channel_shuffle conv1d conv2d conv3d conv_transpose1d "
          "conv_transpose2d conv_transpose3d cosine_similarity dropout group_norm hardshrink instance_norm layer_norm max_pool1d max_pool2d max_pool3d "
          "pairwise_distance pixel_shuffle pixel_unshuffle prelu rms_norm rrelu selu threshold").split()


def __getattr__(name: str) -> object:
    """Functions of tensors under PyTorch's names, dtypes, and the namespaces that are imported when first used."""
    if name in _FUNCTIONS:
        return _FUNCTIONS[name]
    if name in _DTYPES:
        return _DTYPES[name]
    if name in _LAZY:
        return _import_module(f"fad.{name}")
    if name in _OF_NN:
        return getattr(_import_module("fad.nn.functional"), name)
    raise AttributeError(f"module 'fad' has no attribute {name!r}")


def __dir__() -> list:
    return sorted({*globals(), *_FUNCTIONS, *_DTYPES, *_LAZY, *_OF_NN})
