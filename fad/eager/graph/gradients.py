"""The attributes that hold gradients, .grad and its dtype, and the hooks that see them on their way."""
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..tensors import errors
from ..tensors.dtypes import as_dtype
from ..tensors.errors import refuse_if
from ..tensors.tensor import SAME, Tensor

NON_LEAF_GRAD = ("The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute "
                 "won't be populated during autograd.backward(). If you indeed want the .grad field to be populated "
                 "for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor "
                 "by mistake, make sure you access the leaf Tensor instead.")


def refusing(message: str) -> Callable:
    """A deleter of an attribute that may not be deleted."""
    return lambda self: refuse_if(True, message)


def word(dtype: np.dtype) -> str:
    """The names of dtypes in PyTorch's messages about given numbers; those of wanted ones are in the name of its
    tensors (Float).

    >>> word(np.dtype(np.float32)), word(np.dtype(np.float16))
    ('float', 'Half')
    """
    name = errors.scalar_name(dtype)
    return {"Float": "float", "Double": "double", "Int": "int", "Bool": "bool"}.get(name, name)


def grad_dtype(self: Tensor) -> "np.dtype | None":
    """The dtype of this leaf's .grad: the leaf's own unless another one was set; None where any will do."""
    if self.grad_fn is not None:
        raise RuntimeError("grad_dtype can only be accessed on leaf tensors.")
    given = SAME if self._x is None else self._x.grad_dtype
    return self._a.dtype if given is SAME else given                          # type: ignore[return-value]


def _set_grad_dtype(self: Tensor, dtype: "np.dtype | None") -> None:
    if self.grad_fn is not None:
        raise RuntimeError("grad_dtype can only be set on leaf tensors.")
    try:
        wanted = None if dtype is None else as_dtype(dtype)
    except TypeError:
        raise RuntimeError(f"grad_dtype must be a torch.dtype or None, but got {type(dtype).__name__}") from None
    if wanted is not None and self._g is not None and self._g._a.dtype != wanted:
        raise RuntimeError(f"Cannot set grad_dtype to '{errors.scalar_name(wanted)}' because there is already a "
                           f"gradient with dtype '{word(self._g._a.dtype)}'. Please clear the gradient (.grad = None) "
                           "before changing grad_dtype, or ensure the new grad_dtype matches the existing gradient's "
                           "dtype.")
    self.extra.grad_dtype = wanted


Tensor.grad_dtype = property(grad_dtype, _set_grad_dtype, doc=grad_dtype.__doc__)


def _set_grad(self: Tensor, g: "Tensor | None") -> None:
    if g is not None:
        _check_grad(self, g)
    self._g = g


def _check_grad(x: Tensor, g: Tensor) -> None:
    if not isinstance(g, Tensor):
        raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type(g).__name__}")
    if g is x:
        raise RuntimeError("can't assign Variable as its own grad")
    wanted = grad_dtype(x) if x._fn is None else x._a.dtype
    if wanted is not None and g._a.dtype != wanted:
        raise RuntimeError(f"attempting to assign a gradient with dtype '{word(g._a.dtype)}' to a tensor with "
                           f"grad_dtype '{errors.scalar_name(wanted)}'. The gradient must match the tensor's "
                           "grad_dtype (defaults to the tensor's dtype). You can set the tensor's grad_dtype attribute "
                           "with a specific dtype, or None to allow any dtype. Set grad_dtype with caution. Diverging "
                           "the dtypes of a tensor and its gradient may break downstream systems that assume they "
                           "match.")
    if g._a.shape != x._a.shape:
        raise RuntimeError(f"attempting to assign a gradient of size '{list(g._a.shape)}' to a tensor of size "
                           f"'{list(x._a.shape)}'. Please ensure that the gradient and the tensor are the same size")


def _get_grad(self: Tensor) -> "Tensor | None":
    """The gradient that backward() has accumulated; None before."""
    g = self._g
    if g is None and self._fn is not None and not (self._x is not None and self._x.retains):
        warnings.warn(NON_LEAF_GRAD, UserWarning, stacklevel=2)
    return g


Tensor.grad = property(_get_grad, _set_grad, lambda self: _set_grad(self, None), doc=_get_grad.__doc__)
Tensor._grad = property(lambda self: self._g, _set_grad)


# -- the table of hooks ------------------------------------------------------------------------------------------------


def _hooks(self: Tensor) -> Any:
    """The table of this tensor's hooks, by their handles' ids; None if there never were any."""
    fn = self.grad_fn
    if fn is None:
        return self._x.hooks if self._x is not None else None
    return fn.extra.tensor_pre.get(self._nr) if fn.extra is not None else None


def _set_hooks(self: Tensor, hooks: "dict | None") -> None:
    fn = self.grad_fn
    if fn is None:
        self.extra.hooks = hooks
    else:
        fn.hooked.tensor_pre[self._nr] = {} if hooks is None else hooks


Tensor._backward_hooks = property(_hooks, _set_hooks, refusing("Deletion of _backwards_hooks not allowed!"))
Tensor._grad_fn = property(lambda self: self.grad_fn, None,
                           refusing("Deletion of _grad_fn not allowed. Detach tensor instead!"), "Its node.")
