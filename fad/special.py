"""fad.special: the functions of scipy.special, by their own names and with their own documentation; each takes traced arrays too, and Tensors as torch.special does."""
from .eager.namespaces import SPECIAL, for_tensors

__getattr__, __dir__ = for_tensors("scipy.special", SPECIAL)
