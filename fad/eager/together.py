"""Steps of several results: one node for all of them, so that a hook of it sees all their gradients."""
from typing import Any

from .node import Node
from .saved import Meta
from .tensor import Tensor


class Together(Node):
    """Hands on the gradient of each result to the node that computed it."""

    __slots__ = ("outputs",)

    def pull(self, g: Any) -> tuple:
        if self.outputs == 1:
            return (g,)
        return (None,) * self.outputs if g is None else tuple(g)

    pull_graph = pull


class Parts(Node):
    """Several results of one tensor: the gradient is the sum of what the results' own steps make of theirs."""

    __slots__ = ("outputs", "steps")

    def _sum(self, g: Any, way: str) -> tuple:
        total = None
        for step, one in zip(self.steps, (g,) if self.outputs == 1 else g or ()):
            part = None if one is None else getattr(step, way)(one)[0]
            total = part if total is None else total if part is None else total + part
        return (total,)

    def pull(self, g: Any) -> tuple:
        return self._sum(g, "pull")

    def pull_graph(self, g: Any) -> tuple:
        return self._sum(g, "pull_graph")

    def release(self) -> None:
        for step in self.steps:
            step.release()


def _joined(steps: tuple) -> Node:
    """The node for results that these steps made: in their place, if all of them are of one tensor."""
    first = steps[0]
    if all(s is not None and len(s.next) == 1 and s.outputs == 1 and s.next == first.next and s.nrs == first.nrs and s.extra is None for s in steps):
        node = Parts(first.next, first.nrs)
        node.steps = steps
        return node
    return Together(steps)


def together(ys: tuple, label: str) -> tuple:
    """The tensors ys as results of one step of this name."""
    if any(not isinstance(y, Tensor) for y in ys) or all(y._fn is None for y in ys):
        return ys
    nrs, steps = tuple([y._nr for y in ys]), tuple([y._fn for y in ys])
    node: Any = Together(steps, nrs) if any(nrs) else _joined(steps)
    node.label, node.outputs = label, len(ys)
    node.shown = {k: Meta(y._a.shape, y._a.dtype) for k, y in enumerate(ys)}
    for k, y in enumerate(ys):
        if y._fn is not None:
            y._fn, y._nr = node, k
    return ys
