"""Namespaces of a library's functions that take tensors too, in PyTorch's terms (dim, keepdim) where an argument is a
tensor."""
import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..ops.face import BY_NAME
from ..trace.runtime.namespaces import attribute_of
from .factors import of_matrices
from .tensor import Tensor, wrap
from .together import together

_DIMS = {"dim": "axis", "keepdim": "keepdims"}


def for_tensors(library: str, own: Mapping[str, Callable],
                renamed: Mapping[str, str] = _DIMS) -> "tuple[Callable, Callable]":
    """__getattr__ and __dir__ of a namespace: the library's functions, which take tensors with PyTorch's names of
    options too; own: what differs in more."""
    get, names = attribute_of(library)
    made: dict[str, Any] = {}

    def attribute(name: str) -> Any:
        if name not in made:
            made[name] = _both(own.get(name), get, f"{library}.{name}", renamed)
        return made[name]
    return attribute, lambda: sorted({*names(), *own})


def _both(for_tensor: "Callable | None", get: Callable, path: str, renamed: Mapping[str, str]) -> Any:
    name = path.rpartition(".")[2]
    try:
        library = get(name)
    except AttributeError:
        if for_tensor is None:
            raise
        return for_tensor if isinstance(for_tensor, type) else of_matrices(name, _stepping(path, for_tensor))
    if isinstance(library, type) or not callable(library):
        return library if for_tensor is None else for_tensor

    def call(*args: Any, **kwargs: Any) -> Any:
        if not any(isinstance(a, Tensor) for a in (*args, *kwargs.values())) and not _holds_tensors(args):
            return library(*args, **kwargs)
        if for_tensor is not None:
            return _as_step(path, for_tensor(*args, **kwargs), args)
        out = kwargs.pop("out", None)
        face = BY_NAME.get(path)
        y = (library if face is None else face.call)(*args,
                                                     **{renamed.get(key, key): value for key, value in kwargs.items()})
        # what does not hang on the tensors' values, as a matrix' power 0
        y = wrap(y) if isinstance(y, np.ndarray) else y
        return _as_step(path, y, args) if out is None else out.copy_(y)
    call.__name__, call.__qualname__, call.__doc__ = name, name, library.__doc__
    return of_matrices(name, call) if path.startswith("numpy.linalg.") else call


_STEPS = {"lu": "LinalgLuBackward0", "lu_factor": "LinalgLuFactorExBackward0",
          "householder_product": "LinalgHouseholderProductBackward0",
          "fftshift": "RollBackward0", "ifftshift": "RollBackward0"}


def _as_step(path: str, y: Any, args: tuple) -> Any:
    """What a function computed, as the one step that it is for PyTorch."""
    library, _, name = path.rpartition(".")
    label = _STEPS.get(name)
    if label is None and library == "numpy.fft" and isinstance(y, Tensor) and args and isinstance(args[0], Tensor):
        label = f"Fft{args[0]._a.dtype.kind == 'c' and 'C' or 'R'}2{y._a.dtype.kind == 'c' and 'C' or 'R'}Backward0"
    if label is not None:
        together(y if isinstance(y, tuple) else (y,), label, [a for a in args if isinstance(a, Tensor)])
    return y


def _stepping(path: str, f: Callable) -> Callable:
    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        return _as_step(path, f(*args, **kwargs), args)
    call.__qualname__ = path.rpartition(".")[2]
    return call


def _holds_tensors(args: tuple) -> bool:
    return bool(args) and isinstance(args[0], (tuple, list)) and any(isinstance(a, Tensor) for a in args[0])


def face(name: str, *args: Any, **kwargs: Any) -> Any:
    """A function of NumPy or SciPy by its face."""
    return BY_NAME[name].call(*args, **kwargs)
