"""fad.linalg: the functions of numpy.linalg, with their own names and documentation.

They take traced arrays too, and Tensors as torch.linalg does.
"""
from .eager.functions.linalg import LINALG
from .eager.transforms.libraries import for_tensors

__getattr__, __dir__ = for_tensors("numpy.linalg", LINALG)
