"""autograd.numpy.linalg: the names of numpy.linalg; eigh has autograd's derivative, that of the triangle it reads."""
from typing import Any

import numpy as np

from ....trace.runtime.namespaces import attribute_of

_attribute, __dir__ = attribute_of("numpy.linalg")


def __getattr__(name: str) -> Any:
    return _attribute(name)


def eigh(a: Any, UPLO: Any = "L") -> Any:
    """numpy.linalg.eigh of matrices of shape (…, n, n). The gradient is zero in the triangle that is not read (fad's
    own is symmetric).

    >>> from fad.compat.autograd import grad
    >>> grad(lambda a: np.sum(eigh(a)[0] ** 2))(np.array([[1.0, 0.5], [0.5, 2.0]]))
    array([[2., 0.],
           [2., 4.]])
    """
    strict = np.tril(a, -1) if UPLO.upper() == "L" else np.triu(a, 1)
    diagonal = np.real(np.diagonal(a, axis1=-2, axis2=-1))[..., None] * np.eye(np.shape(a)[-1])
    return np.linalg.eigh(strict + diagonal + np.conj(np.swapaxes(strict, -1, -2)), UPLO)
