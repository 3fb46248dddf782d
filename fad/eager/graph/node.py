"""Nodes of the graph: what was done, to what, how a gradient goes back; their hooks; leaves, where gradients arrive."""
import itertools
import threading
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...util.array import AnyArray
from ...util.forks import renewed
from ..tensors import errors
from ..tensors.state import now
from ..tensors.tensor import SAME, Tensor, stored, weak, wrap
from .node_attributes import Showing
from .saved import Meta, SavedTensor

_ids = itertools.count()


class Hooks(dict):
    """Hooks in the order in which they were registered."""

    __slots__ = ("__weakref__",)


class RemovableHandle:
    """The handle of a registered hook: remove() takes the hook out; as a context manager it does so at the end.

    >>> table = Hooks()
    >>> with RemovableHandle(table, print):
    ...     len(table)
    1
    >>> len(table)
    0
    """

    __slots__ = ("id", "_tables", "__weakref__")

    def __init__(self, table: Hooks, hook: Callable, first: bool = False):
        self.id = next(_ids)
        self._tables = [weakref.ref(table)]
        if first:
            others = dict(table)
            table.clear()
            table[self.id] = hook
            table.update(others)
        else:
            table[self.id] = hook

    def also(self, table: Hooks, wanted: bool) -> None:
        """Enter the hook's number in a second table (of those of one kind), from which remove() takes it too."""
        if wanted:
            table[self.id] = True
            self._tables.append(weakref.ref(table))

    @property
    def hooks_dict_ref(self) -> Any:
        """A weak reference to the table that the hook is in."""
        return self._tables[0]

    def remove(self) -> None:
        """Take the hook out; doing so twice is harmless."""
        for ref in self._tables:
            table = ref()
            if table is not None:
                table.pop(self.id, None)

    def __enter__(self) -> "RemovableHandle":
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


class ManyHandles(RemovableHandle):
    """One handle for several."""

    __slots__ = ("handles",)

    def __init__(self, handles: tuple):
        self.handles = handles

    def remove(self) -> None:
        """Take all the hooks out."""
        for handle in self.handles:
            handle.remove()


sequence = itertools.count()
LAST = 1 << 60                                   # sequence numbers of leaves: they go before all others


class Hooked:
    """Properties that few nodes have: hooks, metadata, the place where they were made."""

    __slots__ = ("metadata", "pre", "post", "tensor_pre", "retain", "trace", "parent")

    def __init__(self) -> None:
        self.metadata: dict = {}
        self.pre, self.post = Hooks(), Hooks()
        self.tensor_pre: dict = {}                       # result number -> hooks of the tensor that is that result
        self.retain: dict = {}                 # result number -> weak reference to the tensor that keeps its gradient
        self.trace: str | None = None
        self.parent: Any = None


class Node(Showing):
    """A step of the graph. `next` holds, for each tensor the step was given, the node its gradient goes to, or None."""

    __slots__ = ("next", "seq", "__weakref__", "__dict__")
    outputs = 1
    extra: "Hooked | None" = None
    note: "dict | None" = None  # what else is shown as _saved_<name>; held: SavedTensors that are shown so
    held: "dict | None" = None
    nrs: "tuple | None" = None                   # for each of `next` which of its results it is; None: all are 0
    label: "str | None" = None

    def __init__(self, next: tuple, nrs: "tuple | None" = None):
        self.next = next
        self.seq = sequence.__next__()
        if nrs is not None:
            self.nrs = nrs

    # -- what a user may ask -------------------------------------------------------------------------------------------

    def name(self) -> str:
        """The name of the step, such as MulBackward0."""
        return self.label or type(self).__name__

    @property
    def hooked(self) -> Hooked:
        """The record of rare properties, made now if there is none."""
        if self.extra is None:
            self.extra = Hooked()
        return self.extra

    @property
    def metadata(self) -> dict:
        """A dictionary for the user."""
        return self.hooked.metadata

    @property
    def next_functions(self) -> tuple:
        """(node, which of its results) for each tensor that the step was given; (None, 0) without a gradient."""
        return tuple([(node if node is None else named(node), nr)
                      for node, nr in zip(self.next, self.nrs or (0,) * len(self.next))])

    @property
    def _input_metadata(self) -> list:
        """Shape and dtype of each of the step's results: of the gradients that it is given."""
        shown = self.__dict__.get("shown", {})
        return [shown.get(k) for k in range(self.outputs)]

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow through here: always."""
        return True

    def register_hook(self, fn: Callable) -> RemovableHandle:
        """Call fn(grad_inputs, grad_outputs) after the step's backward; an answer replaces the former."""
        return RemovableHandle(self.hooked.post, fn)

    def register_result_hook(self, nr: int, fn: Callable) -> RemovableHandle:
        """Call fn(gradient) when the gradient of one of the step's results is known; what it returns replaces it."""
        return RemovableHandle(self.hooked.tensor_pre.setdefault(nr, Hooks()), fn)

    def register_prehook(self, fn: Callable) -> RemovableHandle:
        """Call fn(grad_outputs) before the step's backward; what it returns replaces them."""
        return RemovableHandle(self.hooked.pre, fn)

    def _register_hook_dict(self, hooks: dict) -> None:
        self.hooked.tensor_pre.setdefault(0, Hooks()).update(hooks)

    def _sequence_nr(self) -> int:
        return self.seq

    def _set_sequence_nr(self, number: int) -> None:
        self.seq = number

    def __call__(self, *grads: object) -> Any:
        """The step's backward alone: gradients of the results to those of what it was given."""
        if len(grads) != self.outputs:
            raise TypeError(f"expected {self.outputs} arguments, got {len(grads)} instead")
        if now().grad:
            out = self.pull_graph(grads[0] if self.outputs == 1 else list(grads))
        else:
            arrays = [None if g is None else g._a for g in grads]
            out = [None if g is None else g if isinstance(g, Tensor) else Tensor(g)
                   for g in self.pull(arrays[0] if self.outputs == 1 else arrays)]
        out = tuple(out)
        return out[0] if len(out) == 1 else out

    def __repr__(self) -> str:
        return f"<{self.name().rpartition(':')[2]} object at {id(self):#x}>"

    # -- what the engine asks ------------------------------------------------------------------------------------------

    def pull(self, g: object) -> tuple:
        """Gradients for `next`, given that of the result (a list, of several), on arrays."""
        raise NotImplementedError

    def pull_graph(self, g: object) -> tuple:
        """The same on tensors, recorded."""
        raise NotImplementedError

    def check_held(self) -> None:
        """Raise unless what the node shows as saved is what it was, read or not."""
        for saved in (self.held or {}).values():
            if saved.__class__ is SavedTensor and saved.hooks is None and saved.original is not None:
                saved._checked()

    def release(self) -> None:
        """Forget what was saved for backward."""
        for saved in (self.held or {}).values():
            if saved.__class__ is SavedTensor:
                saved.release()


_named: dict = {}


def named(node: Node, result: "Tensor | None" = None) -> Node:
    """node as users see it: its class is called as the step is (which tells graphs apart); it knows result's shape."""
    cls, name = node.__class__, node.name().rpartition(":")[2]
    if cls.__name__ != name:
        base = getattr(cls, "unnamed", cls)
        if (base, name) not in _named:
            _named[base, name] = type(name, (base,), {"__slots__": (), "unnamed": base, "__doc__": base.__doc__})
        node.__class__ = _named[base, name]
    if result is not None:
        node.__dict__.setdefault("shown", {}).setdefault(result._nr, Meta(result._a.shape, result._a.dtype))
    return node


class GradientEdge(NamedTuple):
    """A place where a gradient flows: a node and which of its results."""

    node: Any
    output_nr: int


class Undifferentiable(Node):
    """The history of a tensor whose step has no derivative here: backward through it says so."""

    def __init__(self, next: tuple, name: str, error: Exception):
        super().__init__(next)
        self.label, self.error = name, error

    def pull(self, g: object) -> tuple:
        raise self.error

    pull_graph = pull


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
        """The dtype of gradients there: the leaf's, or its grad_dtype; None: that in which they come."""
        extra = self.variable._x
        if extra is None or extra.grad_dtype is SAME:
            return self.variable._a.dtype
        return extra.grad_dtype                               # type: ignore[return-value]

    @property
    def _input_metadata(self) -> list:
        return [Meta(self.variable._a.shape, self.variable._a.dtype)]

    def pull(self, g: object) -> tuple:
        return ()

    def is_wanted(self) -> bool:
        """Whether the leaf still takes gradients: it may have been frozen since, or become a result of other steps."""
        if self.variable._fn is not None:
            raise RuntimeError(errors.MOVED)
        return self.variable._rg

    def accumulate(self, g: AnyArray, owned: bool) -> None:
        """Add the array g into .grad, in place; a first one is kept as it is if nobody else has it."""
        x = self.variable
        with _lock:
            have = x._g
            if have is None:
                x._g = wrap(laid_out(g, stored(x), owned, self.dtype))
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
                x._g = Tensor(laid_out(stored(x), stored(x), False, self.dtype or g._a.dtype)).copy_(g)
            else:
                x._g = total = have + g
                total._a = laid_out(total._a, have._a, True, None)


def laid_out(g: AnyArray, x: np.ndarray, owned: bool, dtype: "np.dtype | None") -> np.ndarray:
    """g with the strides of x if x is dense, else in row-major order; dtype: None for g's own."""
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
