"""Saved tensors: what a node keeps for its backward, packed so that no reference cycle arises.

A tensor that is an input of its node is kept as it is. A node's own result is kept as its array and version counter,
and becomes a tensor again, with the node for its grad_fn, when it is read. Only where a hook asks for it is there a
SavedTensor between.
"""
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...util.array import AnyArray
from ..tensors import errors
from ..tensors.errors import refuse_if
from ..tensors.state import change, changed, now
from ..tensors.tensor import Renumbered, Tensor, alias, weak, wrap


class Meta:
    """Shape and dtype of an input whose values are not saved."""

    __slots__ = ("shape", "dtype")

    def __init__(self, shape: tuple, dtype: np.dtype):
        self.shape, self.dtype = shape, dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)


class SavedTensor:
    """A tensor kept for backward; a pair of hooks may say in what form it is kept."""

    __slots__ = ("node", "nr", "version", "hooks", "kept", "original", "freed", "leaf", "_vc", "fn", "extents")

    def __init__(self, tensor: Any = (), node: Any = None, nr: int = 0, hooks: "tuple | None" = None,
                 version: "int | None" = None):
        if tensor == () and not isinstance(tensor, Tensor):
            raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")
        self.node, self.nr = (weak(node), nr) if node is not None else (None, 0)
        self.hooks, self.freed, self.original = None, False, tensor
        self.kept: Any = None
        self.version = 0 if tensor is None else tensor._vc[0] if version is None else version
        self._vc = [self.version]
        if hooks is not None:
            self.pack(hooks)

    @property
    def data(self) -> Any:
        """The kept value: what the pack hook made, or the tensor (a result of its own node outside the graph)."""
        if self.hooks is not None:
            return self.kept
        return self.original if self.node is None or self.original is None else alias(self.original)

    @property
    def unpack_hook(self) -> "Callable | None":
        """The hook that makes a tensor of what is kept."""
        return None if self.hooks is None else self.hooks[1]

    def register_hooks(self, pack_hook: object = None, unpack_hook: object = None) -> None:
        """Keep what pack_hook returns for the tensor, and read it back through unpack_hook."""
        refuse_if(self.freed, "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate "
                  "values of the graph are freed when you call .backward() or autograd.grad(). Specify "
                  "retain_graph=True if you need to backward through the graph a second time or if you need to access "
                  "saved variables after calling backward.")
        refuse_if(not callable(pack_hook) or not callable(unpack_hook), "register_hooks(): incompatible function "
                  "arguments. The following argument types are supported:\n    1. (self: SavedTensor, pack_hook: "
                  "Callable, unpack_hook: Callable) -> None", TypeError)
        refuse_if(self.hooks is not None, "Calling register_hooks on a saved tensor whose hooks have already been set. "
                  "Hint: only one pair of hooks is allowed at a time.")
        refuse_if(self.original is None, "Calling register_hooks on a saved tensor with value None is forbidden")
        if self.original._vc[0] != self.version:
            raise RuntimeError(self.stale(self.original))
        self.pack((pack_hook, unpack_hook))

    def pack(self, hooks: tuple) -> None:
        t = self.original
        self.extents = t._a.shape
        self.fn = (t._fn, t._nr, t._rg) if self.node is None else (None, self.nr, True)
        # a leaf stays the leaf it is, for its gradient
        self.leaf = t if self.node is None and t._fn is None and t._rg else None
        before = t._vc[0]
        with changed(grad=False, pack_hooks=(), mutation=None):
            self.kept = hooks[0](t if self.node is None else alias(t))
        refuse_if(t._vc[0] != before, "A saved tensor pack hook is modifying its input in place. Tensors provided as "
                  "input to pack hook can not be modified by in-place operations as this can lead to unexpected "
                  "side-effects. Please open an issue if you need to perform in-place operations on the input to a "
                  "pack hook.")
        self.hooks, self.original = hooks, None

    def unpack(self) -> Any:
        """The tensor, checked to be what it was when it was saved."""
        if self.freed:
            raise RuntimeError(errors.SECOND_TIME)
        if self.hooks is None:
            return None if self.original is None and self.version == 0 and self.node is None else self._checked()
        with changed(grad=False):
            result = self.hooks[1](self.kept)
        if not isinstance(result, Tensor):
            raise TypeError(f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                            f"{type(result).__name__}")
        if result._a.shape != self.extents:
            raise RuntimeError(f"Output of saved tensor unpack_hook has shape {list(result._a.shape)}, but the tensor "
                               f"that was saved had {list(self.extents)}")
        fn, nr, needed = self.fn
        if self.node is None and fn is None and not needed and result._fn is None and not result._rg:
            return result
        node = self.node() if self.node is not None else fn
        if node is None and not needed and not result._rg and result._fn is None:
            return result
        t = alias(result)
        t._fn, t._nr, t._rg = node, nr, needed
        if node is None and self.leaf is not None:
            t._acc = self.leaf._acc
        return t

    def _checked(self) -> AnyArray:
        t = self.original
        if t is None:                                        # freed by another thread just now
            raise RuntimeError(errors.SECOND_TIME)
        if t._vc[0] != self.version:
            raise RuntimeError(self.stale(t))
        if self.node is None:
            return t
        again = alias(t)
        again._fn, again._nr, again._rg = self.node(), self.nr, True
        return again

    def stale(self, t: Tensor) -> str:
        return stale_message(t, self.version, self.node() if self.node is not None else t._fn,
                             self.nr if self.node is not None else t._nr)

    @property
    def _a(self) -> np.ndarray:
        return self.unpack()._a

    def release(self) -> None:
        self.kept = self.original = None
        self.freed = True


def stale_message(t: Tensor, expected: int, fn: Any, nr: int) -> str:
    """The error of a saved tensor whose version is not the one expected."""
    if t._vc[0] // Renumbered.START != expected // Renumbered.START:
        return errors.DETACHED
    producer = f"output {nr} of {fn.name().partition('Backward')[0]}" if fn is not None else ""
    return errors.stale(errors.type_name(t._a.dtype), t._a.shape, producer, t._vc[0], expected, now().anomaly)


def result_of(a: np.ndarray, vc: list, node: Any, nr: int) -> Tensor:
    """A node's result read back from what the node keeps of it."""
    t = wrap(a, node, nr)
    t._vc = vc
    if now().dual_level >= 0 and "tangents" in node.__dict__:
        t.extra.tangent = node.tangents.get(nr)
    return t


class saved_tensors_hooks:
    """Within, every tensor saved for backward is kept as pack_hook(tensor) and read back as unpack_hook(that).

    >>> import fad
    >>> x = fad.tensor([2.0], requires_grad=True)
    >>> with fad.autograd.graph.saved_tensors_hooks(lambda t: t.numpy().copy(), lambda a: fad.from_numpy(a)):
    ...     y = x * x
    >>> y.backward()
    >>> x.grad
    tensor([4.])
    """

    def __init__(self, pack_hook: Callable, unpack_hook: Callable):
        refuse_if(not callable(pack_hook) or not callable(unpack_hook), "saved_tensors_hooks(): incompatible function "
                  "arguments: pack_hook and unpack_hook must be callable", TypeError)
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self) -> None:
        if now().hooks_refused is not None:
            raise RuntimeError(now().hooks_refused)
        change(pack_hooks=(*now().pack_hooks, (self.pack_hook, self.unpack_hook)))

    def __exit__(self, *exc: object) -> None:
        change(pack_hooks=now().pack_hooks[:-1])


class save_on_cpu(saved_tensors_hooks):
    """Within, saved tensors are copied to memory of their own (there is one device, so that is all there is to do)."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda"):
        super().__init__(lambda t: t._a.copy(order="K"), Tensor)


@contextmanager
def disable_saved_tensors_hooks(error_message: str, prior: "Any | None" = None) -> Iterator[None]:
    """Within, saved_tensors_hooks may not be used: doing so raises RuntimeError with this message."""
    refuse_if(now().pack_hooks, error_message)
    with changed(hooks_refused=error_message):
        yield
