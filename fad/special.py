"""fad.special: the functions of scipy.special, with their own names and documentation.

They take traced arrays too, and Tensors as torch.special does.
"""
from .eager.transforms.libraries import SPECIAL, for_tensors

__getattr__, __dir__ = for_tensors("scipy.special", SPECIAL)
