"""fad: automatic differentiation for people who write NumPy.

Hand fad an ordinary function of arrays and get gradients, Jacobians, Hessians and products back as functions: traced,
transformed, compiled by Numba, and readable.

>>> import numpy as np, fad
>>> fad.grad(lambda x: np.sum(x ** 2))(np.array([1.0, 2.0]))
array([2., 4.])
"""
from typing import TYPE_CHECKING as _TYPE_CHECKING

from .util.config import config as config
from .util.errors import FadError as FadError
from .util.errors import FallbackWarning as FallbackWarning
from .util.errors import InternalErrorWarning as InternalErrorWarning
from .util.lazy import lazy_names as _lazy_names
from .util.version import __version__ as __version__

if _TYPE_CHECKING:
    # Loaded when first used: for readers, type checkers and the contract of the tower. _LATER says the same to Python.
    from . import autograd as autograd
    from . import dask as dask
    from . import fft as fft
    from . import functional as functional
    from . import jax as jax
    from . import linalg as linalg
    from . import nn as nn
    from . import numpy as numpy
    from . import optim as optim
    from . import pytensor as pytensor
    from . import scipy as scipy
    from . import sparse as sparse
    from . import special as special
    from . import torch as torch
    from . import utils as utils
    from .api.bridges.cfunc import cfunc as cfunc
    from .api.derivatives.control import cond as cond
    from .api.derivatives.control import fori_loop as fori_loop
    from .api.derivatives.control import scan as scan
    from .api.derivatives.control import switch as switch
    from .api.derivatives.control import while_loop as while_loop
    from .api.derivatives.custom import checkpoint as checkpoint
    from .api.derivatives.custom import custom_jvp as custom_jvp
    from .api.derivatives.custom import custom_vjp as custom_vjp
    from .api.derivatives.derivative import grad as grad
    from .api.derivatives.derivative import jit as jit
    from .api.derivatives.derivative import stop_gradient as stop_gradient
    from .api.derivatives.derivative import value_and_grad as value_and_grad
    from .api.solvers.implicit import implicit as implicit
    from .api.derivatives.jacobian import hessian as hessian
    from .api.derivatives.jacobian import jacfwd as jacfwd
    from .api.derivatives.jacobian import jacobian as jacobian
    from .api.derivatives.jacobian import jacrev as jacrev
    from .api.calls.printing import debug_print as debug_print
    from .api.derivatives.products import hvp as hvp
    from .api.derivatives.products import jvp as jvp
    from .api.derivatives.products import linearize as linearize
    from .api.derivatives.products import vhp as vhp
    from .api.derivatives.products import vjp as vjp
    from .api.calls.ravel import ravel as ravel
    from .api.derivatives.vmap import vmap as vmap
    from .check.certify import certify as certify
    from .eager.api import Tensor as Tensor
    from .eager.tensors.dtypes import get_default_dtype as get_default_dtype
    from .eager.tensors.dtypes import set_default_dtype as set_default_dtype
    from .eager.tensors.grad_mode import enable_grad as enable_grad
    from .eager.tensors.grad_mode import inference_mode as inference_mode
    from .eager.tensors.grad_mode import is_grad_enabled as is_grad_enabled
    from .eager.tensors.grad_mode import is_inference_mode_enabled as is_inference_mode_enabled
    from .eager.tensors.grad_mode import no_grad as no_grad
    from .eager.tensors.grad_mode import set_grad_enabled as set_grad_enabled
    from .show.draw import draw as draw
    from .show.explain import explain as explain
    from .show.program import export as export
    from .show.program import show as show
    from .show.program import source as source
    from .show.stages import stages as stages
    from .util.tree import register as register

_LATER = {name: module for module, names in {
    "": "autograd dask fft functional jax linalg nn numpy optim pytensor scipy sparse special torch utils",
    "api.bridges.cfunc": "cfunc",
    "api.derivatives.control": "cond fori_loop scan switch while_loop",
    "api.derivatives.custom": "checkpoint custom_jvp custom_vjp",
    "api.derivatives.derivative": "grad jit stop_gradient value_and_grad",
    "api.solvers.implicit": "implicit",
    "api.derivatives.jacobian": "hessian jacfwd jacobian jacrev",
    "api.calls.printing": "debug_print",
    "api.derivatives.products": "hvp jvp linearize vhp vjp",
    "api.calls.ravel": "ravel",
    "api.derivatives.vmap": "vmap",
    "check.certify": "certify",
    "eager.api": "Tensor",
    "eager.tensors.dtypes": "get_default_dtype set_default_dtype",
    "eager.tensors.grad_mode":
        "enable_grad inference_mode is_grad_enabled is_inference_mode_enabled no_grad set_grad_enabled",
    "show.draw": "draw",
    "show.explain": "explain",
    "show.program": "export show source",
    "show.stages": "stages",
    "util.tree": "register",
}.items() for name in names.split()}
_OF_NN = dict.fromkeys((
    "avg_pool1d batch_norm conv1d conv2d cosine_similarity dropout group_norm layer_norm max_pool1d max_pool2d prelu "
    "selu threshold").split(), "nn.functional")
__all__ = [*[name for name, thing in globals().items() if not name.startswith("_") and not hasattr(thing, "__path__")],
           *_LATER]
_OF_IPYTHON = dict.fromkeys(("load_ipython_extension", "unload_ipython_extension"), "show.magics")  # %load_ext fad
# Besides these, functions of tensors and dtypes under PyTorch's names. fad.show and fad.trace are also packages.
__getattr__, _listed = _lazy_names(globals(), _LATER | _OF_NN | _OF_IPYTHON, others="eager.api",
                                   above_rooms=("show", "trace"))
# A listing shows those that make tensors. Readers know the other six hundred functions from NumPy or PyTorch.
_MAKE_TENSORS = ("tensor as_tensor from_numpy zeros ones full empty eye arange linspace zeros_like ones_like "
                 "rand randn randint randperm manual_seed Generator float32 float64 complex64 complex128 int64").split()


def __dir__() -> list[str]:
    return sorted({*__all__, *_MAKE_TENSORS, *[name for name in globals() if name.startswith("__")]})
