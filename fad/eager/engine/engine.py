"""The engine: gradients go from the roots down the graph, latest node first, each node when all that flows into it has
come.

Without create_graph gradients are arrays while they flow; with it they are tensors, and what happens to them is
recorded.
"""
import copy
import logging
from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Any

import numpy as np

from ...util.array import AnyArray, ArrayOrNumber
from ...util.elsewhere import in_new_thread
from ..graph.node import AccumulateGrad, Node
from ..graph.op_node import OpNode
from ..graph.single_node import Together
from ..tensors import errors
from ..tensors.errors import refuse_if
from ..tensors.state import now, restore, set_grad, state
from ..tensors.tensor import Tensor, as_tensor, wrap

_numbers = count()


LOG = logging.getLogger("fad.autograd")                 # at level DEBUG: every step of a backward pass


class BackwardRun:
    """One backward pass.

    wanted  (node, result number) -> place in captured; None: accumulate into the leaves
    needed  the nodes that lie on a way to what is wanted
    foreign ids of arrays that others hold too, so that nobody may keep or change them
    """

    def __init__(self, keep: bool, create: bool, accumulate: bool):
        self.keep, self.create, self.accumulate = keep, create, accumulate
        self.wanted: dict | None = None
        self.needed: set | None = None
        self.captured: dict = {}
        self.foreign: dict[int, Any] = {}
        self.callbacks: list[Callable] = []
        self.node: Node | None = None                # the one being evaluated
        self.number = next(_numbers)

    # -- what is needed ------------------------------------------------------------------------------------------------

    def count(self, roots: Sequence) -> dict:
        """The number of edges that lead to each node reachable from the roots."""
        counts: dict[Node, int] = {}
        waiting = list(dict.fromkeys(roots))
        others = set(waiting) if len(waiting) > 1 else ()                    # a root alone is behind no other node
        while waiting:
            for after in waiting.pop().next:
                if after is not None:
                    known = counts.get(after)
                    if known is not None:
                        counts[after] = known + 1
                    else:
                        counts[after] = 1
                        if after.next and after not in others:
                            waiting.append(after)
        return counts

    def find_needed(self, roots: Sequence, wanted: dict) -> None:
        """Mark the nodes from which one of the wanted ones is reached (themselves included)."""
        self.wanted = wanted
        targets = {node for node, _ in wanted}
        self.needed = set()
        waiting: list = [(root, False) for root in dict.fromkeys(roots)]
        seen: set = set()
        while waiting:
            node, done = waiting.pop()
            if done:
                if node in targets or any(after in self.needed for after in node.next if after is not None):
                    self.needed.add(node)
            elif node not in seen:
                seen.add(node)
                waiting.append((node, True))
                waiting += [(after, False) for after in node.next if after is not None and after not in seen]

    # -- the sweep -----------------------------------------------------------------------------------------------------

    def run(self, roots: Sequence) -> None:
        """roots: (node, result number, gradient)."""
        counts = self.counts = self.count([node for node, _, _ in roots])
        self.roots = roots
        buffers: dict[Node, Any] = {}
        for node, nr, g in roots:
            put(buffers, node, nr, g)
        ready = [(-node.seq, node) for node in buffers if not counts.get(node)]
        if len(ready) > 1:
            heapify(ready)
        create, keep, needed = self.create, self.keep, self.needed
        modes = now()
        slowly = needed is not None or modes.anomaly or modes.profiler is not None or LOG.isEnabledFor(logging.DEBUG)
        while ready:
            self.node = node = heappop(ready)[1]
            g = buffers.pop(node, None)
            if needed is not None and node not in needed:
                grads: Any = (None,) * len(node.next)
            elif slowly or node.extra is not None:
                grads = self.step(node, g)
            elif node.__class__ is AccumulateGrad:
                grads = self.leaf(node, g)
            else:
                grads = node.pull_graph(g) if create else node.pull(g)
                if not keep:
                    node.release()
                if node.extra is not None and node.extra.post:               # hooks that came while it ran
                    grads = self.post_hooks(node.extra.post, grads, g, node.outputs)
            nrs, k = node.nrs, 0
            for after in node.next:
                if after is not None:
                    gx = grads[k]
                    if gx is not None:
                        if nrs is None and after.outputs == 1:
                            have = buffers.get(after)
                            if have is None:
                                if k and (gx is grads[0] or k > 1 and any(gx is other for other in grads[1:k])):
                                    self.foreign[id(gx)] = gx
                                buffers[after] = gx
                            else:
                                buffers[after] = have + gx
                        else:
                            self.foreign[id(gx)] = gx
                            put(buffers, after, nrs[k] if nrs else 0, gx)
                    left = counts[after] - 1
                    counts[after] = left
                    if not left:
                        heappush(ready, (-after.seq, after))
                k += 1

    def reaches(self, node: "Node | None") -> bool:
        """Whether this pass comes to a node."""
        met = node in self.counts or any(node is root for root, _, _ in self.roots)
        return met and (self.needed is None or node in self.needed)

    def order(self) -> list:
        """The nodes that the pass evaluates, in order."""
        counts, found = self.count([node for node, _, _ in self.roots]), []
        ready = [(-node.seq, id(node), node) for node in dict.fromkeys(node for node, _, _ in self.roots)
                 if not counts.get(node)]
        heapify(ready)
        while ready:
            node = heappop(ready)[2]
            if self.needed is None or node in self.needed:
                found.append(node)
            for after in node.next:
                if after is not None:
                    counts[after] -= 1
                    if not counts[after]:
                        heappush(ready, (-after.seq, id(after), after))
        return found

    def step(self, node: Node, g: object) -> tuple:
        """A node with hooks, a leaf, or one whose gradient is wanted."""
        if LOG.isEnabledFor(logging.DEBUG):
            LOG.debug("Executing: %r with grad_outputs: %s", node,
                      [None if one is None else list(np.shape(one)) for one in (g if isinstance(g, list) else [g])])
        extra = node.extra
        if extra is not None and extra.tensor_pre:
            g = self.tensor_hooks(node, extra.tensor_pre, g)
        if node.__class__ is AccumulateGrad:
            return self.leaf(node, g)
        if not self.accumulate:
            self.capture(node, g)
        if extra is not None and extra.retain:
            self.retain(node, extra.retain, g)
        if not self.accumulate and not any(after in self.needed for after in node.next):
            return (None,) * len(node.next)
        if extra is not None and extra.pre:
            g = self.pre_hooks(node, extra.pre, g)
        grads = self.evaluate(node, g)
        if not self.keep:
            node.release()
        if node.extra is not None and node.extra.post:
            grads = self.post_hooks(node.extra.post, grads, g, node.outputs)
        return grads

    def evaluate(self, node: Node, g: object) -> tuple:
        kept = self.asked_for(node)
        part = node if kept is None or self.create else narrowed(node, kept)
        pull = node.pull_graph if self.create else part.pull
        grads = pull(g) if not now().anomaly and now().profiler is None else watched[0](node, pull, g)
        return grads if kept is None else tuple([None if after is None else gx for gx, after in zip(grads, kept)])

    def asked_for(self, node: Node) -> "tuple | None":
        """The edges of a node along which a gradient is asked for, None in place of others; None for all of them."""
        if self.needed is None or not isinstance(node, (OpNode, Together)):
            return None
        kept = tuple([after if after in self.needed else None for after in node.next])
        return None if kept == tuple(node.next) else kept

    def leaf(self, node: AccumulateGrad, g: "AnyArray | None") -> tuple:
        x, extra = node.variable, node.variable._x
        if extra is not None and extra.hooks:
            g = self.hooked(list(extra.hooks.values()), g)
        if not self.accumulate:
            self.capture(node, g)
            return ()
        if node.extra is not None and node.extra.pre:
            g = self.pre_hooks(node, node.extra.pre, g)
        if g is not None and node.is_wanted():                # not frozen since the graph was built
            if self.create:
                node.accumulate_graph(as_tensor(g))
            else:
                node.accumulate(g, id(g) not in self.foreign)
        if extra is not None and extra.accumulated:
            for hook in list(extra.accumulated.values()):
                answer = hook(x)
                if answer is not None and answer is not x:
                    if not isinstance(answer, Tensor):
                        raise TypeError(f"expected Variable, but hook returned '{type(answer).__name__}'")
                    raise RuntimeError("Tensor post accumulate grad hooks should return None.")
        if node.extra is not None and node.extra.post:
            self.post_hooks(node.extra.post, (), g, 1)
        return ()

    # -- hooks ---------------------------------------------------------------------------------------------------------

    def lend(self, g: object) -> "Tensor | None":
        """A gradient as the tensor that hooks see; from now on others may hold it."""
        if g is None or isinstance(g, Tensor):
            return g
        self.foreign[id(g)] = g
        return wrap(g)

    def take(self, g: "Tensor | None") -> "AnyArray | None":
        """The result of a hook, in the form in which gradients flow."""
        if g is None:
            return None
        if self.create:
            return as_tensor(g)
        a = g._a if isinstance(g, Tensor) else g
        self.foreign[id(a)] = a
        return a

    def hooked(self, hooks: list, g: object) -> "AnyArray | None":
        t = self.lend(g)
        for hook in hooks:
            new = hook(t)
            if new is not None:
                check_hook_result(t, new, getattr(hook, "__name__", type(hook).__name__))
                t = new
        return self.take(t)

    def tensor_hooks(self, node: Node, tables: dict, g: object) -> Any:
        if node.outputs == 1:
            return self.hooked(list(tables.get(0, {}).values()), g)
        return [self.hooked(list(tables[k].values()), one) if k in tables else one
                for k, one in enumerate(g if g is not None else [None] * node.outputs)]

    def retain(self, node: Node, tables: dict, g: object) -> None:
        for nr, ref in list(tables.items()):
            t, one = ref(), g if node.outputs == 1 else g[nr] if g is not None else None
            if t is None or one is None:
                continue
            new = self.lend(one)
            if t._g is None:
                t._g = new if self.create else wrap(np.array(new._a))
            else:
                t._g = t._g + new

    def capture(self, node: Node, g: object) -> None:
        for nr in range(node.outputs):
            place = self.wanted.get((node, nr))
            if place is not None:
                one = g if node.outputs == 1 else None if g is None else g[nr]
                self.captured[place] = self.lend(one)

    def pre_hooks(self, node: Node, hooks: dict, g: object) -> Any:
        given = (g,) if node.outputs == 1 else tuple(g if g is not None else [None] * node.outputs)
        tensors = tuple([self.lend(one) for one in given])
        for hook in list(hooks.values()):
            new = hook(tensors)
            if new is not None:
                tensors = check_hook_results(tensors, new, hook)
        taken = [self.take(t) for t in tensors]
        return taken[0] if node.outputs == 1 else taken

    def post_hooks(self, hooks: dict, grads: Sequence, g: object, outputs: int) -> tuple:
        given = tuple([self.lend(one) for one in ((g,) if outputs == 1 else tuple(g or ()))])
        tensors = tuple([self.lend(one) for one in grads])
        for hook in list(hooks.values()):
            new = hook(tensors, given)
            if new is not None:
                tensors = check_hook_results(tensors, new, hook)
        return tuple([self.take(t) for t in tensors])


def narrowed(node: Node, kept: tuple) -> Node:
    """A node that computes gradients along these edges alone: a copy, since other threads may run the graph."""
    part = copy.copy(node)
    part.next = kept
    needs = getattr(node, "needs", None)
    if needs is not None:
        left = {k for k, after in zip(node.places or range(len(kept)), kept) if after is None}
        part.needs = tuple([need and k not in left for k, need in enumerate(needs)])
    return part


watched: list = []  # set by anomaly.py: evaluates a node in anomaly mode, or with a profiler


def put(buffers: dict, node: Node, nr: int, g: AnyArray) -> None:
    """Add a gradient to what has come for a node."""
    if node.outputs == 1:
        have = buffers.get(node)
        buffers[node] = g if have is None else have if g is None else have + g
        return
    slots = buffers.setdefault(node, [None] * node.outputs)
    slots[nr] = g if slots[nr] is None else slots[nr] + g


def check_hook_result(old: "Tensor | None", new: ArrayOrNumber, name: str) -> None:
    if old is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if not isinstance(new, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(new).__name__}'")
    if new._a.shape != old._a.shape:
        raise RuntimeError(f"hook '{name}' has changed the size of value")
    if new._a.dtype != old._a.dtype:
        was, now = errors.type_name(old._a.dtype), errors.type_name(new._a.dtype)
        raise RuntimeError(f"hook '{name}' has changed the type of value (was {was} got {now})")


def check_hook_results(old: tuple, new: object, hook: Callable) -> tuple:
    """The gradients that a hook of a node returned: as many as before, and of the same kind."""
    name = getattr(hook, "__name__", type(hook).__name__)
    if not isinstance(new, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(new).__name__}'")
    refuse_if(len(new) != len(old), f"hook '{name}' has returned an incorrect number of values (got {len(new)}, but "
              f"expected {len(old)})")
    for before, after in zip(old, new):
        if after is not None:
            check_hook_result(before, after, name)
    return new


def execute(roots: Sequence, keep: bool, create: bool, wanted: "dict | None" = None, accumulate: bool = True) -> dict:
    """Run backward from roots (node, result number, gradient); the gradients that were wanted, by place."""
    tensors = create or now().dual_level >= 0  # what gradients are, so that they may have a history, or tangents
    run = BackwardRun(keep, tensors, accumulate)
    if not tensors:
        roots = [(node, nr, g._a if isinstance(g, Tensor) else g) for node, nr, g in roots]
    for _, _, g in roots:
        run.foreign[id(g)] = g
    if wanted is not None:
        run.find_needed([node for node, _, _ in roots], wanted)
    if state.depth and state.depth % DEPTH == 0:
        return _in_new_thread(run, roots, create)
    return _sweep(run, roots, create)


DEPTH = 20                     # passes within passes on one thread's stack: the next one goes on in a new thread


def _in_new_thread(run: BackwardRun, roots: Sequence, create: bool) -> dict:
    """The pass in a thread of its own, whose stack is fresh."""
    passes = dict(state.__dict__)

    def work() -> dict:
        state.__dict__.update(passes)
        return _sweep(run, roots, create)
    return in_new_thread(work)


def _sweep(run: BackwardRun, roots: Sequence, create: bool) -> dict:
    modes, outer = now(), state.run
    state.depth += 1
    state.run = run
    set_grad(modes, create)
    try:
        with np.errstate(all="ignore"):
            run.run(roots)
        for callback in run.callbacks:
            callback()
    finally:
        restore(modes)
        state.run = outer
        state.depth -= 1
    return run.captured


def queue_callback(callback: Callable) -> None:
    """Call this when the present backward pass is done."""
    refuse_if(state.run is None, "Final callbacks can only be installed during backward pass.")
    state.run.callbacks.append(callback)
