"""The values to save between a forward and a reverse sweep: a minimum cut.

The primal values of a loop's body form a graph, and the reverse sweep needs some of them. A value is free if it follows
by cheap operations from the index and from loop invariants. The others are saved, or computed again from saved ones.
The cheapest choice (in bytes) is a minimum cut between the lost values (carries, expensive results) and the needed ones
(Naumann, The Art of Differentiating Computer Programs, SIAM 2012, chapter 4). Dinic's algorithm finds the flow, in
O(V^2 E) for V values with E uses.
"""
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from typing import Any

INFINITE = 1 << 60


class Network:
    """A flow network; nodes are any hashable things."""

    def __init__(self) -> None:
        self.capacity: list[int] = []
        self.target: list[int] = []
        self.edges: list[list[int]] = []
        self.numbers: dict[Hashable, int] = {}

    def node(self, key: Hashable) -> int:
        number = self.numbers.get(key)
        if number is None:
            number = self.numbers[key] = len(self.edges)
            self.edges.append([])
        return number

    def connect(self, source: Hashable, target: Hashable, capacity: int) -> None:
        """An edge; its reverse, of capacity 0, is its neighbour in the list."""
        a, b = self.node(source), self.node(target)
        for start, end, room in ((a, b, capacity), (b, a, 0)):
            self.edges[start].append(len(self.target))
            self.target.append(end)
            self.capacity.append(room)

    def _levels(self, source: int) -> list:
        level = [-1] * len(self.edges)
        level[source] = 0
        queue = deque([source])
        while queue:
            a = queue.popleft()
            for e in self.edges[a]:
                b = self.target[e]
                if self.capacity[e] and level[b] < 0:
                    level[b] = level[a] + 1
                    queue.append(b)
        return level

    def saturate(self, source: Hashable, sink: Hashable) -> None:
        """Send the maximum flow."""
        s, t = self.node(source), self.node(sink)
        while True:
            level = self._levels(s)
            if level[t] < 0:
                return
            self._block(s, t, level)

    def _block(self, s: int, t: int, level: list) -> None:
        """A blocking flow along shortest paths, depth first without recursion."""
        tried = [0] * len(self.edges)
        path: list[int] = []
        at = s
        while True:
            if at == t:
                at = self._push(path, s)
                continue
            step = self._advance(at, tried, level)
            if step is not None:
                path.append(step)
                at = self.target[step]
            elif path:
                at = self.target[path.pop() ^ 1]
                tried[at] += 1
            else:
                return

    def _advance(self, at: int, tried: list, level: list) -> "int | None":
        edges = self.edges[at]
        while tried[at] < len(edges):
            e = edges[tried[at]]
            if self.capacity[e] and level[self.target[e]] == level[at] + 1:
                return e
            tried[at] += 1
        return None

    def _push(self, path: list, s: int) -> int:
        amount = min(self.capacity[e] for e in path)
        for e in path:
            self.capacity[e] -= amount
            self.capacity[e ^ 1] += amount
        path.clear()
        return s

    def reaches(self, sink: Hashable) -> set:
        """Nodes from which the sink can still be reached: the sink's side of the minimum cut nearest to it."""
        numbers = {v: k for k, v in self.numbers.items()}
        found = {self.node(sink)}
        queue = deque(found)
        while queue:
            b = queue.popleft()
            for e in self.edges[b]:
                a = self.target[e]
                if self.capacity[e ^ 1] and a not in found:
                    found.add(a)
                    queue.append(a)
        return {numbers[k] for k in found}


def minimum_cut(uses: Iterable, lost: Iterable, needed: Iterable, cost: Callable) -> list:
    """The values to save, in order of appearance.

    uses: pairs (value, value computed from it); lost: values that only saving keeps; needed: what the reverse sweep
    reads; cost(value): the price of saving it.

    >>> minimum_cut([("x", "y"), ("y", "z")], ["x"], ["z"], {"x": 8, "y": 1, "z": 4}.get)
    ['y']
    """
    net = Network()
    values: dict[Any, None] = {}
    for v in needed:
        values.setdefault(v)
        net.connect((v, "out"), "sink", INFINITE)
    for a, b in uses:
        values.setdefault(a), values.setdefault(b)
        net.connect((a, "out"), (b, "in"), INFINITE)
    for v in lost:
        values.setdefault(v)
        net.connect("source", (v, "in"), INFINITE)
    for v in values:
        net.connect((v, "in"), (v, "out"), cost(v))
    net.saturate("source", "sink")
    near = net.reaches("sink")
    return [v for v in values if (v, "out") in near and (v, "in") not in near]
