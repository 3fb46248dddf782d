"""Trees of arguments: dict, list, tuple, namedtuple, dataclass, None, and what the user registers.

`flatten` takes a tree to its leaves and a `Structure`; `Structure.unflatten` takes leaves back.
"""
from collections.abc import Callable
from typing import Any, NamedTuple

from .errors import StructureError
from .interrupts import let_through
from .lazy import LazyModule

dataclasses = LazyModule("dataclasses")


class Kind(NamedTuple):
    """What a class of nodes is to trees.

    counts_as  another class whose structure it has
    fields     the attributes that are the children, if they are no more than that
    """

    children: Callable[[Any], tuple[tuple, Any]]
    rebuild: Callable[[Any, tuple], Any]
    counts_as: "type | None" = None
    fields: tuple = ()


kinds: dict[Any, Kind] = {}


def register(cls: type, flatten: Callable[[Any], tuple[tuple, Any]], unflatten: Callable[[Any, tuple], Any],
             counts_as: "type | None" = None) -> type:
    """Let structures contain instances of a class.

    Parameters
    ----------
    cls : type
        Your class.
    flatten : callable
        Takes an instance and returns ``(children, static)``: a tuple of what holds arrays, and a hashable rest.
    unflatten : callable
        Takes ``(static, children)`` and returns an instance.
    counts_as : type, optional
        A registered class. fad builds instances of it in place of `cls`.

    Returns
    -------
    type
        The class itself.

    Examples
    --------
    >>> import fad
    >>> class Point:
    ...     def __init__(self, x, y):
    ...         self.x, self.y = x, y
    >>> _ = fad.register(Point, lambda p: ((p.x, p.y), None), lambda static, children: Point(*children))
    >>> float(fad.grad(lambda p: p.x ** 2 * p.y)(Point(3.0, 2.0)).x)
    12.0
    """
    kinds[cls] = Kind(flatten, unflatten, counts_as)
    return cls


def _sorted_keys(d: dict) -> tuple:
    try:
        return tuple(sorted(d))
    except TypeError as error:              # keys of mixed types keep their order
        let_through(error)
        return tuple(d)


def _dict_children(d: dict) -> tuple[tuple, Any]:
    keys = _sorted_keys(d)
    return tuple(d[k] for k in keys), (keys, tuple(d))


def _dict_rebuild(static: Any, children: tuple) -> dict:
    keys, order = static
    values = dict(zip(keys, children))
    return {k: values[k] for k in order}


register(dict, _dict_children, _dict_rebuild)
register(list, lambda t: (tuple(t), None), lambda _, c: list(c))
register(tuple, lambda t: (t, None), lambda _, c: tuple(c))
register(type(None), lambda _: ((), None), lambda _, c: None)


def _kind_of(node: Any) -> "Kind | None":
    cls = type(node)
    kind = kinds.get(cls)
    if kind is None:
        kind = _derived_kind(cls, node)
        if kind is not None:
            kinds[cls] = kind
    return kind


def _derived_kind(cls: type, node: Any) -> "Kind | None":
    if isinstance(node, tuple) and hasattr(cls, "_fields"):
        return Kind(lambda t: (tuple(t), None), lambda _, c: cls(*c))
    if hasattr(cls, "__dataclass_fields__"):                  # what dataclasses.is_dataclass asks
        names = tuple(f.name for f in dataclasses.fields(cls))
        return Kind(lambda t: (tuple(getattr(t, n) for n in names), None), lambda _, c: _make_dataclass(cls, names, c),
                    fields=names)
    if isinstance(node, dict):
        return Kind(_dict_children, lambda s, c: _make_dict(cls, _dict_rebuild(s, c)))
    return None


def _make_dataclass(cls: type, names: tuple, children: tuple) -> Any:
    made: Any = object.__new__(cls)         # __init__ may check or convert; the fields are what a tree is
    for name, child in zip(names, children):
        object.__setattr__(made, name, child)
    return made


def _make_dict(cls: type[dict], items: dict) -> Any:
    made = cls.__new__(cls)
    made.update(items)
    return made


class Structure:
    """The shape of a tree without its leaves; equal and hashable by value."""

    __slots__ = ("cls", "static", "children", "leaves")

    def __init__(self, cls: "type | None", static: Any, children: tuple):
        self.cls, self.static, self.children = cls, static, children
        self.leaves = 1 if cls is None else sum(c.leaves for c in children)

    def unflatten(self, leaves: Any, statics: "dict | None" = None) -> Any:
        """The tree with these leaves, in the order that flatten gives; statics: more leaves, as {position: leaf}.

        >>> flatten({"b": 1, "a": (2, 3)})[1].unflatten([2, 1], {1: "x"})
        {'b': 1, 'a': (2, 'x')}
        """
        leaves = list(leaves)
        for k in sorted(statics or ()):
            leaves.insert(k, statics[k])                      # type: ignore[index]
        if len(leaves) != self.leaves:
            raise StructureError(f"{len(leaves)} leaves for a structure of {self.leaves}")
        return self._build(iter(leaves))

    def _build(self, leaves: Any) -> Any:
        if self.cls is None:
            return next(leaves)
        return kinds[self.cls].rebuild(self.static, tuple(c._build(leaves) for c in self.children))

    def paths(self) -> list:
        """For each leaf the keys (of a dict) and positions that lead to it.

        >>> flatten({"b": 1, "a": (2, 3)})[1].paths()
        [('a', 0), ('a', 1), ('b',)]
        """
        if self.cls is None:
            return [()]
        keys = (self.static[0] if isinstance(self.cls, type) and issubclass(self.cls, dict)
                else range(len(self.children)))
        return [(key, *path) for key, child in zip(keys, self.children) for path in child.paths()]

    def _key(self) -> tuple:
        return self.cls, self.static, self.children

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Structure) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((self.cls, len(self.children), self.leaves))

    def __repr__(self) -> str:
        return f"Structure({self.text()})"

    def text(self) -> str:
        """The tree with stars for leaves; nothing is built, since a class may not take stars for its parts."""
        if self.cls is None:
            return "*"
        parts = [c.text() for c in self.children]
        if self.cls is dict:
            shown = dict(zip(self.static[0], parts))
            return "{" + ", ".join([f"{k!r}: {shown[k]}" for k in self.static[1]]) + "}"
        inner = ", ".join(parts)
        if self.cls is tuple:
            return f"({inner},)" if len(parts) == 1 else f"({inner})"
        if self.cls is type(None):
            return "None"
        return f"[{inner}]" if issubclass(self.cls, list) else f"{self.cls.__name__}({inner})"


LEAF = Structure(None, None, ())


def flatten(tree: Any, is_leaf: "Callable[[Any], bool] | None" = None) -> "tuple[list, Structure]":
    """Leaves of a tree, left to right (dict by sorted key), and its structure.

    >>> leaves, structure = flatten({"b": 1, "a": (2, None)})
    >>> leaves, structure.unflatten([20, 10])
    ([2, 1], {'b': 10, 'a': (20, None)})
    """
    leaves: list = []
    return leaves, _flatten_into(tree, leaves, is_leaf)


def _flatten_into(node: Any, leaves: list, is_leaf: Any) -> Structure:
    kind = None if is_leaf is not None and is_leaf(node) else _kind_of(node)
    if kind is None:
        leaves.append(node)
        return LEAF
    children, static = kind.children(node)
    return Structure(kind.counts_as or type(node), static, tuple([_flatten_into(c, leaves, is_leaf) for c in children]))


def children(node: Any) -> "tuple | None":
    """The parts of a tree, as flatten goes through them; None for a leaf."""
    kind = _kind_of(node)
    return None if kind is None else kind.children(node)[0]


def map_leaves(function: Callable, tree: Any, *others: Any) -> Any:
    """The tree of function(leaf, ...) over trees of one structure.

    >>> map_leaves(lambda a, b: a + b, [1, (2,)], [10, (20,)])
    [11, (22,)]
    """
    leaves, structure = flatten(tree)
    columns = [leaves]
    for other in others:
        more, other_structure = flatten(other)
        if other_structure != structure:
            raise StructureError(f"structures differ: {structure} and {other_structure}")
        columns.append(more)
    return structure.unflatten([function(*row) for row in zip(*columns)])
