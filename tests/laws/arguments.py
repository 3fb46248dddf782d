"""Random trees of arguments, and what happens to them from one call to the next."""
from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np

import fad

Pair = namedtuple("Pair", "left right")


@dataclass
class Layer:
    w: Any
    b: Any


class Box:
    def __init__(self, content: Any, label: str):
        self.content, self.label = content, label


fad.register(Box, lambda box: ((box.content,), box.label), lambda label, children: Box(children[0], label))

LEAVES = {
    "float": lambda r: float(r.normal()),
    "float64": lambda r: np.float64(r.normal()),
    "float32": lambda r: np.float32(r.normal()),
    "int": lambda r: int(r.integers(-2, 3)),
    "complex": lambda r: complex(r.normal(), r.normal()),
    "array": lambda r: r.normal(size=3),
    "one": lambda r: r.normal(size=1),
    "longer": lambda r: r.normal(size=5),
    "matrix": lambda r: r.normal(size=(2, 3)),
    "no axes": lambda r: np.array(r.normal()),
    "single": lambda r: r.normal(size=3).astype(np.float32),
    "strided": lambda r: r.normal(size=6)[::2],
    "backwards": lambda r: r.normal(size=3)[::-1],
    "Fortran": lambda r: r.normal(size=(3, 2)).T,
    "read only": lambda r: read_only(r.normal(size=3)),
    "unaligned": lambda r: unaligned(r.normal(size=3)),
    "swapped": lambda r: r.normal(size=3).astype(">f8"),
    "integers": lambda r: r.integers(0, 5, 3),
}
NODES = {
    "dict": lambda r, parts: dict(zip(keys(r, len(parts)), parts)),
    "ordered": lambda r, parts: OrderedDict(zip(keys(r, len(parts)), parts)),
    "list": lambda r, parts: list(parts),
    "tuple": lambda r, parts: tuple(parts),
    "pair": lambda r, parts: Pair(*(*parts, None, None)[:2]),
    "layer": lambda r, parts: Layer(*(*parts, None, None)[:2]),
    "box": lambda r, parts: Box(parts[0] if parts else None, str(r.choice(["a", "b"]))),
}


def read_only(x: np.ndarray) -> np.ndarray:
    x.flags.writeable = False
    return x


def unaligned(x: np.ndarray) -> np.ndarray:
    place = np.zeros(x.nbytes + 1, np.uint8)[1:].view(x.dtype)
    place[...] = x
    return place


def keys(r: np.random.Generator, count: int) -> list:
    return [["a", "b", 1, None, (2, 3)][k] for k in r.permutation(3)[:count]]


def leaf(r: np.random.Generator, real: bool) -> Any:
    names = [name for name in LEAVES if not (real and name in ("int", "integers", "complex"))]
    return LEAVES[str(r.choice(names))](r)


def random_tree(r: np.random.Generator, depth: int = 2, real: bool = True) -> Any:
    if depth == 0 or r.random() < 0.25:
        return leaf(r, real)
    parts = [random_tree(r, depth - 1, real) for _ in range(int(r.integers(1, 4)))]
    return NODES[str(r.choice(list(NODES)))](r, parts)


def remade(node: Any, of_leaf: Any, of_node: Any = lambda node, parts: parts) -> Any:
    """The tree made anew: of_leaf(leaf) in place of each, of_node(node, parts) in place of the parts of each node."""
    if isinstance(node, dict):
        parts = of_node(node, list(node.items()))
        return type(node)([(k, remade(v, of_leaf, of_node)) for k, v in parts])
    if isinstance(node, (list, tuple)):
        parts = [remade(v, of_leaf, of_node) for v in of_node(node, list(node))]
        return Pair(*parts) if isinstance(node, Pair) else type(node)(parts)
    if isinstance(node, Layer):
        return Layer(*[remade(v, of_leaf, of_node) for v in (node.w, node.b)])
    if isinstance(node, Box):
        return Box(remade(node.content, of_leaf, of_node), node.label)
    return node if node is None else of_leaf(node)


def changed(tree: Any, r: np.random.Generator, real: bool = True) -> Any:
    """The tree as the next call has it: other numbers, and now and then another leaf, order of keys, length, class or
    alias."""
    how = str(r.choice(["numbers", "numbers", "leaf", "order", "length", "class", "same array", "views"]))
    places: list = []
    remade(tree, places.append)
    if not places:
        return tree
    at, first = int(r.integers(len(places))), [0]
    common = r.normal(size=6)

    def of_leaf(x: Any) -> Any:
        k, first[0] = first[0], first[0] + 1
        if isinstance(x, np.ndarray) and x.ndim == 1 and how in ("same array", "views"):
            return common[:3] if how == "same array" else common[k % 3:k % 3 + 3]
        return leaf(r, real) if how == "leaf" and k == at else again(x, r)

    def of_node(node: Any, parts: list) -> list:
        if how == "order" and isinstance(node, dict):
            return parts[::-1]
        if how == "length" and type(node) in (list, dict) and len(parts) > 1:
            return parts[:-1]
        return parts
    made = remade(tree, of_leaf, of_node)
    return {dict: OrderedDict, OrderedDict: dict, list: tuple, tuple: list}.get(type(made), type(made))(made) if (
        how == "class" and type(made) in (dict, OrderedDict, list, tuple)) else made


def again(x: Any, r: np.random.Generator) -> Any:
    """Another value of the same kind; of an array, its layout too."""
    if isinstance(x, np.ndarray) and x.ndim and x.flags.writeable and x.dtype.kind == "f":
        x = x if x.base is None else next(LEAVES[n](r)
                                          for n in ("strided", "backwards", "Fortran", "unaligned", "array")
                                          if n == "array" or is_like(LEAVES[n](r), x))
        x[...] = r.normal(size=x.shape)
        return x
    return type(x)(r.normal()) if isinstance(x, (float, np.floating)) else x


def is_like(x: np.ndarray, y: np.ndarray) -> bool:
    return x.shape == y.shape and x.strides == y.strides and x.dtype == y.dtype and x.flags.aligned == y.flags.aligned


def twin(tree: Any) -> Any:
    """The tree over memory of its own: with the same layouts, and with the same arrays that are one or overlap."""
    made: dict = {}
    memory: dict = {}

    def of_leaf(x: Any) -> Any:
        if not isinstance(x, np.ndarray):
            return x
        root = x
        while isinstance(root.base, np.ndarray):
            root = root.base
        if (root is not x or x.size) and id(root) not in memory:
            memory[id(root)] = np.frombuffer(bytearray(root.tobytes("A")), np.uint8)
        if id(x) not in made:
            at = x.__array_interface__["data"][0] - root.__array_interface__["data"][0]
            made[id(x)] = np.ndarray(x.shape, x.dtype, memory[id(root)], at, x.strides) if x.size else x.copy()
            made[id(x)].flags.writeable = x.flags.writeable
        return made[id(x)]
    return remade(tree, of_leaf)
