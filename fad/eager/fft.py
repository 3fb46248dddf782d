"""fft for tensors: transforms along several dimensions, whose options PyTorch names otherwise than NumPy."""
from collections.abc import Callable

from ..util.array import AnyArray, Axes
from .errors import face


def _several(name: str, library: str) -> Callable:
    def call(input: AnyArray, s: object = None, dim: Axes = None, norm: "str | None" = None) -> AnyArray:
        axes = {} if dim is None else {"axes": tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)}
        return face(f"{library}.fft.{name}", input, (s,) if isinstance(s, int) else s, norm=norm, **axes)
    return call


FFT: dict[str, Callable] = {
    **{name: _several(name, "numpy")
       for name in ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")},
    **{name: _several(name, "scipy") for name in ("hfft2", "hfftn", "ihfft2", "ihfftn")},
    "fftshift": lambda input, dim=None: face("numpy.fft.fftshift", input, dim),
    "ifftshift": lambda input, dim=None: face("numpy.fft.ifftshift", input, dim)}
