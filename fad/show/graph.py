"""The graph behind a tensor as a picture: a node for each step, arrows the way gradients flow."""
from ..eager.graph.node import LAST, AccumulateGrad, Node
from ..eager.graph.record import edge
from ..eager.tensors.tensor import Tensor
from .picture import COLOURS, GAP, LINE, PAD, Drawn, box, moved, path, svg, text

WIDTH, HEIGHT = 170, LINE + 2 * PAD
DOWN = HEIGHT + 2 * GAP                             # from one layer to the next


class Drawing:
    """A graph drawn as SVG (shown by notebooks), with its Graphviz text under `dot` and lines of text under str()."""

    def __init__(self, tensor: Tensor):
        root = edge(tensor)
        if root is None:
            raise RuntimeError("this tensor has no graph: it does not require a gradient")
        self.layers = _layers(root)
        self.number = {node: k for k, node in enumerate(node for layer in self.layers for node in layer)}

    def _arrows(self) -> list:
        return [(node, after) for node in self.number for after in node.next if after is not None]

    @property
    def dot(self) -> str:
        """The graph for Graphviz."""
        lines = [f'  n{k} [label="{_label(node)}", shape={"box" if isinstance(node, AccumulateGrad) else "ellipse"}];'
                 for node, k in self.number.items()]
        lines += [f"  n{self.number[a]} -> n{self.number[b]};" for a, b in self._arrows()]
        return "\n".join(["digraph {", *lines, "}"])

    @property
    def svg(self) -> str:
        """The picture."""
        place = {node: (k * (WIDTH + GAP), depth * DOWN) for depth, layer in enumerate(self.layers)
                 for k, node in enumerate(layer)}
        boxes = [moved(box(WIDTH, HEIGHT, COLOURS["end" if isinstance(node, AccumulateGrad) else "nest"])
                       + text(PAD, PAD + LINE - 4, _label(node), "ops"), *at) for node, at in place.items()]
        ways = [(place[a][0] + WIDTH // 2, place[a][1] + HEIGHT, place[b][0] + WIDTH // 2, place[b][1] - 3)
                for a, b in self._arrows()]
        arrows = [path(f"M{x},{y} L{to},{down}", "edge") for x, y, to, down in ways]
        return svg([Drawn("".join(arrows + boxes), max(x for x, _ in place.values()) + WIDTH, len(self.layers) * DOWN)])

    def _repr_svg_(self) -> str:
        return self.svg

    def __str__(self) -> str:
        return "\n".join(f"{k}: {_label(node)}" + "".join(f" -> {self.number[b]}" for b in node.next if b is not None)
                         for node, k in self.number.items())


def _layers(root: Node) -> list:
    """The nodes in layers, each below all that lead to it."""
    depth, waiting = {root: 0}, [root]
    while waiting:
        new = [after for after in waiting.pop().next if after is not None and after not in depth]
        depth.update(dict.fromkeys(new, 0))
        waiting += new
    for node in sorted(depth, key=lambda node: (node.seq >= LAST, -node.seq)):          # as backward goes
        for after in node.next:
            if after is not None:
                depth[after] = max(depth[after], depth[node] + 1)
    return [[node for node, d in depth.items() if d == k] for k in range(max(depth.values()) + 1)]


def _label(node: Node) -> str:
    name = node.name().rpartition(":")[2]
    return f"{name} {tuple(node.variable.shape)}" if isinstance(node, AccumulateGrad) else name
