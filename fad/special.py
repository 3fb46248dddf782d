"""fad.special: the functions of scipy.special, by their own names and with their own documentation; each takes traced arrays too, and Tensors as torch.special does."""
from .eager.libraries import for_tensors
from .eager.special import SPECIAL

__getattr__, __dir__ = for_tensors("scipy.special", SPECIAL)
