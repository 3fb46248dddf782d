"""fad.linalg: the functions of numpy.linalg, with their own names and documentation.

They take traced arrays too, and Tensors as torch.linalg does.
"""
from .eager.libraries import for_tensors
from .eager.linalg import LINALG

__getattr__, __dir__ = for_tensors("numpy.linalg", LINALG)
