"""Attributes of tensors, to be read and to be set: gradients, history, memory, hooks."""
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ...util.array import DTypeLike
from ...util.array_views import address
from ..engine.grad_api import backward as run_backward
from ..graph.inplace import requires_grad, wanted
from ..graph.node import Hooks, RemovableHandle, named
from ..graph.printing import represent
from ..graph.view_kinds import steps_of_rows
from ..graph.views import refresh
from ..tensors import errors
from ..tensors.dtypes import as_dtype
from ..tensors.errors import refuse_if
from ..tensors.state import now
from ..tensors.tensor import (
    SAME,
    Renumbered,
    Size,
    Tensor,
    alias,
    is_floating,
    is_operand,
    over,
    stored,
    way_of,
    weak,
    wrap,
)
from .registry import attached, one_dim

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
    return name.lower() if name in ("Float", "Double", "Int", "Bool") else name


def _check_grad(x: Tensor, g: Tensor) -> None:
    if not isinstance(g, Tensor):
        raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type(g).__name__}")
    if g is x:
        raise RuntimeError("can't assign Variable as its own grad")
    wanted = x.grad_dtype if x._fn is None else x._a.dtype
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


def _set_requires_grad(self: Tensor, wanted: bool, again: bool = False) -> None:
    refuse_if(not isinstance(wanted, bool), "requires_grad must be a bool")
    if self.grad_fn is not None:
        refuse_if(not wanted, "you can only change requires_grad flags of leaf variables. If you want to use a "
                  "computed variable in a subgraph that doesn't require differentiation use var_no_grad = "
                  "var.detach().")
        refuse_if(not again, "you can only change requires_grad flags of leaf variables.")
        return
    if wanted and not is_floating(self._a.dtype):
        raise RuntimeError(f"only Tensors of floating point {'' if again else 'and complex '}dtype can require "
                           "gradients")
    if wanted and self._x is not None and self._x.inference and not now().inference:
        raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
    self._rg = wanted


def _set_data(self: Tensor, new: Tensor) -> None:
    refuse_if(not isinstance(new, Tensor), f"Variable data has to be a tensor, but got {type(new).__name__}", TypeError)
    if self._rg and not is_floating(new._a.dtype):
        raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
    self._a = new._a
    if self._acc is not None and self._acc() is not None:
        self._acc = None


def _number(self: Tensor, cls: type) -> Any:
    refuse_if(self._a.size != 1, "only one element tensors can be converted to Python scalars", ValueError)
    value = self._a.item()
    if cls is not complex and isinstance(value, complex):
        if value.imag:
            raise RuntimeError(f"value cannot be converted to type {'double' if cls is float else 'int64_t'} without "
                               "overflow")
        value = value.real
    return cls(value)


def _rebuild(cls: type, a: np.ndarray, needed: bool, attributes: dict) -> Tensor:
    t = cls(wrap(a))
    t._rg = needed
    t.__dict__.update(attributes)
    return t


for _name in ("cuda", "cpu", "mps", "xpu", "xla", "ipu", "maia", "meta", "mtia", "mkldnn", "vulkan", "quantized",
              "nested", "sparse", "sparse_csr"):
    setattr(Tensor, f"is_{_name}", _name == "cpu")  # kinds of memory and of layout: there is one of each here
Tensor.__hash__ = object.__hash__                                        # type: ignore[method-assign]


@attached
class TensorAttributes:
    """The attributes and methods of every tensor that are no function of its elements."""

    shape = property(lambda self: Size(self._a.shape), doc="How many elements there are along each dimension.")
    dtype, ndim, itemsize, nbytes = [property(lambda self, k=k: getattr(self._a, k), doc=doc) for k, doc in {
        "dtype": "The array's dtype.", "ndim": "The array's ndim.", "itemsize": "Bytes an element takes.",
        "nbytes": "Bytes of all elements."}.items()]
    output_nr = property(lambda self: self._nr, doc="Which of its node's results this is.")

    # -- history -------------------------------------------------------------------------------------------------------

    @property
    def grad_fn(self: Tensor) -> Any:
        """The node that made this tensor; None for a leaf."""
        if self._view is not None:
            refresh(self)
        return None if self._fn is None else named(self._fn, self)

    @property
    def is_leaf(self: Tensor) -> bool:
        """Whether no recorded step made this tensor."""
        return self.grad_fn is None

    requires_grad = property(requires_grad, _set_requires_grad, refusing("requires_grad must be a bool"),
                             "Whether gradients are wanted of this tensor.")

    def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
        """Say whether gradients are wanted of this leaf; returns it."""
        refuse_if(not isinstance(requires_grad, bool), "requires_grad_(): argument 'requires_grad' (position 1) must "
                  f"be bool, not {type(requires_grad).__name__}", TypeError)
        _set_requires_grad(self, requires_grad, again=True)
        return self

    @property
    def data(self: Tensor) -> Tensor:
        """The same memory outside the graph, with a version counter of its own: changes of it are not noticed."""
        y = over(stored(self), self, [0])
        if self._x is not None and self._x.inference:
            y.extra.inference = True
        return y

    data = data.setter(_set_data).deleter(refusing("Deleting tensor data is not allowed. Delete tensor instead!"))

    def detach(self: Tensor) -> Tensor:
        """The same memory outside the graph; changes of it are counted."""
        return alias(self)

    def detach_(self: Tensor) -> Tensor:
        """Leave the graph: from now on this tensor is a leaf."""
        refuse_if(self._view is not None, "Can't detach views in-place. Use detach() instead.")
        if self._fn is not None:
            self._vc = Renumbered(self._vc)
        if self._x is not None:
            self._x.tangent = None
        self._fn, self._nr, self._rg = None, 0, False
        return self

    def backward(self: Tensor, gradient: object = None, retain_graph: "bool | None" = None, create_graph: bool = False,
                 inputs: object = None) -> None:
        """Accumulate into the leaves' .grad the gradient of this tensor times `gradient` (a scalar may do without)."""
        run_backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    def retain_grad(self: Tensor) -> None:
        """Keep the gradient of a tensor that is not a leaf in its .grad."""
        refuse_if(not requires_grad(self), "can't retain_grad on Tensor that has requires_grad=False")
        if self.is_leaf or self.extra.retains:
            return
        self.extra.retains = True
        self._fn.hooked.retain[self._nr] = weak(self)

    @property
    def retains_grad(self: Tensor) -> bool:
        """Whether this tensor is no leaf and yet keeps its gradient."""
        return not self.is_leaf and self._x is not None and self._x.retains

    # -- gradients -----------------------------------------------------------------------------------------------------

    @property
    def grad_dtype(self: Tensor) -> "np.dtype | None":
        """The dtype of this leaf's .grad: the leaf's own unless another one was set; None where any will do."""
        refuse_if(self.grad_fn is not None, "grad_dtype can only be accessed on leaf tensors.")
        given = SAME if self._x is None else self._x.grad_dtype
        return self._a.dtype if given is SAME else given                          # type: ignore[return-value]

    @grad_dtype.setter
    def grad_dtype(self: Tensor, dtype: "np.dtype | None") -> None:
        refuse_if(self.grad_fn is not None, "grad_dtype can only be set on leaf tensors.")
        try:
            wanted = None if dtype is None else as_dtype(dtype)
        except TypeError:
            raise RuntimeError(f"grad_dtype must be a torch.dtype or None, but got {type(dtype).__name__}") from None
        if wanted is not None and self._g is not None and self._g._a.dtype != wanted:
            raise RuntimeError(f"Cannot set grad_dtype to '{errors.scalar_name(wanted)}' because there is already a "
                               f"gradient with dtype '{word(self._g._a.dtype)}'. Please clear the gradient (.grad = "
                               "None) before changing grad_dtype, or ensure the new grad_dtype matches the existing "
                               "gradient's dtype.")
        self.extra.grad_dtype = wanted

    @property
    def grad(self: Tensor) -> "Tensor | None":
        """The gradient that backward() has accumulated; None before."""
        if self._g is None and self._fn is not None and not (self._x is not None and self._x.retains):
            warnings.warn(NON_LEAF_GRAD, UserWarning, stacklevel=2)
        return self._g

    @grad.setter
    def grad(self: Tensor, g: "Tensor | None") -> None:
        if g is not None:
            _check_grad(self, g)
        self._g = g

    @grad.deleter
    def grad(self: Tensor) -> None:
        self._g = None

    _grad = property(lambda self: self._g, grad.fset)
    _grad_fn = property(lambda self: self.grad_fn, None,
                        refusing("Deletion of _grad_fn not allowed. Detach tensor instead!"), "Its node.")

    @property
    def _backward_hooks(self: Tensor) -> Any:
        """The table of this tensor's hooks, by their handles' ids; None if there never were any."""
        fn = self.grad_fn
        if fn is None:
            return self._x.hooks if self._x is not None else None
        return fn.extra.tensor_pre.get(self._nr) if fn.extra is not None else None

    @_backward_hooks.setter
    def _backward_hooks(self: Tensor, hooks: "dict | None") -> None:
        fn = self.grad_fn
        if fn is None:
            self.extra.hooks = hooks
        else:
            fn.hooked.tensor_pre[self._nr] = {} if hooks is None else hooks

    _backward_hooks = _backward_hooks.deleter(refusing("Deletion of _backwards_hooks not allowed!"))

    # -- hooks ---------------------------------------------------------------------------------------------------------

    def register_hook(self: Tensor, hook: Callable) -> RemovableHandle:
        """Call hook(gradient) when the gradient of this tensor is known; what it returns replaces it."""
        refuse_if(not requires_grad(self), "cannot register a hook on a tensor that doesn't require gradient")
        fn = self.grad_fn
        if fn is None:
            if self.extra.hooks is None:
                self.extra.hooks = Hooks()
            return RemovableHandle(self.extra.hooks, hook)
        return fn.register_result_hook(self._nr, hook)

    def register_post_accumulate_grad_hook(self: Tensor, hook: Callable) -> RemovableHandle:
        """Call hook(tensor) after a gradient has been accumulated into this leaf's .grad."""
        refuse_if(not requires_grad(self), "cannot register a hook on a tensor that doesn't require gradient")
        if self.grad_fn is not None:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        if self.extra.accumulated is None:
            self.extra.accumulated = Hooks()
        return RemovableHandle(self.extra.accumulated, hook)

    # -- memory --------------------------------------------------------------------------------------------------------

    @property
    def _version(self: Tensor) -> int:
        """The number of changes of this memory in place."""
        refuse_if(self._x is not None and self._x.inference, "Inference tensors do not track version counter.")
        return self._vc[0] % Renumbered.START

    @property
    def _base(self: Tensor) -> "Tensor | None":
        """The tensor that this one is a view of."""
        return self._view.base if self._view is not None else None

    def _is_view(self: Tensor) -> bool:
        return self._view is not None

    def is_inference(self: Tensor) -> bool:
        """Whether this tensor was made in inference mode."""
        return self._x is not None and self._x.inference

    def data_ptr(self: Tensor) -> int:
        """The address of the first element."""
        return address(stored(self))

    def stride(self: Tensor, dim: "int | None" = None) -> Any:
        """Steps from one element to the next along each axis, in elements."""
        a = stored(self)
        steps = tuple([s // a.itemsize for s in a.strides]) if a.size else steps_of_rows(a.shape)
        return steps if dim is None else steps[one_dim(dim, a.ndim)]

    def is_contiguous(self: Tensor, memory_format: object = None) -> bool:
        """Whether the elements lie in row-major order (or another memory format) without gaps."""
        a = stored(self)
        return a.flags.c_contiguous if memory_format is None else memory_format.is_of(a)

    def numpy(self: Tensor, *, force: bool = False) -> np.ndarray:
        """The ndarray, sharing memory."""
        refuse_if(now().grad and requires_grad(self) and not force, errors.NUMPY_GRAD)
        way = way_of(self)
        if way is not None and not force:
            bit, resolved = ("conjugate", "conj") if way is np.conjugate else ("negative", "neg")
            raise RuntimeError(f"Can't call numpy() on Tensor that has {bit} bit set. Use "
                               f"tensor.resolve_{resolved}().numpy() instead.")
        return self._a if way is None else self._a.copy()

    def __array__(self: Tensor, dtype: DTypeLike = None, copy: object = None) -> np.ndarray:
        refuse_if(now().dual_level >= 0 and wanted(self) and not requires_grad(self), "Can't call numpy() on a Tensor "
                  "with a tangent. Take its primal from forward_ad.unpack_dual() instead.")
        a = TensorAttributes.numpy(self)
        return a if dtype is None else a.astype(dtype)

    def item(self: Tensor) -> Any:
        """The one element as a Python number."""
        refuse_if(self._a.size != 1, f"a Tensor with {self._a.size} elements cannot be converted to Scalar")
        return self._a.item()

    def tolist(self: Tensor) -> Any:
        """Nested lists of Python numbers."""
        return self._a.tolist()

    def __bool__(self: Tensor) -> bool:
        if self._a.size != 1:
            raise RuntimeError(f"Boolean value of Tensor with {'more than one value' if self._a.size else 'no values'} "
                               "is ambiguous")
        return bool(self._a.item())

    def __len__(self: Tensor) -> int:
        refuse_if(not self._a.ndim, "len() of a 0-d tensor", TypeError)
        return self._a.shape[0]

    def __index__(self: Tensor) -> int:
        if self._a.size != 1 or self._a.dtype.kind not in "iub":
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._a.item())

    __float__ = lambda self: _number(self, float)
    __int__ = lambda self: _number(self, int)
    __complex__ = lambda self: _number(self, complex)

    def __delitem__(self: Tensor, subscript: object) -> None:
        raise TypeError("Tensor does not support deleting items")

    def __contains__(self: Tensor, x: object) -> bool:
        refuse_if(not is_operand(x), "Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
                  f"{type(x)}.")
        return bool((self._a == (x._a if isinstance(x, Tensor) else x)).any())

    def __iter__(self: Tensor) -> Any:
        refuse_if(not self._a.ndim, "iteration over a 0-d tensor", TypeError)
        return iter(self.unbind(0))

    def __format__(self: Tensor, spec: str) -> str:
        return format(self._a.item(), spec) if spec and not self._a.ndim else represent(self)

    __repr__ = represent

    # -- copies --------------------------------------------------------------------------------------------------------

    def __deepcopy__(self: Tensor, memo: dict) -> Tensor:
        if self.grad_fn is not None:
            raise RuntimeError("Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
                               "protocol at the moment.")
        if id(self) in memo:
            return memo[id(self)]
        t = type(self)(wrap(self._a.copy(order="K")))
        t._rg = self._rg
        memo[id(self)] = t
        if self._g is not None:
            t._g = TensorAttributes.__deepcopy__(self._g, memo)
        t.__dict__.update(dict(self.__dict__.items()))
        return t

    def __reduce_ex__(self: Tensor, protocol: object) -> tuple:
        return _rebuild, (Tensor if way_of(self) else type(self), self._a, self._rg or self._fn is not None,
                          dict(self.__dict__))
