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


def together(ys: tuple, label: str) -> tuple:
    """The tensors ys as results of one step of this name."""
    if any(not isinstance(y, Tensor) for y in ys) or all(y._fn is None for y in ys):
        return ys
    nrs = tuple([y._nr for y in ys])
    node = Together(tuple([y._fn for y in ys]), nrs if any(nrs) else None)
    node.label, node.outputs = label, len(ys)
    node.shown = {k: Meta(y._a.shape, y._a.dtype) for k, y in enumerate(ys)}                   # type: ignore[attr-defined]
    for k, y in enumerate(ys):
        if y._fn is not None:
            y._fn, y._nr = node, k
    return ys
