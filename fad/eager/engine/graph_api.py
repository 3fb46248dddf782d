"""autograd.graph: nodes, hooks for several tensors, leave to change what is saved; the backward that is running."""
import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from weakref import WeakKeyDictionary, WeakValueDictionary

from ...util.forks import renewed
from ..graph.inplace import requires_grad
from ..graph.node import GradientEdge, ManyHandles, Node, RemovableHandle, named
from ..graph.record import edge
from ..graph.saved import disable_saved_tensors_hooks, save_on_cpu, saved_tensors_hooks
from ..tensors.errors import refuse_if
from ..tensors.state import changed, now, state
from ..tensors.tensor import Tensor, weak, wrap


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge on which the gradient of a tensor flows."""
    node = edge(tensor)
    refuse_if(node is None, "It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge(named(node, tensor), tensor._nr if tensor._fn is not None else 0)


def register_multi_grad_hook(tensors: Sequence, fn: Callable, *, mode: str = "all") -> ManyHandles:
    """Call fn with the gradients of several tensors once all of them are known (mode "any": with the first).

    A tensor that the backward pass does not reach has None. An edge of the graph stands for the tensor whose gradient
    flows there.
    """
    refuse_if(mode not in ("all", "any"), f"Expects mode to be one of ('all', 'any') but got {mode}", ValueError)
    if not all(isinstance(t, GradientEdge) or requires_grad(t) for t in tensors):
        raise AssertionError("Expected gradient function to be set: every tensor must require a gradient")
    hook = (_all if mode == "all" else _any)(tuple(tensors), fn, renewed(threading.RLock()))
    return ManyHandles(tuple([_registered(t, functools.partial(hook, k)) for k, t in enumerate(tensors)]))


def _registered(t: "Tensor | GradientEdge", hook: Callable) -> RemovableHandle:
    """The handle of a hook for the gradient of a tensor, or for that which flows on an edge."""
    if not isinstance(t, GradientEdge):
        return t.register_hook(hook)
    leaf = getattr(t.node, "variable", None)
    return t.node.register_result_hook(t.output_nr, hook) if leaf is None else leaf.register_hook(hook)


def _all(tensors: tuple, fn: Callable, lock: object) -> Callable:
    """The hook that collects the gradients of one pass: hook(number of the tensor, gradient)."""
    passes: dict = {}                             # pass -> the number of tensors that it will reach, gradients so far

    def collect(k: int, g: Tensor) -> None:
        run = state.run
        with lock:
            if id(run) not in passes:
                count = len(tensors) if run is None else sum(
                    run.reaches(t.node if isinstance(t, GradientEdge) else edge(t)) for t in tensors)
                passes[id(run)] = count, {}
            count, found = passes[id(run)]
            found[k] = g
            complete = len(found) == count
            if complete:
                del passes[id(run)]
        if complete:
            fn([found.get(j) for j in range(len(tensors))])
    return collect


def _any(tensors: tuple, fn: Callable, lock: object) -> Callable:
    """The hook that takes the first gradient of a pass."""
    latest: Callable | None = None                # the pass that was last met, a weak reference

    def first(k: int, g: Tensor) -> None:
        nonlocal latest
        run = state.run
        with lock:
            seen = latest is not None and latest() is run
            latest = weak(run) if run is not None else None
        if not seen:
            fn(g)
    return first


class _Mutation:
    """Copies of saved tensors, made when they are about to be changed.

    tid_to_weakhandle  (tensor, version) -> the handle that nodes hold in its place
    originals, cloned  what a handle stands for: the tensor, or the copy made before it was changed
    """

    def __init__(self) -> None:
        self.tid_to_weakhandle: WeakValueDictionary = WeakValueDictionary()
        self.originals: WeakKeyDictionary = WeakKeyDictionary()
        self.cloned: WeakKeyDictionary = WeakKeyDictionary()
        self.by_memory: dict = {}                  # version counter -> keys of tid_to_weakhandle

    def pack(self, t: Tensor) -> "_Handle":
        key = id(t), t._a.__array_interface__["data"][0], t._vc[0]
        handle = self.tid_to_weakhandle.get(key)
        if handle is None or self.originals.get(handle) is not t:
            handle = self.tid_to_weakhandle[key] = _Handle()
            self.originals[handle] = t
            self.by_memory.setdefault(counter_of(t), set()).add(key)
        return handle

    def unpack(self, handle: "_Handle") -> Tensor:
        found = self.cloned.get(handle)
        found = self.originals.get(handle) if found is None else found
        if found is None:
            raise AssertionError("Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin which "
                                 "the graph was originally recorded.")
        return found

    def before_change(self, x: Tensor) -> None:
        for key in self.by_memory.pop(counter_of(x), ()):
            handle = self.tid_to_weakhandle.get(key)
            original = None if handle is None else self.originals.pop(handle, None)
            if original is not None:
                self.cloned[handle] = wrap(original._a.copy(order="K"))

    def clear(self) -> None:
        """Forget everything."""
        for table in (self.tid_to_weakhandle, self.originals, self.cloned, self.by_memory):
            table.clear()


def counter_of(t: Tensor) -> int:
    """A number that tells apart the memory of tensors: that of their version counters."""
    return id(getattr(t._vc, "counter", t._vc))


class _Handle:
    """Stands for a saved tensor."""


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_Mutation]:
    """Within, tensors saved for backward may be changed in place: they are copied first, when that is needed."""
    refuse_if(now().mutation is not None, "allow_mutation_on_saved_tensors contexts cannot be nested")
    table = _Mutation()
    with saved_tensors_hooks(table.pack, table.unpack), changed(mutation=table):
        try:
            yield table
        finally:
            table.clear()


def increment_version(tensor: object) -> None:
    """Say that a tensor's memory was changed."""
    for t in tensor if isinstance(tensor, (tuple, list)) else (tensor,):
        t._vc[0] += 1


__all__ = ["Node", "saved_tensors_hooks", "save_on_cpu", "disable_saved_tensors_hooks"]


def _current_graph_task_id() -> int:
    """The number of the backward pass that is running in this thread; -1 if there is none."""
    return -1 if state.run is None else state.run.number


def _current_autograd_node() -> "Node | None":
    """The node that is being evaluated in this thread; None outside backward."""
    return None if state.run is None or state.run.node is None else named(state.run.node)


def _will_engine_execute_node(node: object) -> bool:
    """Whether the backward pass that is running evaluates a node."""
    if not isinstance(node, Node):
        raise RuntimeError(f"_will_engine_execute_node expects an grad_fn, but got {type(node).__name__}")
    run = state.run
    refuse_if(run is None, "_get_should_execute_nodes should only be called during the backward pass")
    if not run.accumulate and any(not target.next for target, _ in run.wanted):
        raise RuntimeError("A leaf node was passed to _will_engine_execute_node but we are currently running "
                           "autograd.grad(). This is currently not supported.")
    return run.reaches(node)


def _current_graph_task_execution_order() -> list:
    """The nodes that the backward pass evaluates, in the order in which it does."""
    run = state.run
    refuse_if(run is None, "_current_graph_task_execution_order should only be called during the backward pass")
    refuse_if(now().multithreading, "_current_graph_task_execution_order expects the current backward to be executed "
              "with multithreading disabled, e.g. by running: with torch.autograd.set_multithreading_enabled(False):")
    return [named(node) for node in run.order()]
