"""Questions about a function's syntax tree, and small changes of it, that rewriting (syntax.py) needs."""
import ast
from typing import Any, TypeGuard

from .origin import parameters
from .trees import Transformer, children, walk

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
# functions to which a list is as good as a generator
TAKE_ALL = {"sum", "min", "max", "list", "sorted", "fsum", "prod"}
SEES_NAMES = {"locals": 0, "vars": 0, "dir": 0, "eval": 1, "exec": 1}     # with so many arguments
NUMBERS = {"int", "float", "bool"}                           # classes that captured code sees others in place of


class Scope:
    """The names that a function's blocks have to declare, since they are not its own."""

    def __init__(self, node: ast.FunctionDef):
        statements = [n for s in node.body for n in own_nodes(s)]
        self.globals = {name for n in statements if isinstance(n, ast.Global) for name in n.names}
        self.nonlocals = {name for n in statements if isinstance(n, ast.Nonlocal) for name in n.names}
        self.parameters = parameters(node.args)


def own_nodes(node: ast.AST) -> list:
    """The nodes of a statement without those of functions and classes within."""
    if isinstance(node, SCOPES):
        return []
    return [node, *[n for c in children(node) for n in own_nodes(c)]]


def is_capture(pattern: ast.AST) -> bool:
    """Whether a pattern is a name, or _."""
    return isinstance(pattern, ast.MatchAs) and pattern.pattern is None


def binds(e: ast.AST) -> bool:
    """Whether an expression binds a name (:=) or waits, so that no part of it may move into a function."""
    return any(isinstance(n, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)) for n in walk(e))


def makes_functions(e: ast.AST) -> bool:
    """Whether an expression may make a function, or a generator, that outlives it."""
    if isinstance(e, (ast.Lambda, ast.GeneratorExp)):
        return True
    parts: Any = children(e)
    if isinstance(e, ast.Call) and takes_all(e):
        parts = children(e.args[0])
    return any(map(makes_functions, parts))


def takes_all(e: ast.Call) -> bool:
    """Whether this is sum(... for ...) or a call of its like."""
    return (
        len(e.args) == 1
        and isinstance(e.args[0], ast.GeneratorExp)
        and getattr(e.func, "id", getattr(e.func, "attr", "")) in TAKE_ALL
    )


def hands_on_names(node: ast.AST) -> bool:
    """Whether a function that sees the names of who calls it is not called, but handed on: f = locals."""
    called = {id(n.func) for n in walk(node) if isinstance(n, ast.Call)}
    return any(
        isinstance(n, ast.Name) and n.id in SEES_NAMES and id(n) not in called and isinstance(n.ctx, ast.Load)
        for n in walk(node)
    )


def asks_for_names(e: ast.Call) -> bool:
    """Whether this is a call, locals() or eval(text), that sees the names of the function it stands in, which are
    others once that is rewritten.
    """
    given = len(e.args) + len(e.keywords)
    return isinstance(e.func, ast.Name) and given == SEES_NAMES.get(e.func.id)


def is_call_of_globals(e: ast.expr) -> "TypeGuard[ast.Call]":
    """Whether this is globals()."""
    return isinstance(e, ast.Call) and not e.args and isinstance(e.func, ast.Name) and e.func.id == "globals"


def is_simple(target: ast.AST) -> bool:
    """Whether a target is a name, or a tuple of names."""
    return (
        isinstance(target, ast.Name)
        or isinstance(target, (ast.Tuple, ast.List))
        and all(isinstance(n, ast.Name) for n in target.elts)
    )


def load(name: str) -> ast.Name:
    """The variable of this name, read."""
    return ast.Name(name, ast.Load())


def assign(name: str, value: ast.expr) -> ast.Assign:
    """The variable of this name gets a value."""
    return ast.Assign([ast.Name(name, ast.Store())], value, lineno=0)


def placed(new: object, old: ast.AST) -> Any:
    """A new node, and all in it that have no place of their own, at the place of an old one. A node with a place has
    only nodes with places in it.
    """
    left: list[Any] = [new]
    while left:
        n = left.pop()
        if "lineno" in n._attributes:
            if getattr(n, "lineno", 0):
                continue
            ast.copy_location(n, old)
            # Python counts a call over several lines to the last of them
            if getattr(n, "lineno", 0) and n.end_lineno != n.lineno:
                n.end_lineno, n.end_col_offset = n.lineno, n.col_offset
        left += children(n)
    return new


class Displays(Transformer):
    """Lets the runtime know of what expressions make: lists, dicts, sets and generators."""

    def __init__(self, runtime: str):
        self.runtime = runtime

    def _made(self, e: Any) -> Any:
        e = self.generic_visit(e)
        return e if isinstance(getattr(e, "ctx", None), (ast.Store, ast.Del)) else self._told("made", e)

    visit_List = visit_ListComp = visit_GeneratorExp = _made  # type: ignore[assignment]

    def _told(self, name: str, e: ast.expr) -> ast.Call:
        call = ast.Call(ast.Attribute(load(self.runtime), name, ast.Load()), [e], [])
        return placed(call, e)  # type: ignore[no-any-return]

    def _key(self, e: "ast.expr | None") -> "ast.expr | None":
        """A key, or an element of a set, which the runtime sees before Python asks for its hash."""
        return e if e is None or isinstance(e, (ast.Constant, ast.Starred)) else self._told("key", e)

    def visit_Dict(self, e: ast.Dict) -> ast.Call:
        e = self.generic_visit(e)
        e.keys = list(map(self._key, e.keys))
        return self._told("made", e)

    def visit_Set(self, e: ast.Set) -> ast.Call:
        e = self.generic_visit(e)
        e.elts = [self._key(x) for x in e.elts]               # type: ignore[misc]
        return self._told("made", e)

    def visit_DictComp(self, e: ast.DictComp) -> ast.Call:
        e = self.generic_visit(e)
        e.key = self._key(e.key)                              # type: ignore[assignment]
        return self._told("made", e)

    def visit_SetComp(self, e: ast.SetComp) -> ast.Call:
        e = self.generic_visit(e)
        e.elt = self._key(e.elt)                              # type: ignore[assignment]
        return self._told("made", e)

    def visit_Call(self, e: ast.Call) -> Any:
        """The runtime makes a list of its own of a new one: __fad__.list_([...])."""
        if getattr(e.func, "attr", "") == "list_" and isinstance(e.args[0], (ast.List, ast.ListComp)):
            e.args = [self.generic_visit(e.args[0])]          # type: ignore[list-item]
            return e
        return self.generic_visit(e)

    def visit_AsyncFunctionDef(self, node: object) -> Any:
        return node


class Patterns(Transformer):
    """Rewrites the patterns of a match statement."""

    def visit_MatchClass(self, p: Any) -> Any:
        """case int(k): as `int() as k`: what captured code sees in place of a number's class takes no pattern by
        position.
        """
        p = self.generic_visit(p)
        if getattr(p.cls, "id", "") not in NUMBERS or len(p.patterns) != 1 or not is_capture(p.patterns[0]):
            return p
        (found,), p.patterns = p.patterns, []
        return p if found.name is None else placed(ast.MatchAs(p, found.name), p)
