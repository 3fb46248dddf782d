"""autograd.numpy: NumPy's names, which take traced arrays too. With fad, plain numpy does as well."""
import numpy as _numpy

from ....trace.alias import attribute_of
from . import fft as fft
from . import linalg as linalg
from . import random as random

_attribute, __dir__ = attribute_of("numpy")
__version__ = _numpy.__version__


def __getattr__(name: str) -> object:
    return _attribute(name)
