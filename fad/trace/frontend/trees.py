"""Fast walks over syntax trees: children, all nodes, copies, places, transformers.

They do what the functions of `ast` do, and less of it: operators and contexts (`Add`, `Load`), which hold
nothing, are passed over, and so are fields that hold no nodes.
"""
import ast
from typing import Any

_LEAVES = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)
_NO_NODES = {"ctx", "op", "ops", "id", "attr", "arg", "type_comment", "conversion", "is_async", "simple", "level",
             "module", "kind"}


class _Parts(dict):
    """Class of nodes -> the fields in which other nodes may stand."""

    def __missing__(self, cls: Any) -> tuple:
        is_leaf = issubclass(cls, (*_LEAVES, ast.Constant))
        found = self[cls] = () if is_leaf else tuple([f for f in cls._fields if f not in _NO_NODES])
        return found


_parts = _Parts()


def children(node: ast.AST) -> list:
    """The nodes that stand in this one, in order."""
    found: list = []
    for name in _parts[node.__class__]:
        value = getattr(node, name, None)
        if value.__class__ is list:
            found += [x for x in value if isinstance(x, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def walk(node: ast.AST) -> list:
    """This node and all within it, level by level."""
    found = [node]
    for n in found:
        found += children(n)
    return found


def copied(node: object) -> Any:
    """A copy of a tree."""
    new = node.__class__.__new__(node.__class__)
    state = new.__dict__
    for name, value in node.__dict__.items():
        if value.__class__ is list:
            value = [copied(x) if isinstance(x, ast.AST) else x for x in value]
        elif isinstance(value, ast.AST) and not isinstance(value, _LEAVES):
            value = copied(value)
        state[name] = value
    return new


def signature(*names: str) -> ast.arguments:
    """Parameters of these names."""
    return ast.arguments(posonlyargs=[], args=[ast.arg(n) for n in names], kwonlyargs=[], kw_defaults=[], defaults=[])


def located(node: ast.AST, place: object = None) -> Any:
    """The tree, nodes without a place of their own at that of what they stand in."""
    if "lineno" in node._attributes:
        if not hasattr(node, "lineno"):
            node.lineno, node.col_offset = place.lineno, place.col_offset            # type: ignore[attr-defined]
            node.end_lineno, node.end_col_offset = place.end_lineno, place.end_col_offset  # type: ignore[attr-defined]
        place = node
    for n in children(node):
        located(n, place)
    return node


class Transformer:
    """A transformer of trees, as ast.NodeTransformer; it looks each method up once."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._methods = {}

    _methods: dict[type, Any] = {}  # class of nodes -> the method of this class that visits them, or None

    def visit(self, node: object) -> Any:
        """The node, or nodes, in the place of a node: the result of the method for its class."""
        cls = node.__class__
        try:
            method = self._methods[cls]
        except KeyError:
            method = self._methods[cls] = getattr(type(self), f"visit_{cls.__name__}", None)
        return self.generic_visit(node) if method is None else method(self, node)

    def generic_visit(self, node: object) -> Any:
        """The node, what stands in it transformed."""
        for name in _parts[node.__class__]:
            value = getattr(node, name, None)
            if value.__class__ is list:
                value[:] = self._all(value)
            elif isinstance(value, ast.AST):
                new = self.visit(value)
                if new is None:
                    delattr(node, name)
                else:
                    setattr(node, name, new)
        return node

    def _all(self, nodes: list) -> list:
        made: list = []
        for n in nodes:
            new = self.visit(n) if isinstance(n, ast.AST) else n
            if isinstance(new, list):
                made += new
            elif new is not None or not isinstance(n, ast.AST):
                made.append(new)
        return made
