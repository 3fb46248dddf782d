"""The texts of tensors."""
from collections.abc import Callable

import numpy as np

from ..tensors.promotion import default
from ..tensors.tensor import Tensor
from .views import tangent_of


def _scientific(values: np.ndarray) -> "tuple[bool, bool]":
    """Whether all finite values are integers, and whether they call for exponents."""
    finite = np.abs(values[np.isfinite(values)].astype(float))
    if not finite.size:
        return False, False
    whole = bool((finite == np.floor(finite)).all())
    nonzero = finite[finite != 0]
    if not nonzero.size:
        return whole, False
    big, small = nonzero.max(), nonzero.min()
    return (whole, bool(big / small > 1000.0 or big > 1e8 or (not whole and small < 1e-4)) if not whole
            else bool(big / small > 1e8 or big > 1e8))


def formatter(values: np.ndarray) -> Callable:
    """A function that writes one element."""
    kind = values.dtype.kind
    if kind in "biu":
        return str
    if kind == "c":
        real, imag = formatter(values.real), formatter(values.imag)
        return lambda z: f"{real(z.real)}{'' if imag(z.imag).lstrip().startswith('-') else '+'}{imag(z.imag).lstrip()}j"
    whole, exponent = _scientific(values)
    if exponent:
        return lambda v: f"{v:.4e}" if np.isfinite(v) else str(v)
    if whole:
        return lambda v: f"{v:.0f}." if np.isfinite(v) else str(v)
    return lambda v: f"{v:.4f}" if np.isfinite(v) else str(v)


def text_of(a: np.ndarray, indent: int) -> str:
    """The elements in brackets."""
    if a.ndim == 0:
        return formatter(a.reshape(1))(a[()])
    write = formatter(a.reshape(-1))
    width = max((len(write(v)) for v in a.reshape(-1)), default=0) if a.size <= 1000 else 0
    names = ("bool", "int", "float", "complexfloat", "longfloat", "longcomplexfloat")
    text = np.array2string(a, separator=", ", prefix=" " * indent, max_line_width=80, threshold=1000, edgeitems=3,
                           formatter={n: lambda v: write(v).rjust(width) for n in names})
    return text


def represent(t: Tensor) -> str:
    """As PyTorch writes it: tensor([1., 2.], dtype=float32, grad_fn=<MulBackward0>)."""
    a = t._a
    parts = [text_of(a, 7)]
    if not a.size:
        parts = ["[]"] + ([f"size={a.shape}"] if a.ndim != 1 else [])
    plain = (a.dtype == default.dtype or a.size and (a.dtype.kind == "b" or a.dtype == np.int64)
             or a.dtype == np.result_type(default.dtype, np.complex64))
    if not plain:
        parts.append(f"dtype={a.dtype}")
    name = ""
    try:
        fn = t.grad_fn
    except RuntimeError:                                 # a view that what was done to its base forbids to use
        name, fn = "Invalid", None
    if fn is not None:
        name = fn.name().rpartition(":")[2]
    if name:
        parts.append(f"grad_fn=<{name}>")
    elif t._rg:
        parts.append("requires_grad=True")
    tangent = tangent_of(t)
    if tangent is not None:
        parts.append(f"tangent={represent(tangent)}")
    cls = type(t)
    name = "tensor" if getattr(cls, "__torch_function__", None) is None or cls is Tensor else cls.__name__
    return f"{name}({', '.join(parts)})"
