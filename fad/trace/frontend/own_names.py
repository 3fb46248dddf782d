"""Calls that see the variables of the function they stand in are given these variables.

    y = eval(text)     ->     y = eval(text, {"x": x, "k": k}, {"z": lambda: z})
    d = locals()       ->     d = locals({"x": x, "k": k})

A rewritten function has other variables than the text of the program, so Python's own eval would not find them. The
calls get every variable that has a value on all paths to them (definite assignment), and functions that read those that
have one on some paths only. The runtime (runtime/evaluation.py) does the rest. Calls in lambdas, comprehensions and
classes stay as they are, and so do functions that contain them.
"""
import ast
from typing import Any, NamedTuple

from .liveness import COMPREHENSIONS, assigned, captured_by_functions
from .nodes import asks_for_names
from .origin import parameters
from .trees import children, located, walk

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
GIVEN = {"eval": "evaluated", "locals": "own_names", "vars": "own_names"}


class Bound(NamedTuple):
    """Variables that have a value on all paths to a place, and on any."""

    surely: frozenset
    maybe: frozenset

    def binding(self, names: Any) -> "Bound":
        return Bound(self.surely | names, self.maybe | names)

    def after_any(self, names: Any) -> "Bound":
        """The same behind statements that may bind these names."""
        return Bound(self.surely, self.maybe | names)


def with_names_given(node: object, outer: frozenset) -> Any:
    """The tree of a function, its calls of eval, locals and vars with the variables that they see; the same tree,
    changed. outer: variables of the functions around that this one names.
    """
    if isinstance(node, FUNCTIONS) and any(isinstance(n, ast.Name) and n.id in GIVEN for n in walk(node)):
        _Giver(node, outer).function()
    return node


def is_given(e: ast.Call) -> bool:
    """Whether this is a call that has the variables it sees."""
    return getattr(e, "has_names", False)


class _Giver:
    """The statements of one function, in their order."""

    def __init__(self, node: Any, outer: frozenset):
        elsewhere = {n for s in walk(node) if isinstance(s, (ast.Global, ast.Nonlocal)) for n in s.names}
        self.node, self.parameters = node, frozenset(parameters(node.args)) - elsewhere
        self.own = (frozenset(assigned(node.body)) | self.parameters) - elsewhere
        self.outer = outer - self.own

    def function(self) -> None:
        self.block(self.node.body, Bound(self.parameters | self.outer, self.parameters | self.outer))

    def block(self, statements: list, bound: "Bound | None") -> "Bound | None":
        """The variables behind these statements; None if they end with a jump."""
        for s in statements:
            if bound is None:
                break
            visit = getattr(self, f"visit_{type(s).__name__}", self.plain)
            bound = visit(s, bound)
        return bound

    # -- statements --------------------------------------------------------------------------------

    def plain(self, s: ast.stmt, bound: Bound) -> Bound:
        self.expressions(s, bound)
        return self.bind(assigned([s]), bound, surely=not any(isinstance(n, ast.NamedExpr) for n in walk(s)))

    def bind(self, names: Any, bound: Bound, surely: bool = True) -> Bound:
        names = self.own.intersection(names)
        return bound.binding(names) if surely else bound.after_any(names)

    def jump(self, s: ast.stmt, bound: Bound) -> None:
        self.expressions(s, bound)

    visit_Return = visit_Raise = visit_Break = visit_Continue = jump

    def visit_Delete(self, s: ast.Delete, bound: Bound) -> Bound:
        names = {t.id for t in s.targets if isinstance(t, ast.Name)}
        return Bound(bound.surely - names, bound.maybe)

    def visit_FunctionDef(self, s: Any, bound: Bound) -> Bound:
        with_names_given(s, frozenset(captured_by_functions([s])) & (self.own | self.outer))
        return self.bind([s.name], bound)

    def visit_AsyncFunctionDef(self, s: Any, bound: Bound) -> Bound:
        return self.bind([s.name], bound)

    visit_ClassDef = visit_AsyncFunctionDef

    def visit_If(self, s: ast.If, bound: Bound) -> "Bound | None":
        self.expressions(s.test, bound)
        bound = self.bind(assigned([s.test]), bound, surely=False)
        return _join(self.block(s.body, bound), self.block(s.orelse, bound))

    def visit_While(self, s: ast.While, bound: Bound) -> "Bound | None":
        bound = self.bind(assigned([s]), bound, surely=False)
        self.expressions(s.test, bound)
        self.block(s.body, bound)
        return _join(bound, self.block(s.orelse, bound))

    def visit_For(self, s: Any, bound: Bound) -> "Bound | None":
        self.expressions(s.iter, bound)
        bound = self.bind(assigned([s]), bound, surely=False)
        self.block(s.body, self.bind(assigned([s.target]), bound))
        return _join(bound, self.block(s.orelse, bound))

    def visit_With(self, s: Any, bound: Bound) -> "Bound | None":
        for item in s.items:
            self.expressions(item.context_expr, bound)
            bound = self.bind(assigned([item]), bound)
        inside = self.block(s.body, bound)
        before = self.bind(assigned(s.body), bound, surely=False)
        return before if inside is None else Bound(before.surely, inside.maybe)  # it may swallow an error

    def visit_Try(self, s: Any, bound: Bound) -> "Bound | None":
        maybe = self.bind(assigned([s]), bound, surely=False)
        after = self.block(s.body, bound)
        after = None if after is None else self.block(s.orelse, after)
        for handler in s.handlers:
            after = _join(after, self.block(handler.body, self.bind([handler.name], maybe)))
        last = self.block(s.finalbody, maybe)
        if last is None or after is None:
            return None
        return Bound(after.surely | last.surely, maybe.maybe)

    def visit_Match(self, s: ast.Match, bound: Bound) -> Bound:
        self.expressions(s.subject, bound)
        bound = self.bind(assigned([s]), bound, surely=False)
        for case in s.cases:
            self.block(case.body, bound)
        return bound

    # -- expressions -------------------------------------------------------------------------------

    def expressions(self, e: ast.AST, bound: Bound) -> None:
        """Give the calls of an expression, or of a simple statement, the variables in front of it."""
        if isinstance(e, (*FUNCTIONS, ast.ClassDef, ast.Lambda, *COMPREHENSIONS)):
            return
        for n in children(e):
            self.expressions(n, bound)
        if isinstance(e, ast.Call) and asks_for_names(e) and not e.keywords:
            self.give(e, bound)

    def give(self, e: Any, bound: Bound) -> None:
        unsure = bound.maybe - bound.surely
        if e.func.id not in GIVEN or e.func.id in self.own | self.outer or (e.func.id != "eval" and unsure):
            return
        parts = [_table(bound.surely), _table(unsure)] if e.args else [_table(bound.surely)]
        e.args, e.has_names = [*e.args, *parts], True
        located(e)


def _table(names: frozenset) -> ast.Dict:
    found = sorted(names)
    return ast.Dict([ast.Constant(n) for n in found], [ast.Name(n, ast.Load()) for n in found])


def _join(a: "Bound | None", b: "Bound | None") -> "Bound | None":
    """The variables behind two paths."""
    if a is None or b is None:
        return b if a is None else a
    return Bound(a.surely & b.surely, a.maybe | b.maybe)
