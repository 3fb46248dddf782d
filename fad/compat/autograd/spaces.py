"""Vector spaces of arguments and results: trees of real and complex arrays, with a real inner product."""
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...util import tree
from ...util.array import AnyArray
from ...util.errors import ArgumentError


def vspace(value: object) -> "VSpace":
    """The vector space that a number, an array or a tree of them belongs to.

    >>> vspace([1.0, np.zeros(3)]).size
    4
    """
    return VSpace(value)


class VSpace:
    """All trees of one structure, shapes and dtypes.

    size: the number of real dimensions (a complex number has two); shape, dtype: of an array, None of a larger tree.
    A scalar product of complex vectors is that of their real and imaginary parts.
    """

    def __init__(self, value: object):
        leaves, self.structure = tree.flatten(value)
        self.models = [_model(x) for x in leaves]
        self.size = sum(_size(a) for a in self.models)
        self.iscomplex = any(a.dtype.kind == "c" for a in self.models)
        single = len(self.models) == 1 and self.structure == tree.flatten(1.0)[1]
        self.shape = self.models[0].shape if single else None
        self.dtype = self.models[0].dtype if single else None

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, VSpace) and self.structure == other.structure
                and [(a.shape, a.dtype) for a in self.models] == [(a.shape, a.dtype) for a in other.models])

    def __hash__(self) -> int:
        return hash((self.size, self.shape))

    def __repr__(self) -> str:
        return f"VSpace({', '.join(f'{a.dtype}{list(a.shape)}' for a in self.models)})"

    def zeros(self) -> Any:
        """The vector of zeros."""
        return self._made(lambda a: np.zeros(a.shape, a.dtype))

    def ones(self) -> Any:
        """The vector of ones (1 + 1j, in complex spaces: one in each real dimension)."""
        return self._made(lambda a: np.full(a.shape, 1 + 1j if a.dtype.kind == "c" else 1, a.dtype))

    def randn(self) -> Any:
        """A vector of standard normal numbers, from NumPy's global generator."""
        def draw(a: np.ndarray) -> AnyArray:
            x = np.random.randn(*a.shape)
            return np.asarray(x + 1j * np.random.randn(*a.shape) if a.dtype.kind == "c" else x).astype(a.dtype)
        return self._made(draw)

    def standard_basis(self) -> Iterator[Any]:
        """The unit vectors, one for each real dimension."""
        for k, a in enumerate(self.models):
            for index in np.ndindex(a.shape):
                for one in (1, 1j) if a.dtype.kind == "c" else (1,):
                    leaves = [np.zeros(b.shape, b.dtype) for b in self.models]
                    leaves[k][index] = one
                    yield self.structure.unflatten([x if x.ndim else x[()] for x in leaves])

    def add(self, x: object, y: object) -> Any:
        """x + y."""
        return self._paired(np.add, x, y)

    def mut_add(self, x: object, y: object) -> Any:
        """x + y; x may be None, for zero."""
        return y if x is None else self.add(x, y)

    def scalar_mul(self, x: object, a: float) -> Any:
        """a x."""
        return tree.map_leaves(lambda leaf: leaf * a, x)

    def inner_prod(self, x: object, y: object) -> AnyArray:
        """The real inner product of x and y."""
        pairs = zip(tree.flatten(x)[0], tree.flatten(y)[0], strict=True)
        return sum(np.sum(np.real(np.conj(a) * b)) for a, b in pairs)

    def covector(self, x: object) -> Any:
        """The covector of x: complex numbers are conjugated."""
        return tree.map_leaves(lambda leaf: np.conj(leaf) if np.iscomplexobj(leaf) else leaf, x)

    def _made(self, make: Callable) -> Any:
        made = [make(a) for a in self.models]
        return self.structure.unflatten([x if x.ndim else x[()] for x in made])

    def _paired(self, f: Callable, x: object, y: object) -> Any:
        leaves, structure = tree.flatten(x)
        return structure.unflatten([f(a, b) for a, b in zip(leaves, tree.flatten(y)[0], strict=True)])


def _model(x: AnyArray) -> Any:
    shape, dtype = np.shape(x), getattr(x, "dtype", None) or np.asarray(x).dtype
    if dtype.kind not in "biufc":
        raise ArgumentError(f"there is no vector space of a value of type {type(x).__name__}",
                            do="use numbers, arrays and containers of them")
    return np.broadcast_to(np.zeros((), dtype), shape)


def _size(a: np.ndarray) -> int:
    return a.size * (2 if a.dtype.kind == "c" else 1)
