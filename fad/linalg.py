"""fad.linalg: the functions of numpy.linalg, by their own names and with their own documentation; each takes traced arrays too, and Tensors as torch.linalg does."""
from .eager.libraries import for_tensors
from .eager.linalg import LINALG

__getattr__, __dir__ = for_tensors("numpy.linalg", LINALG)
