"""fad.fft: the functions of numpy.fft, with their own names and documentation.

They take traced arrays too, and Tensors as torch.fft does.
"""
from .eager.transforms.libraries import FFT, for_tensors

__getattr__, __dir__ = for_tensors("numpy.fft", FFT)
