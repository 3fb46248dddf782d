"""Leaves: where gradients arrive, and how they are laid out there."""
import threading

import numpy as np

from ..util.array import AnyArray
from ..util.forks import renewed
from . import errors
from .node import LAST, Node, sequence
from .saved import Meta
from .tensor import SAME, Tensor, weak, wrap

_lock = renewed(threading.RLock())


class AccumulateGrad(Node):
    """The node at which a gradient arrives at a leaf."""

    __slots__ = ("variable",)
    label = "torch::autograd::AccumulateGrad"

    def __init__(self, variable: Tensor):
        self.next = ()
        self.seq = LAST + sequence.__next__()
        self.variable = variable

    @property
    def dtype(self) -> "np.dtype | None":
        """The dtype that gradients have there: that of the leaf, unless its grad_dtype says otherwise; None: that in
        which they come."""
        extra = self.variable._x
        return extra.grad_dtype if extra is not None and extra.grad_dtype is not SAME else self.variable._a.dtype  # type: ignore[return-value]

    @property
    def _input_metadata(self) -> list:
        return [Meta(self.variable._a.shape, self.variable._a.dtype)]

    def pull(self, g: object) -> tuple:
        return ()

    def is_wanted(self) -> bool:
        """Whether the leaf still takes gradients: since the graph was built, it may have been frozen, or become a
        result of other steps."""
        if self.variable._fn is not None:
            raise RuntimeError(errors.MOVED)
        return self.variable._rg

    def accumulate(self, g: AnyArray, owned: bool) -> None:
        """Add the array g into .grad, in place; a first gradient is kept as it is if it is nobody else's and laid out
        like the leaf."""
        x = self.variable
        with _lock:
            have = x._g
            if have is None:
                x._g = wrap(laid_out(g, x._a, owned, self.dtype))
            else:
                a = have._a
                np.add(a, g, a, casting="same_kind")
                have._vc[0] += 1

    def accumulate_graph(self, g: Tensor) -> None:
        """Put a gradient with a history in .grad, or the sum of it and what is there."""
        x = self.variable
        with _lock:
            have = x._g
            if have is None:
                x._g = Tensor(laid_out(x._a, x._a, False, self.dtype or g._a.dtype)).copy_(g)  # type: ignore[attr-defined]
            else:
                x._g = total = have + g  # type: ignore[operator]
                total._a = laid_out(total._a, have._a, True, None)


def laid_out(g: AnyArray, x: np.ndarray, owned: bool, dtype: "np.dtype | None") -> np.ndarray:
    """g in memory laid out as x is, if x is dense, else in row-major order; g itself where that is what it is. dtype:
    None for g's own."""
    dtype = np.asarray(g).dtype if dtype is None else dtype
    if g.__class__ is np.ndarray and owned and g.base is None and g.strides == x.strides and g.dtype is dtype:
        return g
    out = np.empty_like(x, dtype, order="K", subok=False) if is_dense(x) else np.empty(x.shape, dtype)
    out[...] = g
    return out


def is_dense(x: np.ndarray) -> bool:
    """Whether an array's elements lie side by side in memory, each once."""
    if x.flags.c_contiguous or x.flags.f_contiguous:
        return True
    expected = x.itemsize
    for n, stride in sorted(zip(x.shape, x.strides), key=lambda p: p[1]):
        if n != 1 and stride != expected:
            return False
        expected *= n
    return True


def accumulator(x: Tensor) -> AccumulateGrad:
    """The node at which gradients of a leaf arrive."""
    ref = x._acc
    node = ref() if ref is not None else None
    if node is None:
        node = AccumulateGrad(x)
        x._acc = weak(node)
    return node
