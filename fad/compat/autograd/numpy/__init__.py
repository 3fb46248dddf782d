"""autograd.numpy: NumPy's names, which take traced arrays too. With fad, plain numpy does as well."""
from typing import Any

import numpy as _numpy

from ....trace.runtime.namespaces import attribute_of
from . import fft as fft
from . import linalg as linalg
from . import random as random

_attribute, __dir__ = attribute_of("numpy")
__version__ = _numpy.__version__


def __getattr__(name: str) -> object:
    return _attribute(name)


def make_diagonal(D: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The matrices whose diagonal is the last axis of D, along the last two axes: autograd's inverse of np.diagonal.

    >>> make_diagonal(_numpy.array([1.0, 2.0]), axis1=-1, axis2=-2)
    array([[1., 0.],
           [0., 2.]])
    """
    if offset or not (axis1 == -1 and axis2 == -2) and not (axis1 == -2 and axis2 == -1):
        raise NotImplementedError(
            "make_diagonal puts a main diagonal into the last two axes: offset=0, axis1=-1, axis2=-2")
    return D[..., None] * _numpy.eye(_numpy.shape(D)[-1])
