"""Trees of arguments: dict, list, tuple, namedtuple, dataclass, None, and what the user registers.

`flatten` takes a tree to its leaves and a `Structure`; `Structure.unflatten` takes leaves back.
"""
from collections.abc import Callable, Iterator
from types import MemberDescriptorType
from typing import Any, NamedTuple

from .errors import ArgumentError, StructureError
from .interrupts import reraise_interrupt
from .keywords import named_as_here
from .lazy import LazyModule
from .own import own_dict

dataclasses = LazyModule("dataclasses")


class Kind(NamedTuple):
    """The treatment of a class of nodes by trees.

    counts_as  another class whose structure it has
    fields     the attributes that are the children of an instance that has no others
    """

    children: Callable[[Any], tuple[tuple, Any]]
    rebuild: Callable[[Any, tuple], Any]
    counts_as: "type | None" = None
    fields: tuple = ()


kinds: dict[Any, Kind] = {}


@named_as_here
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
    if not isinstance(cls, type) or not callable(flatten) or not callable(unflatten):
        raise ArgumentError("register needs a class and two functions",
                            do="call it as register(cls, flatten, unflatten): flatten(x) gives (children, static), and "
                               "unflatten(static, children) gives x")
    kinds[cls] = Kind(flatten, unflatten, counts_as)
    return cls


def _sorted_keys(d: dict) -> tuple:
    try:
        return tuple(sorted(d))
    except TypeError as error:              # keys of mixed types keep their order
        reraise_interrupt(error)
        return tuple(d)


def _dict_children(d: dict) -> tuple[tuple, Any]:
    keys = _sorted_keys(d)
    return tuple(d[k] for k in keys), (keys, tuple(d))


def _dict_rebuild(static: tuple, children: tuple) -> dict:
    keys, order = static
    values = dict(zip(keys, children))
    return {k: values[k] for k in order}


register(dict, _dict_children, _dict_rebuild)
register(list, lambda t: (tuple(t), None), lambda _, c: list(c))
register(tuple, lambda t: (t, None), lambda _, c: tuple(c))
register(type(None), lambda _: ((), None), lambda _, c: None)


def _kind_of(node: object) -> "Kind | None":
    cls = type(node)
    kind = kinds.get(cls)
    if kind is None:
        kind = _derived_kind(cls, node)
        if kind is not None:
            kinds[cls] = kind
    return kind


def _derived_kind(cls: type, node: object) -> "Kind | None":
    if isinstance(node, tuple) and hasattr(cls, "_fields"):
        return _named_tuple(cls)
    if hasattr(cls, "__dataclass_fields__"):                  # what dataclasses.is_dataclass asks
        return _dataclass(cls, tuple(f.name for f in dataclasses.fields(cls)))
    return _dict_class(cls) if isinstance(node, dict) else None


def _beside(node: object, known: tuple = ()) -> tuple:
    """The names of an instance's attributes beside its parts. They are children, too: they may hold arrays."""
    own = own_dict(node)
    return tuple(sorted([name for name in own if name not in known])) if own else ()


def _with_attributes(made: object, names: tuple, values: tuple) -> Any:
    for name, value in zip(names, values):
        object.__setattr__(made, name, value)
    return made


def _named_tuple(cls: Any) -> Kind:
    count = len(cls._fields)

    def parts(node: Any) -> tuple[tuple, Any]:
        names = _beside(node)
        return (tuple(node) + tuple([node.__dict__[k] for k in names]), names) if names else (tuple(node), None)

    def rebuild(names: Any, values: tuple) -> Any:            # __new__ may check or convert
        return _with_attributes(tuple.__new__(cls, values[:count]), names or (), values[count:])
    return Kind(parts, rebuild)


def _dataclass(cls: type, fields: tuple) -> Kind:
    slots = {name for name in fields if isinstance(getattr(cls, name, None), MemberDescriptorType)}

    def parts(node: object) -> tuple[tuple, Any]:
        own = own_dict(node) or ()                            # a field that is not there has its value from the class
        names = (*[name for name in fields if name in own or name in slots], *_beside(node, fields))
        return tuple([getattr(node, name) for name in names]), None if names == fields else names

    def rebuild(names: Any, values: tuple) -> Any:            # __init__ may check or convert
        return _with_attributes(object.__new__(cls), names or fields, values)
    return Kind(parts, rebuild, fields=fields)


def _dict_class(cls: "type[dict]") -> Kind:
    def parts(node: Any) -> tuple[tuple, Any]:
        names = _beside(node)
        values, static = _dict_children(node)
        factory = getattr(node, "default_factory", None)
        return values + tuple([node.__dict__[k] for k in names]), (*static, names, factory)

    def rebuild(static: Any, values: tuple) -> Any:
        keys, order, names, factory = static
        made = _with_attributes(cls.__new__(cls), names, values[len(keys):])
        if factory is not None:
            made.default_factory = factory
        made.update(_dict_rebuild((keys, order), values))
        return made
    return Kind(parts, rebuild)


class Structure:
    """The shape of a tree without its leaves; equal and hashable by value. Nodes of one number are one object."""

    __slots__ = ("cls", "static", "children", "leaves", "number")

    def __init__(self, cls: "type | None", static: Any, children: tuple):
        self.cls, self.static, self.children = cls, static, children
        self.number: int | None = None
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
        return self._build(iter(leaves), {})

    def _build(self, leaves: Any, shared: dict) -> Any:
        if self.cls is None:
            return next(leaves)
        made = kinds[self.cls].rebuild(self.static, tuple([c._build(leaves, shared) for c in self.children]))
        return made if self.number is None else shared.setdefault(self.number, made)

    def paths(self) -> list:
        """For each leaf the keys (of a dict) and positions that lead to it.

        >>> flatten({"b": 1, "a": (2, 3)})[1].paths()
        [('a', 0), ('a', 1), ('b',)]
        """
        if self.cls is None:
            return [()]
        keys: Any = range(len(self.children))
        if isinstance(self.cls, type) and issubclass(self.cls, dict):
            keys = (*self.static[0], *(self.static[2:] and self.static[2]))
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


def flatten(tree: object, is_leaf: "Callable[[Any], bool] | None" = None,
            is_shared: bool = False) -> "tuple[list, Structure]":
    """Leaves of a tree, left to right (dict by sorted key), and its structure. is_shared: which builds a container that
    stands at several places once.

    >>> leaves, structure = flatten({"b": 1, "a": (2, None)})
    >>> leaves, structure.unflatten([20, 10])
    ([2, 1], {'b': 10, 'a': (20, None)})
    """
    leaves: list = []
    try:
        return leaves, _flatten_into(tree, leaves, is_leaf, {} if is_shared else None)
    except RecursionError:
        if (node := _holding_itself(tree)) is not None:
            raise StructureError(
                f"an object of class {type(node).__name__} holds itself, so it is no tree of numbers and arrays",
                do="give the function the numbers that it needs, or let it read the object from outside (a closure, a "
                   "global, an attribute), where objects may hold each other",
            ) from None
        raise


def _holding_itself(tree: object) -> object:
    """A node of a tree that is among its own parts, at any depth; None if there is none."""
    above: dict[int, object] = {}
    waiting = [(tree, True)]
    while waiting:
        node, is_entered = waiting.pop()
        if not is_entered:
            del above[id(node)]
        elif id(node) in above:
            return node
        elif parts := children(node):
            above[id(node)] = node
            waiting += [(node, False), *[(part, True) for part in parts]]
    return None


def _flatten_into(node: object, leaves: list, is_leaf: "Callable | None", shared: "dict | None") -> Structure:
    kind = None if is_leaf is not None and is_leaf(node) else _kind_of(node)
    if kind is None:
        leaves.append(node)
        return LEAF
    children, static = kind.children(node)
    made = Structure(kind.counts_as or type(node), static,
                     tuple([_flatten_into(c, leaves, is_leaf, shared) for c in children]))
    if shared is not None and not isinstance(node, (tuple, type(None))):
        number, first, _ = shared.setdefault(id(node), (len(shared), made, node))
        if first is not made:
            first.number = made.number = number
    return made


def children(node: object) -> "tuple | None":
    """The parts of a tree, as flatten goes through them; None for a leaf."""
    kind = _kind_of(node)
    return None if kind is None else kind.children(node)[0]


def map_leaves(function: Callable, tree: object, *others: object) -> Any:
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


def places_in(full: Structure, part: Structure, start: int = 0) -> Iterator[int]:
    """For each leaf of a part of a tree the place of its first leaf in the full tree."""
    if part.cls is None:
        yield start
    for child, own in zip(full.children, part.children):
        yield from places_in(child, own, start)
        start += child.leaves
