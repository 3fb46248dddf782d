"""A picture of the graph behind a tensor: a node for each step, arrows the way gradients flow."""


from ..tensors.errors import refuse_if
from ..tensors.tensor import Tensor
from .node import AccumulateGrad, Node
from .record import edge

WIDTH, HEIGHT, GAP = 150, 30, 26


class Drawing:
    """A graph drawn as SVG (shown by notebooks), with its Graphviz text under `dot` and lines of text under str()."""

    def __init__(self, root: Node):
        self.layers = _layers(root)
        self.nodes = [node for layer in self.layers for node in layer]
        self.place = {node: (k * (WIDTH + GAP), depth * (HEIGHT + GAP)) for depth, layer in enumerate(self.layers)
                      for k, node in enumerate(layer)}

    @property
    def dot(self) -> str:
        """The graph for Graphviz."""
        number = {node: k for k, node in enumerate(self.nodes)}
        lines = [f'  n{k} [label="{_label(node)}", shape={"box" if isinstance(node, AccumulateGrad) else "ellipse"}];'
                 for node, k in number.items()]
        lines += [f"  n{number[node]} -> n{number[after]};" for node in self.nodes for after in node.next
                  if after is not None]
        return "\n".join(["digraph {", *lines, "}"])

    @property
    def svg(self) -> str:
        """The picture."""
        width = max(x for x, _ in self.place.values()) + WIDTH + 2
        height = max(y for _, y in self.place.values()) + HEIGHT + 2
        arrows = [_arrow(self.place[node], self.place[after]) for node in self.nodes for after in node.next
                  if after is not None]
        boxes = [_box(node, *self.place[node]) for node in self.nodes]
        head = ('<defs><marker id="tip" markerWidth="8" markerHeight="8" refX="7" refY="3" orient="auto"><path d="M0,0 '
                'L7,3 L0,6 z"/></marker></defs>')
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
                f'height="{height}">{head}{"".join(arrows + boxes)}</svg>')

    def _repr_svg_(self) -> str:
        return self.svg

    def __str__(self) -> str:
        number = {node: k for k, node in enumerate(self.nodes)}
        return "\n".join(f"{k}: {_label(node)}"
                         + "".join(f" -> {number[after]}" for after in node.next if after is not None)
                         for node, k in number.items())


def _layers(root: Node) -> list:
    """The nodes in layers, each below all that lead to it."""
    depth = {root: 0}
    counts: dict = {}
    waiting = [root]
    while waiting:
        for after in waiting.pop().next:
            if after is not None:
                counts[after] = counts.get(after, 0) + 1
                if counts[after] == 1:
                    waiting.append(after)
    ready = [root]
    while ready:
        node = ready.pop()
        for after in node.next:
            if after is not None:
                depth[after] = max(depth.get(after, 0), depth[node] + 1)
                counts[after] -= 1
                if not counts[after]:
                    ready.append(after)
    layers: list = [[] for _ in range(max(depth.values()) + 1)]
    for node, d in depth.items():
        layers[d].append(node)
    return layers


def _label(node: Node) -> str:
    name = node.name().rpartition(":")[2]
    return f"{name} {tuple(node.variable.shape)}" if isinstance(node, AccumulateGrad) else name


def _box(node: Node, x: int, y: int) -> str:
    fill = "#cde7d3" if isinstance(node, AccumulateGrad) else "#e3e8f4"
    return (f'<rect x="{x + 1}" y="{y + 1}" width="{WIDTH}" height="{HEIGHT}" rx="5" fill="{fill}" stroke="#666"/>'
            f'<text x="{x + WIDTH / 2}" y="{y + HEIGHT / 2 + 4}" font-size="11" text-anchor="middle" '
            f'font-family="sans-serif">{_label(node).replace("<", "&lt;")}</text>')


def _arrow(start: tuple, end: tuple) -> str:
    return (f'<line x1="{start[0] + WIDTH / 2}" y1="{start[1] + HEIGHT + 1}" x2="{end[0] + WIDTH / 2}" '
            f'y2="{end[1] + 1}" stroke="#666" marker-end="url(#tip)"/>')


def draw(tensor: Tensor) -> Drawing:
    """Draw the graph through which the gradient of a tensor flows.

    Parameters
    ----------
    tensor : Tensor
        A tensor that was computed from leaves that require a gradient.

    Returns
    -------
    Drawing
        Shows itself in a notebook. It prints as text; its attributes `svg` and `dot` hold the picture.

    Examples
    --------
    >>> import fad
    >>> x = fad.tensor([1.0, 2.0], requires_grad=True)
    >>> print(fad.draw((x * 2).sum()))
    0: SumBackward0 -> 1
    1: MulBackward0 -> 2
    2: AccumulateGrad (2,)
    """
    refuse_if(not isinstance(tensor, Tensor), f"draw takes a tensor, not {type(tensor).__name__}", TypeError)
    root = edge(tensor)
    refuse_if(root is None, "this tensor has no graph: it does not require a gradient")
    return Drawing(root)
