"""Liveness: the names that a statement assigns, reads, and leaves live (still to be read).

Works on lowered code, where control flow is nesting and nothing else. The names that nested functions read are live
everywhere.
"""
import ast
from collections.abc import Iterable
from typing import Any

from .nodes import SCOPES
from .origin import parameters
from .trees import children, walk

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def assigned(nodes: Iterable) -> dict:
    """Names that these statements bind (in their own scope), in order; True where by plain assignment, False where only
    by `+=` and its like.
    """
    names: dict[str, bool] = {}
    for node in nodes:
        _collect(node, names)
    return names


def _collect(node: Any, names: dict) -> None:
    if isinstance(node, ast.Name):
        if not isinstance(node.ctx, ast.Load):
            names[node.id] = True
        return
    if isinstance(node, ast.AugAssign):
        if isinstance(node.target, ast.Name):
            names.setdefault(node.target.id, False)
        else:
            _collect(node.target, names)
        _collect(node.value, names)
        return
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        names[node.name] = True
        return
    if isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
        names[node.name] = True
    elif isinstance(node, ast.MatchMapping) and node.rest:
        names[node.rest] = True
    elif isinstance(node, ast.alias):
        names[(node.asname or node.name).split(".")[0]] = True
    if isinstance(node, ast.Lambda):
        return
    if isinstance(node, COMPREHENSIONS):                      # its targets are its own; `:=` in it binds outside
        for walrus in walk(node):
            if isinstance(walrus, ast.NamedExpr):
                names[walrus.target.id] = True
        return
    for child in children(node):
        _collect(child, names)


def written_to(nodes: Iterable) -> set:
    """Names whose arrays these statements may change in place: y[...] = v, y += v, y.sort(), f(out=y)."""
    names: set[str] = set()
    for node in nodes:
        for n in walk(node):
            if isinstance(n, (ast.Subscript, ast.Attribute)) and not isinstance(n.ctx, ast.Load):
                names.update(_root(n))
            elif isinstance(n, ast.AugAssign):
                names.update(_root(n.target))
    return names


def _root(node: object) -> set:
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()


def read(*nodes: Any) -> set:
    """All names that are read somewhere in these nodes, nested functions included."""
    names = set()
    for node in nodes:
        if node is None:
            continue
        for n in walk(node):
            if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Store):
                names.add(n.id)
            elif isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name):
                names.add(n.target.id)
            elif isinstance(n, (ast.Global, ast.Nonlocal)):
                names.update(n.names)
    return names


def captured_by_functions(nodes: Iterable) -> set:
    """Names that functions nested in these statements use from around them, and may read whenever they are called."""
    names: set[str] = set()
    for node in nodes:
        for n in walk(node):
            if isinstance(n, (*SCOPES, ast.GeneratorExp)):
                names |= _free(n)
    return names


def declared_elsewhere(nodes: Iterable) -> set:
    """Names that these statements declare nonlocal: the functions around may read them afterwards."""
    return {name for node in nodes for n in walk(node) if isinstance(n, ast.Nonlocal) for name in n.names}


def deleted(nodes: Iterable) -> set:
    """Names whose values these statements delete, as the end of a handler does."""
    found = [n for node in nodes for n in walk(node)]
    return {n.id for n in found if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Del)} | {
        n.name for n in found if isinstance(n, ast.ExceptHandler) and n.name}


def _free(node: object) -> set:
    """Names of a nested function that may be the outer function's."""
    if isinstance(node, ast.Lambda):
        return read(node.body, node.args) - set(parameters(node.args))
    if isinstance(node, ast.FunctionDef) and not any(isinstance(n, ast.Nonlocal) for n in walk(node)):
        return (read(*node.body) - set(assigned(node.body)) - set(parameters(node.args))) | read(node.args)
    if isinstance(node, ast.GeneratorExp):
        return read(node) - {t.id for g in node.generators for t in walk(g.target) if isinstance(t, ast.Name)}
    return read(node)


class Liveness:
    """Marks each If, For, While and Try of a function with `live` (what is read after it), and loops with `head` (what
    an iteration needs).
    """

    def __init__(self, body: list):
        self.always = captured_by_functions(body) | declared_elsewhere(body)
        self.needed: dict[Any, set] = {}
        first = self.block(body, set())
        # variables that may be unbound where they are read: they are live at the beginning, or their values are deleted
        self.unsure = frozenset(assigned(body).keys() & (first | deleted(body)))

    def block(self, body: list, live: set) -> set:
        """The names live before these statements, given those live after them."""
        for s in reversed(body):
            live = self.statement(s, live | self.always)
        return live

    def statement(self, s: object, live: set) -> set:
        if isinstance(s, ast.If):
            s.live = live                                     # type: ignore[attr-defined]
            return read(s.test) | self.block(s.body, live) | self.block(s.orelse, live)
        if isinstance(s, (ast.For, ast.While)):
            return self.loop(s, live)
        if isinstance(s, (ast.Assign, ast.AnnAssign, ast.Expr, ast.Import, ast.ImportFrom, ast.FunctionDef)):
            return read(s) | (live - set(assigned([s])))
        if isinstance(s, ast.Return):
            return read(s)
        s.live = live                                         # type: ignore[attr-defined]
        before, self.always = self.always, self.always | live | read(s)
        for block in blocks_of(s):  # with, try, match: a statement may raise before it binds, and what is read goes on
            self.block(block, live)
        self.always = before
        return read(s) | live

    def loop(self, s: Any, live: set) -> set:
        stops = set(getattr(s, "stops", []))
        head = live | stops | (read(s.test) if isinstance(s, ast.While) else set())
        first = set(assigned([s.target])) if isinstance(s, ast.For) else set()
        s.live, s.head = live, head | (self.needs(s) - first)
        self.block(s.body, s.head)
        return s.head | (read(s.iter) if isinstance(s, ast.For) else set())

    def needs(self, loop: Any) -> set:
        """The names that an iteration reads before it binds them. They do not depend on what is live after the
        iteration, so they are found once for each loop. Otherwise a nest of depth d would be walked 2^d times.
        """
        if loop not in self.needed:
            self.needed[loop] = self.block(loop.body, set())
        return self.needed[loop]


def blocks_of(s: object) -> list:
    """The blocks of a compound statement."""
    parts = [s, *getattr(s, "handlers", []), *getattr(s, "cases", [])]
    return [
        getattr(p, field)
        for p in parts
        for field in ("body", "orelse", "finalbody")
        if isinstance(getattr(p, field, None), list)
    ]
